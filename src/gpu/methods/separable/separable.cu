/* separable: filters of rank 1, 2 and 3 in one pass over memory.
 *
 * Idea: a filter that is a column times a row takes F_w + F_h multiply-adds a pixel. All weights
 *   take F_w * F_h (KTH 2018, sections 3.4 and 3.5.2; van Werkhoven et al. 2014, section 5). The
 *   rows of a tile are convolved in shared memory, then its columns from there, so that memory is
 *   crossed once (products.cuh). A filter of rank 2 or 3 is a sum of as many products of a column
 *   and a row, which add up in the same registers. The rank is found automatically
 *   (core/products.h): exactly if the chain is exact, within the bound of rule 4 elsewhere. Odd
 *   squares of rank 1 up to 21x21 are compiled ahead, everything else at run time. Vectors that are
 *   too long for that go through passes that transpose (vectors_kernels.cuh).
 * Improves on: twopass, which crosses memory twice and copies the border; direct, from 7x7 on, or
 *   5x5 on 8-bit samples; with sums if gc_form_pays says so.
 * Needs: shared memory for a tile and its surroundings; for sums also for convolved rows.
 * Limits: some filter of the chain must have rank 1, or rank 2 or 3 and a size for which a sum
 *   pays, and its tile must fit in shared memory. The other filters are convolved as direct does,
 *   and have its limits. NVRTC, except for what is compiled ahead.
 * Loses: nowhere by much. Memory bounds the time of filters up to 5x5, or 3x3 on 8-bit samples.
 *   These are taken as direct does, whose kernels for small filters need no shared memory. */
#include "gpu/device/check.cuh"
#include "gpu/methods/direct/direct.cuh"
#include "gpu/methods/methods.cuh"
#include "gpu/methods/separable/products.cuh"
#include "gpu/methods/separable/vectors.cuh"

extern "C" {
#include "core/products.h"
}

#include <algorithm>

