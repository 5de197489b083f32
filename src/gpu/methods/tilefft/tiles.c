#include "gpu/methods/tilefft/tiles.h"

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

bool gc_tiles_are_large(int columns, int lines)
{
    return columns > GC_TILE_SIDE_MAX || lines > GC_TILE_SIDE_MAX;
}

/* Bytes of two buffers of lines, and of the roots (gc_large_shape). */
static size_t large_bytes(int points, int lines)
{
    size_t line = (size_t)(32 * (points / 32 + 1) + 15) / 16 * 16 + 2;
    return (2 * (size_t)lines * line + (size_t)points) * 2 * sizeof(float);
}

size_t gc_tiles_bytes(int columns, int lines)
{
    if (!gc_tiles_are_large(columns, lines))
        return ((size_t)lines * (size_t)(columns + 1) + (size_t)(columns + lines)) * 2 *
               sizeof(float);
    size_t rows = large_bytes(columns, 128 / (columns / 32));
    size_t of_columns = large_bytes(lines, 8);
    return rows > of_columns ? rows : of_columns;
}

static int64_t ceil_of(int64_t size, int64_t part)
{
    return (size + part - 1) / part;
}

double gc_tilefft_scratch(const gc_tiles *tiles)
{
    double lines = (double)tiles->strip_lines + (double)tiles->rows * tiles->height;
    return tiles->strips * lines * tiles->columns * 2 * sizeof(float);
}

/* Fills in how many rows of large tiles fit in scratch memory, else how many strips of one row. */
static void fit_strips(const gc_problem *problem, gc_tiles *tiles)
{
    int64_t held = GC_LARGE_TILES_BYTES / (2 * (int64_t)sizeof(float)) / tiles->columns; /* lines */
    int64_t rows = ceil_of(problem->chain.height, tiles->height), strips = (tiles->across + 1) / 2;
    int64_t fitting = (held / strips - tiles->lines - 7 + tiles->height) / (2 * tiles->height);
    tiles->rows = (int)gc_larger(1, gc_smaller(rows, fitting));
    tiles->strip_lines = ((tiles->rows - 1) * tiles->height + tiles->lines + 7) / 8 * 8;
    tiles->strips =
        (int)gc_smaller(strips, held / (tiles->strip_lines + tiles->rows * tiles->height));
}

/* Fills in how tiles of known width and height lie in the image. */
static void lay_out(const gc_problem *problem, gc_tiles *tiles)
{
    tiles->across = (int)ceil_of(problem->chain.width, tiles->width);
    tiles->rows = 1;
    if (gc_tiles_are_large(tiles->columns, tiles->lines))
        fit_strips(problem, tiles);
    tiles->pairs = (int)ceil_of((int64_t)tiles->rows * tiles->across, 2);
}

/* Seconds of all transforms, and of reading and storing the image. `kind` is one of the device's
 * tiles. */
static double seconds_of(const gc_problem *problem, const gc_tiles *tiles, int kind,
                         const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    bool large = gc_tiles_are_large(tiles->columns, tiles->lines);
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    double rows = ceil((double)problem->chain.height / tiles->height);
    double pairs = ceil(tiles->across * (large ? rows : 1) / 2) * (large ? 1 : rows);
    double processors = gc_larger(1, device->processors), turns = 0;
    pairs *= problem->chain.channels;
    turns = pairs / processors;
    if (!large) /* the last pairs find processors idle */
        turns = fmax(turns, ceil(pairs / (processors * costs->tiles[kind].blocks)));
    return (large ? 3 : 1) * costs->launch_seconds + turns * costs->tiles[kind].pair_seconds +
           values * costs->tiles[kind].output_factor * 2 * sizeof(float) /
               gc_cost_bandwidth(device);
}

/* Whether tiles of a kind serve a filter. Sets the size of their outputs. */
static bool serve(const gc_step *step, gc_tiles *tiles)
{
    bool large = gc_tiles_are_large(tiles->columns, tiles->lines);
    if (large && step->width < GC_LARGE_TILES_SIDE && step->height < GC_LARGE_TILES_SIDE)
        return false;
    tiles->width = outputs_of(tiles->columns, step->width, large ? 16 : 1);
    tiles->height = outputs_of(tiles->lines, step->height, 1);
    return tiles->width > 0 && tiles->height > 0;
}

gc_tiles gc_tiles_of(const gc_problem *problem, const gc_step *step,
                     const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    gc_tiles best = {.seconds = HUGE_VAL};
    for (int i = 0; i < GC_TILE_KINDS; i++) {
        gc_tiles tiles = {.columns = costs->tiles[i].columns, .lines = costs->tiles[i].lines};
        if (gc_tiles_bytes(tiles.columns, tiles.lines) > device->shared_per_block_optin ||
            !serve(step, &tiles))
            continue;
        lay_out(problem, &tiles);
        tiles.seconds = seconds_of(problem, &tiles, i, device);
        if (tiles.seconds < best.seconds)
            best = tiles;
    }
    return best;
}

/* ---- Scratch memory -------------------------------------------------------------------------- */

