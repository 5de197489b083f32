/* The sections of a plan. A gc_step_method takes one step after the other: the step's input is
 * copied into an extended image with its border, from which the method convolves. The passes of a
 * gc_pass_method read samples or chain values with their borders. The last one stores the output if
 * it can. */
#include "gpu/device/kernel.cuh"
#include "gpu/device/owned.cuh"
#include "gpu/plan/plan.cuh"

#include <cmath>

static const gc_step_method &step_method_of(const gc_gpu_plan *plan)
{
    return *static_cast<const gc_step_method *>(plan->method);
}

static const gc_pass_method &pass_method_of(const gc_gpu_plan *plan)
{
    return *static_cast<const gc_pass_method *>(plan->method);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static gconv_status prepare_step(const gc_gpu_plan *plan, gc_plan_section *section,
                                 gconv_error *error)
{
    const gc_step *step = &plan->problem->chain.steps[section->scope.first];
    size_t bytes = (size_t)step->width * (size_t)step->height * sizeof(float);
    GC_TRY(gc_gpu_upload(step->taps, bytes, &section->taps, error));
    return step_method_of(plan).prepare(plan->problem, step, &plan->device,
                                        (int)gc_plan_input_rows(plan), &section->state, error);
}

static gconv_status prepare_pass(const gc_gpu_plan *plan, gc_plan_section *section,
                                 gconv_error *error)
{
    int first = section->scope.first;
    int count = pass_method_of(plan).pass_steps(plan->problem, first, &plan->device);
    section->scope = gc_pass_scope_of(plan->problem, first, count);
    if (plan->settles && section->scope.finish != GC_FINISH_NONE)
        section->scope.finish = plan->finish.kind;
    return pass_method_of(plan).prepare(plan->problem, &plan->device, &section->scope,
                                        &section->state, error);
}

/* Weights of exact sums, as whole numbers. */
static gconv_status upload_terms(gc_gpu_plan *plan, gconv_error *error)
{
    const gc_step *step = &plan->problem->chain.steps[0];
    int count = step->width * step->height;
    size_t bytes = (size_t)count * sizeof(long long);
    gc_owned_array<long long> terms((long long *)malloc(bytes));
    GC_TRY_MEMORY(terms != nullptr, error, bytes);
    for (int k = 0; k < count; k++)
        terms[k] = (long long)std::ldexp(step->terms[k], -step->terms_unit);
    return gc_gpu_upload(terms, bytes, &plan->terms, error);
}

gconv_status gc_plan_prepare_sections(gc_gpu_plan *plan, gconv_error *error)
{
    plan->section_count = 0;
    if (plan->settles)
        GC_TRY(upload_terms(plan, error));
    for (int first = 0; first < plan->problem->chain.step_count;) {
        gc_plan_section *section = &plan->sections[plan->section_count];
        section->scope = {first, 1};
        GC_TRY((plan->by_steps ? prepare_step : prepare_pass)(plan, section, error));
        plan->section_count++;
        first += section->scope.count;
    }
    return GCONV_OK;
}

void gc_plan_free_sections(gc_gpu_plan *plan)
{
    for (int i = 0; i < plan->problem->chain.step_count; i++) {
        gc_plan_section *section = &plan->sections[i];
        if (section->state != nullptr)
            plan->method->release(section->state);
        cudaFree(section->taps);
        *section = {};
    }
    plan->section_count = 0;
    cudaFree(plan->terms);
    plan->terms = nullptr;
    cudaGetLastError();
}

/* ---- The first section's input --------------------------------------------------------------- */

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

static gconv_status begin(gc_gpu_plan *plan, bool chain_only, gconv_error *error)
{
    if (plan->sections[0].scope.input == GC_FLOAT)
        return gc_plan_load(plan, chain_only, error);
    return reads_in_place(plan) ? GCONV_OK : align_samples(plan, error);
}

void gc_plan_use_planes(const gc_gpu_plan *plan, bool chain_only, gc_plane_use use[2])
{
    if (plan->sections[0].scope.input == GC_FLOAT)
        use[0] = GC_PLANE_OF_VALUES;
    else if (!gc_plan_has_whole_rows(plan))
        use[0] = GC_PLANE_OF_SAMPLES;
    if (plan->by_steps)
        use[1] = GC_PLANE_OF_VALUES;
    for (int p = 0; p < plan->section_count; p++)
        if (p + 1 < plan->section_count || !gc_plan_stores_output(plan, chain_only))
            use[(p + 1) % 2] = GC_PLANE_OF_VALUES;
}

/* ---- Running --------------------------------------------------------------------------------- */

bool gc_plan_stores_output(const gc_gpu_plan *plan, bool chain_only)
{
    return !chain_only && plan->section_count > 0 &&
           plan->sections[plan->section_count - 1].scope.output != GC_FLOAT;
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
    bool finishes = p + 1 == plan->section_count && gc_plan_stores_output(plan, chain_only);
    pass->output_type = finishes ? scope->output : GC_FLOAT;
    pass->output = finishes ? (void *)plan->work.result : planes.values;
    pass->output_pitch = gc_plan_output_pitch(plan, (gc_sample_type)pass->output_type);
    pass->output_plane = planes.plane;
    pass->output_first = (int)band->output_first;
    pass->rows = (int)rows;
}

static gconv_status run_pass(gc_gpu_plan *plan, int p, bool chain_only, gconv_error *error)
{
    const gc_problem *problem = plan->problem;
    gc_pass pass = gc_plan_pass(plan);
    const gc_pass_scope *scope = &plan->sections[p].scope;
    for (int c = 0; c < problem->chain.channels; c++) {
        pass.constant[c] = problem->chain.steps[scope->first].border[c];
        pass.between[c] = problem->chain.steps[scope->first + scope->count - 1].border[c];
    }
    pass.centre = chain_only ? 0 : plan->finish.centre;
    set_input(plan, p, &pass);
    set_output(plan, p, chain_only, &pass);
    return pass_method_of(plan).run(plan->sections[p].state, pass, problem->chain.channels,
                                    plan->work.stream, error);
}

static gconv_status run_step(gc_gpu_plan *plan, int s, gconv_error *error)
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
    return step_method_of(plan).convolve(section->state, work, plan->work.stream, error);
}

gconv_status gc_plan_run_sections(gc_gpu_plan *plan, bool chain_only, gconv_error *error)
{
    GC_TRY(begin(plan, chain_only, error));
    for (int i = 0; i < plan->section_count; i++)
        GC_TRY(plan->by_steps ? run_step(plan, i, error) : run_pass(plan, i, chain_only, error));
    return GCONV_OK;
}

/* ---- What a gc_step_method tells ------------------------------------------------------------- */

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
        bytes += of_step / step_method_of(plan).intensity(plan->sections[s].state, step);
    }
    return operations / bytes;
}

int gc_gpu_tiling_factor(void *state)
{
    gc_gpu_plan *plan = (gc_gpu_plan *)state;
    bool known = gc_plan_await_start(plan, nullptr) == GCONV_OK && plan->section_count > 0;
    return known ? step_method_of(plan).tiling_factor(plan->sections[0].state) : 0;
}
