/* How a gc_pass_method is run: passes read samples or chain values with their borders, and the last
 * one stores the output if it can. */
#include "gpu/device/check.cuh"
#include "gpu/plan/plan.cuh"

static const gc_pass_method &method_of(const gc_gpu_plan *plan)
{
    return *static_cast<const gc_pass_method *>(plan->method);
}

static gconv_status prepare(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    plan->section_count = 0;
    for (int first = 0; first < problem->chain.step_count;) {
        gc_plan_section *section = &plan->sections[plan->section_count];
        int count = method_of(plan).pass_steps(problem, first, &plan->device);
        section->scope = gc_pass_scope_of(problem, first, count);
        GC_TRY(method_of(plan).prepare(problem, &plan->device, &section->scope, &section->state,
                                       error));
        plan->section_count++;
        first += count;
    }
    return GCONV_OK;
}

/* ---- The first pass's input ------------------------------------------------------------------ */

/* Whether kernels can read samples in place: rows are whole lines (gc_device_pitch). The code that
 * sets the samples' address makes sure that they begin at whole words of 16 bytes. */
static bool reads_in_place(const gc_gpu_plan *plan)
{
    return plan->work.samples_padded || gc_plan_has_whole_rows(plan);
}

/* Copies rows of samples into the memory of the first plane, with the pitch that kernels expect. */
static gconv_status align_samples(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_band_step *band = &plan->work.steps[0];
    size_t bytes = gconv_shape_row_bytes(&plan->problem->job.input);
    size_t sample = (size_t)plan->problem->job.input.depth / 8;
    GC_CUDA_TRY(error,
                cudaMemcpy2DAsync(plan->work.planes[0], (size_t)gc_plan_input_pitch(plan) * sample,
                                  plan->work.samples, (size_t)plan->work.samples_pitch * sample,
                                  bytes, (size_t)(band->input_last - band->input_first + 1),
                                  cudaMemcpyDeviceToDevice, plan->work.stream));
    return GCONV_OK;
}

static gconv_status begin(gc_gpu_plan *plan, gconv_error *error)
{
    if (plan->sections[0].scope.input == GC_FLOAT)
        return gc_plan_load(plan, error);
    return reads_in_place(plan) ? GCONV_OK : align_samples(plan, error);
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool stores_output(const gc_gpu_plan *plan, bool chain_only)
{
    return !chain_only && plan->sections[plan->section_count - 1].scope.output != GC_FLOAT;
}

static void set_input(const gc_gpu_plan *plan, int p, gc_pass *pass)
{
    const gc_pass_scope *scope = &plan->sections[p].scope;
    const gc_band_step *band = &plan->work.steps[scope->first];
    float *values = p == 0 ? gc_plan_first_values(plan) : plan->work.planes[p % 2];
    gc_gpu_planes planes = gc_plan_planes(plan, values, band->input_last - band->input_first + 1,
                                          plan->problem->chain.width);
    pass->input_type = scope->input;
    bool in_place = scope->input != GC_FLOAT && reads_in_place(plan);
    pass->input = in_place ? (const void *)plan->work.samples : planes.values;
    pass->input_pitch = scope->input == GC_FLOAT ? planes.pitch
                        : in_place               ? plan->work.samples_pitch
                                                 : gc_plan_input_pitch(plan);
    pass->input_plane = planes.plane;
    pass->input_first = (int)band->input_first;
    pass->input_rows = (int)planes.rows;
}

static void set_output(const gc_gpu_plan *plan, int p, bool chain_only, gc_pass *pass)
{
    const gc_pass_scope *scope = &plan->sections[p].scope;
    const gc_band_step *band = &plan->work.steps[scope->first + scope->count - 1];
    int64_t rows = band->output_last - band->output_first + 1;
    gc_gpu_planes planes =
        gc_plan_planes(plan, plan->work.planes[(p + 1) % 2], rows, plan->problem->chain.width);
    bool finishes = p + 1 == plan->section_count && stores_output(plan, chain_only);
    pass->output_type = finishes ? scope->output : GC_FLOAT;
    pass->output = finishes ? (void *)plan->work.result : planes.values;
    pass->output_pitch = gc_plan_output_pitch(plan, (gc_sample_type)pass->output_type);
    pass->output_plane = planes.plane;
    pass->output_first = (int)band->output_first;
    pass->rows = (int)rows;
}

static gconv_status run(gc_gpu_plan *plan, bool chain_only, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    for (int p = 0; p < plan->section_count; p++) {
        gc_pass pass = gc_plan_pass(plan);
        const gc_pass_scope *scope = &plan->sections[p].scope;
        for (int c = 0; c < problem->chain.channels; c++) {
            pass.constant[c] = problem->chain.steps[scope->first].border[c];
            pass.between[c] = problem->chain.steps[scope->first + scope->count - 1].border[c];
        }
        set_input(plan, p, &pass);
        set_output(plan, p, chain_only, &pass);
        GC_TRY(method_of(plan).run(plan->sections[p].state, pass, problem->chain.channels,
                                   plan->work.stream, error));
    }
    return GCONV_OK;
}

static void use_planes(const gc_gpu_plan *plan, bool chain_only, gc_plane_use use[2])
{
    if (plan->sections[0].scope.input == GC_FLOAT)
        use[0] = GC_PLANE_OF_VALUES;
    else if (!gc_plan_has_whole_rows(plan))
        use[0] = GC_PLANE_OF_SAMPLES;
    for (int p = 0; p < plan->section_count; p++)
        if (p + 1 < plan->section_count || !stores_output(plan, chain_only))
            use[(p + 1) % 2] = GC_PLANE_OF_VALUES;
}

extern const gc_section_runner gc_pass_runner = {prepare,       begin,      run,
                                                 stores_output, use_planes, false};
