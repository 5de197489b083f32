/* What the tests of the core share: filters and problems made by hand. */
#pragma once

#include "unit.h"

#include "core/problem.h"
#include "gconv_lab.h"

#define OWNED_PROBLEM RELEASED_BY(gc_problem_destroy) gc_problem

/* A filter on the caller's weights: no allocation, the centre anchor. */
static inline gconv_filter filter_of(int width, int height, double divisor, float *weights)
{
    return (gconv_filter){.width = width,
                          .height = height,
                          .anchor_x = width / 2,
                          .anchor_y = height / 2,
                          .divisor = divisor,
                          .weights = weights};
}

static inline gconv_shape shape_of(uint32_t width, uint32_t height, int channels, int depth)
{
    return (gconv_shape){.width = width, .height = height, .channels = channels, .depth = depth};
}

/* A chain of these filters, for job_of. */
#define CHAIN(...) ((const gconv_filter *const[]){__VA_ARGS__})

/* The default job of a chain on an image of this shape. */
static inline gconv_job job_of(const gconv_filter *const *filters, int count, gconv_shape input)
{
    gconv_job job = gconv_job_default();
    job.filters = filters;
    job.filter_count = count;
    job.input = input;
    job.output_depth = input.depth;
    return job;
}

static inline gc_problem problem_of(const gconv_job *job)
{
    gc_problem problem;
    assert_succeeds(gc_problem_create(job, &problem, &why));
    return problem;
}

static inline gconv_plan *planned(const gconv_job *job)
{
    gconv_plan *plan;
    assert_succeeds(gconv_plan_create(job, &plan, &why));
    return plan;
}
