/* A run in a caller's stream, from the device's memory to the device's memory. It enqueues work and
 * does not wait for that. Samples are read and output is stored in the caller's memory, if kernels
 * can do so; else they are copied on the device. The plan has buffers of its own for such runs,
 * because a slot would be given back before the work is done. */
#include "gpu/device/check.cuh"
#include "gpu/plan/plan.cuh"

#include <cmath>

/* Kernels read and store words of so many bytes. */
enum { WORD = 16 };

/* The mark of a plan's latest run in a caller's stream. */
enum { MARK_DONE = GC_MARK_ARRIVED };

struct device_run {
    gc_gpu_plan *plan;
    const char *input;
    size_t input_stride; /* bytes, here and below */
    char *output;
    size_t output_stride;
    gc_plan_result result;
    bool reads_input, stores_output; /* in place */
};

/* ---- Order ----------------------------------------------------------------------------------- */

gconv_status gc_plan_await_device_run(gc_gpu_plan *plan, gconv_error *error)
{
    if (plan->own != nullptr)
        GC_CUDA_TRY(error, cudaStreamWaitEvent(plan->work.stream, plan->own->marks[MARK_DONE], 0));
    return GCONV_OK;
}

void gc_plan_end_device_runs(gc_gpu_plan *plan)
{
    if (plan->own == nullptr)
        return;
    cudaEventSynchronize(plan->own->marks[MARK_DONE]);
    gc_slot_destroy(plan->own);
    plan->own = nullptr;
}

/* ---- The caller's memory --------------------------------------------------------------------- */

static gconv_status check_pointer(const gc_gpu_plan *plan, const void *memory, const char *name,
                                  gconv_error *error)
{
    cudaPointerAttributes found = {};
    bool known = cudaPointerGetAttributes(&found, memory) == cudaSuccess;
    cudaGetLastError();
    if (known && (found.type == cudaMemoryTypeManaged ||
                  (found.type == cudaMemoryTypeDevice && found.device == plan->device.index)))
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "the %s is not memory of cuda:%d", name,
                   plan->device.index);
}

static bool is_multiple(const void *memory, size_t stride, size_t unit)
{
    return ((uintptr_t)memory | stride) % unit == 0;
}

/* Whether the plan can begin with the caller's samples as they lie. It copies rows that are no
 * whole lines by itself. A border that wraps needs rows before the first and behind the last. */
static bool can_read_input(const device_run *run)
{
    const gc_gpu_plan *plan = run->plan;
    const gconv_shape *shape = &plan->problem->job.input;
    size_t sample = (size_t)shape->depth / 8;
    if (plan->work.steps[0].input_first < 0 ||
        plan->work.steps[0].input_last >= (int64_t)shape->height)
        return false;
    if (plan->by_steps || plan->sections[0].scope.input == GC_FLOAT)
        return is_multiple(run->input, run->input_stride, sample) &&
               run->input_stride == gconv_shape_row_bytes(shape);
    if (!gc_plan_has_whole_rows(plan))
        return is_multiple(run->input, run->input_stride, sample);
    return is_multiple(run->input, run->input_stride, WORD) &&
           run->input_stride % (sample * (size_t)gc_device_pitch(1)) == 0;
}

/* The input is copied before the first row of the output is stored, unless the plan reads it in
 * place. */
static bool images_overlap(const device_run *run)
{
    const gc_memory_source from = {run->input, gconv_shape_row_bytes(&run->plan->problem->given),
                                   run->input_stride, 0};
    const gc_memory_sink to = {run->output, run->result.bytes, run->output_stride, 0};
    return gc_rows_overlap(&from, &to, (uint32_t)run->result.rows) != GC_OVERLAP_NONE;
}

/* Whether the result has the caller's rows, which kernels fill to the end. */
static bool can_store_output(const device_run *run)
{
    return run->output_stride == run->result.bytes && run->output_stride == run->result.pitch &&
           is_multiple(run->output, 0, WORD);
}

/* ---- Running --------------------------------------------------------------------------------- */

static gconv_status make_own(gc_gpu_plan *plan, gconv_error *error)
{
    gc_slot *own;
    GC_TRY(gc_make(&own, &own, error));
    own->device = plan->device.index;
    cudaError_t code = cudaEventCreateWithFlags(&own->marks[MARK_DONE], cudaEventDisableTiming);
    if (code == cudaSuccess)
        plan->own = own;
    else
        gc_free<gc_slot>(own);
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}

