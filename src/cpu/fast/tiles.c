/* Convolution of rows through Fourier transforms of overlapping tiles, and the solver made of
 * it. */
#include "cpu/fast/tiles.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/x86.h"
#include "core/range.h"
#include "cpu/budget.h"
#include "cpu/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static size_t part_bytes(const gc_transform_loops *loops, int side)
{
    return (size_t)side * (size_t)(side + GC_TRANSFORM_PADDING) * loops->value_size;
}

size_t gc_tiles_scratch(const gc_transform_loops *loops, int side)
{
    return 2 * part_bytes(loops, side) / sizeof(float);
}

static gc_complex complex_in(const gc_transform_loops *loops, void *scratch, int side)
{
    return (gc_complex){scratch, (char *)scratch + part_bytes(loops, side)};
}

/* Reading order is correlation: tap (i, j) stands at (-i, -j), and output (x, y) of a tile results
 * at (x, y). Dividing the taps by side * side here undoes the factor of `backward`. */
static void transform_filter(gc_tiles *tiles, const gc_step *step)
{
    int side = tiles->transform.side;
    size_t stride = tiles->transform.stride;
    memset(tiles->spectrum.real, 0, 2 * part_bytes(tiles->loops, side));
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            size_t y = (size_t)((side - j) % side), x = (size_t)((side - i) % side);
            double tap = (double)step->taps[j * step->width + i];
            tiles->loops->set(tiles->spectrum.real, y * stride + x, tap / side / side);
        }
    tiles->loops->forward(&tiles->transform, tiles->spectrum);
}

/* cos(2 pi i / side), 0 <= i < side, from an angle of at most pi / 4: gc_transform_error needs
 * roots that are at most 3 * 2^-53 off. */
static double cosine(int i, int side)
{
    if (i > side / 2)
        i = side - i;
    if (i > side / 4)
        return -cosine(side / 2 - i, side);
    return i <= side / 8 ? cos(2 * pi * i / side) : sin(2 * pi * (side / 4 - i) / side);
}

void gc_make_roots(const gc_transform_loops *loops, const gc_transform *transform)
{
    int side = transform->side;
    for (int i = 0; i < side; i++) {
        loops->set(transform->cosine, (size_t)i, cosine(i, side));
        loops->set(transform->sine, (size_t)i, cosine((i + side / 4) % side, side));
    }
}

gconv_status gc_tiles_create(gc_tiles *tiles, const gc_transform_loops *loops, int side,
                             const gc_step *step, gconv_error *error)
{
    size_t roots = (size_t)side * loops->value_size;
    *tiles = (gc_tiles){.loops = loops,
                        .width = step->width,
                        .height = step->height,
                        .columns = side - step->width + 1,
                        .rows = side - step->height + 1};
    tiles->transform =
        (gc_transform){.side = side, .stride = (size_t)(side + GC_TRANSFORM_PADDING)};
    tiles->transform.cosine = gc_allocate_array(2, roots);
    void *spectrum = gc_allocate_aligned(2, part_bytes(loops, side));
    if (tiles->transform.cosine == NULL || spectrum == NULL) {
        free(spectrum);
        gc_tiles_destroy(tiles);
        return gc_fail_memory(error, 2 * part_bytes(loops, side));
    }
    tiles->transform.sine = (char *)tiles->transform.cosine + roots;
    gc_make_roots(loops, &tiles->transform);
    tiles->spectrum = complex_in(loops, spectrum, side);
    transform_filter(tiles, step);
    return GCONV_OK;
}

void gc_tiles_destroy(gc_tiles *tiles)
{
    free(tiles->transform.cosine);
    free(tiles->spectrum.real);
    *tiles = (gc_tiles){.loops = NULL};
}

/* Number of transforms for `width` x `height` pixels of `channels` channels. */
static double count_transforms(const gc_step *step, int side, double width, double height,
                               int channels)
{
    double across = ceil(width / (side - step->width + 1)) * channels;
    return ceil(across / 2) * ceil(height / (side - step->height + 1));
}

/* Tiles of a row of tiles are numbered from left to right; at each position all channels in
 * turn. */
typedef struct position {
    size_t x; /* its first pixel */
    size_t channel;
} position;

static position position_of(const gc_tiles *tiles, size_t channels, size_t index)
{
    return (position){index / channels * (size_t)tiles->columns, index % channels};
}

static void *row_of(const gc_tiles *tiles, void *values, size_t y)
{
    return (char *)values + y * tiles->transform.stride * tiles->loops->value_size;
}

/* Beyond the extended row there are no samples, and no output needs any. */
static void load_tile(const gc_tiles *tiles, const float *const *rows, int row_count,
                      size_t channels, size_t width, position at, void *values)
{
    size_t side = (size_t)tiles->transform.side;
    size_t there = width + (size_t)tiles->width - 1 - at.x;
    size_t count = there < side ? there : side;
    for (size_t y = 0; y < side; y++) {
        bool exists = y < (size_t)(row_count + tiles->height - 1);
        const float *from = exists ? rows[y] + at.x * channels + at.channel : NULL;
        tiles->loops->load(row_of(tiles, values, y), side, from, channels, exists ? count : 0);
    }
}

static void store_tile(const gc_tiles *tiles, void *values, int row_count, size_t channels,
                       size_t width, position at, float *const *out)
{
    size_t count = width - at.x;
    if (count > (size_t)tiles->columns)
        count = (size_t)tiles->columns;
    for (int o = 0; o < row_count; o++)
        tiles->loops->store(row_of(tiles, values, (size_t)o), out[o] + at.x * channels + at.channel,
                            channels, count);
}

