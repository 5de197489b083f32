/* Problems: taps, borders and thresholds under deferred divisors, exactness, the bound. */
#include "core_support.h"

static float six[] = {1, 2, 3, 4, 5, 6};
static float ones[25] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* What most tests change: the chain of the filters a, b and c, its job, and its problem. */
static gconv_filter a, b, c;
static const gconv_filter *const chain[] = {&a, &b, &c};
static gconv_job job;
static gc_problem problem;

/* A job of the first `count` filters. */
static void set_up(int count, gconv_shape shape)
{
    job = job_of(chain, count, shape);
}

/* The filter `a` alone. */
static void set_up_one(gconv_filter filter, gconv_shape shape)
{
    a = filter;
    set_up(1, shape);
}

/* Makes the problem anew, which must succeed. */
static void make(void)
{
    gc_problem_destroy(&problem);
    assert_succeeds(gc_problem_create(&job, &problem, &why));
}

static int forget(void **state)
{
    (void)state;
    gc_problem_destroy(&problem);
    return 0;
}

static void refused(gconv_status status, const char *says)
{
    gconv_error error;
    gc_problem none;
    assert_fails(gc_problem_create(&job, &none, &error), status, &error, says);
    assert_int_equal(error.status, status);
    assert_int_equal(gc_problem_create(&job, &none, NULL), status);
}

/* ---- Taps ------------------------------------------------------------------------------------ */

TEST(taps_of_convolution_read_backwards)
{
    a = filter_of(3, 2, 1, six);
    a.anchor_x = 0;
    set_up(1, shape_of(9, 9, 1, 8));
    make();
    const float backwards[] = {6, 5, 4, 3, 2, 1};
    assert_memory_equal(problem.chain.steps[0].taps, backwards, sizeof backwards);
    assert_int_equal(problem.chain.steps[0].left, 2);
    assert_int_equal(problem.chain.steps[0].top, 0);
    assert_true(problem.chain.steps[0].absolute_sum == 21);
}

TEST(taps_of_correlation_read_forwards)
{
    a = filter_of(3, 2, 1, six);
    a.anchor_x = 0;
    set_up(1, shape_of(9, 9, 1, 8));
    job.correlate = true;
    make();
    assert_memory_equal(problem.chain.steps[0].taps, six, sizeof six);
    assert_int_equal(problem.chain.steps[0].left, 0);
    assert_int_equal(problem.chain.steps[0].top, 1);
}

TEST(taps_are_counted)
{
    a = filter_of(3, 2, 1, six);
    b = filter_of(5, 5, 1, ones);
    set_up(2, shape_of(9, 9, 1, 8));
    make();
    assert_true(gc_chain_taps(&problem.chain) == 31);
}

/* ---- Exactness ------------------------------------------------------------------------------- */

static bool exact(void)
{
    make();
    return problem.chain.exact;
}

TEST(exact_under_2_to_24)
{
    float weight[] = {65793}; /* 255 * 65793 = 2^24 - 1 */
    set_up_one(filter_of(1, 1, 1, weight), shape_of(4, 4, 1, 8));
    assert_true(exact());
    weight[0] = 65794;
    assert_false(exact());
    weight[0] = -65793;
    assert_true(exact());
    weight[0] = 0.5f;
    assert_false(exact());
    job.input.depth = 16;
    weight[0] = 256; /* 65535 * 256 = 2^24 - 256 */
    assert_true(exact());
    weight[0] = 257;
    assert_false(exact());
}

TEST(exact_counts_every_step)
{
    float big[] = {65793}, small[] = {0};
    a = filter_of(1, 1, 1, big);
    b = filter_of(1, 1, 289, ones);
    c = filter_of(1, 1, 1, small);
    set_up(2, shape_of(4, 4, 1, 8));
    assert_true(exact());
    b.width = 2;
    assert_false(exact());
    /* What follows cannot heal a step that has rounded. */
    job.filter_count = 3;
    assert_false(exact());
}

TEST(exact_depends_on_border)
{
    a = filter_of(2, 2, 0.5, ones);
    b = filter_of(1, 1, 1, ones);
    set_up(2, shape_of(4, 4, 1, 8));
    job.border_value = 0.5;
    assert_true(exact()); /* no constant border */
    job.border = GCONV_BORDER_CONSTANT;
    assert_false(exact());
    job.border_value = 3; /* 1.5 before the second step */
    assert_false(exact());
    job.border_value = 4;
    assert_true(exact());
    job.border_value = 4194303; /* times the four weights, 2^24 - 4 */
    job.filter_count = 1;
    assert_true(exact());
    job.border_value = 4194304;
    assert_false(exact());
}

