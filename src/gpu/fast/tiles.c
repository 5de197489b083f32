#include "gpu/fast/tiles.h"

#include "base/number.h"
#include "base/status.h"
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

gc_tiles gc_tiles_of(const gc_problem *problem, const gc_step *step, bool stores_samples,
                     const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    gc_tiles best = {.seconds = HUGE_VAL};
    for (int i = 0; i < GC_TILE_KINDS; i++) {
        gc_tiles tiles = {.columns = costs->tiles[i].columns, .lines = costs->tiles[i].lines};
        tiles.width = outputs_of(tiles.columns, step->width, stores_samples ? 8 : 1);
        tiles.height = outputs_of(tiles.lines, step->height, 1);
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

/* The spectrum at all rows of frequencies, column by column. The sign of the exponent is that of a
 * transform back: taps are in reading order, and a correlation takes the conjugate. */
static void transform(const gc_step *step, int columns, int lines, complex_number *spectrum,
                      complex_number *row, complex_number *roots)
{
    fill_roots(roots, columns);
    fill_roots(roots + columns, lines);
    for (int j = 0; j < step->height; j++) {
        for (int k = 0; k < columns; k++)
            row[k] = (complex_number){0, 0};
        for (int i = 0; i < step->width; i++)
            add_wave(row, roots, columns, i,
                     (complex_number){(double)step->taps[j * step->width + i], 0});
        for (int k = 0; k < columns; k++)
            add_wave(spectrum + (size_t)k * (size_t)lines, roots + columns, lines, j, row[k]);
    }
}

/* The frequency at place `at` of a line: places are 8 c + d, frequencies c + points / 8 d. */
static int frequency_at(int at, int points)
{
    return at / 8 + points / 8 * (at % 8);
}

gconv_status gc_tiles_spectrum(const gc_step *step, int columns, int lines, float *spectrum,
                               gconv_error *error)
{
    size_t points = (size_t)columns * (size_t)lines, others = (size_t)(2 * columns + lines);
    complex_number *all = calloc(points + others, sizeof *all);
    if (all == NULL)
        return gc_fail_memory(error, (points + others) * sizeof *all);
    transform(step, columns, lines, all, all + points, all + points + columns);
    for (int column = 0; column < columns; column++)
        for (int line = 0; line < lines; line++) {
            complex_number value =
                all[frequency_at(column, columns) * lines + frequency_at(line, lines)];
            *spectrum++ = (float)(value.re / (double)points);
            *spectrum++ = (float)(value.im / (double)points);
        }
    free(all);
    return GCONV_OK;
}
