/* What is checked: every case is an image, a chain and a job, made from its number and the seed.
 *
 * The numbers begin with the grid (shapes x borders x chains). The table of hand-picked cases
 * follows, then the cases at the limits of arithmetic. Then come as many random cases as asked for.
 * The sweep begins at CHECK_SWEEP_FIRST, far behind. */
#pragma once

#include "gconv.h"
#include "image.h"

#include <stdio.h>

enum { CHECK_CHAIN_MAX = 4, CHECK_RANDOM_MAX = 10000000, CHECK_SWEEP_FIRST = 100000000 };

/* Whether the chain of a case must be exact. */
typedef enum check_exactness { CHECK_ANY, CHECK_EXACT, CHECK_INEXACT } check_exactness;

typedef struct check_case {
    int index;
    char name[64];
    gconv_filter *filters[CHECK_CHAIN_MAX]; /* owned */
    gconv_job job; /* its `filters` and `tiling` are set when the case is run */
    gconv_tiling tiling;
    check_pattern pattern;
    check_exactness exactness;
    check_random random; /* for pixels and strides */
} check_case;

/* Cases that are there before the random ones. */
int check_fixed_case_count(void);

/* Cases of the sweep. */
int check_sweep_count(void);

/* Case `index` of this seed. Freed with check_case_free. */
check_case check_case_make(uint64_t seed, int index);

/* A random case whose choices are these bytes, as far as they go. They stay until it is freed. */
check_case check_case_of_bytes(const unsigned char *bytes, size_t size);

void check_case_free(check_case *made);

/* All that decides what the case computes, in a few lines. */
void check_case_print(const check_case *made, FILE *file);

/* Random cases (random_case.c). */
void check_case_randomise(check_case *made);

/* Case `number` of the sweep, from 0 (sweep_case.c). */
void check_case_sweep(check_case *made, int number);

/* Cases at the limits of whole numbers and of float32, how many, and case `number` of them, from 0
 * (limits_case.c). */
int check_limits_count(void);
void check_case_limits(check_case *made, int number);

/* Multiplies the weights of filter `step` so that values reach up to `end`: above 1 those of that
 * step and of all later ones, else those of that step. The last divisor takes it back. */
void check_case_scale(check_case *made, int step, double end);

/* Adds a filter of tests/check/filters.c to the chain. */
void check_case_add_filter(check_case *made, gconv_filter *filter);
