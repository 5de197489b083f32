/* Loops: the inner code of the cpu implementation, compiled once for every instruction set, and the
 * table of these sets. */
#pragma once

#include "core/chain.h"
#include "core/conversion.h"

/* ---- Taps ------------------------------------------------------------------------------------ */

/* Output rows that are computed together: each vector of an input row that is loaded serves all of
 * them. */
enum { GC_ROWS_TOGETHER = 6 };

/* Floats after the last one of a row that vector code may read; of a row of bytes, four times as
 * many bytes. */
enum { GC_ROW_SLACK = 64 };

/* out[o][i] = sum_j sum_k taps[j*width+k] * rows[o+j][i + k*channels] for i in [0, count), o in
 * [0, row_count), row_count at most GC_ROWS_TOGETHER. `rows` holds height + GC_ROWS_TOGETHER - 1
 * readable rows whatever row_count is. Reads up to GC_ROW_SLACK samples beyond, writes none.
 * `every` reads none beyond if `count` is at least `block`. */
typedef void gc_taps_function(const gc_step *step, const float *const *rows, size_t channels,
                              size_t count, int row_count, float *const *out);

/* Taps as doubles. */
typedef struct gc_double_taps {
    const double *taps;
    int width, height;
    size_t advance; /* from tap to tap, in samples */
} gc_double_taps;

enum { GC_DOUBLE_SLACK = 64, GC_DOT_GROUP = 8 };

/* Samples of sums in double: offset + factor * sum, clamped to 0..largest. */
typedef struct gc_double_levels {
    double factor, offset, largest;
    double error;  /* less than this far from the true level */
    bool absolute; /* of the sum */
} gc_double_levels;

/* Where a chain value, or its magnitude, decides between black and white. */
typedef struct gc_boundary {
    float low, high; /* so near to it that float32 leaves the side in doubt */
    bool absolute;
    bool falls; /* values above are 0, those below 1 */
} gc_boundary;

typedef struct gc_taps_loops {
    gc_taps_function *every;  /* every tap */
    gc_taps_function *sparse; /* those that are not 0, one row after the other */
    /* Every tap, if output rows share no input rows. Row o + j above is row o * height + j here.
     * All height * GC_ROWS_TOGETHER rows are readable. */
    gc_taps_function *apart;
    /* For measuring: `spin_lanes` multiply-adds in each of `rounds`, without memory. Returns what
     * depends on all of them. */
    float (*spin)(size_t rounds, float factor);
    int spin_lanes;
    int block; /* values of a row that are computed together; fewer take as long */

    /* In double, for sums without an error: their order does not matter. Samples have 8 or 16
     * bits. */
    void (*widen)(const void *samples, int depth, size_t count, double *to);
    /* out[o*out_stride + i] = sum_j sum_k taps[j*width+k] * rows[(o+j)*stride + i + k*advance]
     * for i in [0, count), o in [0, row_count). Reads and writes up to GC_DOUBLE_SLACK values
     * beyond. */
    void (*in_double)(const gc_double_taps *taps, const double *rows, size_t stride,
                      size_t row_count, size_t count, double *out, size_t out_stride);
    /* Samples that are nearest to offset + factor * sums[i]. Bit i % 64 of doubtful[i / 64]: it may
     * be the next one. */
    void (*round)(const gc_double_levels *levels, const double *sums, size_t count,
                  uint16_t *samples, uint64_t *doubtful);
    /* sum_j sum_k taps[j*width+k] * rows[j][k], of bytes or doubles. The width is a multiple of
     * GC_DOT_GROUP. */
    double (*dot)(const gc_double_taps *taps, const void *const *rows, bool bytes);
    /* flags[i] is the side of values[i], and bit i % 64 of doubtful[i / 64] says that it is in
     * doubt. */
    void (*find_sides)(const float *values, size_t count, const gc_boundary *boundary,
                       uint8_t *flags, uint64_t *doubtful);
} gc_taps_loops;

/* ---- Taps in bytes --------------------------------------------------------------------------- */

