/* Problems: taps, borders and thresholds under deferred divisors, exactness, the bound. */
#include "core_support.h"

#include <math.h>

static float six[] = {1, 2, 3, 4, 5, 6};
static float ones[25] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Makes the problem, which must succeed. */
static gc_problem made(const gconv_job *job)
{
    gc_problem problem;
    gconv_error error;
    if (gc_problem_create(job, &problem, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    return problem;
}

static void refused(const gconv_job *job, gconv_status status, const char *says)
{
    gc_problem problem;
    gconv_error error;
    assert_int_equal(gc_problem_create(job, &problem, &error), status);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, says));
    assert_int_equal(gc_problem_create(job, &problem, NULL), status);
}

/* ---- Taps ------------------------------------------------------------------------------------ */

static void taps_of_convolution_read_backwards(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(3, 2, 1, six);
    const gconv_filter *chain[] = {&filter};
    filter.anchor_x = 0;
    gconv_job job = job_of(chain, 1, shape_of(9, 9, 1, 8));
    gc_problem problem = made(&job);
    const float backwards[] = {6, 5, 4, 3, 2, 1};
    assert_memory_equal(problem.chain.steps[0].taps, backwards, sizeof backwards);
    assert_int_equal(problem.chain.steps[0].left, 2);
    assert_int_equal(problem.chain.steps[0].top, 0);
    assert_true(problem.chain.steps[0].absolute_sum == 21);
    gc_problem_destroy(&problem);
}

static void taps_of_correlation_read_forwards(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(3, 2, 1, six);
    const gconv_filter *chain[] = {&filter};
    filter.anchor_x = 0;
    gconv_job job = job_of(chain, 1, shape_of(9, 9, 1, 8));
    job.correlate = true;
    gc_problem problem = made(&job);
    assert_memory_equal(problem.chain.steps[0].taps, six, sizeof six);
    assert_int_equal(problem.chain.steps[0].left, 0);
    assert_int_equal(problem.chain.steps[0].top, 1);
    gc_problem_destroy(&problem);
}

static void taps_are_counted(void **state)
{
    (void)state;
    gconv_filter a = filter_of(3, 2, 1, six), b = filter_of(5, 5, 1, ones);
    const gconv_filter *chain[] = {&a, &b};
    gconv_job job = job_of(chain, 2, shape_of(9, 9, 1, 8));
    gc_problem problem = made(&job);
    assert_true(gc_chain_taps(&problem.chain) == 31);
    gc_problem_destroy(&problem);
}

/* ---- Exactness ------------------------------------------------------------------------------- */

static bool exact(const gconv_job *job)
{
    gc_problem problem = made(job);
    bool result = problem.chain.exact;
    gc_problem_destroy(&problem);
    return result;
}

static void exact_under_2_to_24(void **state)
{
    (void)state;
    float weight[] = {65793}; /* 255 * 65793 = 2^24 - 1 */
    gconv_filter filter = filter_of(1, 1, 1, weight);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    assert_true(exact(&job));
    weight[0] = 65794;
    assert_false(exact(&job));
    weight[0] = -65793;
    assert_true(exact(&job));
    weight[0] = 0.5f;
    assert_false(exact(&job));
    job.input.depth = 16;
    weight[0] = 256; /* 65535 * 256 = 2^24 - 256 */
    assert_true(exact(&job));
    weight[0] = 257;
    assert_false(exact(&job));
}

static void exact_counts_every_step(void **state)
{
    (void)state;
    float big[] = {65793}, small[] = {0};
    gconv_filter first = filter_of(1, 1, 1, big), second = filter_of(1, 1, 289, ones);
    gconv_filter nothing = filter_of(1, 1, 1, small);
    const gconv_filter *chain[] = {&first, &second, &nothing};
    gconv_job job = job_of(chain, 2, shape_of(4, 4, 1, 8));
    assert_true(exact(&job));
    second.width = 2;
    assert_false(exact(&job));
    /* What follows cannot heal a step that has rounded. */
    job.filter_count = 3;
    assert_false(exact(&job));
}

static void exact_depends_on_border(void **state)
{
    (void)state;
    gconv_filter first = filter_of(2, 2, 0.5, ones), second = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&first, &second};
    gconv_job job = job_of(chain, 2, shape_of(4, 4, 1, 8));
    job.border_value = 0.5;
    assert_true(exact(&job)); /* no constant border */
    job.border = GCONV_BORDER_CONSTANT;
    assert_false(exact(&job));
    job.border_value = 3; /* 1.5 before the second step */
    assert_false(exact(&job));
    job.border_value = 4;
    assert_true(exact(&job));
    job.border_value = 4194303; /* times the four weights, 2^24 - 4 */
    job.filter_count = 1;
    assert_true(exact(&job));
    job.border_value = 4194304;
    assert_false(exact(&job));
}

