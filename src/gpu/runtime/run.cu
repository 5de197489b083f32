/* A chain on the device: samples up, values through the steps, output down, band by band where the
 * device's memory is short. Intermediate results never leave the device. The device is started in a
 * thread of its own, while the caller reads the image. */
#include "gpu/runtime/method.cuh"

#include "gpu/gpu.h"
#include "gpu/jit/jit.h"
#include "gpu/ladder/shared_steps.cuh"
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/planes.cuh"

extern "C" {
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
}

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

/* Share of the free memory that a plan takes, and bytes of a piece on its way down. */
static const double memory_share = 0.9;
enum { PIECE_BYTES = 8 << 20, PIECES = 2 };

struct gpu_plan {
    const gc_gpu_method *method;
    const gc_problem *problem;
    gconv_device_info device;
    int64_t band_rows;   /* of output */
    void **step_states;  /* of the method, one a step or a pass */
    gc_gpu_pass *passes; /* of a method that has them; as many as steps at most */
    int pass_count;
    gc_finish finish;    /* the final conversion, where `finishes` */
    bool finishes;       /* the device makes the output, unless a run wants chain values */
    gc_band_step *steps; /* of the band in work */
    gc_slabs *slabs;     /* one a step; null where the method has none */
    cudaStream_t stream;
    char *samples;        /* device: a band of input */
    float *planes[2];     /* device: a step's input and output */
    float *scratch;       /* device: a step's input with its border; in the end the output */
    float **taps;         /* device: weights, one array a step */
    char *pieces[PIECES]; /* host, pinned: rows on their way down */
    size_t piece_bytes;
    cudaEvent_t arrived[PIECES];
    pthread_t starter;
    bool starting;       /* the starter has not been joined */
    gconv_status status; /* of the start */
    gconv_error error;
    double compile_seconds; /* in the start */
};

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int64_t max_input_rows(const gpu_plan *plan)
{
    return gc_band_input_rows(plan->problem, plan->band_rows, plan->slabs);
}

static gc_gpu_planes planes_of(const gpu_plan *plan, float *values, int64_t rows, int64_t width)
{
    int64_t pitch = gc_device_pitch(width);
    return {values, pitch, pitch * rows, rows, (int)width, plan->problem->chain.channels};
}

static size_t chain_row_values(const gc_problem *problem)
{
    return (size_t)problem->chain.width * (size_t)problem->chain.channels;
}

/* ---- Start and end --------------------------------------------------------------------------- */