void gc_tiles_convolve(const gc_tiles *tiles, float *scratch, const float *const *rows,
                       size_t channels, size_t width, int row_count, float *const *out)
{
    size_t columns = (size_t)tiles->columns;
    size_t count = (width + columns - 1) / columns * channels;
    gc_complex values = complex_in(tiles->loops, scratch, tiles->transform.side);
    for (size_t first = 0; first < count; first += 2) {
        position one = position_of(tiles, channels, first);
        position other = position_of(tiles, channels, first + 1);
        bool both = first + 1 < count;
        load_tile(tiles, rows, row_count, channels, width, one, values.real);
        if (both)
            load_tile(tiles, rows, row_count, channels, width, other, values.imaginary);
        else
            memset(values.imaginary, 0, part_bytes(tiles->loops, tiles->transform.side));
        tiles->loops->forward(&tiles->transform, values);
        tiles->loops->backward(&tiles->transform, values, tiles->spectrum);
        store_tile(tiles, values.real, row_count, channels, width, one, out);
        if (both)
            store_tile(tiles, values.imaginary, row_count, channels, width, other, out);
    }
}

/* ---- The solver ------------------------------------------------------------------------------ */

const gc_transforms *gc_transforms_for(const gc_question *question)
{
    return question->problem->chain.exact ? &question->instructions->exact_transforms
                                          : &question->instructions->transforms;
}

double gc_round_seconds(const gc_question *question)
{
#if GC_HAS_X86_LOOPS
    /* Processors of AMD have SSE4a, those of Intel do not. A virtual machine may hide it. Only a
     * cost is wrong then, and asking a processor for its maker takes 4 us in such a machine. */
    const double factor = gc_x86_has(SSE4A, "sse4a") ? 1 : GC_ROUND_INTEL;
#else
    const double factor = 1;
#endif
    return factor * gc_transforms_for(question)->seconds;
}

/* What tile and spectrum cost beyond a second-level cache. */
static double cache_factor(const gc_question *question, int side)
{
    size_t bytes = 4 * part_bytes(gc_transforms_for(question)->loops, side);
    return bytes < 1 << 20 ? 1 : bytes < 1 << 21 ? GC_CACHE_FACTOR_2_MIB : GC_CACHE_FACTOR_BEYOND;
}

/* A transform has log2(side * side) rounds, there and back, on two tiles at once. */
static double seconds_at(const gc_question *question, int side)
{
    const gc_chain *chain = &question->problem->chain;
    double values = (double)chain->width * chain->height * chain->channels;
    double count =
        count_transforms(question->step, side, chain->width, chain->height, chain->channels);
    double work = count * side * side * 2 * log2(side);
    return GC_STAGE_SECONDS +
           work / values * gc_round_seconds(question) * cache_factor(question, side);
}

/* Whether tiles of this side have enough outputs, and transforms of this size are accurate
 * enough. */
static bool allows(const gc_question *question, int side)
{
    const gc_step *step = question->step;
    int larger = step->width > step->height ? step->width : step->height;
    if (side < 2 * GC_ROWS_TOGETHER + larger)
        return false;
    return question->problem->chain.exact ? gc_transform_error(2 * log2(side)) < 0.5
                                          : gc_range_holds_tiles(step, (double)side * side);
}

/* A row of tiles is computed at once, so large tiles of a wide image need large rings. If a smaller
 * side stays below `limit`, a side that exceeds the rings' memory counts as slower by
 * GC_WORTH_OF_MEMORY. */
static double seconds(const gc_question *question, gc_estimate *estimate)
{
    const double limit = estimate->seconds;
    double best = HUGE_VAL;
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= GC_TRANSFORM_SIDE_MAX; side *= 2) {
        if (!allows(question, side))
            continue;
        double at_side = seconds_at(question, side);
        bool is_too_much =
            best < limit && !gc_budget_holds(question->problem, side - question->step->height + 1);
        if (at_side * (is_too_much ? GC_WORTH_OF_MEMORY : 1) < fmin(best, limit)) {
            estimate->side = side;
            best = at_side;
        }
    }
    return best;
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    const gc_transform_loops *loops = gc_transforms_for(question)->loops;
    gc_tiles *tiles = stage->own;
    gconv_status status = gc_tiles_create(tiles, loops, estimate->side, stage->step, error);
    stage->rows_at_once = tiles->rows;
    stage->tile_columns = tiles->columns;
    stage->scratch = gc_tiles_scratch(loops, estimate->side);
    return status;
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    size_t channels = (size_t)stage->channels;
    gc_tiles_convolve(stage->own, input->scratch, input->rows, channels, values / channels,
                      row_count, out);
}

static const char *describe(const gc_stage *stage)
{
    const gc_tiles *tiles = stage->own;
    return tiles->loops == stage->instructions->exact_transforms.loops
               ? "transforms of tiles in double, rounded"
               : "transforms of tiles";
}

static void release(void *own)
{
    gc_tiles_destroy(own);
}

static double extra_terms(const gc_estimate *estimate)
{
    return 32 * 2 * log2(estimate->side);
}

const gc_solver gc_solver_tiles = {
    .name = "tiles",
    .applies = gc_question_of_matrix,
    .seconds = seconds,
    .own_bytes = sizeof(gc_tiles),
    .create = create,
    .run = run,
    .describe = describe,
    .release = release,
    .extra_terms = extra_terms,
    .tiled = true,
};
