/* The pass of one filter of rank 1 from samples of 8 bits to samples of 8 bits, without rows of
 * chain values in between. Loops sum rows in integers and columns in float32. Samples that these
 * leave in doubt are settled (cpu/pipeline/settle.h). */
#pragma once

#include "core/problem.h"
#include "cpu/fast/loops/loops.h"

typedef struct gc_rank1 {
    const gc_problem *problem;
    const gc_step *step;
    int channels;      /* of rows of sums: without alpha that is taken out */
    bool splits_alpha; /* alpha that is kept is taken out of rows, and put back */
    gc_rank1_row row;
    gc_rank1_column column;
    uint8_t border[GC_CHANNELS_MAX];
} gc_rank1;

/* Whether the pass can compute the problem. The problem has one filter of rank 1 of at most 31x31,
 * from 8 bits to 8 bits. Values of a constant border are integers from 0 to 255. Alpha is not
 * multiplied. Weights and levels stay within the limits of the
 * loops. The function factors the filter, which takes longer than the other questions. */
bool gc_rank1_applies(const gc_problem *problem);

/* Seconds that a value of the image takes on one thread, conversion included. */
double gc_rank1_seconds(const gc_problem *problem);

/* Makes what the loops need. `step` is NULL afterwards if too many values would be near a tie. */
gconv_status gc_rank1_create(gc_rank1 *rank1, const gc_problem *problem, gconv_error *error);
void gc_rank1_destroy(gc_rank1 *rank1);

/* False if no multiplier and shift give the quotients of all whole numbers up to `largest`, which
 * is below 2^16. */
bool gc_short_divisor_set(gc_short_divisor *by, uint64_t divisor, uint64_t largest);

/* Words for people. */
const char *gc_rank1_describe(const gc_rank1 *rank1);