/* The most that any large tiles take for a filter. */
static double scratch_of(const gc_problem *problem, const gc_step *step)
{
    const gc_costs *costs = gc_costs_of(NULL);
    double most = 0;
    for (int i = 0; i < GC_TILE_KINDS; i++) {
        gc_tiles tiles = {.columns = costs->tiles[i].columns, .lines = costs->tiles[i].lines};
        if (!gc_tiles_are_large(tiles.columns, tiles.lines) || !serve(step, &tiles))
            continue;
        lay_out(problem, &tiles);
        most = fmax(most, gc_tilefft_scratch(&tiles));
    }
    return most;
}

double gc_tiles_scratch_bytes(const gc_problem *problem)
{
    double bytes = 0;
    for (int s = 0; s < problem->chain.step_count; s++)
        bytes += scratch_of(problem, &problem->chain.steps[s]);
    return bytes;
}

/* ---- The spectrum ---------------------------------------------------------------------------- */

typedef struct complex_number {
    double re, im;
} complex_number;

static const double turn = 2 * 3.14159265358979323846;

/* exp(2 pi i k / points) for all k. */
static void fill_roots(complex_number *roots, int points)
{
    for (int k = 0; k < points; k++)
        roots[k] = (complex_number){cos(turn * k / points), sin(turn * k / points)};
}

/* Sorts a line by the reversed bits of the indices. */
static void sort_line(complex_number *line, int points)
{
    for (int i = 1, reversed = 0; i < points; i++) {
        int bit = points >> 1;
        for (; reversed & bit; bit >>= 1)
            reversed ^= bit;
        reversed ^= bit;
        if (i < reversed) {
            complex_number other = line[i];
            line[i] = line[reversed];
            line[reversed] = other;
        }
    }
}

/* Transforms a line, in steps of radix 2. The sign of the exponent is that of a transform back:
 * taps are in reading order, and a correlation takes the conjugate. */
static void transform_line(complex_number *line, const complex_number *roots, int points)
{
    sort_line(line, points);
    for (int half = 1; half < points; half *= 2)
        for (int first = 0; first < points; first += 2 * half)
            for (int k = 0; k < half; k++) {
                complex_number root = roots[k * (points / (2 * half))];
                complex_number *a = &line[first + k], *b = a + half;
                complex_number value = {b->re * root.re - b->im * root.im,
                                        b->re * root.im + b->im * root.re};
                *b = (complex_number){a->re - value.re, a->im - value.im};
                *a = (complex_number){a->re + value.re, a->im + value.im};
            }
}

/* The spectrum of a step, column by column, in the first numbers of `all`. The others are for a row
 * and for roots. */
static void transform(const gc_step *step, int columns, int lines, complex_number *all)
{
    complex_number *row = all + (ptrdiff_t)columns * lines, *roots = row + columns;
    fill_roots(roots, columns);
    fill_roots(roots + columns, lines);
    for (int k = 0; k < columns * lines; k++)
        all[k] = (complex_number){0, 0};
    for (int j = 0; j < step->height; j++) {
        for (int k = 0; k < columns; k++)
            row[k] =
                (complex_number){k < step->width ? (double)step->taps[j * step->width + k] : 0, 0};
        transform_line(row, roots, columns);
        for (int k = 0; k < columns; k++)
            all[(ptrdiff_t)k * lines + j] = row[k];
    }
    for (int k = 0; k < columns; k++)
        transform_line(all + (ptrdiff_t)k * lines, roots + columns, lines);
}

/* The place of the factor of a frequency, as the steps of tile.cuh leave it: place 4 c + d of a
 * column in shared memory has frequency c + lines / 4 d, place columns / 4 e + f of a row frequency
 * e + 4 f. Columns come one after the other. */
static ptrdiff_t place_of(int column, int line, int columns, int lines)
{
    if (gc_tiles_are_large(columns, lines))
        return (ptrdiff_t)line * columns + column;
    int x = column % 4 * (columns / 4) + column / 4;
    int y = line % (lines / 4) * 4 + line / (lines / 4);
    return (ptrdiff_t)x * lines + y;
}

gconv_status gc_tiles_spectrum(const gc_step *step, int columns, int lines, float *spectrum,
                               gconv_error *error)
{
    size_t points = (size_t)columns * (size_t)lines;
    size_t bytes = (points + (size_t)(2 * columns + lines)) * sizeof(complex_number);
    complex_number *all = malloc(bytes);
    if (all == NULL)
        return gc_fail_memory(error, bytes);
    transform(step, columns, lines, all);
    for (int column = 0; column < columns; column++)
        for (int line = 0; line < lines; line++) {
            complex_number value = all[(ptrdiff_t)column * lines + line];
            float *factor = spectrum + 2 * place_of(column, line, columns, lines);
            factor[0] = (float)(value.re * (1.0 / columns / lines));
            factor[1] = (float)(value.im * (1.0 / columns / lines));
        }
    free(all);
    return GCONV_OK;
}

void gc_tiles_roots(int points, float *roots)
{
    for (int at = 0; at < points; at++) {
        int power = at / (points / 32) * (at % (points / 32)) % points;
        *roots++ = (float)cos(turn * power / points);
        *roots++ = (float)-sin(turn * power / points);
    }
}
