/* How kernels settle samples: the rounding of exact sums, compiled for the host, and the bounds
 * that say which samples need it. */
#include "core_support.h"
#include "draw.h"

#include "gpu/methods/tensor/halves.h"
#include "gpu/pass/finish.h"

#include <math.h>
#include <string.h>

#define __device__
#define __dmul_rn(x, y) ((x) * (y))
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "gpu/pass/once.cuh"

static float weights[81];

static gconv_filter draw_filter(int side, bool negative)
{
    for (int k = 0; k < side * side; k++)
        weights[k] = (float)(1 + draw(1 << 24)) * 0x1p-28f * (negative && draw(3) == 0 ? -1 : 1);
    return filter_of(side, side, draw(2) == 0 ? 1 : 3, weights);
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* Sums around a boundary: it, its neighbours, and others. What an estimate decides is right. */
static void check_rounding(const gc_problem *problem, const gc_finish *finish)
{
    const gc_rounding *r = &problem->rounding;
    for (int i = 0; i < 300; i++) {
        double boundary = finish->bilevel ? 128 : draw(256) + 0.5;
        double sum =
            problem->conversion.finds_edges ? -r->b / r->a : (boundary * r->c - r->b) / r->a;
        sum *= 1 + (draw(7) - 3.0) * (draw(2) == 0 ? 0x1p-52 : 0x1p-20);
        sum = draw(8) == 0 ? draw(1 << 20) - 0x1p19 : sum;
        bool edge =
            problem->conversion.finds_edges && gc_passes_threshold(r, sum) != finish->invert;
        unsigned expected = problem->conversion.finds_edges ? (edge ? (unsigned)finish->largest : 0)
                                                            : gc_round_once(r, sum);
        double whole = ldexp(sum, -problem->chain.unit);
        for (unsigned made = expected; made <= expected + 1 && made <= 255; made++)
            if (made > 0 || finish->kind == GC_FINISH_SIDE) {
                double from = gc_once_boundary(finish, finish->kind, made);
                int side = gc_once_estimate(finish, whole, from);
                assert_int_equal(gc_once_output(finish, finish->kind, whole, made), expected);
                assert_true(side == 0 || side == gc_once_side(finish, whole, from));
            }
    }
}

static gconv_job draw_job(void)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    job.output = draw(3) == 0 ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    job.output_depth = draw(3) == 0 ? 1 : 8;
    job.rule = (gconv_rule)draw(3);
    job.invert = draw(2) == 0;
    job.threshold = draw(1000) / 7.0;
    if (job.output == GCONV_OUTPUT_SAMPLES) {
        job.absolute = draw(3) == 0;
        job.scale = draw(2) == 0 ? 1 : draw(300) / 128.0 - 1;
        job.has_offset = draw(2) == 0;
        job.offset = draw(1 << 14) / 64.0;
    }
    return job;
}

TEST(kernels_round_sums_as_the_definition_does)
{
    int settled = 0;
    for (int i = 0; i < 2000; i++) {
        gconv_filter filter = draw_filter(3, true);
        gconv_job job = draw_job();
        job.filters = CHAIN(&filter);
        job.filter_count = 1;
        OWNED_PROBLEM problem = problem_of(&job);
        gc_finish finish;
        if (!gc_finish_of(&problem, &finish) ||
            !gc_finish_settle(&problem, gc_error_of_sum(&problem, problem.chain.steps), &finish))
            continue;
        settled++;
        check_rounding(&problem, &finish);
    }
    assert_true(settled > 1000);
}

/* ---- What is in doubt ------------------------------------------------------------------------ */

