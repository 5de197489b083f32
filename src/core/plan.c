#include "core/plan.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/processors.h"
#include "base/sized.h"
#include "base/status.h"
#include "core/conversion.h"
#include "core/file_time.h"
#include "core/gpu.h"
#include "core/job.h"
#include "core/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Threads of the CPU ---------------------------------------------------------------------- */

/* Multiply-adds from which a second thread pays, for an image that goes from file to file.
 * Measured: edges of 1024x1024 pixels (40 million) take as long on two threads as on one. */
static const double work_for_threads = 5e7;

/* Seconds of decoding a PNG from which more threads pay for small images too: one inflates, another
 * one makes rows, a third computes. Measured for RGB: 512x512 pixels take 5.5 ms on two threads and
 * 7.0 ms on one; 256x256 take as long on two as on one. */
static const double decoding_for_threads = 2e-3;
enum { DECODING_THREADS = 3 };

/* The value of job.threads while an implementation is chosen, and for the plan of an image alone. 0
 * means all processors that affinity and quota allow. */
static int threads_alone(const gc_problem *problem)
{
    const gconv_job *job = &problem->job;
    const gconv_shape *shape = &job->input;
    if (job->threads > 0 || !job->between_files || gc_counts_throughput(problem))
        return job->threads;
    double work = gc_chain_work(&problem->chain) * shape->width * shape->height * shape->channels;
    if (work >= work_for_threads)
        return gc_processor_count();
    bool divides = job->source_format == GCONV_FORMAT_PNG &&
                   gc_decode_seconds(problem) >= decoding_for_threads;
    return divides ? (int)gc_smaller(gc_processor_count(), DECODING_THREADS) : 1;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* Chooses as for an image alone. A plan on the CPU then gets its share of the threads. */
static gconv_status choose(gconv_plan *plan, gc_choice *choice, gconv_error *error)
{
    gc_problem *problem = &plan->problem;
    int threads = problem->job.threads;
    problem->job.threads = threads_alone(problem);
    gconv_status status = gc_choose(problem, plan->failed, choice, error);
    if (status != GCONV_OK || choice->implementation->kind != GCONV_DEVICE_CPU)
        return status;
    if (problem->job.images_at_once > 1) { /* which share the threads */
        int share = gc_thread_count(threads) / problem->job.images_at_once;
        problem->job.threads = share > 1 ? share : 1;
    }
    return GCONV_OK;
}

/* Makes the problem of a job. The thread block and the tiling factor of a name take precedence over
 * those of the job. */
static gconv_status make_problem(gconv_job *job, gc_problem *problem, gconv_error *error)
{
    gc_named named;
    bool is_named = gc_implementation_read(job->implementation, &named);
    if (is_named)
        job->implementation = named.implementation->name;
    gconv_status status = gc_problem_create(job, problem, error);
    if (is_named && named.block_width > 0) {
        problem->tiling.block_width = named.block_width;
        problem->tiling.block_height = named.block_height;
    }
    if (is_named && named.tile > 0)
        problem->tiling.tile = named.tile;
    return status;
}

/* Makes the problem of a job and chooses the implementation and its device. */
static gconv_status make_choice(const gconv_job *job, gconv_plan *plan, gconv_error *error)
{
    gconv_job owned;
    GC_TRY(gc_job_read(job, &owned, error));
    plan->implementation_name =
        gc_copy_string(owned.implementation ? owned.implementation : "auto");
    plan->device_name = gc_copy_string(owned.device ? owned.device : "auto");
    GC_TRY_MEMORY(plan->implementation_name != NULL && plan->device_name != NULL, error,
                  sizeof *plan);
    owned.implementation = plan->implementation_name;
    owned.device = plan->device_name;
    GC_TRY(make_problem(&owned, &plan->problem, error));
    return choose(plan, &plan->choice, error);
}

bool gconv_device_foresee(const gconv_job *job)
{
    gconv_job named;
    gc_problem problem;
    gconv_error error;
    if (gc_job_read(job, &named, &error) != GCONV_OK ||
        make_problem(&named, &problem, &error) != GCONV_OK)
        return false;
    problem.job.threads = threads_alone(&problem);
    bool waits = gc_foresee(&problem);
    gc_problem_destroy(&problem);
    return waits;
}

gconv_status gconv_job_check(const gconv_job *job, gconv_error *error)
{
    gconv_plan *plan = calloc(1, sizeof *plan);
    GC_TRY_MEMORY(plan != NULL, error, sizeof *plan);
    gconv_status status = make_choice(job, plan, error);
    gconv_plan_free(plan);
    return status;
}

gconv_status gconv_plan_create(const gconv_job *job, gconv_plan **plan, gconv_error *error)
{
    *plan = NULL;
    gconv_plan *created = calloc(1, sizeof *created);
    GC_TRY_MEMORY(created != NULL, error, sizeof *created);
    gconv_status status = make_choice(job, created, error);
    GC_THEN(status, created->choice.implementation->operations->prepare(
                        &created->problem, &created->choice.device, &created->state, error));
    if (status == GCONV_OK)
        *plan = created;
    else
        gconv_plan_free(created);
    return status;
}

static void release_state(gconv_plan *plan)
{
    const gc_implementation *from = plan->choice.implementation;
    if (plan->state != NULL && from->operations->release != NULL)
        from->operations->release(plan->state);
}

void gconv_plan_free(gconv_plan *plan)
{
    if (plan == NULL)
        return;
    release_state(plan);
    gc_problem_destroy(&plan->problem);
    gc_choice_destroy(&plan->choice);
    free(plan->description);
    free(plan->implementation_name);
    free(plan->device_name);
    free(plan);
}

const char *gconv_plan_implementation(const gconv_plan *plan)
{
    return plan->choice.implementation->name;
}

const gconv_device_info *gconv_plan_device(const gconv_plan *plan)
{
    return &plan->choice.device;
}

double gconv_plan_expected_seconds(const gconv_plan *plan)
{
    return plan->choice.implementation->operations->cost(&plan->problem, &plan->choice.device);
}

const gconv_shape *gconv_plan_output_shape(const gconv_plan *plan)
{
    return &plan->problem.conversion.output;
}

const char *gconv_plan_explanation(gconv_plan *plan)
{
    enum { DETAIL_BYTES = 4096 };
    const char *chosen = plan->choice.explanation != NULL ? plan->choice.explanation : "";
    const gc_operations *operations = plan->choice.implementation->operations;
    if (plan->description == NULL && operations->describe != NULL) {
        plan->description = malloc(strlen(chosen) + DETAIL_BYTES);
        if (plan->description == NULL)
            return chosen;
        strcpy(plan->description, chosen);
        operations->describe(plan->state, plan->description + strlen(chosen), DETAIL_BYTES);
    }
    return plan->description != NULL ? plan->description : chosen;
}

const char *gconv_plan_fallback(const gconv_plan *plan)
{
    return plan->fallback.status == GCONV_OK ? "" : plan->fallback.message;
}

bool gconv_plan_is_outdated(const gconv_plan *plan)
{
    const gconv_device_info *device = &plan->choice.device;
    if (device->kind == GCONV_DEVICE_CUDA)
        return gc_device_is_dropped(device->index);
    return plan->choice.for_now && gc_gpu_ready();
}

bool gconv_plan_is_exact(const gconv_plan *plan)
{
    return plan->problem.chain.exact;
}

gconv_promise gconv_plan_promise(const gconv_plan *plan)
{
    return gc_promise_of(&plan->problem, plan->choice.implementation, &plan->choice.device);
}

int gconv_plan_chain_channels(const gconv_plan *plan)
{
    return plan->problem.chain.channels;
}

/* ---- Running --------------------------------------------------------------------------------- */

void gconv_plan_watch(gconv_plan *plan, gconv_progress_function *function, void *user)
{
    plan->watch = (gc_watch){function, user};
}

void gconv_plan_on_wait(gconv_plan *plan, gconv_wait_function *function, void *user)
{
    plan->waiter = (gc_waiter){function, user};
}

static void add_timings(gconv_timings *sum, const gconv_timings *part, double total)
{
    sum->decode += part->decode;
    sum->upload += part->upload;
    sum->download += part->download;
    sum->encode += part->encode;
    sum->compute += part->compute;
    sum->total += total;
}

/* Whether `status` means that the plan's GPU has failed, so that another device may take over. */
static bool gpu_failed(const gconv_plan *plan, gconv_status status)
{
    /* A device may refuse the job as late as when its kernels are compiled. */
    bool failed = status == GCONV_ERROR_DEVICE || status == GCONV_ERROR_MEMORY ||
                  status == GCONV_ERROR_UNSUPPORTED;
    return failed && plan->choice.implementation->kind != GCONV_DEVICE_CPU;
}

/* Notes which devices cannot compute the plan after this failure. */
static void note_failure(gconv_plan *plan, const gconv_error *failure)
{
    const gconv_device_info *device = &plan->choice.device;
    gc_device_set all = ~(gc_device_set)0;
    plan->failed |= gc_device_alone(device->index);
    if (failure->status == GCONV_ERROR_UNSUPPORTED)
        plan->failed |= gc_devices_like(device, all);
    if (failure->status == GCONV_ERROR_DEVICE)
        gc_device_judge(device->index, failure);
}

/* Replaces the device that failed by another one that the job allows, for this run and later ones.
 * On failure the plan stays as it is. */
static gconv_status take_over(gconv_plan *plan, const gconv_error *failure)
{
    gc_choice next;
    void *state = NULL;
    GC_TRY(choose(plan, &next, NULL));
    gconv_status status =
        next.implementation->operations->prepare(&plan->problem, &next.device, &state, NULL);
    if (status != GCONV_OK) {
        gc_choice_destroy(&next);
        return status;
    }
    release_state(plan);
    gc_choice_leave_device(&plan->choice);
    char device[32] = "";
    if (next.device.kind == GCONV_DEVICE_CUDA)
        snprintf(device, sizeof device, " on cuda:%d", next.device.index);
    gc_explain(&plan->choice.explanation, "%s%s took over: %s", next.implementation->name, device,
               failure->message);
    free(next.explanation);
    next.explanation = plan->choice.explanation;
    plan->choice = next;
    plan->state = state;
    plan->fallback = *failure;
    free(plan->description);
    plan->description = NULL;
    return GCONV_OK;
}

static gconv_status await(gconv_plan *plan, double *compile_seconds, gconv_error *error)
{
    const gc_operations *operations = plan->choice.implementation->operations;
    return operations->await != NULL ? operations->await(plan->state, compile_seconds, error)
                                     : GCONV_OK;
}

gconv_status gconv_plan_prepare(gconv_plan *plan, double *compile_seconds, gconv_error *error)
{
    double seconds = 0;
    gconv_error failure;
    gconv_status status = await(plan, &seconds, &failure);
    while (gpu_failed(plan, status)) {
        note_failure(plan, &failure);
        if (take_over(plan, &failure) != GCONV_OK)
            break;
        status = await(plan, &seconds, &failure);
    }
    if (compile_seconds != NULL)
        *compile_seconds = seconds;
    if (status != GCONV_OK && error != NULL)
        *error = failure;
    return status;
}

/* Runs the plan again, on the rows that the failed run has kept, else on those of the source. */
static gconv_status run_again(gconv_plan *plan, gc_stream *stream, gconv_error *error)
{
    gc_memory_source kept = {
        .next = stream->kept, .row_bytes = stream->input_bytes, .stride = stream->input_bytes};
    if (stream->kept != NULL) {
        stream->source = gc_source_of_memory(&kept);
        free(stream->own.colours);
        stream->own.colours = NULL; /* the rows are grey already */
    }
    stream->rows_read = 0;
    return plan->choice.implementation->operations->run(plan->state, stream, error);
}

/* Whether a failed run can begin again: it has written nothing, and has kept its input or not read
 * any. */
static bool may_run_again(const gc_stream *stream)
{
    return (stream->kept != NULL || !stream->own.asked) && stream->rows_written == 0;
}

static gconv_status run_stream(gconv_plan *plan, gc_stream *stream, gconv_error *error)
{
    gconv_status status = plan->choice.implementation->operations->run(plan->state, stream, error);
    while (gpu_failed(plan, status)) {
        note_failure(plan, error);
        if (!may_run_again(stream) || take_over(plan, error) != GCONV_OK)
            break;
        status = run_again(plan, stream, error);
    }
    return status;
}

/* Runs rows [first, end) of the output. If source and sink are memory, `from` and `to` describe
 * them; else they are NULL. A watched run goes through source and sink all the same, so that the
 * watch is told of each row. */
static gconv_status run_rows(gconv_plan *plan, uint32_t first, uint32_t end,
                             const gconv_source *source, const gconv_sink *sink,
                             const gc_memory_source *from, const gc_memory_sink *to,
                             bool chain_only, gconv_timings *timings, gconv_error *error)
{
    double start = gc_seconds();
    gc_stream stream;
    gconv_timings sum = gconv_timings_default();
    gconv_error failure = {.status = GCONV_OK};
    if (timings != NULL)
        GC_TRY(gc_sized_read(timings, "gconv_timings", &sum, sizeof sum, error));
    gconv_status status =
        gc_stream_open(&stream, &plan->problem, source, sink, chain_only, &failure);
    stream.timed = timings != NULL;
    stream.own.watch = plan->watch;
    stream.own.waiter = plan->waiter;
    stream.chain_too = plan->chain_too;
    stream.chain_too_stride = plan->chain_too_stride;
    stream.first = stream.rows_written = first;
    stream.end = end;
    if (status == GCONV_OK && from != NULL && to != NULL && plan->watch.function == NULL &&
        gc_rows_are_aligned(from->next, from->stride, plan->problem.conversion.input.depth) &&
        gc_rows_are_aligned(to->next, to->stride,
                            chain_only ? 32 : plan->problem.conversion.output.depth))
        gc_stream_use_memory(&stream, from, to);
    GC_THEN(status, run_stream(plan, &stream, &failure));
    if (status != GCONV_OK && error != NULL)
        *error = failure;
    if (timings != NULL) {
        add_timings(&sum, &stream.timings, gc_seconds() - start);
        gc_sized_fill(timings, "gconv_timings", &sum, sizeof sum, NULL);
    }
    gc_stream_close(&stream);
    return status;
}

gconv_status gconv_plan_run(gconv_plan *plan, const gconv_source *source, const gconv_sink *sink,
                            gconv_timings *timings, gconv_error *error)
{
    return run_rows(plan, 0, plan->problem.chain.height, source, sink, NULL, NULL, false, timings,
                    error);
}

gconv_status gconv_plan_run_rows(gconv_plan *plan, uint32_t first, uint32_t count,
                                 const gconv_source *source, const gconv_sink *sink,
                                 gconv_timings *timings, gconv_error *error)
{
    uint32_t height = plan->problem.chain.height;
    if (count == 0 || first >= height || count > height - first)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "%lu rows from row %lu on are not in the image, which has %lu rows",
                       (unsigned long)count, (unsigned long)first, (unsigned long)height);
    if (plan->choice.implementation->kind != GCONV_DEVICE_CPU)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "'%s' runs on a GPU and computes whole images",
                       plan->choice.implementation->name);
    if (gc_detects_canny(&plan->problem.detector))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a line of Canny may begin anywhere in the image: its rows cannot be "
                       "computed alone");
    return run_rows(plan, first, first + count, source, sink, NULL, NULL, false, timings, error);
}