static void exact_depends_on_premultiplication(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 4, 16));
    assert_true(exact(&job));
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    assert_false(exact(&job));
    job.input.depth = 8;
    assert_true(exact(&job));
    float weight[] = {259}; /* 255 * 255 * 259 > 2^24 */
    filter.weights = weight;
    assert_false(exact(&job));
    weight[0] = 258;
    assert_true(exact(&job));
}

/* ---- The bound ------------------------------------------------------------------------------- */

static void bound_of_one_and_two_steps(void **state)
{
    (void)state;
    float third[] = {1 / 3.0f, -1 / 3.0f};
    gconv_filter a = filter_of(2, 1, 7, third), b = filter_of(5, 5, 1, ones);
    const gconv_filter *chain[] = {&a, &b};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    gc_problem problem = made(&job);
    double sum = 2 * (double)(1 / 3.0f);
    double one = 4 * 2 * 0x1p-24 * sum * 200;
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 0) - one) < 1e-12);
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 3) - one * 5 / 2) < 1e-12);
    gc_problem_destroy(&problem);
    job.filter_count = 2;
    problem = made(&job);
    double two = 25 * one + 4 * 25 * 0x1p-24 * 25 * (sum * 200);
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 0) - two) < 1e-9);
    gc_problem_destroy(&problem);
}

/* Below the smallest normal float32 sums err by a number of their own. */
static void bound_among_denormals(void **state)
{
    (void)state;
    float tiny[] = {3e-45f, -1e-44f}, half[] = {0.5f};
    gconv_filter a = filter_of(2, 1, 1, tiny), b = filter_of(1, 1, 1, half);
    const gconv_filter *chain[] = {&a, &b};
    gconv_job job = job_of(chain, 2, shape_of(4, 4, 1, 8));
    gc_problem problem = made(&job);
    double sum = (double)tiny[0] - (double)tiny[1];
    double one = 4 * 2 * (0x1p-24 * sum * 200 + 0x1p-150);
    double two = 0.5 * one + 4 * (0x1p-24 * 0.5 * 200 * sum + 0x1p-150);
    assert_true(fabs(gc_chain_bound(&problem.chain, 200, 0) / two - 1) < 1e-12);
    gc_problem_destroy(&problem);
}

static void bound_is_zero_where_exact(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(3, 2, 1, six);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    gc_problem problem = made(&job);
    assert_true(gc_chain_bound(&problem.chain, 255, 100) == 0);
    gc_problem_destroy(&problem);
}

static void bound_counts_the_border(void **state)
{
    (void)state;
    float tenth[] = {0.1f};
    gconv_filter filter = filter_of(1, 1, 1, tenth);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = -1000;
    gc_problem problem = made(&job);
    double bound = 4 * 0x1p-24 * (double)0.1f * 1000;
    assert_true(fabs(gc_chain_bound(&problem.chain, 255, 0) - bound) < 1e-12);
    gc_problem_destroy(&problem);
}

/* ---- Borders, thresholds, offsets ------------------------------------------------------------ */

static void border_waits_for_the_divisors_before(void **state)
{
    (void)state;
    gconv_filter a = filter_of(3, 2, 289, six), b = filter_of(1, 1, -2, ones);
    const gconv_filter *chain[] = {&a, &b, &b};
    gconv_job job = job_of(chain, 3, shape_of(4, 4, 1, 16));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 10;
    gc_problem problem = made(&job);
    assert_true(problem.chain.steps[0].border[0] == 2570);
    assert_true(problem.chain.steps[1].border[0] == 2570 * 289);
    assert_true(problem.chain.steps[2].border[0] == -2570 * 289 * 2);
    assert_true(problem.conversion.divisor == 289 * 4);
    gc_problem_destroy(&problem);
}

