/* A plan on the GPU: what the files of src/gpu/plan share. */
#pragma once

#include "gpu/device/current.cuh"
#include "gpu/plan/method.cuh"
#include "gpu/plan/planes.cuh"
#include "gpu/plan/pool.cuh"

#include <pthread.h>

/* One section of a plan: a step, or the steps that one pass takes. */
struct gc_plan_section {
    gc_pass_scope scope; /* of a step: itself, with chain values on both sides */
    void *state;         /* of the method */
    float *taps;         /* device: the weights of a step; null for a pass */
};

struct gc_gpu_plan;

enum gc_plane_use { GC_PLANE_UNUSED, GC_PLANE_OF_SAMPLES, GC_PLANE_OF_VALUES };

struct gc_part_watch;

enum gc_part {
    GC_PART_BORDER,     /* the extended image */
    GC_PART_CONVERSION, /* samples to chain values, chain values to the result */
    GC_PARTS
};

/* The thread that starts a plan (plan.cpp). */
struct gc_plan_start {
    pthread_t thread;
    bool runs;           /* the thread has not been joined */
    bool ended;          /* atomic */
    gconv_status status; /* of the start */
    gconv_error error;
    double compile_seconds;
};

/* What a run may take of the device's memory (memory.cpp). */
struct gc_plan_memory {
    int64_t band_rows;  /* of output, at most */
    double bytes;       /* at most */
    size_t spare_bytes; /* for kernels that decode and compress, at most */
    int shares;         /* see gc_slot_take */
    double (*extra_bytes)(const gc_problem *problem, int64_t rows); /* of the method; null: 0 */
};

/* What a run works on: a band in the buffers of a slot. */
struct gc_plan_work {
    gc_slot *slot;       /* of the run; null between runs. It has the stream and buffers below. */
    gc_band_step *steps; /* of the band, one a step */
    cudaStream_t stream;
    char *samples;         /* a band of input */
    int64_t samples_pitch; /* samples from row to row of `samples` */
    bool samples_padded;   /* kernels may read a row up to its pitch */
    float *planes[2];      /* a section's input and output, in turn */
    float *extended;       /* a step's extended image */
    char *result;          /* output or chain values, in the end */
    gc_part_watch *watch;  /* of a run whose parts are timed; else null */
};

struct gc_gpu_plan {
    const gc_gpu_method *method;
    bool by_steps; /* `method` is a gc_step_method, else a gc_pass_method */
    const gc_problem *problem;
    gconv_device_info device;
    bool finishes;             /* the device makes the output, unless a run wants chain values */
    gc_finish finish;          /* the final conversion, if `finishes` */
    bool settles;              /* the output is rounded once */
    long long *terms;          /* device: weights of exact sums, if it settles; owned */
    gc_slabs *slabs;           /* one a step; null if the method has none */
    gc_plan_section *sections; /* room for one a step */
    int section_count;
    gc_plan_start start;
    gc_plan_memory memory;
    gc_plan_work work;
    gc_slot *own; /* of runs in a caller's stream: buffers, and a mark for the latest run; null
                     before the first (device_run.cpp) */
};

/* Waits for the start of a plan and returns its status. `error` may be null. */
gconv_status gc_plan_await_start(gc_gpu_plan *plan, gconv_error *error);

/* Whether the start has ended: gc_plan_await_start will not wait. */
bool gc_plan_start_has_ended(const gc_gpu_plan *plan);

/* ---- Memory (memory.cpp) --------------------------------------------------------------------- */

/* Sets plan->memory.band_rows to what the device's memory holds. */
gconv_status gc_plan_choose_band(gc_gpu_plan *plan, gconv_error *error);

/* Takes a slot with buffers for bands of *rows, for decoding and for compressing. If the device is
 * short of memory, *compressing_bytes becomes 0, then *rows less than memory.band_rows: there is no
 * buffer for decoding, either. */
gconv_status gc_plan_take_slot(gc_gpu_plan *plan, bool chain_only, size_t decoding_bytes,
                               size_t *compressing_bytes, int64_t *rows, gconv_error *error);
void gc_plan_give_slot(gc_gpu_plan *plan);

/* Sets what the buffers hold for bands of `rows` rows of output. */
void gc_plan_buffer_sizes(const gc_gpu_plan *plan, bool chain_only, int64_t rows,
                          size_t sizes[GC_BUFFERS]);

/* Makes the plan work in the buffers of a slot. */
void gc_plan_use_buffers(gc_gpu_plan *plan, gc_slot *slot);

/* Rows that the input of any step has at most. */
int64_t gc_plan_input_rows(const gc_gpu_plan *plan);

/* `values` as planes of chain values. */
gc_gpu_planes gc_plan_planes(const gc_gpu_plan *plan, float *values, int64_t rows, int64_t width);

/* Samples from row to row of an image that a pass reads. */
int64_t gc_plan_input_pitch(const gc_gpu_plan *plan);

/* Whether a row of samples is as long as that. */
bool gc_plan_has_whole_rows(const gc_gpu_plan *plan);

/* From row to row of an output that a pass stores: in samples, or in bytes for GC_BIT. Rows are
 * whole words of 16 bytes. Interleaved pixels have room to be stored four at a time. */