/* Checks the caller's memory and says how the images in it lie. */
static gconv_status check_memory(const gc_memory_source *from, const gc_memory_sink *to,
                                 uint32_t height, gc_overlap *overlap, gconv_error *error)
{
    if (from->next == NULL || to->next == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the input or output is a null pointer");
    if (from->stride < from->row_bytes || to->stride < to->row_bytes)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "input stride %zu or output stride %zu: at least %zu and %zu are possible",
                       from->stride, to->stride, from->row_bytes, to->row_bytes);
    *overlap = gc_rows_overlap(from, to, height);
    if (*overlap == GC_OVERLAP_BELOW)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "an output row overlaps an input row below it: give the output the address "
                       "and stride of the input, or memory of its own");
    return GCONV_OK;
}

static gconv_status run_memory(gconv_plan *plan, const void *input, size_t input_stride,
                               void *output, size_t output_stride, bool chain_only,
                               gconv_timings *timings, gconv_error *error)
{
    const gc_problem *problem = &plan->problem;
    uint32_t height = problem->chain.height;
    gc_memory_source from = {
        .next = input, .row_bytes = gconv_shape_row_bytes(&problem->given), .stride = input_stride};
    gc_memory_sink to = {.next = output, .stride = output_stride};
    to.row_bytes = chain_only ? gc_chain_row_values(&problem->chain) * sizeof(float)
                              : gconv_shape_row_bytes(&problem->conversion.output);
    gc_overlap overlap;
    GC_TRY(check_memory(&from, &to, height, &overlap, error));
    gconv_source source = gc_source_of_memory(&from);
    gconv_sink sink = gc_sink_of_memory(&to);
    bool by_rows = overlap != GC_OVERLAP_NONE || problem->to_grey;
    return run_rows(plan, 0, height, &source, &sink, by_rows ? NULL : &from, &to, chain_only,
                    timings, error);
}