static void border_is_opaque(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 4, 8));
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 10;
    job.alpha = GCONV_ALPHA_FILTER;
    gc_problem problem = made(&job);
    assert_true(problem.chain.steps[0].border[2] == 10 && problem.chain.steps[0].border[3] == 255);
    gc_problem_destroy(&problem);
    job.alpha = GCONV_ALPHA_PREMULTIPLY;
    problem = made(&job);
    assert_true(problem.chain.steps[0].border[2] == 2550 &&
                problem.chain.steps[0].border[3] == 255);
    gc_problem_destroy(&problem);
    job.alpha = GCONV_ALPHA_KEEP;
    problem = made(&job);
    assert_int_equal(problem.chain.channels, 3);
    assert_true(problem.chain.steps[0].border[2] == 10);
    gc_problem_destroy(&problem);
}

static void threshold_waits_for_all_divisors(void **state)
{
    (void)state;
    gconv_filter a = filter_of(5, 5, 289, ones), b = filter_of(3, 2, 1, six);
    const gconv_filter *chain[] = {&a, &b};
    gconv_job job = job_of(chain, 2, shape_of(4, 4, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    gc_problem problem = made(&job);
    assert_true(problem.conversion.threshold == 5 * 289);
    gc_problem_destroy(&problem);
    job.input.depth = 16;
    job.rule = GCONV_RULE_POSITIVE;
    b.divisor = -1;
    problem = made(&job);
    assert_true(problem.conversion.threshold == 5 * 289 * 257.0);
    assert_int_equal(problem.conversion.rule, GCONV_RULE_NEGATIVE); /* the divisor turns the sign */
    gc_problem_destroy(&problem);
}

static void offset_of_the_last_filter(void **state)
{
    (void)state;
    gconv_filter a = filter_of(1, 1, 1, ones), b = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&a, &b};
    gconv_job job = job_of(chain, 2, shape_of(4, 4, 1, 16));
    b.has_offset = true;
    b.offset = 128;
    gc_problem problem = made(&job);
    assert_true(problem.conversion.offset == 128 * 257);
    gc_problem_destroy(&problem);
    job.has_offset = true;
    job.offset = 0;
    problem = made(&job);
    assert_true(problem.conversion.offset == 0);
    gc_problem_destroy(&problem);
    a.has_offset = true;
    refused(&job, GCONV_ERROR_FILTER, "filter 1 of 2 has an offset");
    const gconv_filter *longer[] = {&b, &b, &b};
    gconv_filter plain = filter_of(1, 1, 1, ones);
    for (int with = 0; with < 3; with++) {
        for (int i = 0; i < 3; i++)
            longer[i] = i == with ? &b : &plain;
        job = job_of(longer, 3, shape_of(4, 4, 1, 16));
        if (with == 2) {
            problem = made(&job);
            gc_problem_destroy(&problem);
        } else {
            refused(&job, GCONV_ERROR_FILTER, "has an offset");
        }
    }
}

static void output_shapes(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(9, 4, 1, 8));
    job.output_depth = 1;
    gc_problem problem = made(&job);
    assert_int_equal(problem.conversion.output.depth, 1);
    assert_int_equal(gconv_shape_row_bytes(&problem.conversion.output), 2);
    assert_true(problem.conversion.bilevel);
    gc_problem_destroy(&problem);
    job.input.channels = 3; /* bits are packed only for a single channel */
    problem = made(&job);
    assert_int_equal(problem.conversion.output.depth, 8);
    assert_true(problem.conversion.bilevel);
    gc_problem_destroy(&problem);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refuses_shapes(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    static const gconv_shape wrong[] = {{0, 1, 1, 8},  {1, 0, 1, 8},         {1, 1, 0, 8},
                                        {1, 1, 5, 8},  {1, 1, 1, 1},         {1, 1, 1, 64},
                                        {1, 1, 1, 12}, {UINT32_MAX, 1, 1, 8}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        gconv_job job = job_of(chain, 1, wrong[i]);
        job.output_depth = 8;
        refused(&job, GCONV_ERROR_ARGUMENT, "possible");
    }
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 3, 8));
    job.output_depth = 2;
    refused(&job, GCONV_ERROR_ARGUMENT, "output depth 2");
}

static void refuses_filters(void **state)
{
    (void)state;
    float weights[] = {1, 2};
    gconv_filter filter = filter_of(2, 1, 1, weights);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    filter.divisor = 0;
    refused(&job, GCONV_ERROR_FILTER, "divisor");
    filter.divisor = NAN;
    refused(&job, GCONV_ERROR_FILTER, "divisor");
    filter.divisor = 1;
    weights[1] = INFINITY;
    refused(&job, GCONV_ERROR_FILTER, "weight 1");
    weights[1] = 2;
    filter.anchor_x = 2;
    refused(&job, GCONV_ERROR_FILTER, "anchor 2 0");
    filter.anchor_x = 0;
    filter.has_offset = true;
    filter.offset = NAN;
    refused(&job, GCONV_ERROR_FILTER, "offset");
    filter.has_offset = false;
    filter.width = 256;
    refused(&job, GCONV_ERROR_FILTER, "256x1");
    job.filter_count = 0;
    refused(&job, GCONV_ERROR_ARGUMENT, "at least one");
}

