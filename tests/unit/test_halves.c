/* Numbers as halves for the tensor cores, and the banded matrices that weights stand in. */
#include "core_support.h"

#include "gpu/methods/tensor/halves.h"

enum { SIDE_MAX = 40, ROWS = 32 };

/* The value of a half, from the definition. */
static float value_of(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31);
    float fraction = (float)(bits & 1023);
    float value =
        exponent == 0 ? ldexpf(fraction, -24) : ldexpf(1024 + fraction, exponent - 15 - 10);
    return bits & 0x8000 ? -value : value;
}

TEST(every_half_is_itself_and_ties_are_even)
{
    for (unsigned bits = 0; bits < 0x7bff; bits++) { /* all but the largest, and infinity */
        float half = value_of(bits), next = value_of(bits + 1), middle = (half + next) / 2;
        assert_true(gc_half_of(half) == half && gc_half_of(-half) == -half);
        assert_int_equal(gc_half_bits(half), bits);
        assert_true(gc_half_of(middle) == (bits % 2 == 0 ? half : next));
        assert_true(gc_half_of(nextafterf(middle, 0)) == half);
        assert_true(gc_half_of(nextafterf(middle, INFINITY)) == next);
        assert_int_equal(gc_half_bits(nextafterf(middle, INFINITY)), bits + 1);
        if (bits > 0)
            assert_int_equal(gc_half_bits(-half), bits | 0x8000);
    }
}

/* ---- Matrices and tiles ---------------------------------------------------------------------- */

static float taps[SIDE_MAX * SIDE_MAX];

static gc_step step_of(int width, int height, int left)
{
    for (int i = 0; i < width * height; i++)
        taps[i] = (float)(i % 1999 + 1);
    return (gc_step){.taps = taps, .width = width, .height = height, .left = left};
}

/* What stands in row k and column n of the banded matrix of row j. */
static float entry(const gc_step *step, int j, int k, int n)
{
    unsigned high, low;
    gc_matrix_words(step, &(gc_parts){.weight_parts = 1}, j, k + GC_HALVES_UNIT - 1 - n, &high,
                    &low);
    assert_int_equal(low & 0x7fff7fff, 0); /* the weights are halves */
    return value_of(high & 0xffff);
}

static void check_matrix(const gc_step *step)
{
    int skip = gc_matrix_skip(step), columns = gc_matrix_columns(step), j = step->height - 1;
    assert_int_equal((step->left + skip) % 4, 0);
    assert_int_equal(columns % GC_HALVES_UNIT, 0);
    for (int n = 0; n < GC_HALVES_UNIT; n++)
        for (int k = 0; k < columns; k++) {
            int i = k - n - skip;
            float expected = i >= 0 && i < step->width ? step->taps[j * step->width + i] : 0;
            assert_true(entry(step, j, k, n) == expected);
        }
    /* Column n reads the samples under all weights. */
    assert_true(GC_HALVES_UNIT - 1 + skip + step->width <= columns);
}

TEST(every_weight_is_where_its_sample_is)
{
    for (int width = 1; width <= SIDE_MAX; width++)
        for (int left = 0; left < width; left++) {
            gc_step step = step_of(width, 2, left);
            check_matrix(&step);
        }
}

TEST(a_word_has_two_diagonals)
{
    gc_step step = step_of(9, 1, 4);
    gc_parts parts = {.weight_exponent = 3};
    unsigned high, low, next;
    for (int diagonal = 0; diagonal + 1 < gc_matrix_diagonals(&step); diagonal++) {
        gc_matrix_words(&step, &parts, 0, diagonal, &high, &low);
        gc_matrix_words(&step, &parts, 0, diagonal + 1, &next, &low);
        assert_int_equal(high >> 16, next & 0xffff);
    }
}

TEST(what_follows_a_tile_is_aligned)
{
    for (int width = 1; width <= SIDE_MAX; width++)
        for (int height = 1; height <= SIDE_MAX; height++)
            for (int splits = 0; splits <= 1; splits++) {
                gc_step step = step_of(width, height, width / 2);
                size_t samples = (size_t)gc_halves_line_length(&step) *
                                 (size_t)(gc_halves_lines(&step, ROWS) + 1);
                size_t bytes = gc_halves_bytes(&step, ROWS, splits);
                assert_int_equal(bytes % 16, 0);
                assert_int_equal(gc_matrix_bytes(&step) % 16, 0);
                assert_true(bytes >= (splits ? 4 : 2) * samples);
            }
}