/* What a plan may take of the device's memory: a share of what is free, or what the user says. */
static gconv_status memory_budget(double *bytes, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    *bytes = memory_share * (double)available;
    const char *limit = getenv("GCONV_CUDA_MEMORY");
    long long number;
    if (limit == nullptr || limit[0] == '\0')
        return GCONV_OK;
    if (!gc_parse_integer(limit, 1, INT64_MAX, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "GCONV_CUDA_MEMORY: '%s' is not a number of bytes", limit);
    *bytes = std::min(*bytes, (double)number);
    return GCONV_OK;
}

/* Rows whose pixels a grid can number even in blocks of 1x1. */
static int64_t rows_of_a_grid(const gpu_plan *plan)
{
    int64_t reach = max_input_rows(plan) - plan->band_rows;
    return std::max<int64_t>(1, INT32_MAX / (int64_t)plan->problem->chain.width - reach);
}

static gconv_status choose_band(gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    double bytes = 0;
    GC_TRY(memory_budget(&bytes, error));
    plan->band_rows = gc_band_rows(problem, bytes, plan->slabs, plan->method->extra_bytes);
    int64_t rows = std::min(plan->band_rows, rows_of_a_grid(plan));
    plan->band_rows = gc_band_whole(problem, rows, plan->slabs);
    int64_t fewest = plan->slabs != nullptr ? plan->slabs[problem->chain.step_count - 1].rows : 1;
    if (plan->band_rows == 0)
        return gc_fail(error, GCONV_ERROR_MEMORY,
                       "not even %lld row%s in the %.1f MiB that may be taken of %s",
                       (long long)fewest, fewest > 1 ? "s fit" : " fits", bytes / (1 << 20),
                       plan->device.name);
    return GCONV_OK;
}

static gconv_status allocate(gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    int64_t rows = max_input_rows(plan);
    size_t plane_bytes =
        (size_t)(gc_device_pitch(problem->chain.width) * rows * problem->chain.channels) *
        sizeof(float);
    size_t scratch_bytes = 0;
    for (int s = 0; s < problem->chain.step_count; s++) {
        int64_t pitch =
            gc_device_pitch((int64_t)problem->chain.width + problem->chain.steps[s].width - 1);
        size_t bytes = (size_t)(pitch * rows * problem->chain.channels) * sizeof(float);
        scratch_bytes = std::max(scratch_bytes, bytes);
    }
    size_t row_bytes = gconv_shape_row_bytes(&problem->job.input);
    GC_CUDA_TRY(error, cudaMalloc(&plan->samples, (size_t)rows * row_bytes));
    GC_CUDA_TRY(error, cudaMalloc(&plan->planes[0], plane_bytes));
    GC_CUDA_TRY(error, cudaMalloc(&plan->planes[1], plane_bytes));
    GC_CUDA_TRY(error, cudaMalloc(&plan->scratch, scratch_bytes));
    size_t value_bytes = chain_row_values(problem) * sizeof(float);
    plan->piece_bytes =
        std::min(std::max((size_t)PIECE_BYTES, value_bytes), value_bytes * plan->band_rows);
    for (int i = 0; i < PIECES; i++) {
        GC_CUDA_TRY(error, cudaMallocHost(&plan->pieces[i], plan->piece_bytes));
        GC_CUDA_TRY(error, cudaEventCreateWithFlags(&plan->arrived[i], cudaEventDisableTiming));
    }
    return GCONV_OK;
}

/* Whether rows of samples lie on the device as kernels want them: without gaps, but whole lines. */
static bool samples_are_aligned(const gc_problem *problem)
{
    return gc_device_pitch(problem->chain.width) == (int64_t)problem->chain.width;
}

static gconv_status prepare_passes(gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    plan->pass_count = 0;
    for (int first = 0; first < problem->chain.step_count;) {
        gc_gpu_pass *pass = &plan->passes[plan->pass_count];
        int count = plan->method->pass_steps(problem, first, &plan->device);
        *pass = gc_gpu_pass_of(problem, first, count);
        GC_TRY(plan->method->prepare_pass(problem, &plan->device, pass,
                                          &plan->step_states[plan->pass_count], error));
        plan->pass_count++;
        first += count;
    }
    return GCONV_OK;
}

static gconv_status prepare_steps(gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    if (plan->method->run_pass != nullptr)
        return prepare_passes(plan, error);
    for (int s = 0; s < problem->chain.step_count; s++) {
        const gc_step *step = &problem->chain.steps[s];
        size_t bytes = (size_t)step->width * (size_t)step->height * sizeof(float);
        GC_CUDA_TRY(error, cudaMalloc(&plan->taps[s], bytes));
        GC_CUDA_TRY(error, cudaMemcpy(plan->taps[s], step->taps, bytes, cudaMemcpyHostToDevice));
        int64_t rows = max_input_rows(plan);
        GC_TRY(plan->method->prepare(problem, step, &plan->device, (int)rows, &plan->step_states[s],
                                     error));
    }
    return GCONV_OK;
}

/* Frees what allocate and prepare_steps took. What was never taken is null. */
static void free_memory(gpu_plan *plan)
{
    for (int s = 0; s < plan->problem->chain.step_count; s++) {
        if (plan->step_states[s] != nullptr)
            plan->method->release(plan->step_states[s]);
        plan->step_states[s] = nullptr;
        cudaFree(plan->taps[s]);
        plan->taps[s] = nullptr;
    }
    for (int i = 0; i < PIECES; i++) {
        cudaFreeHost(plan->pieces[i]);
        plan->pieces[i] = nullptr;
        if (plan->arrived[i] != nullptr)
            cudaEventDestroy(plan->arrived[i]);
        plan->arrived[i] = nullptr;
    }
    for (float **memory : {&plan->planes[0], &plan->planes[1], &plan->scratch}) {
        cudaFree(*memory);
        *memory = nullptr;
    }
    cudaFree(plan->samples);
    plan->samples = nullptr;
    cudaGetLastError();
}

static gconv_status synchronize_copies(gconv_error *error)
{
    GC_CUDA_TRY(error, cudaStreamSynchronize(nullptr));
    return GCONV_OK;
}

static gconv_status start(gpu_plan *plan, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaSetDevice(plan->device.index));
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&plan->stream, cudaStreamNonBlocking));
    GC_TRY(choose_band(plan, error));
    for (;;) {
        gconv_status status = allocate(plan, error);
        if (status == GCONV_OK)
            status = prepare_steps(plan, error);
        if (status == GCONV_OK) /* what was copied must be there for a stream that waits for none */
            status = synchronize_copies(error);
        int64_t fewer = gc_band_whole(plan->problem, plan->band_rows / 2, plan->slabs);
        if (status != GCONV_ERROR_MEMORY || fewer == 0)
            return status;
        /* Others may have taken what was free a moment ago. */
        free_memory(plan);
        plan->band_rows = fewer;
    }
}