/* gc_finish_fix (settle.cuh) of one value: the output, and whether it is in doubt. */
static unsigned try_value(const gc_finish *f, float value, bool *doubtful)
{
    unsigned bits;
    value = f->kind == GC_FINISH_ONCE_ABSOLUTE ? fabsf(value) : value;
    if (f->kind == GC_FINISH_SIDE) {
        float response = f->side == 0 ? fabsf(value) : f->side < 0 ? -value : value;
        float far = fabsf(response - f->threshold);
        memcpy(&bits, &far, sizeof bits);
        *doubtful = bits < f->doubtful;
        return (response > f->threshold) != (f->invert != 0) ? (unsigned)f->largest : 0;
    }
    bool inside = f->kind == GC_FINISH_ONCE_INSIDE;
    float share = fminf(fmaxf(fmaf(value, f->gain, f->base), 0), 1);
    float fixed = inside ? fmaf(value, f->fixed_gain, f->fixed_base) : fmaf(share, 255.5f, 256.25f);
    memcpy(&bits, &fixed, sizeof bits);
    *doubtful = (bits & 0x7fff) < (inside ? f->fixed_doubtful : f->doubtful);
    return bits >> 15 & 255;
}

/* What values lack of sums: samples have the centre taken from them. */
static double lack_of(const gc_problem *problem)
{
    const gc_step *step = problem->chain.steps;
    double sum = 0;
    for (int k = 0; k < step->width * step->height; k++)
        sum += step->terms[k] * gc_finish_centre(problem);
    return sum;
}

/* How many values that are `off_by` from sums around boundaries, as far as a step has such values,
 * are wrong without a doubt; *doubts counts those in doubt. */
static int count_wrong(const gc_problem *problem, const gc_finish *finish, double off_by,
                       int *doubts)
{
    const gc_rounding *r = &problem->rounding;
    double exact = problem->chain.value_of_sum, lack = lack_of(problem);
    double most = problem->chain.steps[0].absolute_sum * (255 - gc_finish_centre(problem));
    int wrong = 0;
    for (int i = 0; i < 400; i++) {
        double level = (r->a * ((draw(2001) * 1e-3 - 1) * most / exact + lack) + r->b) / r->c;
        double boundary = r->bilevel ? 128 : fmin(fmax(floor(level), 0), 254) + 0.5;
        double tie =
            problem->conversion.finds_edges ? -r->b / r->a : (boundary * r->c - r->b) / r->a;
        double off = off_by / exact * ((draw(2000) - 1000.0) * 0x1p-9);
        float value = (float)(exact * (tie + off - lack));
        if (fabs((double)value) > most)
            continue;
        double sum = (double)value / exact + lack + (draw(2) == 0 ? -1 : 1) * off_by / exact;
        bool doubtful;
        unsigned sample = try_value(finish, value, &doubtful);
        *doubts += doubtful;
        bool edge =
            problem->conversion.finds_edges && gc_passes_threshold(r, sum) != finish->invert;
        wrong += !doubtful &&
                 sample != (problem->conversion.finds_edges ? (edge ? (unsigned)finish->largest : 0)
                                                            : gc_round_once(r, sum));
    }
    return wrong;
}

/* Sums that are off by the error are right or in doubt; not if a quarter of it is supposed. */
TEST(what_is_not_in_doubt_is_right)
{
    int settled = 0, wrong = 0, doubts = 0, ignored = 0, inside = 0;
    for (int i = 0; i < 1500; i++) {
        gconv_filter filter = draw_filter(3, i % 3 > 0);
        gconv_job job = draw_job();
        job.filters = CHAIN(&filter);
        if (i % 3 == 0) { /* mostly levels that need not be clamped */
            job = job_of(job.filters, 1, shape_of(8, 8, 1, 8));
            job.has_offset = true;
            job.offset = draw(1 << 13) / 64.0;
        }
        job.filter_count = 1;
        OWNED_PROBLEM problem = problem_of(&job);
        double most = 0x1p-11 * fabs(problem.conversion.divisor);
        gc_finish finish, short_of;
        if (!gc_finish_of(&problem, &finish))
            continue;
        short_of = finish;
        if (!gc_finish_settle(&problem, most, &finish))
            continue;
        settled++;
        inside += finish.kind == GC_FINISH_ONCE_INSIDE;
        assert_int_equal(count_wrong(&problem, &finish, most, &doubts), 0);
        assert_true(gc_finish_settle(&problem, most / 4, &short_of));
        wrong += count_wrong(&problem, &short_of, most, &ignored) > 0;
    }
    assert_true(settled > 400 && wrong > settled / 2 && inside > 200);
    assert_true(doubts > 100 * settled && doubts < 390 * settled);
}