gconv_status gconv_plan_run_memory(gconv_plan *plan, const void *input, size_t input_stride,
                                   void *output, size_t output_stride, gconv_timings *timings,
                                   gconv_error *error)
{
    return run_memory(plan, input, input_stride, output, output_stride, false, timings, error);
}

gconv_status gconv_plan_run_chain(gconv_plan *plan, const void *input, size_t input_stride,
                                  float *chain, size_t chain_stride, gconv_timings *timings,
                                  gconv_error *error)
{
    return run_memory(plan, input, input_stride, chain, chain_stride, true, timings, error);
}

gconv_status gconv_plan_run_reference(gconv_plan *plan, const void *input, size_t input_stride,
                                      const gconv_expectation *expected, gconv_error *error)
{
    if (strcmp(plan->choice.implementation->name, "reference") != 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'%s' is not the reference",
                       plan->choice.implementation->name);
    if (expected->chain == NULL ||
        expected->chain_stride < gc_chain_row_values(&plan->problem.chain) * sizeof(float))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "no memory for chain values, or less than a row of it");
    plan->chain_too = (char *)expected->chain;
    plan->chain_too_stride = expected->chain_stride;
    gconv_status status = gconv_plan_run_memory(plan, input, input_stride, expected->output,
                                                expected->output_stride, NULL, error);
    plan->chain_too = NULL;
    return status;
}

