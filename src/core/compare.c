/* Verification (contract.md, rule 12): chain values of an implementation against the reference. */
#include "core/compare.h"
#include "base/memory.h"
#include "base/status.h"
#include "core/conversion.h"
#include "core/plan.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest |chain input| of the image. The bound of rule 4 scales with it. */
static gconv_status largest_input(const gc_problem *problem, const void *input, size_t stride,
                                  double *largest, gconv_error *error)
{
    size_t values = gc_chain_row_values(&problem->chain);
    float *row = gc_allocate_array(values, sizeof *row);
    if (row == NULL)
        return gc_fail_memory(error, values * sizeof *row);
    float most = 0;
    for (uint32_t y = 0; y < problem->chain.height; y++) {
        gc_load_row(&problem->conversion, (const char *)input + y * stride, row);
        for (size_t i = 0; i < values; i++)
            most = fmaxf(most, fabsf(row[i]));
    }
    free(row);
    *largest = most;
    return GCONV_OK;
}

/* |a - b|: 0 for equal bits, infinite if only one is a number. If the chain is exact, different
 * bits have a distance above 0: zeros of different sign are the smallest float apart. */
static double distance(float a, float b, bool exact)
{
    if (memcmp(&a, &b, sizeof a) == 0)
        return 0;
    double difference = fabs((double)a - (double)b);
    if (isnan(difference))
        return INFINITY;
    return exact ? fmax(difference, FLT_TRUE_MIN) : difference;
}

/* The functions that compare read the caller's input as it enters the chain. */
static gconv_status refuse_colours(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "edges of colours are compared as grey images");
}

gconv_status gc_plan_bound(const gconv_plan *plan, const void *input, size_t input_stride,
                           double *bound, gconv_error *error)
{
    const gc_problem *problem = &plan->problem;
    const gc_operations *operations = plan->choice.implementation->operations;
    if (problem->to_grey)
        return refuse_colours(error);
    double largest = gc_loaded_range_of(&problem->conversion).largest;
    gconv_status status = GCONV_OK;
    /* Integers nearly always have a sample near their largest. */
    if (problem->conversion.input.depth == 32)
        status = largest_input(problem, input, input_stride, &largest, error);
    double extra = operations->extra_terms != NULL ? operations->extra_terms(problem) : 0;
    *bound = gc_chain_bound(&problem->chain, largest, extra);
    return status;
}

static void compare_row(const float *chain, const float *reference, const gc_problem *problem,
                        uint32_t y, double bound, gconv_difference *difference)
{
    size_t values = gc_chain_row_values(&problem->chain);
    for (size_t i = 0; i < values; i++) {
        double error = distance(chain[i], reference[i], problem->chain.exact);
        difference->mismatches += error > bound;
        if (error > difference->largest) {
            difference->largest = error;
            difference->x = (uint32_t)(i / (size_t)problem->chain.channels);
            difference->y = y;
            difference->channel = (int)(i % (size_t)problem->chain.channels);
        }
    }
}

gconv_status gconv_plan_compare(const gconv_plan *plan, const void *input, size_t input_stride,
                                const float *chain, const float *reference, size_t chain_stride,
                                gconv_difference *difference, gconv_error *error)
{
    const gc_problem *problem = &plan->problem;
    const gc_operations *operations = plan->choice.implementation->operations;
    memset(difference, 0, sizeof *difference);
    if (problem->to_grey)
        return refuse_colours(error);
    if (input == NULL || chain == NULL || reference == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the input, chain or reference is a null pointer");
    if (input_stride < gconv_shape_row_bytes(&problem->conversion.input) ||
        chain_stride < gc_chain_row_values(&problem->chain) * sizeof(float))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a stride is smaller than a row");
    double largest = 0;
    gconv_status status = largest_input(problem, input, input_stride, &largest, error);
    if (status != GCONV_OK)
        return status;
    double extra = operations->extra_terms != NULL ? operations->extra_terms(problem) : 0;
    double bound = gc_chain_bound(&problem->chain, largest, extra);
    for (uint32_t y = 0; y < problem->chain.height; y++)
        compare_row((const float *)((const char *)chain + y * chain_stride),
                    (const float *)((const char *)reference + y * chain_stride), problem, y, bound,
                    difference);
    difference->within = difference->mismatches == 0;
    difference->bound = bound / fabs(problem->conversion.divisor);
    difference->largest /= fabs(problem->conversion.divisor);
    return GCONV_OK;
}
