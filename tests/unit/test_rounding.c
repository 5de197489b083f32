/* gc_round_once and gc_passes_threshold against whole numbers of 128 bits, near boundaries and
 * elsewhere; and what a problem knows of its exact sums. */
#include "core_support.h"

#include "core/rounding.h"

#include <math.h>

typedef __int128 whole;

static uint64_t seed = 1;

/* A random number below 2^bits. */
static int64_t below(int bits)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> (64 - bits));
}

static int64_t sign(void)
{
    return below(1) == 0 ? 1 : -1;
}

static whole quotient_down(whole a, whole b)
{
    return a / b - (a % b < 0);
}

/* The definition in whole numbers. */
static uint32_t true_sample(const gc_rounding *r, int64_t sum)
{
    whole top = (whole)(int64_t)r->a * (r->absolute && sum < 0 ? -sum : sum) + (int64_t)r->b;
    whole under = (int64_t)r->c, low = quotient_down(top, under), rest = top - low * under;
    if (r->bilevel)
        return top >= 128 * under ? (uint32_t)r->largest : 0;
    low += 2 * rest > under || (2 * rest == under && low % 2 != 0);
    return low < 0 ? 0 : low > (whole)r->largest ? (uint32_t)r->largest : (uint32_t)low;
}

static int ties, near;

static void compare(const gc_rounding *r, int64_t sum)
{
    uint32_t got = gc_round_once(r, (double)sum), wanted = true_sample(r, sum);
    whole top = (whole)(int64_t)r->a * (r->absolute && sum < 0 ? -sum : sum) + (int64_t)r->b;
    whole under = (int64_t)r->c, twice = 2 * (top - quotient_down(top, under) * under) - under;
    ties += twice == 0;
    near += (twice < 0 ? -twice : twice) < (under >> 20);
    if (got != wanted)
        fail_msg("(%.0f * %lld + %.0f) / %.0f gives %u, not %u", r->a, (long long)sum, r->b, r->c,
                 got, wanted);
    bool edge = top > 0;
    if (gc_passes_threshold(r, (double)sum) != edge)
        fail_msg("%.0f * %lld + %.0f: edge %d", r->a, (long long)sum, r->b, !edge);
}

/* The same numbers times a power of 2: rounding may not depend on it. */
static void compare_scaled(const gc_rounding *r, int64_t sum)
{
    gc_rounding scaled = *r;
    int by = (int)below(8) - 128;
    scaled.a = ldexp(r->a, by);
    scaled.b = ldexp(r->b, by);
    scaled.c = ldexp(r->c, by);
    uint32_t got = gc_round_once(&scaled, (double)sum), wanted = gc_round_once(r, (double)sum);
    if (got != wanted)
        fail_msg("times 2^%d: %u, not %u", by, got, wanted);
}

static gc_rounding random_rounding(void)
{
    gc_rounding r = {.once = true, .absolute = below(2) == 0, .bilevel = below(3) == 0};
    r.a = (double)(sign() * (1 + below(1 + (int)below(5))));
    r.c = (double)(1 + below(1 + (int)(below(16) % 53)));
    r.largest = below(1) == 0 ? 255 : 65535;
    return r;
}

/* A sum and b whose result is `off` / 2c from a boundary. b takes what a * sum leaves. */
static void try_near(gc_rounding *r, int64_t off)
{
    whole n = below(16) % ((whole)r->largest + 1);
    whole top = r->bilevel ? 256 * (whole)(int64_t)r->c : (2 * n + 1) * (int64_t)r->c;
    top += off;
    top = top % 2 == 0 ? top / 2 : (top + 1) / 2;
    whole sum = quotient_down(top, (int64_t)r->a < 0 ? -(int64_t)r->a : (int64_t)r->a);
    sum = r->a < 0 ? -sum : sum;
    sum += (whole)(below(20) - (1 << 19));
    if (sum > (INT64_C(1) << 53) || sum < -(INT64_C(1) << 53) || (r->absolute && sum < 0))
        return;
    whole rest = top - (int64_t)r->a * sum;
    r->b = (double)(int64_t)rest;
    if ((whole)(int64_t)r->b != rest || fabs(r->b) > 0x1p62)
        return;
    compare(r, (int64_t)sum);
    compare_scaled(r, (int64_t)sum);
    if (r->absolute)
        compare(r, -(int64_t)sum);
}

TEST(near_ties_are_rounded_as_whole_numbers)
{
    for (int i = 0; i < 1500000; i++) {
        gc_rounding r = random_rounding();
        try_near(&r, below(3) - 4);
    }
    assert_true(ties > 100000 && near > 500000);
}

