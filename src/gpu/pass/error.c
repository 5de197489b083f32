/* A multiply-add rounds once, to 24 bits: by half of the last bit of the sum so far, or by 2^-127
 * near 0. Intervals bound partial sums: weights of different signs cancel in them as far as samples
 * have one sign. Each earlier addition, and this reckoning in double, add less than 2^-23 of the
 * partial sums to them. */
#include "gpu/pass/finish.h"

#include <math.h>

static const double underflow = 0x1p-127;

bool gc_finish_sums_up(const gc_problem *problem)
{
    return gc_problem_may_round_once(problem) && !problem->chain.exact &&
           problem->chain.step_count == 1 && problem->chain.steps[0].taps != NULL &&
           problem->job.input.depth == 8 && problem->conversion.output.depth <= 8;
}

double gc_finish_centre(const gc_problem *problem)
{
    return gc_finish_sums_up(problem) && !problem->rounding.absolute ? 128 : 0;
}

gc_interval gc_error_inputs(const gc_problem *problem, const gc_step *step)
{
    gc_interval inputs = {0, problem->conversion.sample_max};
    for (int c = 0; c < problem->chain.channels && problem->job.border == GCONV_BORDER_CONSTANT;
         c++) {
        inputs.low = fmin(inputs.low, (double)step->border[c]);
        inputs.high = fmax(inputs.high, (double)step->border[c]);
    }
    inputs.low -= gc_finish_centre(problem);
    inputs.high -= gc_finish_centre(problem);
    return inputs;
}

/* A factor for partial sums of a step, which covers what errors add to them. */
static double slack_of(const gc_step *step)
{
    return 1 + (step->width + 3.0) * (step->height + 3.0) * 0x1p-23;
}

/* Adds a product to a sum. Returns the error of this addition. */
static double add(gc_interval *sum, double weight, gc_interval values, double slack)
{
    if (weight == 0)
        return 0;
    sum->low += fmin(weight * values.low, weight * values.high);
    sum->high += fmax(weight * values.low, weight * values.high);
    int exponent;
    frexp(fmax(-sum->low, sum->high) * slack, &exponent);
    return ldexp(1, exponent - 25) + underflow;
}

double gc_error_of_sum(const gc_problem *problem, const gc_step *step)
{
    if (step->taps == NULL)
        return INFINITY;
    gc_interval inputs = gc_error_inputs(problem, step), sum = {0, 0};
    double error = 0;
    for (int k = 0; k < step->width * step->height; k++)
        error += add(&sum, (double)step->taps[k], inputs, slack_of(step));
    return error;
}

double gc_error_of_products(const gc_problem *problem, const gc_step *step,
                            const gc_products *products)
{
    if (step->taps == NULL)
        return INFINITY;
    gc_interval inputs = gc_error_inputs(problem, step), sum = {0, 0}, rows[GC_PRODUCTS_MAX];
    double slack = slack_of(step);
    double error = gc_products_rest(step, products) * slack * fmax(-inputs.low, inputs.high);
    for (int p = 0; p < products->count; p++) {
        double of_row = 0, down = 0;
        rows[p] = (gc_interval){0, 0};
        for (int i = 0; i < step->width; i++)
            of_row += add(&rows[p], (double)products->row[p][i], inputs, slack);
        for (int j = 0; j < step->height; j++)
            down += fabs((double)products->column[p][j]);
        error += of_row * down;
    }
    int together = products->count > 2 ? products->count - 2 : 0;
    for (int p = 0; p < together; p++)
        for (int j = 0; j < step->height; j++)
            error += add(&sum, (double)products->column[p][j], rows[p], slack);
    for (int j = 0; j < step->height; j++)
        for (int p = together; p < products->count; p++)
            error += add(&sum, (double)products->column[p][j], rows[p], slack);
    return error;
}