int64_t gc_plan_output_pitch(const gc_gpu_plan *plan, gc_sample_type type);

/* ---- Sections (sections.cpp) ----------------------------------------------------------------- */

/* Fills plan->sections and counts them. After a failure gc_plan_free_sections frees the sections
 * that were begun. */
gconv_status gc_plan_prepare_sections(gc_gpu_plan *plan, gconv_error *error);
void gc_plan_free_sections(gc_gpu_plan *plan);

/* Enqueues all sections on uploaded samples; `chain_only` if the result has to be chain values. */
gconv_status gc_plan_run_sections(gc_gpu_plan *plan, bool chain_only, gconv_error *error);

/* Whether the last section stores the output itself. No before sections are prepared. */
bool gc_plan_stores_output(const gc_gpu_plan *plan, bool chain_only);

/* Which of the planes hold values in a run, and which hold samples with a pitch. */
void gc_plan_use_planes(const gc_gpu_plan *plan, bool chain_only, gc_plane_use use[2]);

/* ---- On the device (compute.cpp) ------------------------------------------------------------- */

/* Copies rows `first` to `last` of an image to work.samples, from the memory that `kind` says.
 * Under wrap rows may lie outside the image. They repeat rows inside it. */
gconv_status gc_plan_upload(gc_gpu_plan *plan, const char *image, size_t stride, int64_t first,
                            int64_t last, cudaMemcpyKind kind, gconv_error *error);

/* The values of the first step: planes[0], or `samples` if these are values with the pitch of a
 * plane, and begin at a whole word. */
float *gc_plan_first_values(const gc_gpu_plan *plan);

/* Rows of `bytes` bytes to copy. A pitch is the bytes from row to row. */
struct gc_rows_copy {
    void *to;
    size_t to_pitch;
    const void *from;
    size_t from_pitch, bytes;
    int64_t rows;
};

/* Enqueues a copy between the host and the device or on the device. */
gconv_status gc_copy_rows(const gc_rows_copy &copy, cudaMemcpyKind kind, cudaStream_t stream,
                          gconv_error *error);

/* Turns the uploaded samples into values, the input of the first step. */
gconv_status gc_plan_load(gc_gpu_plan *plan, bool chain_only, gconv_error *error);

/* A pass over the band in plan->work.steps, without input and output. */
gc_pass gc_plan_pass(const gc_gpu_plan *plan);

/* The rows of a result in plan->work.result. */
struct gc_plan_result {
    int64_t rows;
    size_t bytes, pitch; /* of a row, from row to row */
    bool is_chain;       /* chain values, for the CPU to convert if output is wanted */
};

/* Bytes of a row of the result on the host. Can be asked before the plan has started. */
size_t gc_plan_result_bytes(const gc_gpu_plan *plan, bool chain_only);

/* What gc_plan_compute makes of a band of `rows` rows. */
gc_plan_result gc_plan_result_of(const gc_gpu_plan *plan, bool chain_only, int64_t rows);

/* Enqueues all work on uploaded samples of the band in plan->work.steps, which has `rows` rows of
 * output: from samples to the result, with `chain_only` chain values. */
gconv_status gc_plan_compute(gc_gpu_plan *plan, bool chain_only, int64_t rows, gconv_error *error);

/* ---- Timing parts of a run (stopwatch.cpp) --------------------------------------------------- */

/* Stand before and behind the work of a part. Without plan->work.watch they do nothing. */
gconv_status gc_plan_begin_part(gc_gpu_plan *plan, gc_part part, gconv_error *error);
gconv_status gc_plan_end_part(gc_gpu_plan *plan, gconv_error *error);

/* ---- Runs in a caller's stream (device_run.cpp) ---------------------------------------------- */

/* Makes the plan's stream wait for the latest run in a caller's stream. */
gconv_status gc_plan_await_device_run(gc_gpu_plan *plan, gconv_error *error);

/* Waits for that run and frees plan->own. */
void gc_plan_end_device_runs(gc_gpu_plan *plan);

/* ---- Runs from memory to memory in bands that overlap (overlap.cpp) -------------------------- */

/* Whether rows lie in pinned memory. Looks at the first and the last byte: one call of
 * gconv_memory_register covers all rows. The plan's device is current. */
bool gc_rows_are_pinned(const void *rows, size_t stride, size_t row_bytes, int64_t count);

/* Whether the run goes so: the device makes what the caller wants, and the image pays for it. */
bool gc_overlap_applies(const gc_gpu_plan *plan, const gc_stream *stream);

/* Bytes of pinned host memory that such a run takes at most. */
size_t gc_overlap_host_bytes(const gc_gpu_plan *plan, const gc_stream *stream);

/* Runs in the plan's slot, which holds the whole image. */
gconv_status gc_overlap_run(gc_gpu_plan *plan, gc_stream *stream, gconv_error *error);

/* ---- A device's first use on this machine (first_use.cpp) ------------------------------------ */

/* Measures the device, which is current, if no figures are kept for it: a few milliseconds, once in
 * a process. `context_seconds` is what making its context took. A failure has no consequence but
 * that a later process tries again. */
void gc_measure_device(const gconv_device_info *device, double context_seconds);
