/* The loops of cpu/fast, compiled once for every instruction set (cpu/instructions). */
#pragma once

#include "core/conversion.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Edges ----------------------------------------------------------------------------------- */

/* See fast/edges.c. Sums are modulo 2^16. */
typedef struct gc_edges_loops {
    /* Of seven rows of samples, smooth[x] = the Gaussian's column, curve[x] = the column of the
     * Gaussian's second difference. */
    void (*columns)(const uint8_t *const rows[7], size_t count, uint16_t *smooth, uint16_t *curve);
    /* flags[x] = whether |response| > threshold, inverted if `invert` is 1. smooth and curve can be
     * read from -3 to count + 2. */
    void (*find)(const uint16_t *smooth, const uint16_t *curve, size_t count, uint16_t threshold,
                 uint8_t invert, uint8_t *flags);
} gc_edges_loops;

/* ---- Rank 1 on bytes ------------------------------------------------------------------------- */

enum { GC_RANK1_ROWS = 2 }; /* rows of output are computed together */

/* A row of whole weights: as they are for the portable loops, and as factors times taps for the
 * others. If weights have the same magnitudes on both sides of the middle, it is folded: term t is
 * samples t and width - 1 - t, each times its factor. Else term t is sample t alone, as is the
 * sample in the middle: their second factor is 0. Terms stay below 2^15. */
typedef struct gc_rank1_row {
    float *weights;
    int width;
    size_t advance;   /* from tap to tap, in samples */
    int16_t *factors; /* of the samples of a term, that of the first one in the lower byte */
    int32_t *taps;    /* of terms 2p and 2p + 1: 16 bits each, the first one in the lower half */
    bool is_folded;
    int16_t *pairs; /* of bytes: weights 2p and 2p + 1, the first one in the lower byte */
    bool is_bytes;  /* no weight is negative or above 64, and sums stay below 2^16 */
    bool is_short;  /* is_bytes, and sums have 16 bits */
} gc_rank1_row;

/* What the value of a sum is: the level; the level, if the sum is still to be divided; the level in
 * fixed point, with 16 bits after the point; or a whole number below 2^16 that is still to be
 * divided, if rows are short. */
typedef enum gc_rank1_kind {
    GC_RANK1_PLAIN,
    GC_RANK1_DIVIDED,
    GC_RANK1_FIXED,
    GC_RANK1_SHORT
} gc_rank1_kind;

/* Divides whole numbers of 16 bits: x / divisor is floor(x * multiplier / 2^(16 + shift)), or if
 * the multiplier is 0, x / 2^shift. */
typedef struct gc_short_divisor {
    uint16_t divisor, multiplier;
    int shift;
} gc_short_divisor;

/* How columns of sums become levels: see fast/rank1_bytes.c. Value: start + the sum, or, if its
 * magnitude is taken, start + sign * that. */
typedef struct gc_rank1_column {
    float *weights;
    int height;
    bool is_even; /* the weights are the same from both ends */
    gc_rank1_kind kind;
    bool absolute;
    float start, sign;
    float divisor, reciprocal;
    gc_short_divisor by; /* of short rows */
    uint32_t near; /* a value in fixed point may be near a tie if its lowest 16 bits are below */
} gc_rank1_column;

/* The longest side of a filter. */
enum { GC_RANK1_SIDE_MAX = 31 };

/* The most values of a row at once. */
enum { GC_RANK1_VALUES_MAX = 2048 };

/* Values of a row that may be near a tie. */
typedef struct gc_rank1_near {
    uint64_t words; /* bit i: bits[i] is set, and not 0 */
    uint64_t bits[GC_RANK1_VALUES_MAX / 64];
} gc_rank1_near;

/* Rows of output, GC_RANK1_ROWS of each. */
typedef struct gc_rank1_output {
    uint8_t *out[GC_RANK1_ROWS];
    gc_rank1_near near[GC_RANK1_ROWS];
    const uint8_t *ahead[GC_RANK1_ROWS]; /* requested meanwhile, but for streams */
    const uint8_t *kept[GC_RANK1_ROWS];  /* samples that stay instead of short levels, or NULL */
    uint64_t kept_bytes;                 /* bits of those of 64 that stay */
    bool streams; /* rows begin on cache lines, and blocks are stored past the caches */
} gc_rank1_output;

/* Loops read up to 80 samples and write up to 64 sums beyond the last one. The order of sums within
 * 64 of them is up to the loops. */