/* ---- What is left of numbers ----------------------------------------------------------------- */

static float tenths[9] = {0.1f, 0.2f, 0.3f, 0.3f, 0.2f, 0.1f, 0.1f, 0.2f, 0.3f};

/* A job of one filter, of tenths if it is NULL, on samples of this depth. */
static gc_problem problem_on(const gconv_filter *filter, int depth, const double *border)
{
    gconv_filter usual = filter_of(3, 3, 1, tenths);
    gconv_job job = job_of(CHAIN(filter != NULL ? filter : &usual), 1, shape_of(8, 8, 1, depth));
    job.border = border != NULL ? GCONV_BORDER_CONSTANT : GCONV_BORDER_MIRROR;
    job.border_value = border != NULL ? *border : 0;
    return problem_of(&job);
}

/* What two parts leave of a value, in units of 2^-24 of it. */
static double left_of(float value, int exponent)
{
    float scaled = ldexpf(value, exponent), high = gc_half_of(scaled);
    float low = gc_half_of(scaled - high);
    return fabs((double)scaled - (double)high - (double)low) / fabs((double)scaled) * 0x1p24;
}

/* The dimmest image that there is goes through a filter of small weights: what comes out is split
 * with an error that meets_bound counts on, 4 of 12 units each. */
TEST(dim_values_keep_their_bits)
{
    float small[9] = {1e-4f, 1e-4f, 1e-4f, 1e-4f, 1e-4f, 1e-4f, 1e-4f, 1e-4f, 1e-4f};
    for (int depth = 8; depth <= 16; depth += 8)
        for (float factor = 1e-3f; factor < 1e4f; factor *= 10) {
            float weights[9];
            for (int i = 0; i < 9; i++)
                weights[i] = small[i] * factor;
            gconv_filter first = filter_of(3, 3, 1, weights), second = filter_of(3, 3, 1, tenths);
            gconv_job job = job_of(CHAIN(&first, &second), 2, shape_of(8, 8, 1, depth));
            OWNED_PROBLEM problem = problem_of(&job);
            const gc_step *step = &problem.chain.steps[1];
            gc_parts parts = gc_parts_of(&problem, step, false);
            assert_true(parts.splits && gc_parts_in_range(&problem, step, &parts));
            assert_true(ldexp(step->largest_input, parts.sample_exponent) < 0x1p15);
            float one = (float)problem.chain.steps[0].absolute_sum; /* an image of ones */
            for (int i = 0; i < 1000; i++)
                assert_true(left_of(one * (1 + (float)i / 1000), parts.sample_exponent) <= 4.5);
            for (int i = 0; i < 9; i++)
                assert_true(left_of(tenths[i], parts.weight_exponent) <= 4);
        }
}

TEST(bytes_and_short_weights_have_one_part)
{
    float whole[9] = {1, 2, 1, 2, 4, 2, 1, 2, 2047}, long_one[9] = {1, 2, 1, 2, 4, 2, 1, 2, 2049};
    gconv_filter short_weights = filter_of(3, 3, 1, whole);
    gconv_filter long_weights = filter_of(3, 3, 1, long_one);
    OWNED_PROBLEM first = problem_on(&short_weights, 8, NULL);
    gc_parts parts = gc_parts_of(&first, first.chain.steps, true);
    assert_true(!parts.splits && parts.weight_parts == 1);
    assert_true(gc_parts_are_exact(first.chain.steps, &parts));
    OWNED_PROBLEM second = problem_on(&long_weights, 8, NULL);
    parts = gc_parts_of(&second, second.chain.steps, true);
    assert_true(!parts.splits && parts.weight_parts == 2);
    assert_true(gc_parts_are_exact(second.chain.steps, &parts));
    parts = gc_parts_of(&second, second.chain.steps, false); /* low times low is left out */
    assert_true(parts.splits && !gc_parts_are_exact(second.chain.steps, &parts));
    const double half = 0.5;
    OWNED_PROBLEM third = problem_on(&short_weights, 8, &half);
    assert_true(gc_parts_of(&third, third.chain.steps, true).splits);
}

