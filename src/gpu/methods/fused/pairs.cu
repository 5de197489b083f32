#include "gpu/methods/fused/pairs.cuh"

#include "gpu/methods/fused/pair.cuh"

extern "C" {
#include "gpu/tunings/tuning.h"
}

#include <algorithm>

/* ---- Kernels compiled ahead ------------------------------------------------------------------ */

/* Two squares around their middle. The pass tells input type and border. */
template <int first_side, int second_side> struct squares {
    static constexpr int width = first_side, height = first_side;
    static constexpr int left = first_side / 2, top = first_side / 2;
    static constexpr int rows = 4, warps = 8, schedule = GC_QUEUE;
    static constexpr int input = -1, output = GC_FLOAT, finish = GC_FINISH_NONE, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
    struct second {
        static constexpr int width = second_side, height = second_side;
        static constexpr int left = second_side / 2, top = second_side / 2;
    };
};

template <int first_side, int second_side>
static __global__ void __launch_bounds__(32 * squares<first_side, second_side>::warps) pair_kernel(
    const __grid_constant__ gc_pass pass,
    const __grid_constant__ gc_pass_weights<first_side * first_side + second_side * second_side>
        weights)
{
    gc_block_pass<gc_block_pair, gc_pair<squares<first_side, second_side>>>(pass, weights);
}

struct ahead_pair {
    int second_side;
    gc_ahead_kernel kernel;
};

#define PAIR(first_side, second_side)                                                              \
    {                                                                                              \
        second_side,                                                                               \
        {                                                                                          \
            first_side, {GC_FORM_PAIR, 4, 8, GC_QUEUE, 1},                                         \
                (const void *)pair_kernel<first_side, second_side>                                 \
        }                                                                                          \
    }

static const ahead_pair ahead_pairs[] = {PAIR(3, 3), PAIR(3, 5), PAIR(5, 3), PAIR(5, 5)};

static const gc_ahead_kernel *find_ahead(const gc_step *first, const gc_step *second)
{
    for (const ahead_pair &row : ahead_pairs)
        if (gc_is_square(first, row.kernel.side) && gc_is_square(second, row.second_side))
            return &row.kernel;
    return nullptr;
}

/* ---- A pair ---------------------------------------------------------------------------------- */

struct pair {
    gc_layout layout;
    const gc_ahead_kernel *ahead; /* null if there is none */
    int count;
    float weights[GC_PAIR_WEIGHTS + GC_PAIR_SIDE * GC_PAIR_SIDE];
};

/* The extent of the second filter. Under a mirror border it is padded with zeros until it reaches
 * as far left and up as right and down: reflected positions then stay in a tile's surroundings
 * (pair.cuh). */
static gc_extent pad(const gc_problem *problem, const gc_step *step)
{
    gc_extent padded = {step->width, step->height, step->left, step->top};
    gconv_border border = problem->job.border;
    if (border != GCONV_BORDER_MIRROR && border != GCONV_BORDER_MIRROR101)
        return padded;
    padded.left = std::max(step->left, step->width - 1 - step->left);
    padded.top = std::max(step->top, step->height - 1 - step->top);
    padded.width += padded.left - step->left;
    padded.height += padded.top - step->top;
    return padded;
}

static bool is_short(int width, int height, int weights)
{
    return width <= GC_PAIR_SIDE && height <= GC_PAIR_SIDE && weights <= GC_PAIR_WEIGHTS;
}

static void set_weights(const gc_step *first, const gc_step *second, const gc_extent &padded,
                        pair *made)
{
    int area = first->width * first->height;
    made->count = area + padded.width * padded.height;
    std::copy(first->taps, first->taps + area, made->weights);
    float *to = made->weights + area;
    std::fill(to, made->weights + made->count, 0.0f);
    to += (padded.top - second->top) * padded.width + padded.left - second->left;
    for (int j = 0; j < second->height; j++)
        std::copy(second->taps + j * second->width, second->taps + (j + 1) * second->width,
                  to + j * padded.width);
}

/* Sets types and tuning. If a tile of all channels does not fit, there are planes. */
static bool fits(const gconv_device_info *device, gc_pass_scope *scope, gc_layout *layout)
{
    gc_pass_set_types(*scope, layout);
    layout->tuning = gc_tuning_pair(layout);
    if (gc_tuning_fits(device, layout))
        return true;
    if (scope->channels == 1)
        return false;
    *scope = gc_pass_scope_of_planes(*scope);
    return fits(device, scope, layout);
}

/* False if there is no kernel for the two steps of *scope, which may become one of planes. */
static bool make_pair(const gc_problem *problem, gc_pass_scope *scope,
                      const gconv_device_info *device, pair *made)
{
    const gc_step *first = &problem->chain.steps[scope->first], *second = first + 1;
    gc_extent padded = pad(problem, second);
    if (!is_short(first->width, first->height, first->width * first->height) ||
        !is_short(padded.width, padded.height, second->width * second->height))
        return false;
    made->layout = gc_layout_of(problem, first);
    made->layout.second = padded;
    made->ahead = find_ahead(first, second);
    set_weights(first, second, padded, made);
    return fits(device, scope, &made->layout) && (made->ahead != nullptr || gc_jit_available());
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* Multiply-adds a value. Those of the first filter count also if tiles overlap. */
static double work_of(const gc_problem *problem, int first, const gc_layout &layout)
{
    int width, height, made_width, made_height;
    gc_layout_tile(&layout, &width, &height);
    gc_layout_middle(&layout, &made_width, &made_height);
    double overlap = (double)made_width * made_height / (width * height);
    const gc_step *steps = &problem->chain.steps[first];
    return overlap * steps[0].width * steps[0].height + steps[1].width * steps[1].height;
}

static gc_pass_times times_of(const gc_problem *problem, const gc_pass_scope &scope,
                              const pair &made, const gconv_device_info *device)
{
    return gc_pass_times_of(problem, scope, work_of(problem, scope.first, made.layout),
                            made.ahead != nullptr, gc_costs_of(device)->arguments_factor, device);
}

bool gc_pair_fits(const gc_problem *problem, int first, const gconv_device_info *device)
{
    pair made;
    if (first + 1 >= problem->chain.step_count)
        return false;
    gc_pass_scope scope = gc_pass_scope_of(problem, first, 2);
    if (!make_pair(problem, &scope, device, &made))
        return false;
    const gc_step *steps = &problem->chain.steps[first];
    return times_of(problem, scope, made, device).compiled <
           gc_pass_form_seconds(problem, &steps[0], GC_FORM_BLOCK, device) +
               gc_pass_form_seconds(problem, &steps[1], GC_FORM_BLOCK, device);
}

double gc_pair_seconds(const gc_problem *problem, int first, const gconv_device_info *device)
{
    pair made;
    gc_pass_scope scope = gc_pass_scope_of(problem, first, 2);
    make_pair(problem, &scope, device, &made);
    return gc_pass_total_seconds(problem, times_of(problem, scope, made, device), made.layout,
                                 made.weights, made.count, device);
}

gconv_status gc_pair_prepare(const gc_problem *problem, const gconv_device_info *device,
                             gc_pass_scope *scope, gc_pass_kernel *kernel, gconv_error *error)
{
    pair made;
    make_pair(problem, scope, device, &made);
    gc_pass_times times = times_of(problem, *scope, made, device);
    return gc_pass_prepare({made.layout, made.weights, made.count, made.ahead},
                           gc_pass_compiling_pays(problem, times, device), device, scope, kernel,
                           error);
}
