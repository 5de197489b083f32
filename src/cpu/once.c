/* Float32 and fixed point compute levels fast. A level that is so near to a tie that their error
 * may decide it is doubtful. For it the sum S is computed from samples, without an error
 * (pipeline/settle.c). solver/error.c has the errors of the sums of a step. */
#include "cpu/once.h"

#include <math.h>

/* Products in the composition of a chain. */
enum { PRODUCTS_MAX = 2000 };

/* Values of a composition that are summed in double at all, for the sake of memory. */
enum { IN_DOUBLE_MAX = 1 << 17 };

/* Weights of a filter whose sums in double take little longer than in float32. */
enum { QUICK_MAX = 25 };

/* What settling a value takes beside its products, in these. */
enum { BESIDE_PRODUCTS = 150 };

/* The largest share of doubtful values times what one of them takes, in products: 5 % of a 9x9. */
#define DOUBTFUL_MAX 0.32

/* ---- Chain values ---------------------------------------------------------------------------- */

gc_entry gc_entry_first(const gc_problem *problem)
{
    return (gc_entry){.extent = {0, problem->conversion.sample_max}, .unit = 1};
}

void gc_entry_meet_border(const gc_problem *problem, const gc_step *step, gc_entry *entry)
{
    if (problem->chain.border != GCONV_BORDER_CONSTANT)
        return;
    for (int c = 0; c < problem->chain.channels; c++) {
        double border = step->border[c], wanted = step->terms_border[c] / entry->unit;
        entry->extent.low = fmin(entry->extent.low, fmin(border, wanted));
        entry->extent.high = fmax(entry->extent.high, fmax(border, wanted));
        entry->error = fmax(entry->error, fabs(border - wanted) + fabs(wanted) * 0x1p-50);
    }
}

/* The sum of |terms - unit * weights|, over the unit. The unit makes their magnitudes' sums the
 * same. */
typedef struct misfit {
    double unit, sum;
    double weights; /* the sum of their magnitudes */
} misfit;

static misfit misfit_of(const double *terms, const double *weights, const float *taps, size_t count)
{
    double of_terms = 0;
    misfit m = {.unit = 1};
    for (size_t i = 0; i < count; i++) {
        of_terms += fabs(terms[i]);
        m.weights += fabs(taps != NULL ? (double)taps[i] : weights[i]);
    }
    if (of_terms > 0 && m.weights > 0)
        m.unit = of_terms / m.weights;
    for (size_t i = 0; i < count; i++)
        m.sum += fabs(terms[i] / m.unit - (taps != NULL ? (double)taps[i] : weights[i]));
    return m;
}

static misfit misfit_of_step(const gc_step *step)
{
    size_t height = (size_t)step->height, width = (size_t)step->width;
    if (step->column == NULL)
        return misfit_of(step->terms, NULL, step->taps, height * width);
    misfit column = misfit_of(step->terms, step->column, NULL, height);
    misfit row = misfit_of(step->terms + height, step->row, NULL, width);
    return (misfit){.unit = column.unit * row.unit,
                    .sum = column.sum * (row.weights + row.sum) + row.sum * column.weights};
}

static gc_signed_sums weights_of(const gc_step *step)
{
    gc_signed_sums all = {step->absolute_sum, step->absolute_sum};
    return step->taps == NULL
               ? all
               : gc_signed_sums_of(step->taps, (size_t)step->width * (size_t)step->height);
}