TEST(exact_depends_on_premultiplication)
{
    set_up_one(filter_of(1, 1, 1, ones), shape_of(4, 4, 4, 16));
    assert_true(exact());
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    assert_false(exact());
    job.input.depth = 8;
    assert_true(exact());
    float weight[] = {259}; /* 255 * 255 * 259 > 2^24 */
    a.weights = weight;
    assert_false(exact());
    weight[0] = 258;
    assert_true(exact());
}

/* ---- The bound ------------------------------------------------------------------------------- */

TEST(bound_of_one_and_two_steps)
{
    float third[] = {1 / 3.0f, -1 / 3.0f};
    a = filter_of(2, 1, 7, third);
    b = filter_of(5, 5, 1, ones);
    set_up(1, shape_of(4, 4, 1, 8));
    make();
    double sum = 2 * (double)(1 / 3.0f);
    double one = 4 * 2 * 0x1p-24 * sum * 200;
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 0) - one) < 1e-12);
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 3) - one * 5 / 2) < 1e-12);
    job.filter_count = 2;
    make();
    double two = 25 * one + 4 * 25 * 0x1p-24 * 25 * (sum * 200);
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 0) - two) < 1e-9);
}

/* Below the smallest normal float32 sums err by a number of their own. */
TEST(bound_among_denormals)
{
    float tiny[] = {3e-45f, -1e-44f}, half[] = {0.5f};
    a = filter_of(2, 1, 1, tiny);
    b = filter_of(1, 1, 1, half);
    set_up(2, shape_of(4, 4, 1, 8));
    make();
    double sum = (double)tiny[0] - (double)tiny[1];
    double one = 4 * 2 * (0x1p-24 * sum * 200 + 0x1p-150);
    double two = 0.5 * one + 4 * (0x1p-24 * 0.5 * 200 * sum + 0x1p-150);
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 0) / two - 1) < 1e-12);
}

TEST(bound_is_zero_where_exact)
{
    set_up_one(filter_of(3, 2, 1, six), shape_of(4, 4, 1, 8));
    make();
    assert_true(gc_chain_bound(&problem.chain, 255, 100) == 0);
}

TEST(bound_counts_the_border)
{
    float tenth[] = {0.1f};
    set_up_one(filter_of(1, 1, 1, tenth), shape_of(4, 4, 1, 8));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = -1000;
    make();
    double bound = 4 * 0x1p-24 * (double)0.1f * 1000;
    assert_true(fabs(gc_chain_bound(&problem.chain, 255, 0) - bound) < 1e-12);
}

/* ---- Borders, thresholds, offsets ------------------------------------------------------------ */

TEST(border_waits_for_the_divisors_before)
{
    a = filter_of(3, 2, 289, six);
    b = filter_of(1, 1, -2, ones);
    c = b;
    set_up(3, shape_of(4, 4, 1, 16));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 10;
    make();
    assert_true(problem.chain.steps[0].border[0] == 2570);
    assert_true(problem.chain.steps[1].border[0] == 2570 * 289);
    assert_true(problem.chain.steps[2].border[0] == -2570 * 289 * 2);
    assert_true(problem.conversion.divisor == 289 * 4);
}

TEST(border_is_opaque)
{
    set_up_one(filter_of(1, 1, 1, ones), shape_of(4, 4, 4, 8));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 10;
    job.alpha = GCONV_ALPHA_FILTER;
    make();
    assert_true(problem.chain.steps[0].border[2] == 10 && problem.chain.steps[0].border[3] == 255);
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    make();
    assert_true(problem.chain.steps[0].border[2] == 2550 &&
                problem.chain.steps[0].border[3] == 255);
    job.alpha = GCONV_ALPHA_KEEP;
    make();
    assert_int_equal(problem.chain.channels, 3);
    assert_true(problem.chain.steps[0].border[2] == 10);
}