template <int side, int rows_of_a_thread, int warps_of_a_block> struct square {
    static constexpr int width = side, height = side, left = side / 2, top = side / 2;
    static constexpr int products = 1;
    static constexpr int rows = rows_of_a_thread, warps = warps_of_a_block, schedule = GC_ONE_TILE;
    static constexpr int input = -1, output = GC_FLOAT, finish = GC_FINISH_NONE, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

template <class config>
static __global__ void __launch_bounds__(32 * config::warps) separable_squares(
    const __grid_constant__ gc_pass pass,
    const __grid_constant__ gc_pass_weights<config::width + config::height> weights)
{
    gc_block_pass<gc_block_products, config>(pass, weights);
}

#define SQUARE(side, rows, warps)                                                                  \
    {                                                                                              \
        side, {GC_FORM_RANK1, rows, warps, GC_ONE_TILE, 1},                                        \
            (const void *)separable_squares<square<side, rows, warps>>                             \
    }

static const gc_ahead_kernel ahead_kernels[] = {
    SQUARE(5, 4, 8),  SQUARE(7, 8, 4),  SQUARE(9, 8, 8),  SQUARE(11, 8, 4), SQUARE(13, 8, 4),
    SQUARE(15, 8, 8), SQUARE(17, 8, 8), SQUARE(19, 8, 8), SQUARE(21, 8, 8),
};

/* The kernel compiled ahead for a step of this rank; null if there is none. */
static const gc_ahead_kernel *find_ahead(const gc_step *step, gc_form form)
{
    return form == GC_FORM_RANK1
               ? gc_ahead_find(ahead_kernels, sizeof ahead_kernels / sizeof *ahead_kernels, step)
               : nullptr;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* Whether the filter is so small that direct takes as long, whatever its rank. */
static bool is_small(const gc_problem *problem, const gc_step *step,
                     const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    int side = problem->job.input.depth == 8 ? costs->direct_side_of_bytes : costs->direct_side;
    return step->taps != nullptr && step->width <= side && step->height <= side;
}

/* A step as a sum of products of a column and a row. */
struct low_rank {
    gc_form form;
    gc_products products;
    int count; /* of `weights`: of each product the row's, then the column's */
    float weights[2 * GC_PRODUCTS_MAX * GCONV_FILTER_SIDE_MAX];
};

static void take_weights(const gc_step *step, low_rank *sum)
{
    const gc_products &products = sum->products;
    sum->form = gc_form_of_products(products.count);
    sum->count = gc_form_weights(sum->form, step->width, step->height);
    float *to = sum->weights;
    for (int p = 0; p < products.count; p++) {
        to = std::copy(products.row[p], products.row[p] + step->width, to);
        to = std::copy(products.column[p], products.column[p] + step->height, to);
    }
}

/* The most products that may pay: one for any filter, more for large filters. */
static int most_products(const gc_step *step)
{
    int most = 1;
    while (most < GC_PRODUCTS_MAX &&
           gc_form_pays(gc_form_of_products(most + 1), step->width, step->height))
        most++;
    return most;
}

/* Whether a step is of low rank and its tile fits in shared memory. */
static bool is_of_low_rank(const gc_problem *problem, const gc_step *step,
                           const gconv_device_info *device, low_rank *sum)
{
    if (step->width > GCONV_FILTER_SIDE_MAX || step->height > GCONV_FILTER_SIDE_MAX)
        return false;
    if (!gc_step_products(step, problem->chain.exact, most_products(step), &sum->products))
        return false;
    take_weights(step, sum);
    gc_pass_scope floats = {0, 1, GC_FLOAT, GC_FLOAT, GC_FINISH_NONE, 1, GC_PASS_NO_ALPHA};
    gc_layout layout = gc_pass_layout(problem, step, sum->form, &floats, device);
    if (gc_layout_shared_bytes(&layout) > device->shared_per_block_optin)
        return false;
    return find_ahead(step, sum->form) != nullptr || is_small(problem, step, device) ||
           gc_jit_available();
}

/* Whether a step is convolved by rows and columns, and not as direct does. */
static bool separates(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device, low_rank *sum)
{
    return !is_small(problem, step, device) && is_of_low_rank(problem, step, device, sum);
}

/* Whether a step is a filter of two vectors that are too long for a kernel of their own. */
static bool is_long(const gc_problem *problem, const gc_step *step, const gconv_device_info *device)
{
    low_rank sum;
    return step->column != nullptr && !is_of_low_rank(problem, step, device, &sum);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    low_rank sum;
    bool any = false;
    if (is_long(problem, step, device))
        return gc_vectors_supports(step, device, error);
    for (int s = 0; s < problem->chain.step_count; s++)
        any = any || problem->chain.steps[s].column != nullptr ||
              is_of_low_rank(problem, &problem->chain.steps[s], device, &sum);
    if (!any)
        return gc_fail(
            error, GCONV_ERROR_UNSUPPORTED,
            "no filter of the chain is of rank 1 (a column times a row), or of rank 2 or "
            "3 and large, with sums that float32 has room for, and fits in shared memory");
    return separates(problem, step, device, &sum)
               ? GCONV_OK
               : gc_direct_supports(problem, step, device, error);
}

static gc_pass_times times_of(const gc_problem *problem, const gc_step *step, gc_form form,
                              const gc_pass_scope &scope, const gconv_device_info *device)
{
    double work = gc_form_work(form, step->width, step->height);
    return gc_pass_times_of(problem, scope, work, find_ahead(step, form) != nullptr,
                            1 + gc_costs_of(device)->constants_gain, device);
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    low_rank sum;
    if (is_long(problem, step, device))
        return gc_vectors_seconds(problem, step, device);
    if (!separates(problem, step, device, &sum))
        return gc_direct_seconds(problem, step, device);
    gc_pass_scope scope = gc_pass_scope_of(problem, (int)(step - problem->chain.steps), 1,
                                           gc_error_of_products(problem, step, &sum.products));
    gc_layout layout = gc_pass_layout(problem, step, sum.form, &scope, device);
    return gc_pass_total_seconds(problem, times_of(problem, step, sum.form, scope, device), layout,
                                 sum.weights, sum.count, device);
}

static double error_of(const gc_problem *problem, const gc_step *step,
                       const gconv_device_info *device)
{
    low_rank sum;
    return separates(problem, step, device, &sum)
               ? gc_error_of_products(problem, step, &sum.products)
               : gc_error_of_sum(problem, step);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gconv_status prepare_sum(const gc_problem *problem, const gc_step *step,
                                const gconv_device_info *device, const low_rank &sum,
                                gc_pass_scope *scope, gc_pass_kernel *kernel, gconv_error *error)
{
    gc_layout layout = gc_pass_layout(problem, step, sum.form, scope, device);
    gc_pass_times times = times_of(problem, step, sum.form, *scope, device);
    return gc_pass_prepare({layout, sum.weights, sum.count, find_ahead(step, sum.form)},
                           gc_pass_compiling_pays(problem, times, device), device, scope, kernel,
                           error);
}

/* A kernel for the step, or passes for long vectors. */
struct separable_state {
    bool is_long;
    gc_pass_kernel kernel;
    gc_vectors vectors;
    ~separable_state()
    {
        gc_pass_release(&kernel);
    }
};

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **state, gconv_error *error)
{
    low_rank sum;
    const gc_step *step = &problem->chain.steps[scope->first];
    separable_state *made;
    GC_TRY(gc_make(&made, state, error));
    made->is_long = is_long(problem, step, device);
    if (made->is_long)
        return gc_vectors_prepare(step, device, scope, &made->vectors, error);
    return separates(problem, step, device, &sum)
               ? prepare_sum(problem, step, device, sum, scope, &made->kernel, error)
               : gc_direct_prepare(problem, step, device, scope, &made->kernel, error);
}

static gconv_status run(void *state, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    separable_state *s = (separable_state *)state;
    return s->is_long ? gc_vectors_run(&s->vectors, pass, channels, stream, error)
                      : gc_pass_run(&s->kernel, pass, channels, stream, error);
}

static void describe(const void *state, char *text, size_t size)
{
    const separable_state *s = (const separable_state *)state;
    if (s->is_long)
        gc_vectors_describe(&s->vectors, text, size);
    else
        gc_pass_describe(&s->kernel, text, size);
}

/* Kernels for one filter take none. */
static double extra_bytes(const gc_problem *problem, int64_t rows)
{
    return gc_vectors_bytes(problem, rows);
}

extern const gc_pass_method gc_separable_method = {
    {supports, seconds, gc_free<separable_state>, describe, extra_bytes, nullptr, nullptr, error_of,
     true},
    gc_pass_one_step,
    prepare,
    run,
};

GC_OPERATIONS(gc_separable_operations, gc_pass_operations<gc_separable_method>());