static std::atomic<bool> started;

bool gc_gpu_started(void)
{
    return started;
}

static void *start_in_thread(void *opaque)
{
    gpu_plan *plan = (gpu_plan *)opaque;
    double compiled_before = gc_jit_seconds();
    plan->status = start(plan, &plan->error);
    plan->compile_seconds = gc_jit_seconds() - compiled_before;
    if (plan->status == GCONV_OK)
        started = true;
    return nullptr;
}

/* Makes a device current for the calling thread, and in the end again the one that was. */
struct current_device {
    int before;
    explicit current_device(int index)
    {
        if (cudaGetDevice(&before) != cudaSuccess)
            before = -1;
        cudaSetDevice(index);
        cudaGetLastError();
    }
    ~current_device()
    {
        if (before >= 0)
            cudaSetDevice(before);
    }
};

/* Waits for the start. */
static gconv_status await_start(gpu_plan *plan, gconv_error *error)
{
    if (plan->starting)
        pthread_join(plan->starter, nullptr);
    plan->starting = false;
    if (plan->status != GCONV_OK) {
        if (error != nullptr)
            *error = plan->error;
        return plan->status;
    }
    return GCONV_OK;
}

gconv_status gc_gpu_await(void *state, double *compile_seconds, gconv_error *error)
{
    gpu_plan *plan = (gpu_plan *)state;
    gconv_status status = await_start(plan, error);
    *compile_seconds = plan->compile_seconds;
    return status;
}

static void free_plan(gpu_plan *plan)
{
    free(plan->step_states);
    free(plan->passes);
    free(plan->steps);
    free(plan->slabs);
    free(plan->taps);
    free(plan);
}

void gc_gpu_release(void *state)
{
    gpu_plan *plan = (gpu_plan *)state;
    if (plan->starting)
        pthread_join(plan->starter, nullptr);
    current_device current(plan->device.index);
    if (plan->stream != nullptr)
        cudaStreamSynchronize(plan->stream);
    free_memory(plan);
    if (plan->stream != nullptr)
        cudaStreamDestroy(plan->stream);
    cudaGetLastError();
    free_plan(plan);
}

gconv_status gc_gpu_prepare(const gc_gpu_method &method, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error)
{
    size_t steps = (size_t)problem->chain.step_count;
    gpu_plan *plan = (gpu_plan *)calloc(1, sizeof *plan);
    if (plan == nullptr)
        return gc_fail_memory(error, sizeof *plan);
    plan->method = &method;
    plan->problem = problem;
    plan->device = *device;
    plan->finishes = gc_gpu_finish_of(problem, &plan->finish);
    plan->step_states = (void **)calloc(steps, sizeof *plan->step_states);
    plan->passes = (gc_gpu_pass *)calloc(steps, sizeof *plan->passes);
    plan->steps = (gc_band_step *)calloc(steps, sizeof *plan->steps);
    plan->taps = (float **)calloc(steps, sizeof *plan->taps);
    if (method.slabs != nullptr)
        plan->slabs = (gc_slabs *)calloc(steps, sizeof *plan->slabs);
    if (plan->step_states == nullptr || plan->passes == nullptr || plan->steps == nullptr ||
        plan->taps == nullptr || (method.slabs != nullptr && plan->slabs == nullptr)) {
        free_plan(plan);
        return gc_fail_memory(error, steps * sizeof *plan->steps);
    }
    for (size_t s = 0; plan->slabs != nullptr && s < steps; s++)
        plan->slabs[s] = method.slabs(problem, &problem->chain.steps[s]);
    plan->starting = pthread_create(&plan->starter, nullptr, start_in_thread, plan) == 0;
    if (!plan->starting)
        start_in_thread(plan);
    *state = plan;
    return GCONV_OK;
}

