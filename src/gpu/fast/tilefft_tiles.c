#include "gpu/fast/tilefft_tiles.h"

#include "base/number.h"
#include "base/status.h"
#include "core/range.h"
#include "gpu/cost/costs.h"

#include <math.h>
#include <stdlib.h>

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Outputs of a tile, along one side. */
static int outputs_of(int points, int side, int multiple)
{
    int outputs = points - side + 1;
    return outputs > 0 ? outputs / multiple * multiple : 0;
}

size_t gc_tiles_bytes(int columns, int lines)
{
    return (size_t)lines * (size_t)(columns + 1) * 2 * sizeof(float);
}

static double seconds_of(const gc_problem *problem, const gc_tiles *tiles, double pair_seconds,
                         double output_factor, int blocks, const gconv_device_info *device)
{
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    double rows = ceil((double)problem->chain.height / tiles->height);
    double pairs = (double)tiles->pairs * rows * problem->chain.channels;
    double processors = gc_larger(1, device->processors);
    /* The last pairs find processors idle. */
    double turns = fmax(pairs / processors, ceil(pairs / (processors * blocks)));
    return gc_costs_of(device)->launch_seconds + turns * pair_seconds +
           values * output_factor * 2 * sizeof(float) / gc_cost_bandwidth(device);
}

gc_tiles gc_tiles_of(const gc_problem *problem, const gc_tile_filter *filter, bool stores_samples,
                     const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    gc_tiles best = {.seconds = HUGE_VAL};
    for (int i = 0; i < GC_TILE_KINDS; i++) {
        gc_tiles tiles = {.columns = costs->tiles[i].columns, .lines = costs->tiles[i].lines};
        tiles.width = outputs_of(tiles.columns, filter->width, stores_samples ? 8 : 1);
        tiles.height = outputs_of(tiles.lines, filter->height, 1);
        if (gc_tiles_bytes(tiles.columns, tiles.lines) > device->shared_per_block_optin ||
            tiles.width == 0 || tiles.height == 0)
            continue;
        int64_t across = 2 * (int64_t)tiles.width;
        tiles.pairs = (int)(((int64_t)problem->chain.width + across - 1) / across);
        tiles.seconds = seconds_of(problem, &tiles, costs->tiles[i].pair_seconds,
                                   costs->tiles[i].output_factor, costs->tiles[i].blocks, device);
        if (tiles.seconds < best.seconds)
            best = tiles;
    }
    return best;
}

/* ---- Steps as one filter --------------------------------------------------------------------- */

static bool is_symmetric(const gc_step *step)
{
    if (2 * step->left != step->width - 1 || 2 * step->top != step->height - 1)
        return false;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            const float *row = step->taps + (ptrdiff_t)j * step->width;
            const float *mirrored = step->taps + (ptrdiff_t)(step->height - 1 - j) * step->width;
            if (row[i] != row[step->width - 1 - i] || row[i] != mirrored[i])
                return false;
        }
    return true;
}

/* Whether the border of the output of `step` is what the step makes of the border of its input. A
 * symmetric filter turns a reflected image into a reflected image. */
static bool passes_border_on(const gc_problem *problem, const gc_step *step)
{
    gconv_border border = problem->job.border;
    return border == GCONV_BORDER_WRAP ||
           ((border == GCONV_BORDER_MIRROR || border == GCONV_BORDER_MIRROR101) &&
            is_symmetric(step));
}

static gc_tile_filter alone(const gc_problem *problem, int at)
{
    const gc_step *step = &problem->chain.steps[at];
    return (gc_tile_filter){at, 1, step->width, step->height, step->left, step->top};
}

/* Whether float32 holds what the transforms of steps `first` to `last` as one filter compute. */
static bool holds(const gc_problem *problem, int first, int last)
{
    gc_step joined = problem->chain.steps[first];
    for (int s = first + 1; s <= last; s++)
        joined.absolute_sum *= problem->chain.steps[s].absolute_sum;
    return gc_range_holds_tiles(&joined, GC_TILE_POINTS_MAX);
}

/* Joins the next step to a filter. False where that cannot be or does not pay. */
static bool join(const gc_problem *problem, const gconv_device_info *device, gc_tile_filter *filter)
{
    int at = filter->first + filter->count;
    if (at == problem->chain.step_count || problem->chain.steps[at].taps == NULL ||
        !passes_border_on(problem, &problem->chain.steps[at - 1]) ||
        !holds(problem, filter->first, at))
        return false;
    gc_tile_filter next = alone(problem, at);
    gc_tile_filter both = {.first = filter->first,
                           .count = filter->count + 1,
                           .width = filter->width + next.width - 1,
                           .height = filter->height + next.height - 1,
                           .left = filter->left + next.left,
                           .top = filter->top + next.top};
    double together = gc_tiles_of(problem, &both, true, device).seconds;
    if (together >= gc_tiles_of(problem, filter, true, device).seconds +
                        gc_tiles_of(problem, &next, true, device).seconds)
        return false; /* also where no tile is large enough */
    *filter = both;
    return true;
}