TEST(other_sums_are_rounded_as_whole_numbers)
{
    for (int i = 0; i < 500000; i++) {
        gc_rounding r = random_rounding();
        r.b = (double)(sign() * below(1 + (int)(below(16) % 52)));
        compare(&r, sign() * below(1 + (int)(below(16) % 53)));
    }
}

/* ---- Problems -------------------------------------------------------------------------------- */

static float nine[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

/* Rule 5 in double, which plain jobs may go on to use, gives the same as rounding once. */
TEST(plain_jobs_round_once_in_double)
{
    static const int depths[] = {8, 16, 1};
    int plain = 0;
    for (int i = 0; i < 40000; i++) {
        gconv_filter a =
            filter_of(3, 3, (double)(sign() * (1 + below(1 + (int)(below(8) % 24)))), nine);
        gconv_job job = job_of(CHAIN(&a), 1, shape_of(1, 1, 1, below(1) == 0 ? 8 : 16));
        job.output_depth = depths[below(16) % 3];
        job.scale = below(2) == 0 ? ldexp(1, (int)below(4) - 8) : 1;
        job.has_offset = below(1) == 0;
        job.offset = ldexp((double)(sign() * below(12)), -(int)below(2));
        job.absolute = below(2) == 0;
        OWNED_PROBLEM problem = problem_of(&job);
        if (!problem.rounding.once || !problem.rounding.plain || !problem.chain.exact)
            continue;
        plain++;
        for (int k = 0; k < 50; k++) {
            /* Sums next to a boundary. */
            const gc_rounding *r = &problem.rounding;
            double middle = r->bilevel ? 128 : (double)(below(16) % 256) + 0.5;
            double sum = rint((middle * r->c - r->b) / r->a) + (double)(below(2) - 2);
            if (!(fabs(sum) < 0x1p24))
                continue;
            float value = (float)sum;
            uint16_t got = 0;
            gc_store_pixels(&problem.conversion, &value, 1, NULL, &got);
            uint32_t wanted = gc_round_once(r, sum);
            uint32_t stored = job.output_depth == 1 ? (got & 255) >> 7 : got;
            if (stored != wanted)
                fail_msg("sum %.0f over %.0f, scale %g, offset %g, depths %d to %d: %u, not %u",
                         sum, a.divisor, job.scale, job.offset, job.input.depth, job.output_depth,
                         stored, wanted);
        }
    }
    assert_true(plain > 10000);
}

TEST(thresholds_of_exact_chains_are_whole)
{
    for (int i = 0; i < 100000; i++) {
        gconv_filter a = filter_of(3, 3, (double)(sign() * (1 + below(8))), nine);
        gconv_job job = job_of(CHAIN(&a), 1, shape_of(1, 1, 1, below(1) == 0 ? 8 : 16));
        job.output = GCONV_OUTPUT_EDGES;
        job.rule = (gconv_rule)(below(8) % 3);
        job.threshold = (double)below(9) / 8;
        OWNED_PROBLEM problem = problem_of(&job);
        double threshold = problem.conversion.threshold;
        assert_true(problem.rounding.once && problem.rounding.plain);
        assert_true(threshold == trunc(threshold));
        double side = problem.conversion.rule == GCONV_RULE_NEGATIVE ? -1 : 1;
        assert_false(gc_passes_threshold(&problem.rounding, side * threshold));
        assert_true(gc_passes_threshold(&problem.rounding, side * (threshold + 1)));
    }
}

/* ---- Numbers of texts ------------------------------------------------------------------------ */

/* A number of the range with a power of 10 below it. */
static double decimal(double *denominator, int64_t *over, int64_t *under)
{
    static const int64_t powers[] = {1, 10, 100, 1000};
    *under = powers[below(2)];
    *over = sign() * below(1 + (int)(below(16) % 10));
    *denominator = (double)*under;
    return (double)*over / (double)*under;
}

/* (n/m S/D + o/w levels) up / down in whole numbers: scale n/m, offset o/w. */
TEST(decimals_count_as_they_are_written)
{
    int at_ties = 0, edges = 0;
    for (int i = 0; i < 100000; i++) {
        static const int divisors[] = {1, 5, 9, 16, 20, -25, 289, -7};
        int64_t n, m, o, w, t, u, divisor = divisors[below(3)];
        int64_t sum = sign() * below(1 + (int)(below(16) % 14));
        gconv_filter a = filter_of(3, 3, (double)divisor, nine);
        gconv_job job = job_of(CHAIN(&a), 1, shape_of(1, 1, 1, below(1) == 0 ? 8 : 16));
        job.output_depth = below(1) == 0 ? 8 : 16;
        job.scale = decimal(&job.scale_denominator, &n, &m);
        o = 0;
        w = 1;
        if (below(1) == 0)
            job.offset = decimal(&job.offset_denominator, &o, &w);
        job.has_offset = w != 1 || below(1) == 0;
        o = job.has_offset ? o : 0;
        if (!job.has_offset && below(1) == 0) {
            a.has_offset = true;
            a.offset = decimal(&a.offset_denominator, &o, &w);
        }
        whole levels = job.input.depth == 16 ? 257 : 1, top, under;
        top = (whole)n * w * sum + (whole)o * m * levels * divisor;
        under = (whole)m * w * divisor;
        top *= job.output_depth > job.input.depth ? 257 : 1;
        under *= job.output_depth < job.input.depth ? 257 : 1;
        gc_rounding wanted = {.b = (double)(under < 0 ? -top : top),
                              .c = (double)(under < 0 ? -under : under),
                              .largest = job.output_depth == 16 ? 65535 : 255};
        at_ties += 2 * (top % under) == under || 2 * (top % under) == -under;
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.rounding.once && fabs(wanted.b) < 0x1p53);
        uint32_t got = gc_round_once(&problem.rounding, (double)sum);
        if (got != true_sample(&wanted, 0))
            fail_msg("%g * %lld / %lld + %g: %u, not %u", job.scale, (long long)sum,
                     (long long)divisor, job.offset, got, true_sample(&wanted, 0));
        job.output = GCONV_OUTPUT_EDGES;
        a.has_offset = false;
        job.threshold = decimal(&job.threshold_denominator, &t, &u);
        OWNED_PROBLEM finder = problem_of(&job);
        whole response = (whole)sum * u, limit = t * levels * (divisor < 0 ? -divisor : divisor);
        response = response < 0 ? -response : response;
        edges += response == limit && t > 0;
        assert_int_equal(gc_passes_threshold(&finder.rounding, (double)sum), response > limit);
        assert_int_equal(fabs((double)sum) > finder.conversion.threshold, response > limit);
    }
    assert_true(at_ties > 300 && edges > 10);
}