static void refuses_vectors(void **state)
{
    (void)state;
    float weights[] = {1};
    double column[] = {1, 2}, row[] = {3};
    gconv_filter filter = {.width = 1, .height = 2, .divisor = 1, .column = column};
    const gconv_filter *filters[] = {&filter};
    gconv_job job = job_of(filters, 1, shape_of(9, 9, 1, 8));
    refused(&job, GCONV_ERROR_ARGUMENT, "no row: a null pointer");
    filter.column = NULL;
    filter.row = row;
    refused(&job, GCONV_ERROR_ARGUMENT, "no column: a null pointer");
    filter.weights = weights;
    refused(&job, GCONV_ERROR_ARGUMENT, "weights, and a column or a row");
    filter.weights = NULL;
    filter.column = column;
    column[1] = 1e39;
    refused(&job, GCONV_ERROR_FILTER, "number 1 of the column");
    column[1] = 2;
    row[0] = NAN;
    refused(&job, GCONV_ERROR_FILTER, "number 0 of the row");
    row[0] = 3;
    filter.height = 4096;
    refused(&job, GCONV_ERROR_FILTER, "4095x4095");
    filter.height = 2;
    row[0] = column[0] = column[1] = 1e30;
    refused(&job, GCONV_ERROR_FILTER, "exceed float32");
}

static void vectors_are_in_reading_order(void **state)
{
    (void)state;
    double column[] = {1, 2, 4}, row[] = {-3, 5};
    gconv_filter filter = {.width = 2, .height = 3, .divisor = 1, .column = column, .row = row};
    const gconv_filter *filters[] = {&filter};
    gconv_job job = job_of(filters, 1, shape_of(9, 9, 1, 8));
    gc_problem problem;
    assert_int_equal(gc_problem_create(&job, &problem, NULL), GCONV_OK);
    const gc_step *step = &problem.chain.steps[0];
    assert_null(step->taps);
    assert_true(step->column[0] == 4 && step->column[2] == 1);
    assert_true(step->row[0] == 5 && step->row[1] == -3);
    assert_true(step->absolute_sum == 56 && gc_step_terms(step) == 5);
    assert_true(problem.chain.exact);
    gc_problem_destroy(&problem);
    row[0] = -3.5;
    assert_int_equal(gc_problem_create(&job, &problem, NULL), GCONV_OK);
    assert_false(problem.chain.exact);
    gc_problem_destroy(&problem);
}

static void refuses_values(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    const gconv_job good = job_of(chain, 1, shape_of(4, 4, 1, 8));
    gconv_job job = good;
    job.scale = INFINITY;
    refused(&job, GCONV_ERROR_ARGUMENT, "finite");
    job = good;
    job.threshold = NAN;
    refused(&job, GCONV_ERROR_ARGUMENT, "finite");
    job = good;
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 1e39; /* infinite in float32 */
    refused(&job, GCONV_ERROR_ARGUMENT, "too large");
    job = good;
    job.input.depth = 16;
    job.has_offset = true;
    job.offset = 1e307; /* infinite times 257 */
    refused(&job, GCONV_ERROR_ARGUMENT, "offset is too large");
}

static void refuses_choices(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    const gconv_job good = job_of(chain, 1, shape_of(4, 4, 1, 8));
    for (int i = 0; i < 8; i++) {
        gconv_job job = good;
        int beyond = i % 2 == 0 ? -1 : i < 2 ? GCONV_BORDER_COUNT : 7;
        switch (i / 2) {
        case 0:
            job.border = (gconv_border)beyond;
            break;
        case 1:
            job.alpha = (gconv_alpha)beyond;
            break;
        case 2:
            job.rule = (gconv_rule)beyond;
            break;
        default:
            job.output = (gconv_output)beyond;
        }
        refused(&job, GCONV_ERROR_ARGUMENT, "are possible");
    }
    gconv_job job = good;
    job.threads = -1;
    refused(&job, GCONV_ERROR_ARGUMENT, "threads -1");
    job = good;
    job.tile = -2;
    refused(&job, GCONV_ERROR_ARGUMENT, "tile -2");
}

