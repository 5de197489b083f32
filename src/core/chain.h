/* A chain of filters on images of one size: the sums that every implementation computes. What
 * becomes of them afterwards is the conversion (core/conversion.h).
 *
 * contract.md, rule 3, is built in here. Steps use undivided weights. The product of the divisors
 * waits for the conversion. The border constant of a step is multiplied by the divisors of the
 * steps before it. `exact` says that this arithmetic cannot round. */
#pragma once

#include "core/conversion.h"
#include "core/step.h"

typedef struct gc_chain {
    gc_step *steps;
    int step_count;
    uint32_t width, height; /* of the image: every step keeps its size */
    int channels;           /* interleaved: the colours, and alpha unless it is kept */
    gconv_border border;
    double least_input; /* max|in| of rule 4 counts as this much at least */
    bool exact;         /* whole weights on whole samples, all sums below GC_EXACT_LIMIT */

    /* The definition (rule 5): the result is S / `divisor`. S is the sum of the chain over the
     * `terms` of all steps, computed from the input times `denominator`. `denominator` is that of
     * the constant border. */
    double denominator;
    double divisor;      /* 0 if double cannot hold it, or a step's border */
    double value_of_sum; /* chain values are S times this */
    bool sums_fit;       /* double holds S and every partial sum of every step, in any order */
    int limbs; /* else: 64-bit limbs for S, as core/sums.h has it; 0: S is summed in double */
    int unit;  /* S in limbs is a whole multiple of 2^unit */
} gc_chain;

/* The steps of a job that gc_job_check has passed. gc_chain_set_range then sets ranges and
 * exactness. The filters stay the caller's. */
gconv_status gc_chain_create(const gconv_job *job, const gc_conversion *conversion, gc_chain *chain,
                             gconv_error *error);
void gc_chain_destroy(gc_chain *chain);

/* Sets how large and how small the values of each step can be, and whether the chain is exact, for
 * an input in the range `loaded`. Refuses a chain whose values can exceed float32 (rule 8).
 * *largest is the bound of |value| after the last step. */
gconv_status gc_chain_set_range(gc_chain *chain, gc_loaded_range loaded, double *largest,
                                gconv_error *error);

/* Bound of |chain value - reference's| (rule 4). A step adds 4 n (2^-24 sum|w| max|in| + 2^-150);
 * the second term is half of the smallest float32. Each step's error is propagated through the
 * later steps. `largest_input` is the largest |value| that enters the chain. `extra_terms` is what
 * an implementation's summation adds to a step's n (gc_step_terms). 0 if the chain is exact. */
double gc_chain_bound(const gc_chain *chain, double largest_input, double extra_terms);

/* Terms over all steps: the multiply-adds that a chain value takes. */
double gc_chain_taps(const gc_chain *chain);

/* What a chain value costs in multiply-adds: its weights, and what it takes beside them. */
double gc_chain_work(const gc_chain *chain);

/* Values of a row: pixels times channels. */
size_t gc_chain_row_values(const gc_chain *chain);

/* Output rows `first` to `last` of a step read rows *from to *to of its input. Only under wrap may
 * these lie outside the image. Row y then stands for row y modulo the height, in every step:
 * wrapping commutes with convolution. */
void gc_step_range(const gc_chain *chain, const gc_step *step, int64_t first, int64_t last,
                   int64_t *from, int64_t *to);

/* Whether an output row may read any input row: the filter is higher than the image, and rows
 * reflected at one end reach beyond the other. */
bool gc_step_reads_any_row(const gc_chain *chain, const gc_step *step);