static void computes(const gconv_job *job, const uint8_t *image, const uint8_t *wanted,
                     gconv_promise promise)
{
    uint8_t got[4];
    OWNED_PLAN plan = planned(job);
    assert_ok(gconv_plan_run_memory(plan, image, 4, got, 4, NULL, NULL));
    assert_int_equal(gconv_plan_promise(plan), promise);
    assert_memory_equal(got, wanted, job->input.width);
}

/* 0.1 as a double is above 1/10: only as a fraction it makes ties. */
TEST(the_double_next_to_a_decimal_is_another_number)
{
    static float one[] = {1}, aside[] = {5, 0, 0};
    static const uint8_t image[] = {5, 15, 25, 35}, black[4];
    /* Of doubles, and of fractions. */
    static const uint8_t outputs[2][4] = {{1, 2, 3, 4}, {0, 2, 2, 4}};
    for (int fraction = 0; fraction < 2; fraction++) {
        gconv_filter a = filter_of(1, 1, 1, one), b = filter_of(3, 1, 1, aside);
        gconv_job job = job_of(CHAIN(&a), 1, shape_of(4, 1, 1, 8));
        job.scale = 0.1;
        job.scale_denominator = fraction * 10;
        job.implementation = "cpu";
        computes(&job, image, outputs[fraction], GCONV_PROMISE_EXACT);
        job.implementation = "reference";
        computes(&job, image, outputs[fraction], GCONV_PROMISE_EXACT);
        /* 5 times a border of 0.1, in doubles or in limbs. */
        job = job_of(CHAIN(&b), 1, shape_of(1, 1, 1, 8));
        job.implementation = "reference";
        job.border = GCONV_BORDER_CONSTANT;
        job.border_value = 0.1;
        job.border_denominator = fraction * 10;
        for (int wide = 0; wide < 2; wide++) {
            aside[1] = wide == 1 ? 0x1p-60f : 0; /* of the image, which is black */
            computes(&job, black, outputs[fraction], GCONV_PROMISE_ROUNDED_ONCE);
        }
    }
}