static void refuses_blocks(void **state)
{
    (void)state;
    gconv_filter filter = filter_of(1, 1, 1, ones);
    const gconv_filter *chain[] = {&filter};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    static const int wrong[][2] = {{0, 8},   {8, 0},   {-1, 8},   {8, -1},
                                   {-8, -8}, {33, 32}, {1025, 1}, {1 << 16, 1 << 16}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        job.block_width = wrong[i][0];
        job.block_height = wrong[i][1];
        refused(&job, GCONV_ERROR_ARGUMENT, "block");
    }
    static const int right[][2] = {{0, 0}, {1, 1}, {32, 32}, {1024, 1}, {1, 1024}};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        job.block_width = right[i][0];
        job.block_height = right[i][1];
        gc_problem problem = made(&job);
        gc_problem_destroy(&problem);
    }
}

/* Sums would meet infinities of both signs: the result would depend on the order of summation. */
static void refuses_what_exceeds_float32(void **state)
{
    (void)state;
    float far[] = {3e38f, -3e38f}, hundredth[] = {0.01f}, root[] = {2e18f};
    gconv_filter filter = filter_of(2, 1, 1, far), second = filter_of(1, 1, 1, hundredth);
    const gconv_filter *chain[] = {&filter, &second};
    gconv_job job = job_of(chain, 1, shape_of(4, 4, 1, 8));
    refused(&job, GCONV_ERROR_FILTER, "exceed float32");
    job.filter_count = 2; /* what follows does not heal it */
    refused(&job, GCONV_ERROR_FILTER, "exceed float32");
    far[0] = 3e38f / 512;
    far[1] = -far[0];
    gc_problem problem = made(&job);
    gc_problem_destroy(&problem);
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 1000;
    refused(&job, GCONV_ERROR_FILTER, "exceed float32");
    job.border_value = 0;
    job.input.depth = 16;
    refused(&job, GCONV_ERROR_FILTER, "exceed float32");
    filter = filter_of(1, 1, 1e18, root); /* divisors wait until the end */
    second = filter;
    job.input.depth = 8;
    refused(&job, GCONV_ERROR_FILTER, "exceed float32");
}

/* A border value that no border needs does not matter, however large the divisors make it. */
static void unused_border_value_is_free(void **state)
{
    (void)state;
    gconv_filter huge = filter_of(1, 1, 1e200, ones), tiny = filter_of(1, 1, 1e-200, ones);
    const gconv_filter *chain[] = {&huge, &tiny};
    gconv_job job = job_of(chain, 2, shape_of(4, 4, 4, 8));
    job.alpha = GCONV_ALPHA_FILTER;
    job.border_value = 1e39;
    gc_problem problem = made(&job);
    assert_true(fabs(problem.conversion.divisor - 1) < 1e-12);
    gc_problem_destroy(&problem);
    tiny.divisor = 1e200;
    refused(&job, GCONV_ERROR_FILTER, "product of the divisors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taps_of_convolution_read_backwards),
        cmocka_unit_test(taps_of_correlation_read_forwards),
        cmocka_unit_test(taps_are_counted),
        cmocka_unit_test(exact_under_2_to_24),
        cmocka_unit_test(exact_counts_every_step),
        cmocka_unit_test(exact_depends_on_border),
        cmocka_unit_test(exact_depends_on_premultiplication),
        cmocka_unit_test(bound_of_one_and_two_steps),
        cmocka_unit_test(bound_among_denormals),
        cmocka_unit_test(bound_is_zero_where_exact),
        cmocka_unit_test(bound_counts_the_border),
        cmocka_unit_test(border_waits_for_the_divisors_before),
        cmocka_unit_test(border_is_opaque),
        cmocka_unit_test(threshold_waits_for_all_divisors),
        cmocka_unit_test(offset_of_the_last_filter),
        cmocka_unit_test(output_shapes),
        cmocka_unit_test(refuses_shapes),
        cmocka_unit_test(refuses_filters),
        cmocka_unit_test(refuses_vectors),
        cmocka_unit_test(vectors_are_in_reading_order),
        cmocka_unit_test(refuses_values),
        cmocka_unit_test(refuses_choices),
        cmocka_unit_test(refuses_blocks),
        cmocka_unit_test(refuses_what_exceeds_float32),
        cmocka_unit_test(unused_border_value_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