/* ---- A band ---------------------------------------------------------------------------------- */

/* Uploads rows `first` to `last` of the kept image; outside it, under wrap, they repeat. */
static gconv_status upload(gpu_plan *plan, const char *image, size_t stride, int64_t first,
                           int64_t last, gconv_error *error)
{
    int64_t height = plan->problem->chain.height;
    size_t row_bytes = gconv_shape_row_bytes(&plan->problem->job.input);
    char *to = plan->samples;
    for (int64_t y = first; y <= last;) {
        int64_t from = (y % height + height) % height;
        int64_t rows = std::min(last - y + 1, height - from);
        const char *source = image + (size_t)from * stride;
        if (stride == row_bytes) /* the other copy has a largest pitch */
            GC_CUDA_TRY(error, cudaMemcpyAsync(to, source, (size_t)rows * row_bytes,
                                               cudaMemcpyHostToDevice, plan->stream));
        else
            GC_CUDA_TRY(error,
                        cudaMemcpy2DAsync(to, row_bytes, source, stride, row_bytes, (size_t)rows,
                                          cudaMemcpyHostToDevice, plan->stream));
        to += (size_t)rows * row_bytes;
        y += rows;
    }
    return GCONV_OK;
}

/* The input of the first step: values of the uploaded samples. */
static gconv_status load(gpu_plan *plan, gconv_error *error)
{
    int64_t rows = plan->steps[0].input_last - plan->steps[0].input_first + 1;
    gc_gpu_planes planes = planes_of(plan, plan->planes[0], rows, plan->problem->chain.width);
    return gc_gpu_load(plan->problem, plan->samples, planes, plan->stream, error);
}