/* Weights of seven digits that sum to 1/2: float32 and double round them to other sums. */
TEST(long_decimals_count_as_they_are_written)
{
    static const char matrix[] = "0.1000001 0.3999999",
                      vectors[] = "divisor 0.3\ncolumn 0.1 0.2\nrow 0.1000001 0.3999999";
    static const uint8_t at_ties[] = {0, 2, 2, 4, 4, 6, 6, 8};
    for (int i = 0; i < 32; i++) {
        OWNED_FILTER filter = NULL;
        const char *text = i % 2 == 0 ? matrix : vectors;
        assert_ok(gconv_filter_parse(text, strlen(text), NULL, &filter, NULL));
        assert_true(filter->terms != NULL && filter->whole == NULL);
        gconv_job job = job_of(CHAIN(filter), 1, shape_of(2, 2, 1, 8));
        uint8_t image[4], wanted[4];
        memset(image, i / 4 * 2 + 1, sizeof image);
        memset(wanted, at_ties[i / 4], sizeof wanted);
        job.implementation = i / 2 % 2 == 0 ? "reference" : "cpu";
        {
            uint8_t got[4];
            OWNED_PLAN plan = planned(&job);
            assert_ok(gconv_plan_run_memory(plan, image, 2, got, 2, NULL, NULL));
            assert_int_equal(gconv_plan_promise(plan), GCONV_PROMISE_ROUNDED_ONCE);
            assert_memory_equal(got, wanted, sizeof got);
        }
    }
}

/* A chain so long that its terms are beyond all limits is summed in double. */
TEST(long_chains_of_decimals_do_not_overflow)
{
    enum { STEPS = 400 };
    OWNED_FILTER filter = NULL;
    const gconv_filter *chain[STEPS];
    static const char text[] = "0.1000001 0.8999999";
    assert_ok(gconv_filter_parse(text, strlen(text), NULL, &filter, NULL));
    for (int i = 0; i < STEPS; i++)
        chain[i] = filter;
    gconv_job job = job_of(chain, STEPS, shape_of(2, 1, 1, 8));
    job.implementation = "reference";
    uint8_t image[] = {100, 100}, got[2];
    OWNED_PLAN plan = planned(&job);
    assert_ok(gconv_plan_run_memory(plan, image, 2, got, 2, NULL, NULL));
    assert_int_equal(gconv_plan_promise(plan), GCONV_PROMISE_BOUNDED);
    assert_memory_equal(got, image, 2);
}

/* A caller's weight counts as the caller sets it. */
TEST(terms_are_dropped_with_a_weight_that_changes)
{
    OWNED_FILTER filter = NULL;
    static const char text[] = "0.1000001 0.3999999";
    assert_ok(gconv_filter_parse(text, strlen(text), NULL, &filter, NULL));
    gconv_job job = job_of(CHAIN(filter), 1, shape_of(2, 2, 1, 8));
    {
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.chain.steps[0].terms[1] != (double)problem.chain.steps[0].taps[1]);
    }
    filter->weights[0] = 0.25f;
    OWNED_PROBLEM problem = problem_of(&job);
    assert_true(problem.chain.steps[0].terms[1] == 0.25 && problem.chain.divisor == 1);
}

/* float32 holds 3 in the place of such a border, and the whole weights that go with it. */
TEST(a_border_that_float32_rounds_makes_no_chain_exact)
{
    gconv_filter a = filter_of(3, 3, 16, nine);
    gconv_job job = job_of(CHAIN(&a), 1, shape_of(9, 9, 1, 8));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 3.00000001;
    for (int fraction = 0; fraction < 2; fraction++) {
        job.border_denominator = fraction * 1e8;
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.chain.steps[0].border[0] == 3.0f && !problem.chain.exact);
    }
}

/* A threshold of 1e300 is beyond every sum. */
TEST(thresholds_beyond_all_sums)
{
    gconv_filter a = filter_of(3, 3, 1, nine);
    gconv_job job = job_of(CHAIN(&a), 1, shape_of(1, 1, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    static const double thresholds[] = {1e300, 1e30, -1e30};
    for (int i = 0; i < 3; i++) {
        job.threshold = thresholds[i];
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.conversion.threshold * thresholds[i] > 0);
        assert_true(fabs(problem.conversion.threshold) > 0x1p24);
    }
}

TEST(sums_that_double_holds)
{
    static float third[] = {1.0f / 3, 0x1p-40f, 1, 1};
    gconv_filter a = filter_of(2, 2, 1, third), b = filter_of(3, 3, 16, nine);
    gconv_job job = job_of(CHAIN(&b), 1, shape_of(9, 9, 1, 16));
    {
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.chain.sums_fit && gc_problem_may_round_once(&problem));
        assert_true(problem.chain.divisor == 16);
    }
    job.filters = CHAIN(&a);
    {
        OWNED_PROBLEM problem = problem_of(&job);
        assert_false(problem.chain.sums_fit); /* 2^-40 and 65535 * 2.3 take 58 bits */
    }
    third[1] = 0x1p-30f;
    {
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.chain.sums_fit);
    }
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 0.1;
    {
        OWNED_PROBLEM problem = problem_of(&job);
        assert_false(problem.chain.sums_fit);
    }
    job.border_value = 0.5;
    job.filters = CHAIN(&b, &a);
    job.filter_count = 2;
    {
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.chain.sums_fit);
        assert_true(problem.chain.steps[0].terms_border[0] == 128.5);
        assert_true(problem.chain.steps[1].terms_border[0] == 128.5 * 16);
    }
}