gc_tile_filter gc_tile_filter_of(const gc_problem *problem, const gc_step *step,
                                 const gconv_device_info *device)
{
    int at = (int)(step - problem->chain.steps);
    for (int first = 0;;) {
        gc_tile_filter filter = alone(problem, first);
        if (problem->chain.steps[first].taps != NULL)
            while (join(problem, device, &filter))
                continue;
        first += filter.count;
        if (at < first)
            return filter;
    }
}

/* ---- The spectrum ---------------------------------------------------------------------------- */

typedef struct complex_number {
    double re, im;
} complex_number;

/* exp(2 pi i k / points) for all k. */
static void fill_roots(complex_number *roots, int points)
{
    const double turn = 2 * 3.14159265358979323846;
    for (int k = 0; k < points; k++)
        roots[k] = (complex_number){cos(turn * k / points), sin(turn * k / points)};
}

/* Adds value * exp(2 pi i at k / points) to sums[k] for all frequencies k. */
static void add_wave(complex_number *sums, const complex_number *roots, int points, int at,
                     complex_number value)
{
    for (int k = 0, turn = 0; k < points; k++, turn = (turn + at) & (points - 1)) {
        complex_number root = roots[turn];
        sums[k].re += value.re * root.re - value.im * root.im;
        sums[k].im += value.re * root.im + value.im * root.re;
    }
}

/* Memory for a spectrum. */
typedef struct workspace {
    complex_number *all;  /* the product of the steps' spectra, column by column */
    complex_number *step; /* the spectrum of a step, likewise */
    complex_number *row, *roots;
} workspace;

/* The spectrum of a step at all frequencies. The sign of the exponent is that of a transform back:
 * taps are in reading order, and a correlation takes the conjugate. */
static void transform(const gc_step *step, int columns, int lines, const workspace *space)
{
    for (int k = 0; k < columns * lines; k++)
        space->step[k] = (complex_number){0, 0};
    for (int j = 0; j < step->height; j++) {
        for (int k = 0; k < columns; k++)
            space->row[k] = (complex_number){0, 0};
        for (int i = 0; i < step->width; i++)
            add_wave(space->row, space->roots, columns, i,
                     (complex_number){(double)step->taps[j * step->width + i], 0});
        for (int k = 0; k < columns; k++)
            add_wave(space->step + (ptrdiff_t)k * lines, space->roots + columns, lines, j,
                     space->row[k]);
    }
}

static void multiply_all(const gc_problem *problem, const gc_tile_filter *filter, int columns,
                         int lines, const workspace *space)
{
    fill_roots(space->roots, columns);
    fill_roots(space->roots + columns, lines);
    for (int k = 0; k < columns * lines; k++)
        space->all[k] = (complex_number){1.0 / columns / lines, 0};
    for (int s = 0; s < filter->count; s++) {
        transform(&problem->chain.steps[filter->first + s], columns, lines, space);
        for (int k = 0; k < columns * lines; k++) {
            complex_number a = space->all[k], b = space->step[k];
            space->all[k] = (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
        }
    }
}

/* The frequency at place `at` of a line: places are 8 c + d, frequencies c + points / 8 d. */
static int frequency_at(int at, int points)
{
    return at / 8 + points / 8 * (at % 8);
}

gconv_status gc_tiles_spectrum(const gc_problem *problem, const gc_tile_filter *filter, int columns,
                               int lines, float *spectrum, gconv_error *error)
{
    size_t points = (size_t)columns * (size_t)lines;
    size_t bytes = (2 * points + (size_t)(2 * columns + lines)) * sizeof(complex_number);
    workspace space = {.all = malloc(bytes)};
    if (space.all == NULL)
        return gc_fail_memory(error, bytes);
    space.step = space.all + points;
    space.row = space.step + points;
    space.roots = space.row + columns;
    multiply_all(problem, filter, columns, lines, &space);
    for (int column = 0; column < columns; column++)
        for (int line = 0; line < lines; line++) {
            complex_number value =
                space.all[frequency_at(column, columns) * lines + frequency_at(line, lines)];
            *spectrum++ = (float)value.re;
            *spectrum++ = (float)value.im;
        }
    free(space.all);
    return GCONV_OK;
}
