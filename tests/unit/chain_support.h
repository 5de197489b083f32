/* What the tests of the CPU's solvers share: a chain that owns its filters and weights. */
#pragma once

#include "core_support.h"

enum { STEPS_MAX = 3 };

typedef struct chain {
    int count;
    gconv_filter filters[STEPS_MAX];
    const gconv_filter *list[STEPS_MAX];
    float weights[STEPS_MAX][GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX];
} chain;

/* Appends a filter with its anchor in the centre. The caller sets its width * height weights, which
 * are returned. */
static inline float *extend(chain *c, int width, int height, double divisor)
{
    float *weights = c->weights[c->count];
    c->filters[c->count] = filter_of(width, height, divisor, weights);
    c->list[c->count] = &c->filters[c->count];
    c->count++;
    return weights;
}

/* A problem, with the filters of its chain. */
typedef struct fixture {
    gconv_filter filters[STEPS_MAX];
    const gconv_filter *chain[STEPS_MAX];
    gc_problem problem;
} fixture;

static inline void release_fixture(fixture *old)
{
    gc_problem_destroy(&old->problem);
}

#define OWNED_FIXTURE RELEASED_BY(release_fixture) fixture