void gc_entry_pass(const gc_step *step, double error, gc_entry *entry)
{
    misfit m = misfit_of_step(step);
    double largest = gc_extent_largest(entry->extent);
    entry->error = step->absolute_sum * entry->error + (m.sum * largest + error) * (1 + 0x1p-20);
    entry->extent = gc_extent_of_sums(entry->extent, weights_of(step));
    entry->extent.low -= entry->error;
    entry->extent.high += entry->error;
    entry->unit *= m.unit;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The chain value of a level; its magnitude if that is taken. */
static double value_of(const gc_levels *levels, double level)
{
    double divisor = levels->absolute ? fabs(levels->divisor) : levels->divisor;
    return (level - levels->offset) / levels->scale * divisor;
}

static void find_limits(gc_levels *levels, double boundary, bool inverts)
{
    double a = value_of(levels, boundary - levels->error);
    double b = value_of(levels, boundary + levels->error);
    levels->boundary = (gc_boundary){.low = nextafterf((float)fmin(a, b), -INFINITY),
                                     .high = nextafterf((float)fmax(a, b), INFINITY),
                                     .absolute = levels->absolute,
                                     .falls = (b < a) != inverts};
}

/* Errors of a level beside that of the chain value, which are 0 but for:
 * - the unit of terms, if it is not the ratio of the divisors;
 * - levels in float32 (samples_loops.c) that are not clamped. The factor rounds by u of itself. A
 *   product below 256 rounds by 128 u. With an offset of at most 255, which rounds by u of itself,
 *   the product is below 512, and rounds by 256 u, and the sum by 128 u. In double all of this is
 *   smaller. */
gc_levels gc_levels_of(const gc_problem *problem, const gc_entry *entry)
{
    const gc_conversion *conversion = &problem->conversion;
    double samples = conversion->sample_max / 255;
    double whole = problem->chain.divisor / conversion->divisor;
    gc_levels levels = {.divisor = conversion->divisor * samples,
                        .scale = conversion->scale,
                        .offset = conversion->offset / samples,
                        .absolute = conversion->absolute,
                        .has_boundary = conversion->bilevel};
    double boundary = 128;
    if (conversion->finds_edges) {
        levels.absolute = problem->job.rule == GCONV_RULE_ABS;
        levels.scale = problem->job.rule == GCONV_RULE_NEGATIVE ? -1 : 1;
        levels.offset = 0;
        boundary = problem->job.threshold;
    }
    double of_chain =
        entry->error + fabs(entry->unit / whole - 1) * gc_extent_largest(entry->extent);
    double in_float = levels.offset == 0 ? 384 : 640 + 2 * fabs(levels.offset);
    levels.error =
        (fabs(levels.scale / levels.divisor) * of_chain + 0x1p-24 * in_float) * (1 + 0x1p-10) +
        0x1p-25;
    find_limits(&levels, boundary, conversion->finds_edges && conversion->invert);
    return levels;
}

/* ---- The promise ----------------------------------------------------------------------------- */

/* Output that is rounded at ties of 8 bits, or at one boundary. Levels in float32 need a factor and
 * an offset within limits. */
static bool has_levels(const gc_problem *problem)
{
    const gc_conversion *conversion = &problem->conversion;
    double factor = fabs(conversion->scale / conversion->divisor);
    bool in_limits = factor > 0x1p-100 && factor < 0x1p100 &&
                     fabs(conversion->offset) <= conversion->sample_max &&
                     fabs(problem->job.threshold) < 0x1p20;
    bool is_small = conversion->input.depth == 8 && conversion->output.depth == 8;
    return in_limits && (conversion->bilevel || is_small);
}

/* Values of the composition. */
static double products_of(const gc_chain *chain)
{
    double width = 1, height = 1;
    for (int s = 0; s < chain->step_count; s++) {
        width += chain->steps[s].width - 1;
        height += chain->steps[s].height - 1;
    }
    return width * height;
}

bool gc_cpu_settles(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    double products = products_of(chain);
    if (!gc_problem_may_round_once(problem) || !has_levels(problem) ||
        gc_solver_wanted(problem) != NULL || (chain->exact && problem->rounding.plain) ||
        chain->step_count > GC_ONCE_STEPS_MAX || (chain->step_count > 1 && products > PRODUCTS_MAX))
        return false;
    gc_entry entry = gc_entry_first(problem);
    for (int s = 0; s < chain->step_count; s++) {
        const gc_step *step = &chain->steps[s];
        gc_entry_meet_border(problem, step, &entry);
        gc_entry_pass(step, chain->exact ? 0 : gc_least_error(step, entry.extent), &entry);
    }
    gc_levels levels = gc_levels_of(problem, &entry);
    double share = levels.has_boundary ? levels.error / 32 : 2 * levels.error;
    return share * (BESIDE_PRODUCTS + products) <= DOUBTFUL_MAX;
}

bool gc_cpu_rounds_values(const gc_problem *problem)
{
    return gc_problem_may_round_once(problem) && problem->chain.exact && !problem->rounding.plain &&
           !problem->conversion.bilevel && !gc_cpu_settles(problem);
}

/* ---- Sums in double -------------------------------------------------------------------------- */

static double largest_input(const gc_problem *problem)
{
    gc_entry entry = gc_entry_first(problem);
    gc_entry_meet_border(problem, problem->chain.steps, &entry);
    return gc_extent_largest(entry.extent);
}

double gc_cpu_split_at(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    const gc_step *step = chain->steps;
    double largest = largest_input(problem), sum = 0;
    int count = step->width * step->height, least = 0;
    if (chain->sums_fit || chain->step_count > 1 || step->column != NULL)
        return 0;
    for (int i = 0; i < count; i++) {
        sum += fabs(step->terms[i]);
        least = (int)fmin(least, gc_lowest_bit(step->terms[i]));
    }
    for (int c = 0; chain->border == GCONV_BORDER_CONSTANT && c < chain->channels; c++)
        if (step->terms_border[c] != trunc(step->terms_border[c]))
            return 0;
    double unit = ldexp(1, ilogb(2 * sum * largest) + 1 - 53);
    return count * unit * largest < ldexp(1, 53 + least) ? unit : 0;
}

/* Jobs that take at most 1.3 times as long as they would in float32. */
static bool is_quick(const gc_problem *problem)
{
    const gc_step *step = problem->chain.steps;
    const gc_conversion *conversion = &problem->conversion;
    return conversion->input.depth == 16 && conversion->output.depth == 16 &&
           problem->chain.step_count == 1 && step->column == NULL &&
           step->width * step->height <= QUICK_MAX;
}

bool gc_cpu_sums_in_double(const gc_problem *problem)
{
    const gc_chain *chain = &problem->chain;
    bool holds = gc_problem_may_round_once(problem) ||
                 (problem->rounding.once && chain->limbs != 0 && chain->denominator == 1 &&
                  problem->conversion.output.depth != 32 && !problem->conversion.bilevel &&
                  gc_cpu_split_at(problem) != 0);
    return holds && !gc_problem_is_same_everywhere(problem) && gc_solver_wanted(problem) == NULL &&
           chain->step_count <= GC_ONCE_STEPS_MAX && products_of(chain) <= IN_DOUBLE_MAX &&
           !gc_cpu_settles(problem) && !gc_cpu_rounds_values(problem) &&
           (problem->job.exact || is_quick(problem));
}