/* Buffers that are too small are freed: the run that uses them must be done. */
static gconv_status reserve(device_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    size_t sizes[GC_BUFFERS] = {};
    bool grows = false;
    gc_plan_buffer_sizes(plan, false, run->result.rows, sizes);
    if (run->reads_input)
        sizes[GC_BUFFER_SAMPLES] = 0;
    if (run->stores_output && !plan->by_steps)
        sizes[GC_BUFFER_EXTENDED] = 0;
    for (int i = 0; i < GC_BUFFERS; i++)
        grows |= sizes[i] > plan->own->sizes[i];
    if (grows)
        GC_CUDA_TRY(error, cudaEventSynchronize(plan->own->marks[MARK_DONE]));
    return gc_slot_reserve(plan->own, sizes, INFINITY, error);
}

static gconv_status place_input(const device_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    size_t sample = (size_t)plan->problem->job.input.depth / 8;
    int64_t first = plan->work.steps[0].input_first;
    if (!run->reads_input)
        return gc_plan_upload(plan, run->input, run->input_stride, first,
                              plan->work.steps[0].input_last, cudaMemcpyDeviceToDevice, error);
    plan->work.samples = (char *)run->input + (size_t)first * run->input_stride; /* is read alone */
    plan->work.samples_pitch = (int64_t)(run->input_stride / sample);
    return GCONV_OK;
}

static gconv_status place_output(const device_run *run, gconv_error *error)
{
    const gc_plan_result *result = &run->result;
    return run->stores_output
               ? GCONV_OK
               : gc_copy_rows({run->output, run->output_stride, run->plan->work.result,
                               result->pitch, result->bytes, result->rows},
                              cudaMemcpyDeviceToDevice, run->plan->work.stream, error);
}

static gconv_status enqueue(const device_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    GC_TRY(gc_plan_await_device_run(plan, error));
    gc_plan_use_buffers(plan, plan->own);
    if (run->stores_output)
        plan->work.result = run->output;
    GC_TRY(place_input(run, error));
    GC_TRY(gc_plan_compute(plan, false, run->result.rows, error));
    GC_TRY(place_output(run, error));
    GC_CUDA_TRY(error, cudaEventRecord(plan->own->marks[MARK_DONE], plan->work.stream));
    return GCONV_OK;
}

static gconv_status check_job(const gc_gpu_plan *plan, gconv_error *error)
{
    if (!plan->finishes)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "the CPU makes the output of this job");
    if (plan->memory.band_rows < (int64_t)plan->problem->chain.height)
        return gc_fail(error, GCONV_ERROR_MEMORY,
                       "the image and its buffers exceed the device's memory");
    return GCONV_OK;
}

static gconv_status run_checked(device_run *run, gconv_error *error)
{
    gc_gpu_plan *plan = run->plan;
    int64_t height = plan->problem->chain.height;
    gc_band_steps(plan->problem, 0, height - 1, plan->slabs, plan->work.steps);
    run->result = gc_plan_result_of(plan, false, height);
    run->reads_input = can_read_input(run) && !images_overlap(run);
    run->stores_output = can_store_output(run);
    if (plan->own == nullptr)
        GC_TRY(make_own(plan, error));
    GC_TRY(reserve(run, error));
    gconv_status status = enqueue(run, error);
    if (status != GCONV_OK) { /* nothing of a run that failed is still at work */
        cudaStreamSynchronize(plan->work.stream);
        cudaGetLastError();
    }
    return status;
}

gconv_status gc_gpu_run_device(void *state, const void *input, size_t input_stride, void *output,
                               size_t output_stride, void *stream, gconv_error *error)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    GC_TRY(gc_plan_await_start(plan, error));
    GC_TRY(check_job(plan, error));
    gc_current_device current(plan->device.index);
    GC_TRY(check_pointer(plan, input, "input", error));
    GC_TRY(check_pointer(plan, output, "output", error));
    device_run run = {};
    run.plan = plan;
    run.input = (const char *)input;
    run.input_stride = input_stride;
    run.output = (char *)output;
    run.output_stride = output_stride;
    plan->work.stream = (cudaStream_t)stream;
    return run_checked(&run, error);
}