static gconv_status convolve_step(gpu_plan *plan, int s, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    const gc_step *step = &problem->chain.steps[s];
    const gc_band_step *band = &plan->steps[s];
    int64_t input_rows = band->input_last - band->input_first + 1;
    int64_t rows = band->output_last - band->output_first + 1;
    gc_gpu_planes input = planes_of(plan, plan->planes[s % 2], input_rows, problem->chain.width);
    gc_gpu_planes output = planes_of(plan, plan->planes[(s + 1) % 2], rows, problem->chain.width);
    gc_gpu_planes scratch = planes_of(plan, plan->scratch, rows + step->height - 1,
                                      (int64_t)problem->chain.width + step->width - 1);
    GC_TRY(gc_gpu_extend(problem, step, input, band->input_first, band->output_first, scratch,
                         plan->stream, error));
    gc_gpu_step work = {scratch.values,
                        scratch.pitch,
                        scratch.plane,
                        output.values,
                        output.pitch,
                        output.plane,
                        (int)problem->chain.width,
                        (int)rows,
                        output.channels,
                        plan->taps[s],
                        step->width,
                        step->height};
    return plan->method->convolve(plan->step_states[s], work, plan->stream, error);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* From row to row of an output that a pass stores, in samples, of bits in bytes: whole words of 16. */
static int64_t output_pitch(const gpu_plan *plan, gc_sample_type type)
{
    int64_t pitch = gc_device_pitch(plan->problem->chain.width);
    return type == GC_BIT ? (pitch + 127) / 128 * 16 : pitch;
}

/* Whether the last pass stores the output itself, so that rows lie as far apart as on the device. */
static bool last_pass_finishes(const gpu_plan *plan, bool chain_only)
{
    return plan->pass_count > 0 && !chain_only &&
           plan->passes[plan->pass_count - 1].output != GC_FLOAT;
}

static void set_input(const gpu_plan *plan, int p, gc_pass *pass)
{
    const gc_gpu_pass *what = &plan->passes[p];
    const gc_band_step *band = &plan->steps[what->first];
    gc_gpu_planes planes =
        planes_of(plan, plan->planes[p % 2], band->input_last - band->input_first + 1,
                  plan->problem->chain.width);
    pass->input_type = what->input;
    bool in_place = what->input != GC_FLOAT && samples_are_aligned(plan->problem);
    pass->input = in_place ? (const void *)plan->samples : planes.values;
    pass->input_pitch = planes.pitch;
    pass->input_plane = planes.plane;
    pass->input_first = (int)band->input_first;
    pass->input_rows = (int)planes.rows;
}

static void set_output(const gpu_plan *plan, int p, bool chain_only, gc_pass *pass)
{
    const gc_gpu_pass *what = &plan->passes[p];
    const gc_band_step *band = &plan->steps[what->first + what->count - 1];
    int64_t rows = band->output_last - band->output_first + 1;
    gc_gpu_planes planes =
        planes_of(plan, plan->planes[(p + 1) % 2], rows, plan->problem->chain.width);
    bool finishes = p + 1 == plan->pass_count && last_pass_finishes(plan, chain_only);
    pass->output_type = finishes ? what->output : GC_FLOAT;
    pass->output = finishes ? plan->scratch : planes.values;
    pass->output_pitch = output_pitch(plan, (gc_sample_type)pass->output_type);
    pass->output_plane = planes.plane;
    pass->output_first = (int)band->output_first;
    pass->rows = (int)rows;
}

static gconv_status run_passes(gpu_plan *plan, bool chain_only, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    for (int p = 0; p < plan->pass_count; p++) {
        gc_pass pass = {};
        pass.width = (int)problem->chain.width;
        pass.height = (int)problem->chain.height;
        pass.border = problem->job.border;
        const gc_gpu_pass *what = &plan->passes[p];
        for (int c = 0; c < problem->chain.channels; c++) {
            pass.constant[c] = problem->chain.steps[what->first].border[c];
            pass.between[c] = problem->chain.steps[what->first + what->count - 1].border[c];
        }
        pass.finish = plan->finish;
        set_input(plan, p, &pass);
        set_output(plan, p, chain_only, &pass);
        GC_TRY(plan->method->run_pass(plan->step_states[p], pass, problem->chain.channels,
                                      plan->stream, error));
    }
    return GCONV_OK;
}

/* ---- The chain ------------------------------------------------------------------------------- */

/* Rows of samples a pitch apart, where the first plane would be. */
static gconv_status align_samples(gpu_plan *plan, gconv_error *error)
{
    const gc_band_step *band = &plan->steps[0];
    size_t bytes = gconv_shape_row_bytes(&plan->problem->job.input);
    size_t pitch =
        (size_t)gc_device_pitch(plan->problem->chain.width) * (plan->problem->job.input.depth / 8);
    GC_CUDA_TRY(error, cudaMemcpy2DAsync(plan->planes[0], pitch, plan->samples, bytes, bytes,
                                         (size_t)(band->input_last - band->input_first + 1),
                                         cudaMemcpyDeviceToDevice, plan->stream));
    return GCONV_OK;
}

/* The chain's input: values of the uploaded samples, unless a pass reads those. */
static gconv_status begin_chain(gpu_plan *plan, gconv_error *error)
{
    if (plan->pass_count == 0 || plan->passes[0].input == GC_FLOAT)
        return load(plan, error);
    return samples_are_aligned(plan->problem) ? GCONV_OK : align_samples(plan, error);
}

static gconv_status run_chain(gpu_plan *plan, bool chain_only, gconv_error *error)
{
    if (plan->pass_count > 0)
        return run_passes(plan, chain_only, error);
    for (int s = 0; s < plan->problem->chain.step_count; s++)
        GC_TRY(convolve_step(plan, s, error));
    return GCONV_OK;
}

/* Rows as they come down from plan->scratch. */
struct result_rows {
    int64_t rows;
    size_t bytes, pitch; /* of a row, from row to row */
    bool is_chain;       /* chain values, for the CPU to convert */
};

/* Puts the chain's result into plan->scratch as it is wanted. */
static gconv_status end_chain(gpu_plan *plan, bool chain_only, int64_t rows, result_rows *result,
                              gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    int turns = plan->pass_count > 0 ? plan->pass_count : problem->chain.step_count;
    gc_gpu_planes values = planes_of(plan, plan->planes[turns % 2], rows, problem->chain.width);
    bool finishes = plan->finishes && !chain_only;
    *result = {rows, chain_row_values(problem) * sizeof(float), 0, !finishes};
    if (finishes)
        result->bytes = gconv_shape_row_bytes(&problem->conversion.output);
    result->pitch = result->bytes;
    if (last_pass_finishes(plan, chain_only)) {
        gc_sample_type type = gc_finish_type(problem);
        result->pitch = (size_t)output_pitch(plan, type) * (type == GC_SHORT ? 2 : 1);
        return GCONV_OK;
    }
    if (finishes)
        return gc_gpu_store(plan->finish, gc_finish_type(problem), values, plan->scratch,
                            plan->stream, error);
    return gc_gpu_interleave(values, plan->scratch, plan->stream, error);
}

static gconv_status begin_piece(gpu_plan *plan, const result_rows &result, int64_t first,
                                int64_t rows, int which, gconv_error *error)
{
    const char *from = (const char *)plan->scratch + (size_t)first * result.pitch;
    if (result.pitch == result.bytes) /* the other copy has a largest pitch */
        GC_CUDA_TRY(error, cudaMemcpyAsync(plan->pieces[which], from, (size_t)rows * result.bytes,
                                           cudaMemcpyDeviceToHost, plan->stream));
    else
        GC_CUDA_TRY(error, cudaMemcpy2DAsync(plan->pieces[which], result.bytes, from, result.pitch,
                                             result.bytes, (size_t)rows, cudaMemcpyDeviceToHost,
                                             plan->stream));
    GC_CUDA_TRY(error, cudaEventRecord(plan->arrived[which], plan->stream));
    return GCONV_OK;
}

static gconv_status write_piece(gc_stream *stream, const result_rows &result, int64_t rows,
                                const char *piece, gconv_error *error)
{
    if (!result.is_chain)
        return gc_stream_write(stream, (uint32_t)rows, piece, result.bytes, error);
    return gc_stream_write_chain(stream, (uint32_t)rows, (const float *)piece,
                                 result.bytes / sizeof(float), error);
}

/* Rows come down piece by piece; one is written while the next arrives. */
static gconv_status download(gpu_plan *plan, gc_stream *stream, const result_rows &result,
                             gconv_error *error)
{
    int64_t piece_rows = (int64_t)(plan->piece_bytes / result.bytes);
    int64_t pieces = (result.rows + piece_rows - 1) / piece_rows;
    for (int64_t piece = 0; piece <= pieces; piece++) {
        int64_t first = piece * piece_rows;
        if (piece < pieces)
            GC_TRY(begin_piece(plan, result, first, std::min(piece_rows, result.rows - first),
                               (int)(piece % PIECES), error));
        if (piece == 0)
            continue;
        int before = (int)((piece - 1) % PIECES);
        int64_t count = std::min(piece_rows, result.rows - (first - piece_rows));
        double begin = gc_seconds();
        GC_CUDA_TRY(error, cudaEventSynchronize(plan->arrived[before]));
        stream->timings.download += gc_seconds() - begin;
        GC_TRY(write_piece(stream, result, count, plan->pieces[before], error));
    }
    return GCONV_OK;
}

static gconv_status run_band(gpu_plan *plan, gc_stream *stream, int64_t first, int64_t last,
                             gconv_error *error)
{
    gc_band_steps(plan->problem, first, last, plan->slabs, plan->steps);
    double begin = gc_seconds();
    GC_TRY(upload(plan, stream->kept, stream->input_bytes, plan->steps[0].input_first,
                  plan->steps[0].input_last, error));
    GC_CUDA_TRY(error, cudaStreamSynchronize(plan->stream));
    double uploaded = gc_seconds();
    result_rows result;
    GC_TRY(begin_chain(plan, error));
    GC_TRY(run_chain(plan, stream->chain_only, error));
    GC_TRY(end_chain(plan, stream->chain_only, last - first + 1, &result, error));
    GC_CUDA_TRY(error, cudaStreamSynchronize(plan->stream));
    stream->timings.upload += uploaded - begin;
    stream->timings.compute += gc_seconds() - uploaded;
    return download(plan, stream, result, error);
}

gconv_status gc_gpu_run(void *state, gc_stream *stream, gconv_error *error)
{
    gpu_plan *plan = (gpu_plan *)state;
    GC_TRY(gc_stream_keep(stream, error));
    GC_TRY(await_start(plan, error));
    current_device current(plan->device.index);
    int64_t height = plan->problem->chain.height;
    for (int64_t first = 0; first < height; first += plan->band_rows)
        GC_TRY(run_band(plan, stream, first, std::min(first + plan->band_rows, height) - 1, error));
    return GCONV_OK;
}

/* ---- Timing ---------------------------------------------------------------------------------- */

enum { TIMES_MIN = 5, TIMES_MAX = 1000 };

/* What one measurement holds, freed in one place. */
struct stopwatch {
    cudaEvent_t begin, end;
    char *flush; /* device: larger than the second-level cache */
    size_t flush_bytes;
};

static gconv_status time_once(gpu_plan *plan, const stopwatch *watch, float *milliseconds,
                              gconv_error *error)
{
    GC_TRY(begin_chain(plan, error));
    GC_CUDA_TRY(error, cudaMemsetAsync(watch->flush, 1, watch->flush_bytes, plan->stream));
    GC_CUDA_TRY(error, cudaEventRecord(watch->begin, plan->stream));
    GC_TRY(run_chain(plan, false, error));
    GC_CUDA_TRY(error, cudaEventRecord(watch->end, plan->stream));
    GC_CUDA_TRY(error, cudaEventSynchronize(watch->end));
    GC_CUDA_TRY(error, cudaEventElapsedTime(milliseconds, watch->begin, watch->end));
    return GCONV_OK;
}

static gconv_status time_many(gpu_plan *plan, stopwatch *watch, double seconds, double *median,
                              gconv_error *error)
{
    float times[TIMES_MAX];
    int count = 0;
    watch->flush_bytes = (size_t)std::max<uint64_t>(2 * plan->device.l2_bytes, 64 << 20);
    GC_CUDA_TRY(error, cudaEventCreate(&watch->begin));
    GC_CUDA_TRY(error, cudaEventCreate(&watch->end));
    GC_CUDA_TRY(error, cudaMalloc(&watch->flush, watch->flush_bytes));
    double begin = gc_seconds();
    for (int run = -2; run < TIMES_MAX; run++) {
        if (run >= TIMES_MIN && gc_seconds() - begin > seconds)
            break;
        float milliseconds;
        GC_TRY(time_once(plan, watch, &milliseconds, error));
        if (run >= 0)
            times[count++] = milliseconds;
    }
    std::sort(times, times + count);
    *median = 1e-3 * (double)(times[count / 2] + times[(count - 1) / 2]) / 2;
    return GCONV_OK;
}

gconv_status gc_gpu_time(void *state, const void *input, size_t stride, double seconds,
                         double *median, gconv_error *error)
{
    gpu_plan *plan = (gpu_plan *)state;
    GC_TRY(await_start(plan, error));
    current_device current(plan->device.index);
    int64_t height = plan->problem->chain.height;
    if (plan->band_rows < height)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "the image does not fit in the device's memory at once");
    gc_band_steps(plan->problem, 0, height - 1, plan->slabs, plan->steps);
    GC_TRY(upload(plan, (const char *)input, stride, plan->steps[0].input_first,
                  plan->steps[0].input_last, error));
    stopwatch watch = {};
    gconv_status status = time_many(plan, &watch, seconds, median, error);
    cudaFree(watch.flush);
    if (watch.end != nullptr)
        cudaEventDestroy(watch.end);
    if (watch.begin != nullptr)
        cudaEventDestroy(watch.begin);
    return status;
}