gconv_status gconv_plan_run_device(gconv_plan *plan, const void *input, size_t input_stride,
                                   void *output, size_t output_stride, void *stream,
                                   gconv_error *error)
{
    const gc_implementation *implementation = plan->choice.implementation;
    const gc_conversion *conversion = &plan->problem.conversion;
    gconv_error failure;
    if (implementation->operations->run_device == NULL)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'%s' runs on no device with its own memory",
                       implementation->name);
    if (plan->problem.to_grey)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "edges of %d channels in memory of a GPU: 1 is possible",
                       plan->problem.given.channels);
    gc_memory_source from = {.next = input,
                             .row_bytes = gconv_shape_row_bytes(&conversion->input),
                             .stride = input_stride};
    gc_memory_sink to = {.next = output,
                         .row_bytes = gconv_shape_row_bytes(&conversion->output),
                         .stride = output_stride};
    gc_overlap overlap;
    GC_TRY(check_memory(&from, &to, conversion->output.height, &overlap, error));
    gconv_status status = implementation->operations->run_device(
        plan->state, input, input_stride, output, output_stride, stream, &failure);
    if (status == GCONV_ERROR_DEVICE)
        gc_device_judge(plan->choice.device.index, &failure);
    if (status != GCONV_OK && error != NULL)
        *error = failure;
    return status;
}

/* ---- Timing ---------------------------------------------------------------------------------- */

gconv_status gconv_plan_time_device_parts(gconv_plan *plan, const void *input, size_t input_stride,
                                          double seconds, gconv_device_times *times,
                                          gconv_error *error)
{
    memset(times, 0, sizeof *times);
    const gc_implementation *implementation = plan->choice.implementation;
    if (implementation->operations->time == NULL)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "'%s' runs on no device with transfers",
                       implementation->name);
    return implementation->operations->time(plan->state, input, input_stride, seconds, times,
                                            error);
}

double gconv_plan_intensity(gconv_plan *plan)
{
    const gc_operations *operations = plan->choice.implementation->operations;
    return operations->intensity != NULL ? operations->intensity(plan->state) : 0;
}

int gconv_plan_tiling_factor(gconv_plan *plan)
{
    const gc_operations *operations = plan->choice.implementation->operations;
    return operations->tiling_factor != NULL ? operations->tiling_factor(plan->state) : 0;
}