typedef struct gc_rank1_loops {
    /* sums[i] = sum_k weights[k] * samples[i + k*advance] for i in [0, count). `scratch` has room
     * for all samples that are read, as integers of 32 bits. Sums over 2^24 are rounded. `count`
     * samples from `ahead` on are requested meanwhile. */
    void (*sum)(const gc_rank1_row *row, const uint8_t *samples, const uint8_t *ahead, size_t count,
                float *scratch, float *sums);
    /* out[o][i] = the level of sum_j weights[j] * rows[o+j][i] for i in [0, count), o in
     * [0, GC_RANK1_ROWS). Adds values to near[o]. There are height + 1 rows. */
    void (*finish)(const gc_rank1_column *column, const float *const *rows, size_t count,
                   gc_rank1_output *output);
    /* A block is a cache line, so `finish` can store past the caches. If a line takes two stores
     * (AVX2), such stores made the pass 1.4 to 4 times as slow on a Zen 3. */
    bool stores_lines;
    bool is_fused;      /* multiply-adds round once, and values in fixed point to the nearest */
    int short_side_max; /* of filters whose rows may be short: odd sides from 3 on; 0 if none */
    int keep_side_max;  /* of filters whose rows are short, up to which `finish` takes `kept` */
    /* Copies the colours of `count` pixels of 2 or 4 channels, of which the last is alpha. Writes
     * up to 64 bytes beyond. */
    void (*take_colours)(int channels, const uint8_t *restrict pixels, size_t count,
                         uint8_t *restrict to);
    /* Writes pixels of these colours, and of the alpha of `kept`. Reads up to 64 colours beyond. */
    void (*put_colours)(int channels, const uint8_t *restrict from, const uint8_t *restrict kept,
                        size_t count, bool streams, uint8_t *restrict pixels);
} gc_rank1_loops;

/* ---- Boxes ----------------------------------------------------------------------------------- */

enum { GC_BOX_ROWS = 4 }; /* whose sums of real numbers go together */

/* What sums of boxes are: of 16 bits or 32 bits, from sums of columns of 16 bits; of 32 bits, from
 * those of 32 bits, for levels or for numbers in float32. */
typedef enum gc_box_kind { GC_BOX_SHORT, GC_BOX_LONG, GC_BOX_WIDE, GC_BOX_NUMBERS } gc_box_kind;

/* What becomes of a row of sums of boxes: numbers, which are factor times the sum, or levels of the
 * depth of the samples: sum / divisor, rounded once. */
typedef struct gc_box {
    gc_box_kind kind;
    size_t channels; /* of a pixel */
    size_t span;     /* the width of the box times the channels */
    float factor;
    uint32_t divisor;
    bool is_small;       /* sums of boxes stay below 2^24 */
    gc_short_divisor by; /* the divisor of short sums */
    uint64_t kept_mask;  /* 255 in the bytes of 8 that stay as they are in `kept` */
} gc_box;

/* See fast/box.c and fast/means.c. Loops read up to 64 bytes before sums of columns, which are 0
 * for as many values as a pixel has, and read up to 64 samples beyond them. Sums are modulo 2^16 or
 * 2^32. */
typedef struct gc_box_loops {
    /* sums[x] += row[x] for x in [0, count) */
    void (*add_real)(double *sums, const float *row, size_t count);
    /* sums[x] += added[x] - removed[x] for x in [0, count). One of the rows may be NULL: zeros. */
    void (*slide_bytes)(uint32_t *sums, const uint8_t *added, const uint8_t *removed, size_t count);
    void (*slide_whole)(uint32_t *sums, const float *added, const float *removed, size_t count);
    /* out[i] = what becomes of the sum of sums[i + k*channels] below i + span, for i in [0, count).
     * `kept` is a row of samples, or NULL. A set without vectors writes numbers alone. */
    void (*store)(const gc_box *box, const void *sums, size_t count, const void *kept, void *out);
    bool has_levels;
    /* sums[x] += added[x] - removed[x] for x in [0, count), of samples of 8 and of 16 bits */
    void (*slide8)(uint16_t *sums, const uint8_t *added, const uint8_t *removed, size_t count);
    void (*slide16)(uint32_t *sums, const uint16_t *added, const uint16_t *removed, size_t count);
    /* to[x] = sums[x] + added[x]; sums[x] = to[x] - removed[x] */
    void (*slide_real)(double *sums, const float *added, const float *removed, size_t count,
                       double *to);
    /* The sums along GC_BOX_ROWS rows as above; `span` values more are read. */
    void (*sum_real)(const double *const *sums, size_t count, size_t span, size_t channels,
                     double factor, float *const *out);
} gc_box_loops;