TEST(threshold_waits_for_all_divisors)
{
    a = filter_of(5, 5, 289, ones);
    b = filter_of(3, 2, 1, six);
    set_up(2, shape_of(4, 4, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    make();
    assert_true(problem.conversion.threshold == 5 * 289);
    job.input.depth = 16;
    job.rule = GCONV_RULE_POSITIVE;
    b.divisor = -1;
    make();
    assert_true(problem.conversion.threshold == 5 * 289 * 257.0);
    assert_int_equal(problem.conversion.rule, GCONV_RULE_NEGATIVE); /* the divisor turns the sign */
}

TEST(offset_of_the_last_filter)
{
    a = filter_of(1, 1, 1, ones);
    b = filter_of(1, 1, 1, ones);
    set_up(2, shape_of(4, 4, 1, 16));
    b.has_offset = true;
    b.offset = 128;
    make();
    assert_true(problem.conversion.offset == 128 * 257);
    job.has_offset = true;
    job.offset = 0;
    make();
    assert_true(problem.conversion.offset == 0);
    a.has_offset = true;
    refused(GCONV_ERROR_FILTER, "filter 1 of 2 has an offset");
    const gconv_filter *longer[] = {&b, &b, &b};
    gconv_filter plain = filter_of(1, 1, 1, ones);
    for (int with = 0; with < 3; with++) {
        for (int i = 0; i < 3; i++)
            longer[i] = i == with ? &b : &plain;
        job = job_of(longer, 3, shape_of(4, 4, 1, 16));
        if (with == 2)
            make();
        else
            refused(GCONV_ERROR_FILTER, "has an offset");
    }
}

TEST(output_shapes)
{
    set_up_one(filter_of(1, 1, 1, ones), shape_of(9, 4, 1, 8));
    job.output_depth = 1;
    make();
    assert_int_equal(problem.conversion.output.depth, 1);
    assert_int_equal(gconv_shape_row_bytes(&problem.conversion.output), 2);
    assert_true(problem.conversion.bilevel);
    job.input.channels = 3; /* bits are packed only for a single channel */
    make();
    assert_int_equal(problem.conversion.output.depth, 8);
    assert_true(problem.conversion.bilevel);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(refuses_shapes)
{
    a = filter_of(1, 1, 1, ones);
    static const gconv_shape wrong[] = {{0, 1, 1, 8},  {1, 0, 1, 8},         {1, 1, 0, 8},
                                        {1, 1, 5, 8},  {1, 1, 1, 1},         {1, 1, 1, 64},
                                        {1, 1, 1, 12}, {UINT32_MAX, 1, 1, 8}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        set_up(1, wrong[i]);
        job.output_depth = 8;
        refused(GCONV_ERROR_ARGUMENT, "possible");
    }
    set_up(1, shape_of(4, 4, 3, 8));
    job.output_depth = 2;
    refused(GCONV_ERROR_ARGUMENT, "output depth 2");
}

TEST(refuses_filters)
{
    float weights[] = {1, 2};
    set_up_one(filter_of(2, 1, 1, weights), shape_of(4, 4, 1, 8));
    a.divisor = 0;
    refused(GCONV_ERROR_FILTER, "divisor");
    a.divisor = NAN;
    refused(GCONV_ERROR_FILTER, "divisor");
    a.divisor = 1;
    weights[1] = INFINITY;
    refused(GCONV_ERROR_FILTER, "weight 1");
    weights[1] = 2;
    a.anchor_x = 2;
    refused(GCONV_ERROR_FILTER, "anchor 2 0");
    a.anchor_x = 0;
    a.has_offset = true;
    a.offset = NAN;
    refused(GCONV_ERROR_FILTER, "offset");
    a.has_offset = false;
    a.width = 256;
    refused(GCONV_ERROR_FILTER, "256x1");
    job.filter_count = 0;
    refused(GCONV_ERROR_ARGUMENT, "at least one");
}

TEST(refuses_vectors)
{
    float weights[] = {1};
    double column[] = {1, 2}, row[] = {3};
    set_up_one((gconv_filter){.width = 1, .height = 2, .divisor = 1, .column = column},
               shape_of(9, 9, 1, 8));
    refused(GCONV_ERROR_ARGUMENT, "no row: a null pointer");
    a.column = NULL;
    a.row = row;
    refused(GCONV_ERROR_ARGUMENT, "no column: a null pointer");
    a.weights = weights;
    refused(GCONV_ERROR_ARGUMENT, "weights, and a column or a row");
    a.weights = NULL;
    a.column = column;
    column[1] = 1e39;
    refused(GCONV_ERROR_FILTER, "number 1 of the column");
    column[1] = 2;
    row[0] = NAN;
    refused(GCONV_ERROR_FILTER, "number 0 of the row");
    row[0] = 3;
    a.height = 4096;
    refused(GCONV_ERROR_FILTER, "4095x4095");
    a.height = 2;
    row[0] = column[0] = column[1] = 1e30;
    refused(GCONV_ERROR_FILTER, "exceed float32");
}

TEST(vectors_are_in_reading_order)
{
    double column[] = {1, 2, 4}, row[] = {-3, 5};
    set_up_one((gconv_filter){.width = 2, .height = 3, .divisor = 1, .column = column, .row = row},
               shape_of(9, 9, 1, 8));
    make();
    const gc_step *step = &problem.chain.steps[0];
    assert_null(step->taps);
    assert_true(step->column[0] == 4 && step->column[2] == 1);
    assert_true(step->row[0] == 5 && step->row[1] == -3);
    assert_true(step->absolute_sum == 56 && gc_step_terms(step) == 5);
    assert_true(problem.chain.exact);
    row[0] = -3.5;
    make();
    assert_false(problem.chain.exact);
}

TEST(refuses_values)
{
    set_up_one(filter_of(1, 1, 1, ones), shape_of(4, 4, 1, 8));
    gconv_job good = job;
    const struct {
        gconv_job job;
        const char *says;
    } cases[] = {
        {WITH(good, it.scale = INFINITY), "finite"},
        {WITH(good, it.threshold = NAN), "finite"},
        /* infinite in float32 */
        {WITH(good, it.border = GCONV_BORDER_CONSTANT, it.border_value = 1e39), "too large"},
        /* infinite times 257 */
        {WITH(good, it.input.depth = 16, it.has_offset = true, it.offset = 1e307),
         "offset is too large"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        job = cases[i].job;
        refused(GCONV_ERROR_ARGUMENT, cases[i].says);
    }
}

TEST(refuses_choices)
{
    set_up_one(filter_of(1, 1, 1, ones), shape_of(4, 4, 1, 8));
    gconv_job good = job;
    const gconv_tiling tiling = WITH(gconv_tiling_default(), it.tile = -2);
    for (int i = 0; i < 2; i++) {
        const int border = i == 0 ? -1 : GCONV_BORDER_COUNT, other = i == 0 ? -1 : 7;
        const gconv_job cases[] = {
            WITH(good, it.border = (gconv_border)border), WITH(good, it.alpha = (gconv_alpha)other),
            WITH(good, it.rule = (gconv_rule)other), WITH(good, it.output = (gconv_output)other)};
        for (size_t k = 0; k < COUNT(cases); k++) {
            job = cases[k];
            refused(GCONV_ERROR_ARGUMENT, "are possible");
        }
    }
    job = WITH(good, it.threads = -1);
    refused(GCONV_ERROR_ARGUMENT, "threads -1");
    job = WITH(good, it.tiling = &tiling);
    refused(GCONV_ERROR_ARGUMENT, "tile -2");
}

TEST(refuses_blocks)
{
    set_up_one(filter_of(1, 1, 1, ones), shape_of(4, 4, 1, 8));
    gconv_tiling tiling = gconv_tiling_default();
    job.tiling = &tiling;
    static const int wrong[][2] = {{0, 8},   {8, 0},   {-1, 8},   {8, -1},
                                   {-8, -8}, {33, 32}, {1025, 1}, {1 << 16, 1 << 16}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tiling.block_width = wrong[i][0];
        tiling.block_height = wrong[i][1];
        refused(GCONV_ERROR_ARGUMENT, "block");
    }
    static const int right[][2] = {{0, 0}, {1, 1}, {32, 32}, {1024, 1}, {1, 1024}};
    for (size_t i = 0; i < COUNT(right); i++) {
        tiling.block_width = right[i][0];
        tiling.block_height = right[i][1];
        make();
    }
}

/* Sums would meet infinities of both signs: the result would depend on the order of summation. */
TEST(refuses_what_exceeds_float32)
{
    float far[] = {3e38f, -3e38f}, hundredth[] = {0.01f}, root[] = {2e18f};
    a = filter_of(2, 1, 1, far);
    b = filter_of(1, 1, 1, hundredth);
    set_up(1, shape_of(4, 4, 1, 8));
    refused(GCONV_ERROR_FILTER, "exceed float32");
    job.filter_count = 2; /* what follows does not heal it */
    refused(GCONV_ERROR_FILTER, "exceed float32");
    far[0] = 3e38f / 512;
    far[1] = -far[0];
    make();
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 1000;
    refused(GCONV_ERROR_FILTER, "exceed float32");
    job.border_value = 0;
    job.input.depth = 16;
    refused(GCONV_ERROR_FILTER, "exceed float32");
    a = filter_of(1, 1, 1e18, root); /* divisors wait until the end */
    b = a;
    job.input.depth = 8;
    refused(GCONV_ERROR_FILTER, "exceed float32");
}

/* A border value that no border needs does not matter, however large the divisors make it. */
TEST(unused_border_value_is_free)
{
    a = filter_of(1, 1, 1e200, ones);
    b = filter_of(1, 1, 1e-200, ones);
    set_up(2, shape_of(4, 4, 4, 8));
    job.alpha = GCONV_ALPHA_FILTER;
    job.border_value = 1e39;
    make();
    assert_true(fabs(problem.conversion.divisor - 1) < 1e-12);
    b.divisor = 1e200;
    refused(GCONV_ERROR_FILTER, "product of the divisors");
}

const test_suite suite = {.after = forget};