/* Taps of a row that are multiplied at once: as many neighbouring bytes as a lane holds. */
enum { GC_BYTES_GROUP = 4 };

/* A step's taps as signed bytes. An element holds four neighbouring bytes of a row. Zeros in
 * between are for the samples of other channels. */
typedef struct gc_byte_step {
    int32_t *taps;
    int width, height; /* in elements */
} gc_byte_step;

typedef struct gc_bytes_loops {
    /* As gc_taps_function, on samples of 8 bits. `advance` is the distance from element to element
     * in samples: GC_BYTES_GROUP. Up to GC_BYTES_GROUP - 1 samples more are read beyond. */
    void (*every)(const gc_byte_step *step, const uint8_t *const *rows, size_t advance,
                  size_t count, int row_count, float *const *out);
} gc_bytes_loops;

/* ---- Samples --------------------------------------------------------------------------------- */

/* What goes beside colours if alpha is kept. Levels are those of store8_near if `near` is not
 * NULL, else those of `store` to 8 bits from 8. */
typedef struct gc_kept_samples {
    const uint8_t *alpha;
    float error;
    uint64_t *near;
} gc_kept_samples;

/* Conversions that give the bits of core/conversion.h in wider vectors. */
typedef struct gc_samples_loops {
    /* row[i] = samples[i] */
    void (*load8)(const uint8_t *samples, size_t count, float *row);
    void (*load16)(const uint16_t *samples, size_t count, float *row);
    /* As gc_store_pixels, of `count` values without alpha that are not bilevel. */
    void (*store)(const gc_conversion *conversion, const float *row, size_t count, void *samples);
    /* The same to 8 bits from 8, of numbers in float32, if factor and offset are within limits
     * (cpu/once.c). Bit i % 64 of near[i / 64] says that level i lies within `error` of a tie. */
    void (*store8_near)(const gc_conversion *conversion, float error, const float *row,
                        size_t count, uint8_t *samples, uint64_t *near);
    /* As gc_load_pixels, of input of 8 bits with alpha that is kept or premultiplied. */
    void (*load8_alpha)(const gc_conversion *conversion, const uint8_t *samples, size_t pixels,
                        float *row);
    /* As gc_store_pixels, to output of 8 bits that is not bilevel, from such input. */
    void (*store8_alpha)(const gc_conversion *conversion, const float *row, size_t pixels,
                         const gc_kept_samples *kept, uint8_t *samples);
} gc_samples_loops;

/* ---- Instruction sets ------------------------------------------------------------------------ */

typedef struct gc_transforms {
    const struct gc_transform_loops *loops;
    double seconds; /* of a value in a round of radix 2, there and back (cpu/cost.h) */
} gc_transforms;

/* A set. In a build without fast paths there is one, and all loops but those of taps and of
 * detectors are NULL. The loops of cpu/fast are in cpu/fast/loops. */
typedef struct gc_instructions {
    const char *name; /* for GCONV_INSTRUCTIONS */
    bool (*usable)(void);
    const gc_taps_loops *taps;
    double tap_seconds;   /* of a value in a multiply-add (cpu/cost.h) */
    double matrix_factor; /* how much of it every tap of a matrix takes */
    const struct gc_detector_loops *detector;
    const struct gc_edge_bytes_loops *edge_bytes; /* NULL if the set has none */
    const gc_samples_loops *samples;
    const struct gc_edges_loops *edges;
    const struct gc_rank1_loops *rank1;
    double row_seconds; /* of a value in a tap of a row of `rank1` (cpu/cost.h) */
    const struct gc_box_loops *box;
    const gc_bytes_loops *bytes; /* NULL if the set has no products of bytes */
    gc_transforms transforms;
    gc_transforms exact_transforms; /* in double, their results rounded to integers */
} gc_instructions;

/* The sets compiled into this build, the best first, the portable one last. */
int gc_instructions_count(void);
const gc_instructions *gc_instructions_at(int index);

/* The set that GCONV_INSTRUCTIONS names, if this processor has it, else the best that it has. */
const gc_instructions *gc_instructions_chosen(void);
