/* What is known of a method and a problem without a plan: whether the method supports the problem,
 * what its passes may read and store, how long it is expected to take. */
#include "gpu/plan/method.cuh"

#include "gpu/device/check.cuh"

#include <algorithm>
#include <cstdint>

bool gc_gpu_finish_of(const gc_problem *problem, gc_finish *finish)
{
    /* Kernels count the samples of a row in int. */
    return (int64_t)problem->chain.width * problem->chain.channels <= INT32_MAX &&
           gc_finish_of(problem, finish);
}

bool gc_gpu_settles(const gc_gpu_method &method, const gc_problem *problem,
                    const gconv_device_info *device, gc_finish *finish)
{
    gc_finish settled;
    bool settles = method.error != nullptr && gc_finish_sums_up(problem) &&
                   gc_gpu_finish_of(problem, &settled) &&
                   gc_finish_settle(
                       problem, method.error(problem, &problem->chain.steps[0], device), &settled);
    if (settles)
        *finish = settled;
    return settles;
}

/* Whether the last pass may store the output. Kernels that keep alpha take whole numbers. */
static bool stores_in_place(const gc_problem *problem, gc_finish *finish)
{
    bool keeps_floats = problem->conversion.keeps_alpha && gc_input_type(problem) == GC_FLOAT;
    return gc_gpu_finish_of(problem, finish) && gc_finish_type(problem) != GC_FLOAT &&
           !keeps_floats;
}

gc_pass_scope gc_pass_scope_of(const gc_problem *problem, int first, int count, double error)
{
    gc_pass_scope scope = {first, count};
    gc_finish finish;
    if (first == 0)
        scope.input = gc_input_type(problem);
    if (first + count == problem->chain.step_count && stores_in_place(problem, &finish)) {
        gc_finish_settle(problem, error, &finish);
        scope.output = gc_finish_type(problem);
        scope.finish = finish.kind;
    }
    if (scope.input == GC_FLOAT && scope.output == GC_FLOAT)
        return scope;
    scope.channels = problem->job.input.channels;
    scope.alpha = problem->conversion.keeps_alpha     ? GC_PASS_KEEPS
                  : problem->conversion.premultiplies ? GC_PASS_MULTIPLIES
                                                      : GC_PASS_NO_ALPHA;
    return scope;
}

gc_pass_scope gc_pass_scope_of_planes(const gc_pass_scope &scope)
{
    return scope.channels == 1 ? scope : gc_pass_scope{scope.first, scope.count};
}

static double bytes_of(int type)
{
    return type == GC_FLOAT ? 4 : type == GC_SHORT ? 2 : type == GC_BYTE ? 1 : 0.125;
}

double gc_pass_scope_bytes(const gc_pass_scope &scope)
{
    return bytes_of(scope.input) + bytes_of(scope.output);
}

double gc_pass_scope_planes(const gc_problem *problem, const gc_pass_scope &scope,
                            const gconv_device_info *device)
{
    gc_finish finish;
    double seconds = 0;
    if (scope.first == 0 && scope.input == GC_FLOAT && !gc_samples_are_values(problem))
        seconds += gc_cost_of_planes(problem, problem->job.input.depth / 8.0, device);
    if (scope.first + scope.count == problem->chain.step_count && scope.output == GC_FLOAT)
        seconds += gc_cost_of_planes(
            problem, gc_gpu_finish_of(problem, &finish) ? bytes_of(gc_finish_type(problem)) : 4.0,
            device);
    return seconds;
}

/* Kernels count in int. 4096 leaves room for a tile and a filter's reach beyond the image. */
enum { SIDE_MAX = INT32_MAX - 4096 };

/* Whether the method takes every step's form of a filter. */
static gconv_status check_forms(const gc_gpu_method &method, const gc_problem *problem,
                                gconv_error *error)
{
    for (int s = 0; s < problem->chain.step_count; s++) {
        const gc_step *step = &problem->chain.steps[s];
        if (step->taps == nullptr && !method.takes_vectors)
            return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                           "the filter of %dx%d is a column and a row, which only reference, "
                           "cpu and separable take",
                           step->width, step->height);
    }
    return GCONV_OK;
}

gconv_status gc_gpu_supports(const gc_gpu_method &method, const gc_problem *problem,
                             const gconv_device_info *device, gconv_error *error)
{
    if ((int64_t)std::max(problem->chain.width, problem->chain.height) > SIDE_MAX)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "a side of more than %d pixels",
                       (int)SIDE_MAX);
    /* A method may look at all steps when it is asked about one. */
    GC_TRY(check_forms(method, problem, error));
    for (int s = 0; s < problem->chain.step_count; s++)
        GC_TRY(method.supports(problem, &problem->chain.steps[s], device, error));
    return GCONV_OK;
}

static double seconds_of_steps(const gc_gpu_method &method, const gc_problem *problem,
                               const gconv_device_info *device)
{
    double seconds = 0;
    for (int s = 0; s < problem->chain.step_count; s++)
        seconds += method.seconds(problem, &problem->chain.steps[s], device);
    return seconds;
}

static double cost_of_image(const gc_problem *problem, double kernels,
                            const gconv_device_info *device)
{
    gc_finish finish;
    return gc_cost_of_image(problem, device, kernels, gc_gpu_finish_of(problem, &finish));
}

double gc_gpu_cost(const gc_step_method &method, const gc_problem *problem,
                   const gconv_device_info *device)
{
    gc_pass_scope planes = {0, problem->chain.step_count};
    double kernels =
        seconds_of_steps(method, problem, device) + gc_pass_scope_planes(problem, planes, device);
    return cost_of_image(problem, kernels, device);
}

double gc_gpu_cost(const gc_pass_method &method, const gc_problem *problem,
                   const gconv_device_info *device)
{
    return cost_of_image(problem, seconds_of_steps(method, problem, device), device);
}