/* Kernels round a constant border that is not whole once more, less the centre. A sum that is all
 * border, of one weight, is off by this and by the last bit of the product. */
TEST(borders_less_the_centre_are_right_or_in_doubt)
{
    int settled = 0, doubts = 0;
    for (int i = 0; i < 4000; i++) {
        float one[3] = {(float)(0xf00000 + draw(0xfff00)) * 0x1p-24f, 0, 0};
        gconv_filter filter = filter_of(3, 1, 1, one);
        gconv_job job = job_of(CHAIN(&filter), 1, shape_of(8, 8, 1, 8));
        job.border = GCONV_BORDER_CONSTANT;
        job.border_value = draw(1 << 24) * 0x1p-19;
        job.output = GCONV_OUTPUT_EDGES;
        job.rule = GCONV_RULE_POSITIVE;
        job.threshold = (double)one[0] * job.border_value + (draw(1 << 12) - 0x1p11) * 0x1p-28;
        OWNED_PROBLEM problem = problem_of(&job);
        const gc_step *step = problem.chain.steps;
        gc_finish finish;
        if (!gc_finish_of(&problem, &finish) ||
            !gc_finish_settle(&problem, gc_error_of_sum(&problem, step), &finish))
            continue;
        settled++;
        double sum = 0;
        float value = 0;
        for (int k = 0; k < 3; k++) {
            sum += step->terms[k] * step->terms_border[0];
            value = fmaf(step->border[0] - finish.centre, step->taps[k], value);
        }
        bool doubtful;
        unsigned sample = try_value(&finish, value, &doubtful);
        doubts += doubtful;
        assert_true(doubtful || (sample > 0) == gc_passes_threshold(&problem.rounding, sum));
    }
    assert_true(settled > 3000 && doubts < settled);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static float sum_of(const gc_step *step, const unsigned char *samples)
{
    float sum = 0;
    for (int k = 0; k < step->width * step->height; k++)
        sum = fmaf((float)samples[k] - 128, step->taps[k], sum);
    return sum;
}

static float sum_of_products(const gc_step *step, const gc_products *products,
                             const unsigned char *samples)
{
    float sum = 0;
    for (int j = 0; j < step->height; j++) {
        float row = 0;
        for (int i = 0; i < step->width; i++)
            row = fmaf((float)samples[j * step->width + i] - 128, products->row[0][i], row);
        sum = fmaf(row, products->column[0][j], sum);
    }
    return sum;
}

static double exact_sum(const gc_step *step, const unsigned char *samples)
{
    double sum = 0;
    for (int k = 0; k < step->width * step->height; k++)
        sum += (double)step->taps[k] * (samples[k] - 128);
    return sum;
}

/* The largest error that a search finds, which keeps what makes the error larger. */
static double largest_error(const gc_step *step, const gc_products *products)
{
    unsigned char samples[81];
    double largest = 0;
    for (int start = 0; start < 40; start++) {
        double error = 0;
        for (int k = 0; k < 81; k++)
            samples[k] = (unsigned char)draw(256);
        for (int change = 0; change < 1500; change++) {
            int k = (int)draw((unsigned)(step->width * step->height));
            unsigned char before = samples[k];
            samples[k] = (unsigned char)draw(256);
            float sum =
                products == NULL ? sum_of(step, samples) : sum_of_products(step, products, samples);
            double changed = fabs((double)sum - exact_sum(step, samples));
            error = fmax(error, changed);
            samples[k] = changed < error ? before : samples[k];
        }
        largest = fmax(largest, error);
    }
    return largest;
}

/* A quarter of a bound would be too little. */
TEST(bounds_hold_and_are_tight)
{
    for (int i = 0; i < 20; i++) {
        gconv_filter filter = draw_filter(i < 14 ? 3 : 5, i % 2 == 1);
        gconv_job job = job_of(CHAIN(&filter), 1, shape_of(8, 8, 1, 8));
        OWNED_PROBLEM problem = problem_of(&job);
        const gc_step *step = problem.chain.steps;
        double bound = gc_error_of_sum(&problem, step), found = largest_error(step, NULL);
        assert_true(found <= bound && bound < 4 * found);
    }
}

TEST(bounds_of_products_hold_and_are_tight)
{
    for (int i = 0; i < 20; i++) {
        int side = i < 14 ? 3 : 5;
        float column[9], row[9];
        for (int k = 0; k < side; k++) {
            column[k] = (float)(1 + draw(1 << 24)) * 0x1p-26f;
            row[k] = (float)(1 + draw(1 << 24)) * 0x1p-26f;
        }
        for (int k = 0; k < side * side; k++)
            weights[k] = column[k / side] * row[k % side];
        gconv_filter filter = filter_of(side, side, 1, weights);
        gconv_job job = job_of(CHAIN(&filter), 1, shape_of(8, 8, 1, 8));
        OWNED_PROBLEM problem = problem_of(&job);
        const gc_step *step = problem.chain.steps;
        gc_products products;
        assert_true(gc_step_products(step, false, 1, &products));
        double bound = gc_error_of_products(&problem, step, &products);
        double found = largest_error(step, &products);
        assert_true(found <= bound && bound < 5 * found);
    }
}

TEST(two_vectors_have_no_bound)
{
    double numbers[] = {0.25, 0.5, 0.3};
    gconv_filter filter = {.width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 1};
    filter.column = filter.row = numbers;
    gconv_job job = job_of(CHAIN(&filter), 1, shape_of(8, 8, 1, 8));
    OWNED_PROBLEM problem = problem_of(&job);
    const gc_step *step = problem.chain.steps;
    gc_products products;
    assert_true(step->taps == NULL && gc_step_products(step, false, 1, &products));
    assert_true(isinf(gc_error_of_sum(&problem, step)));
    assert_true(isinf(gc_error_of_products(&problem, step, &products)));
}

/* The high parts of weights add up without an error, and what both parts lack is within the bound:
 * so is half of it, for samples that are black under weights of one sign. So is half of the last
 * bit of the largest sum, of samples that are black under weights of one sign and white under
 * those of the other. */
TEST(parts_with_a_unit_are_exact_but_for_little)
{
    for (int i = 0; i < 100; i++) {
        gconv_filter filter = draw_filter(3 + 2 * (int)draw(4), i % 2 == 1);
        gconv_job job = job_of(CHAIN(&filter), 1, shape_of(8, 8, 1, 8));
        OWNED_PROBLEM problem = problem_of(&job);
        const gc_step *step = problem.chain.steps;
        gc_parts parts = gc_parts_of(&problem, step, true);
        assert_true(parts.unit > 0 && parts.weight_parts == 2);
        double high_sum = 0, sums[2] = {0, 0}, rest[2] = {0, 0};
        for (int k = 0; k < step->width * step->height; k++) {
            double weight = ldexp((double)step->taps[k], parts.weight_exponent);
            double high = rint(weight / (double)parts.unit) * (double)parts.unit;
            double low = (double)gc_half_of((float)(weight - high));
            assert_true(high == (double)gc_half_of((float)high));
            high_sum += fabs(high);
            sums[weight > 0] += fabs(weight);
            rest[weight > high + low] += fabs(weight - high - low);
        }
        assert_true(high_sum * 128 < 0x1p24 * (double)parts.unit);
        double bound = ldexp(gc_parts_error(&problem, step, &parts, 9), parts.weight_exponent);
        assert_true(128 * fmax(rest[0], rest[1]) <= bound);
        assert_true((127 * (sums[0] + sums[1]) + fmax(sums[0], sums[1])) * 0x1p-24 <= bound);
        assert_true(bound < 0x1p-21 * 128 * ldexp(step->absolute_sum, parts.weight_exponent));
    }
}