/* ---- Sums in limbs --------------------------------------------------------------------------- */

enum { SIDE = 6, TAPS = 3 };

/* A number of a step's input, a border outside. */
static whole at(whole in[SIDE][SIDE], whole border, int x, int y)
{
    return x < 0 || y < 0 || x >= SIDE || y >= SIDE ? border : in[y][x];
}

/* A chain of a matrix over 3 and two vectors over 5, in whole numbers: the border is 64.25 levels
 * of 16 bits, weights are multiples of 2^-24 and 2^-30. */
static void true_output(const uint16_t *image, const int32_t *matrix, const int32_t *column,
                        const int32_t *row, uint16_t *output)
{
    whole in[SIDE][SIDE], middle[SIDE][SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        in[i / SIDE][i % SIDE] = (whole)image[i] * 4;
    for (int i = 0; i < SIDE * SIDE; i++) {
        whole sum = 0;
        for (int k = 0; k < TAPS * TAPS; k++)
            sum += matrix[k] * at(in, 257, i % SIDE + 1 - k % TAPS, i / SIDE + 1 - k / TAPS);
        middle[i / SIDE][i % SIDE] = sum;
    }
    whole under = (whole)15 << (2 + 24 + 60);
    for (int i = 0; i < SIDE * SIDE; i++) {
        whole sum = 0;
        for (int k = 0; k < TAPS * TAPS; k++)
            sum +=
                (whole)column[k / TAPS] * row[k % TAPS] *
                at(middle, (whole)257 * 3 << 24, i % SIDE + 1 - k % TAPS, i / SIDE + 1 - k / TAPS);
        whole low = quotient_down(sum, under), rest = sum - low * under;
        low += 2 * rest > under || (2 * rest == under && low % 2 != 0);
        output[i] = (uint16_t)(low < 0 ? 0 : low > UINT16_MAX ? UINT16_MAX : low);
    }
}

TEST(sums_in_limbs_are_whole_numbers)
{
    for (int i = 0; i < 300; i++) {
        int32_t matrix[TAPS * TAPS], vectors[2 * TAPS];
        float weights[TAPS * TAPS];
        double numbers[2 * TAPS];
        uint16_t image[SIDE * SIDE], wanted[SIDE * SIDE], got[SIDE * SIDE];
        for (int k = 0; k < TAPS * TAPS; k++) {
            matrix[k] = (int32_t)below(24) - (1 << 21) * (i % 3);
            weights[k] = (float)matrix[k] * 0x1p-24f;
        }
        for (int k = 0; k < 2 * TAPS; k++) {
            vectors[k] = (int32_t)below(30) - (1 << 26) * (i % 5);
            numbers[k] = vectors[k] * 0x1p-30;
        }
        for (int k = 0; k < SIDE * SIDE; k++)
            image[k] = (uint16_t)below(16);
        gconv_filter a = filter_of(TAPS, TAPS, 3, weights), b = filter_of(TAPS, TAPS, 5, NULL);
        b.column = numbers;
        b.row = numbers + TAPS;
        gconv_job job = job_of(CHAIN(&a, &b), 2, shape_of(SIDE, SIDE, 1, 16));
        job.border = GCONV_BORDER_CONSTANT;
        job.border_value = 0.25;
        job.implementation = "reference";
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.chain.limbs == 2 && !problem.chain.sums_fit);
        OWNED_PLAN plan = planned(&job);
        assert_int_equal(gconv_plan_promise(plan), GCONV_PROMISE_ROUNDED_ONCE);
        assert_int_equal(gconv_plan_run_memory(plan, image, 2 * SIDE, got, 2 * SIDE, NULL, NULL),
                         GCONV_OK);
        true_output(image, matrix, vectors, vectors + TAPS, wanted);
        assert_memory_equal(got, wanted, sizeof got);
    }
}
