/* What every run of a plan does on the device, wherever its image lies: samples come to the place
 * from which the first section reads them, the sections run, and the result is left at
 * work.result. */
#include "gpu/device/check.cuh"
#include "gpu/plan/plan.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>

gconv_status gc_copy_rows(const gc_rows_copy &copy, cudaMemcpyKind kind, cudaStream_t stream,
                          gconv_error *error)
{
    bool has_gaps = copy.to_pitch != copy.bytes || copy.from_pitch != copy.bytes;
    if (has_gaps) /* a copy in two dimensions has a largest pitch */
        GC_CUDA_TRY(error, cudaMemcpy2DAsync(copy.to, copy.to_pitch, copy.from, copy.from_pitch,
                                             copy.bytes, (size_t)copy.rows, kind, stream));
    else
        GC_CUDA_TRY(error, cudaMemcpyAsync(copy.to, copy.from, (size_t)copy.rows * copy.bytes, kind,
                                           stream));
    return GCONV_OK;
}

/* ---- Up -------------------------------------------------------------------------------------- */

gconv_status gc_plan_upload(gc_gpu_plan *plan, const char *image, size_t stride, int64_t first,
                            int64_t last, cudaMemcpyKind kind, gconv_error *error)
{
    int64_t height = plan->problem->chain.height;
    size_t row_bytes = gconv_shape_row_bytes(&plan->problem->job.input);
    char *to = plan->work.samples;
    for (int64_t y = first; y <= last;) {
        int64_t from = (y % height + height) % height;
        int64_t rows = std::min(last - y + 1, height - from);
        const char *source = image + (size_t)from * stride;
        GC_TRY(gc_copy_rows({to, row_bytes, source, stride, row_bytes, rows}, kind,
                            plan->work.stream, error));
        to += (size_t)rows * row_bytes;
        y += rows;
    }
    return GCONV_OK;
}

float *gc_plan_first_values(const gc_gpu_plan *plan)
{
    bool in_place = gc_samples_are_values(plan->problem) &&
                    plan->work.samples_pitch == gc_device_pitch(plan->problem->chain.width) &&
                    (uintptr_t)plan->work.samples % sizeof(float4) == 0;
    return in_place ? (float *)plan->work.samples : plan->work.planes[0];
}

gconv_status gc_plan_load(gc_gpu_plan *plan, bool chain_only, gconv_error *error)
{
    if (gc_plan_first_values(plan) != plan->work.planes[0])
        return GCONV_OK;
    int64_t rows = plan->work.steps[0].input_last - plan->work.steps[0].input_first + 1;
    gc_gpu_planes planes =
        gc_plan_planes(plan, plan->work.planes[0], rows, plan->problem->chain.width);
    GC_TRY(gc_plan_begin_part(plan, GC_PART_CONVERSION, error));
    GC_TRY(gc_gpu_load(plan->problem, plan->work.samples, chain_only ? 0 : plan->finish.centre,
                       planes, plan->work.stream, error));
    return gc_plan_end_part(plan, error);
}

/* What exact sums of the only step take. */
static gc_exact exact_of(const gc_gpu_plan *plan, const gc_pass &pass)
{
    const gc_problem *problem = plan->problem;
    const gc_step *step = &problem->chain.steps[0];
    gc_exact exact = {
        plan->terms, step->width * step->height, step->width, step->height, step->left, step->top};
    exact.width_inverse = ((1u << 31) + (unsigned)step->width - 1) / (unsigned)step->width;
    exact.channels = problem->job.input.channels;
    exact.shift = -step->unit;
    for (int c = 0; c < GC_CHANNELS_MAX; c++)
        exact.constant[c] = (long long)std::ldexp(step->terms_border[c], exact.shift);
    bool short_rows = pass.image_pitch < 1 << 22;
    exact.pitch = short_rows ? (int)pass.image_pitch : 0;
    exact.columns = (unsigned)std::max(pass.width - step->width + 1, 0);
    exact.lines = short_rows ? (unsigned)std::max(pass.height - step->height + 1, 0) : 0;
    return exact;
}

gc_pass gc_plan_pass(const gc_gpu_plan *plan)
{
    const gc_problem *problem = plan->problem;
    gc_pass pass = {};
    pass.width = (int)problem->chain.width;
    pass.height = (int)problem->chain.height;
    pass.border = problem->job.border;
    pass.finish = plan->finish;
    pass.image = plan->work.samples;
    pass.image_pitch = plan->work.samples_pitch;
    pass.image_first = (int)plan->work.steps[0].input_first;
    pass.image_type = gc_input_type(problem);
    if (plan->settles)
        pass.exact = exact_of(plan, pass);
    return pass;
}

/* ---- The result ------------------------------------------------------------------------------ */

/* Whether the result is chain values, which the CPU has to convert or the caller wants. */
static bool is_chain(const gc_gpu_plan *plan, bool chain_only)
{
    return chain_only || !plan->finishes;
}

size_t gc_plan_result_bytes(const gc_gpu_plan *plan, bool chain_only)
{
    const gc_problem *problem = plan->problem;
    return is_chain(plan, chain_only) ? gc_chain_row_values(&problem->chain) * sizeof(float)
                                      : gconv_shape_row_bytes(&problem->conversion.output);
}

gc_plan_result gc_plan_result_of(const gc_gpu_plan *plan, bool chain_only, int64_t rows)
{
    const gc_problem *problem = plan->problem;
    size_t bytes = gc_plan_result_bytes(plan, chain_only);
    gc_plan_result result = {rows, bytes, bytes, is_chain(plan, chain_only)};
    gc_sample_type type = gc_finish_type(problem);
    if (gc_plan_stores_output(plan, chain_only))
        result.pitch = (size_t)gc_plan_output_pitch(plan, type) * (type == GC_SHORT ? 2 : 1);
    return result;
}

/* Puts the result of the last section into plan->work.result. */
static gconv_status convert_result(gc_gpu_plan *plan, bool chain_only, int64_t rows,
                                   gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    gc_gpu_planes values = gc_plan_planes(plan, plan->work.planes[plan->section_count % 2], rows,
                                          problem->chain.width);
    gc_pass pass = gc_plan_pass(plan);
    pass.output_type = gc_finish_type(problem);
    if (is_chain(plan, chain_only)) {
        pass.output_type = GC_FLOAT;
        pass.finish = {}; /* GC_FINISH_NONE */
    }
    pass.output_first = (int)plan->work.steps[problem->chain.step_count - 1].output_first;
    return gc_gpu_store(pass, values, plan->work.result, plan->work.stream, error);
}

gconv_status gc_plan_compute(gc_gpu_plan *plan, bool chain_only, int64_t rows, gconv_error *error)
{
    GC_TRY(gc_plan_run_sections(plan, chain_only, error));
    if (!gc_plan_stores_output(plan, chain_only)) {
        GC_TRY(gc_plan_begin_part(plan, GC_PART_CONVERSION, error));
        GC_TRY(convert_result(plan, chain_only, rows, error));
        GC_TRY(gc_plan_end_part(plan, error));
    }
    return GCONV_OK;
}