/* Of a black image the border is all there is: what two halves leave of it must be in the bound. */
TEST(a_border_near_0_is_refused)
{
    static const struct {
        double border;
        bool is_split;
    } cases[] = {{0, true}, {0.5, true}, {0.126, true}, {0.124, false}, {1e-6, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED_PROBLEM problem = problem_on(NULL, 8, &cases[i].border);
        gc_parts parts = gc_parts_of(&problem, problem.chain.steps, false);
        assert_int_equal(gc_parts_in_range(&problem, problem.chain.steps, &parts),
                         cases[i].is_split);
        assert_true(cases[i].border == 0 || !cases[i].is_split ||
                    left_of((float)cases[i].border, parts.sample_exponent) <= 4);
    }
}

/* Values that rounding has made larger than they should be are still halves. */
TEST(rounded_values_are_halves)
{
    static float weights[81];
    for (int i = 0; i < 81; i++)
        weights[i] = 0.3f;
    for (int e = -60; e <= 60; e++) {
        float factor = ldexpf(0.9999f, e) / 255;
        gconv_filter first = filter_of(1, 1, 1, &factor), second = filter_of(9, 9, 1, weights);
        gconv_job job = job_of(CHAIN(&first, &second), 2, shape_of(8, 8, 1, 8));
        OWNED_PROBLEM problem = problem_of(&job);
        const gc_step *step = &problem.chain.steps[1];
        gc_parts parts = gc_parts_of(&problem, step, false);
        assert_true(gc_parts_in_range(&problem, step, &parts));
        double largest = ldexp(step->largest_value, parts.sample_exponent);
        assert_true(largest < 0x1p15 && (largest >= 0x1p14 || parts.sample_exponent == 0));
    }
    /* Beyond 2^100 either way scaling would meet the ends of float32. */
    for (int e = -120; e <= 120; e += 240) {
        float factor = ldexpf(1, e) / 255;
        gconv_filter first = filter_of(1, 1, 1, &factor), second = filter_of(9, 9, 1, weights);
        gconv_job job = job_of(CHAIN(&first, &second), 2, shape_of(8, 8, 1, 8));
        OWNED_PROBLEM problem = problem_of(&job);
        gc_parts parts = gc_parts_of(&problem, &problem.chain.steps[1], false);
        assert_false(gc_parts_in_range(&problem, &problem.chain.steps[1], &parts));
    }
}

TEST(a_border_far_from_the_samples_is_refused)
{
    static const double borders[] = {1000, 1e9};
    for (int far = 0; far <= 1; far++) {
        OWNED_PROBLEM problem = problem_on(NULL, 8, &borders[far]);
        gc_parts parts = gc_parts_of(&problem, problem.chain.steps, true);
        assert_int_equal(gc_parts_in_range(&problem, problem.chain.steps, &parts), !far);
    }
}

/* Also where a constant border alone would be split well. */
TEST(floats_are_refused)
{
    const double border = 40000;
    for (int constant = 0; constant <= 1; constant++) {
        OWNED_PROBLEM problem = problem_on(NULL, 32, constant ? &border : NULL);
        gc_parts parts = gc_parts_of(&problem, problem.chain.steps, false);
        assert_true(parts.splits);
        assert_false(gc_parts_in_range(&problem, problem.chain.steps, &parts));
    }
}

TEST(few_weights_are_refused)
{
    gc_step square = step_of(3, 3, 1), column = step_of(1, 9, 0), row = step_of(9, 1, 4);
    assert_true(gc_parts_meet_bound(&square, 9));
    assert_false(gc_parts_meet_bound(&square, 8)); /* adds twice as often */
    assert_false(gc_parts_meet_bound(&column, 9));
    assert_true(gc_parts_meet_bound(&row, 9));
    for (int side = 5; side <= SIDE_MAX; side++) {
        gc_step step = step_of(side, side, side / 2);
        assert_true(gc_parts_meet_bound(&step, 8));
    }
}
