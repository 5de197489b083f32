/* How a gc_step_method is run: each step's input is copied into an extended image with its border,
 * from which the method convolves. */
#include "gpu/device/check.cuh"
#include "gpu/plan/plan.cuh"

static const gc_step_method &method_of(const gc_gpu_plan *plan)
{
    return *static_cast<const gc_step_method *>(plan->method);
}

static gconv_status prepare_step(gc_gpu_plan *plan, int s, gconv_error *error)
{
    const gc_step *step = &plan->problem->chain.steps[s];
    gc_plan_section *section = &plan->sections[s];
    size_t bytes = (size_t)step->width * (size_t)step->height * sizeof(float);
    section->scope = {s, 1, GC_FLOAT, GC_FLOAT, GC_FINISH_NONE, 1, GC_PASS_NO_ALPHA};
    GC_CUDA_TRY(error, cudaMalloc(&section->taps, bytes));
    GC_CUDA_TRY(error, cudaMemcpy(section->taps, step->taps, bytes, cudaMemcpyHostToDevice));
    return method_of(plan).prepare(plan->problem, step, &plan->device,
                                   (int)gc_plan_input_rows(plan), &section->state, error);
}

static gconv_status prepare(gc_gpu_plan *plan, gconv_error *error)
{
    plan->section_count = plan->problem->chain.step_count;
    for (int s = 0; s < plan->section_count; s++)
        GC_TRY(prepare_step(plan, s, error));
    return GCONV_OK;
}

static gconv_status convolve_step(gc_gpu_plan *plan, int s, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    const gc_step *step = &problem->chain.steps[s];
    const gc_band_step *band = &plan->work.steps[s];
    const gc_plan_section *section = &plan->sections[s];
    int64_t input_rows = band->input_last - band->input_first + 1;
    int64_t rows = band->output_last - band->output_first + 1;
    float *values = s == 0 ? gc_plan_first_values(plan) : plan->work.planes[s % 2];
    gc_gpu_planes input = gc_plan_planes(plan, values, input_rows, problem->chain.width);
    gc_gpu_planes output =
        gc_plan_planes(plan, plan->work.planes[(s + 1) % 2], rows, problem->chain.width);
    gc_gpu_planes extended = gc_plan_planes(plan, plan->work.extended, rows + step->height - 1,
                                            (int64_t)problem->chain.width + step->width - 1);
    GC_TRY(gc_plan_begin_part(plan, GC_PART_BORDER, error));
    GC_TRY(gc_gpu_extend(problem, step, {input, band->input_first, extended, band->output_first},
                         plan->work.stream, error));
    GC_TRY(gc_plan_end_part(plan, error));
    gc_gpu_step work = {extended.values,
                        extended.pitch,
                        extended.plane,
                        output.values,
                        output.pitch,
                        output.plane,
                        (int)problem->chain.width,
                        (int)rows,
                        output.channels,
                        section->taps,
                        step->width,
                        step->height};
    return method_of(plan).convolve(section->state, work, plan->work.stream, error);
}

static gconv_status run(gc_gpu_plan *plan, bool chain_only, gconv_error *error)
{
    (void)chain_only;
    for (int s = 0; s < plan->section_count; s++)
        GC_TRY(convolve_step(plan, s, error));
    return GCONV_OK;
}

/* A step stores chain values. gc_plan_compute makes the output. */
static bool stores_output(const gc_gpu_plan *plan, bool chain_only)
{
    (void)plan, (void)chain_only;
    return false;
}

static void use_planes(const gc_gpu_plan *plan, bool chain_only, gc_plane_use use[2])
{
    (void)plan, (void)chain_only;
    use[0] = use[1] = GC_PLANE_OF_VALUES;
}

extern const gc_section_runner gc_step_runner = {prepare,       gc_plan_load, run,
                                                 stores_output, use_planes,   true};

/* Operations of all steps over bytes of all steps. */
double gc_gpu_intensity(void *state)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    if (gc_plan_await_start(plan, nullptr) != GCONV_OK)
        return 0;
    double operations = 0, bytes = 0;
    for (int s = 0; s < plan->section_count; s++) {
        const gc_step *step = &plan->problem->chain.steps[s];
        double of_step = 2.0 * step->width * step->height;
        operations += of_step;
        bytes += of_step / method_of(plan).intensity(plan->sections[s].state, step);
    }
    return operations / bytes;
}

int gc_gpu_tiling_factor(void *state)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    bool known = gc_plan_await_start(plan, nullptr) == GCONV_OK && plan->section_count > 0;
    return known ? method_of(plan).tiling_factor(plan->sections[0].state) : 0;
}
