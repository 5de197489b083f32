/* The conversion: samples to chain values before the chain, chain values to output after it. This
 * defines both for every implementation. Faster code elsewhere gives the same bits. */
#pragma once

#include "core/shape.h"

typedef struct gc_conversion {
    gconv_shape input;
    gconv_shape output;
    int chain_channels; /* channels of the chain: the colours, and alpha unless it is kept */
    bool keeps_alpha;   /* alpha is not in the chain: the output takes it from the input */
    bool premultiplies; /* chain channels are colour * alpha and, last, alpha */
    double sample_max;  /* the input's white: 255, at depth 16 65535 */
    double divisor;     /* product of the divisors of all filters */
    bool whole;         /* chain values are whole numbers: the chain is exact */
    bool finds_edges;   /* output is black and white by a threshold, else samples */
    bool bilevel;       /* output is black or white: edges, or samples of depth 1 */

    /* Samples: rule 5. */
    bool absolute;
    double scale;
    double offset; /* in samples of the input's depth */

    /* Edges: rule 6. */
    double threshold; /* in chain values: the job's times |divisor| */
    gconv_rule rule;  /* as it applies to chain values: a negative divisor flips it */
    bool invert;
} gc_conversion;

/* The nearest integer, ties to even, of a value that is clamped to [0, largest], below 2^51: adding
 * 1.5 * 2^52 leaves no bits for a fraction. Compilers vectorise this on every target, unlike rint.
 * Not-a-number gives 0. */
static inline double gc_clamp_and_round(double value, double largest)
{
    value = value > 0 ? value : 0;
    value = value < largest ? value : largest;
    return (value + 0x1.8p52) - 0x1.8p52;
}

/* The conversion of a job that gc_job_check has passed. Two results are still to be checked: the
 * product of the divisors can be 0 or infinite, the offset infinite. */
gc_conversion gc_conversion_of(const gconv_job *job);

/* What values can enter the chain of any image. */
typedef struct gc_loaded_range {
    double largest; /* |value| */
    double least;   /* the least max|in| of rule 4 that is not 0 */
    bool whole;     /* values are whole numbers */
} gc_loaded_range;

gc_loaded_range gc_loaded_range_of(const gc_conversion *conversion);

/* Chain values (width * chain_channels, interleaved) of one row of input samples. */
void gc_load_row(const gc_conversion *conversion, const void *samples, float *row);

/* gc_load_row of `count` pixels, the first of them at `samples` and at `row`. */
void gc_load_pixels(const gc_conversion *conversion, const void *samples, size_t count, float *row);

/* Converts chain values of `count` pixels of a row to output (rules 5 to 7). `alpha` holds the
 * pixels' own alpha samples, one a pixel, if the conversion keeps alpha, else it is NULL. At depth
 * 1 `output` is the byte that begins with the first pixel. */
void gc_store_pixels(const gc_conversion *conversion, const float *row, size_t count,
                     const void *alpha, void *output);

/* Stores flags, each 0 or 1, as black or white pixels from pixel `first` of an output row on.
 * `first` is a multiple of 8 if the output is of depth 1. */
void gc_store_flags(const gc_conversion *conversion, const uint8_t *flags, size_t first,
                    size_t count, void *output);

/* Stores the samples of `count` pixels, at most 256, from pixel `first` of an output row on, as
 * gc_store_flags does. `v` is on the scale of the input's samples. */
void gc_store_values(const gc_conversion *conversion, double *v, size_t first, size_t count,
                     void *output);

/* Copies the alpha samples of one row of input (2 or 4 channels) to `alpha`. */
void gc_extract_alpha(const gconv_shape *input, const void *samples, void *alpha);