/* ---- What the registry asks of a plan ------------------------------------------------------------ */

/* Operations of all steps over bytes of all steps. */
double gc_gpu_intensity(void *state)
{
    gpu_plan *plan = (gpu_plan *)state;
    if (await_start(plan, nullptr) != GCONV_OK)
        return 0;
    double operations = 0, bytes = 0;
    for (int s = 0; s < plan->problem->chain.step_count; s++) {
        const gc_step *step = &plan->problem->chain.steps[s];
        double products = 2.0 * step->width * step->height;
        operations += products;
        bytes += products / plan->method->intensity(plan->step_states[s], step);
    }
    return operations / bytes;
}

void gc_gpu_describe(void *state, char *text, size_t size)
{
    gpu_plan *plan = (gpu_plan *)state;
    text[0] = '\0';
    if (await_start(plan, nullptr) != GCONV_OK || plan->method->describe == nullptr)
        return;
    size_t used = 0;
    int turns = plan->pass_count > 0 ? plan->pass_count : plan->problem->chain.step_count;
    for (int i = 0; i < turns && used + 1 < size; i++) {
        int s = plan->pass_count > 0 ? plan->passes[i].first : i;
        const gc_step *step = &plan->problem->chain.steps[s];
        char line[160];
        plan->method->describe(plan->step_states[i], line, sizeof line);
        int length = snprintf(text + used, size - used, "step %d (%dx%d): %s\n", s + 1, step->width,
                              step->height, line);
        used += length > 0 ? (size_t)length : 0;
    }
}
