/* Rounding once (contract.md, rule 5): the sample that is nearest to v, where v is a quotient of
 * whole or binary numbers that doubles hold without an error. */
#pragma once

#include "core/conversion.h"

/* S is the exact sum of the chain: that of gc_step.terms. In samples v = (a S + b) / c, with |S| in
 * the place of S if `absolute`. c is above 0.
 *
 * Samples: v is in samples of the output's depth. The sample is v, clamped to [0, largest] and
 * rounded to the nearest integer, ties to even.
 * Samples of depth 1 (`bilevel`): v is in 8-bit levels. The sample is `largest` if v is at least
 * 128, else 0.
 * Edges: a pixel is an edge if a S + b is above 0. */
typedef struct gc_rounding {
    /* a, b and c have no error, and no product of two numbers underflows; else the other members
     * have no meaning. */
    bool once;
    bool plain; /* for whole S below 2^24 rule 5 in double gives the same output */
    bool absolute;
    bool bilevel;
    double a, b, c;
    double largest;
} gc_rounding;

/* Numbers of a sum and their magnitudes lie between these powers of 2, or are 0. */
enum { GC_ROUNDING_LEAST = -300, GC_ROUNDING_MOST = 300 };

/* *value *= factor. False if the product is no double, or beyond the limits above. */
bool gc_multiply_exactly(double *value, double factor);

/* The exponent of the lowest bit of `value` that is set; INT_MAX for 0, and if it is not finite. */
int gc_lowest_bit(double value);

/* The rounding of S / `divisor`. A divisor of 0 means that double cannot hold it. */
gc_rounding gc_rounding_of(const gconv_job *job, const gc_conversion *conversion, double divisor);

/* The sample for the sum of a chain. */
uint32_t gc_round_once(const gc_rounding *rounding, double sum);

/* Whether a pixel is an edge. */
bool gc_passes_threshold(const gc_rounding *rounding, double sum);

/* The same for a sum in doubles, at most GC_ROUNDING_PARTS, that do not overlap, in ascending
 * order. */
enum { GC_ROUNDING_PARTS = 20 };
uint32_t gc_round_parts(const gc_rounding *rounding, const double *parts, int count);
bool gc_parts_pass(const gc_rounding *rounding, const double *parts, int count);

/* v as the nearest float32, ties to even; infinite beyond. Zero is +0. */
float gc_round_parts_to_float(const gc_rounding *rounding, const double *parts, int count);

/* The same with S the root of such a sum of two parts, without an error of the root. The second
 * part is the double nearest to the sum. */
uint32_t gc_round_root(const gc_rounding *rounding, const double parts[2]);
float gc_round_root_to_float(const gc_rounding *rounding, const double parts[2]);

/* The largest whole threshold: a whole |sum| or sum passes it exactly if it is greater, minus the
 * sum for GCONV_RULE_NEGATIVE. */
double gc_whole_threshold(const gc_rounding *rounding);
