/* Proofs that float32 has room: what they let through is computed and compared with long double,
 * what lies next to it is refused. */
#include "core_support.h"

#include "core/products.h"
#include "core/range.h"
#include "core/separate.h"

#include <float.h>

enum { SIDE = 15 };

static float taps[SIDE * SIDE];

static gconv_status status_of(const gconv_job *job)
{
    gc_problem problem;
    gconv_status status = gc_problem_create(job, &problem, NULL);
    if (status == GCONV_OK)
        gc_problem_destroy(&problem);
    return status;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* Weights of 1/count of a sum, rounded towards 0. */
static void fill_mean(int count, double sum)
{
    for (int i = 0; i < count; i++)
        taps[i] = nextafterf((float)(sum / count), 0);
}

/* Terms in the order that rounds up most: float32 sums of one value grow by more than they
 * should. */
static float sum_of_white(int count, float white)
{
    float sum = 0;
    for (int i = 0; i < count; i++)
        sum = sum + taps[i] * white;
    return sum;
}

/* At the edge sums in float32 are finite; the exact bound alone lets some through that are not. */
TEST(chains_next_to_infinity)
{
    static const int sides[] = {1, 2, 5, 15};
    for (size_t n = 0; n < COUNT(sides); n++) {
        int side = sides[n], count = side * side;
        gconv_filter filter = filter_of(side, side, 1, taps);
        gconv_job job = job_of(CHAIN(&filter), 1, shape_of(4, 4, 1, 8));
        double margin = 4 * (count + 2048) * 0x1p-24;
        fill_mean(count, (double)FLT_MAX / 255 / (1 + margin * 1.0001));
        assert_ok(status_of(&job));
        assert_true(isfinite(sum_of_white(count, 255)));
        fill_mean(count, (double)FLT_MAX / 255 / (1 + margin * 0.999));
        assert_int_equal(status_of(&job), GCONV_ERROR_FILTER);
    }
}

/* A sum whose exact value is finite and whose float32 value is not: (2^128 - 2^104) is the largest
 * float, 2^103 more is rounded to infinity. */
TEST(rounding_alone_reaches_infinity)
{
    taps[0] = FLT_MAX / 255;
    double left = (double)FLT_MAX - 255 * (double)taps[0];
    for (int i = 1; i < SIDE * SIDE; i++)
        taps[i] = (float)(left / 255 / (SIDE * SIDE - 1) * 0.9999);
    gconv_filter filter = filter_of(SIDE, SIDE, 1, taps);
    gconv_job job = job_of(CHAIN(&filter), 1, shape_of(4, 4, 1, 8));
    assert_int_equal(status_of(&job), GCONV_ERROR_FILTER);
}

TEST(values_over_divisors)
{
    taps[0] = 1e30f;
    gconv_filter filter = filter_of(1, 1, 1e-275, taps);
    gconv_job job = job_of(CHAIN(&filter), 1, shape_of(4, 4, 1, 8));
    assert_ok(status_of(&job));
    filter.divisor = 1e-277;
    assert_int_equal(status_of(&job), GCONV_ERROR_FILTER);
}

/* What an image gives that is not black, and what a black one gives where the border is not. */
TEST(least_scales)
{
    float tenth[] = {0.1f}, three[] = {3};
    gconv_filter first = filter_of(1, 1, 2, tenth), second = filter_of(1, 1, 1, three);
    const gconv_filter *chain[] = {&first, &second, &first};
    gconv_job job = job_of(chain, 3, shape_of(4, 4, 1, 8));
    gc_problem problem = problem_of(&job);
    assert_true(problem.chain.steps[0].least_scale == 1);
    assert_true(problem.chain.steps[1].least_scale == (double)0.1f);
    assert_true(problem.chain.steps[2].least_scale == (double)0.1f * 3);
    assert_true(problem.chain.steps[2].largest_value > problem.chain.steps[2].largest_input);
    gc_problem_destroy(&problem);
    job.border = GCONV_BORDER_CONSTANT;
    job.border_value = 0.25;
    problem = problem_of(&job);
    assert_true(problem.chain.steps[0].least_scale == 0.25);
    assert_true(problem.chain.steps[1].least_scale == 0.5);
    assert_true(problem.chain.steps[2].least_scale == 1.5);
    gc_problem_destroy(&problem);
    job = job_of(chain, 3, shape_of(4, 4, 1, 32));
    problem = problem_of(&job);
    assert_true(problem.chain.steps[0].least_scale == 0x1p-60);
    assert_true(problem.chain.steps[1].least_scale == 0x1p-60 * (double)0.1f);
    assert_true(problem.chain.steps[1].largest_input == 0x1p32 * (double)0.1f);
    gc_problem_destroy(&problem);
}

/* ---- Products -------------------------------------------------------------------------------- */

static float pixel(int x, int y, double largest)
{
    return (float)(((x * 7 + y * 13) % 31 - 10) / 20.0 * largest);
}

/* One result in float32, columns first or rows first. */
static float result_of(const gc_step *step, const gc_products *products, double largest,
                       bool columns_first)
{
    float sum = 0;
    for (int p = 0; p < products->count; p++) {
        int outer = columns_first ? step->width : step->height;
        int inner = columns_first ? step->height : step->width;
        const float *weights = columns_first ? products->row[p] : products->column[p];
        const float *others = columns_first ? products->column[p] : products->row[p];
        for (int o = 0; o < outer; o++) {
            float between = 0;
            for (int i = 0; i < inner; i++)
                between +=
                    others[i] * (columns_first ? pixel(o, i, largest) : pixel(i, o, largest));
            sum += between * weights[o];
        }
    }
    return sum;
}

static long double wanted_of(const gc_step *step, double largest)
{
    long double sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++)
            sum += (long double)step->taps[j * step->width + i] * (long double)pixel(i, j, largest);
    return sum;
}

static gc_step step_of(int width, int height, double largest)
{
    gc_step step = {.taps = taps, .width = width, .height = height};
    step.largest_value = step.largest_input = step.least_scale = largest;
    for (int i = 0; i < width * height; i++)
        step.absolute_sum += fabs((double)taps[i]);
    return step;
}

/* Products that are found are right; how often they are. */
static int check_products(int width, int height, double largest)
{
    static gc_products products;
    gc_step step = step_of(width, height, largest);
    if (!gc_step_products(&step, false, GC_PRODUCTS_MAX, &products))
        return 0;
    double terms = 4.0 * width * height;
    double bound = terms * (0x1p-24 * step.absolute_sum * largest + 0x1p-150);
    for (int first = 0; first < 2; first++) {
        float result = result_of(&step, &products, largest, first == 1);
        double error = fabs((double)((long double)result - wanted_of(&step, largest)));
        if (!(error <= bound))
            fail_msg("%dx%d in %d products, largest %g: %g is off by %g of %g", width, height,
                     products.count, largest, (double)result, error, bound);
    }
    return 1;
}

static double across(int i, int wave)
{
    return cos(0.3 * wave * i) + 1.25;
}

/* `rank` products whose magnitudes sum up to `sum`. */
static void fill_products(int width, int height, int rank, double sum)
{
    double total = 0, filter[SIDE * SIDE] = {0};
    for (int p = 1; p <= rank; p++)
        for (int k = 0; k < width * height; k++)
            filter[k] += across(k % width, p) * across(k / width, 3 * p);
    for (int k = 0; k < width * height; k++)
        total += fabs(filter[k]);
    for (int k = 0; k < width * height; k++)
        taps[k] = (float)(filter[k] / total * sum);
}

/* Values next to the largest float and weights of small, usual and large sums. */
TEST(products_next_to_infinity)
{
    static const double shares[] = {0.9, 0.99, 0.999};
    int found[4] = {0};
    for (int e = -20; e <= 100; e += 5)
        for (int rank = 1; rank <= 3; rank++)
            for (int s = 0; s < 3; s++) {
                double sum = ldexp(1, e), largest = (double)FLT_MAX * shares[s];
                fill_products(SIDE, SIDE - rank, rank, sum);
                found[rank] += check_products(SIDE, SIDE - rank, e > 0 ? largest / sum : largest);
            }
    assert_in_range(found[1], 70, 75); /* not where both sums are about 1 */
    assert_in_range(found[2] + found[3], 20, 150);
}

/* Values and weights down to the smallest there are. */
TEST(products_next_to_zero)
{
    int found = 0;
    for (int e = -148; e <= 20; e += 4)
        for (int rank = 1; rank <= 3; rank++)
            for (int scale = -148; scale <= 8; scale += 12) {
                fill_products(SIDE - 2, SIDE, rank, ldexp(1, e));
                found += check_products(SIDE - 2, SIDE, ldexp(1, scale));
            }
    assert_in_range(found, 1000, 43 * 3 * 14);
}

/* A filter as it was before its factors were balanced: a column of ratios, a row of weights. */
TEST(products_at_their_edges)
{
    double largest = (double)FLT_MAX / 4, two = 2, quarter = 0.25;
    double most = 4 / (1 + 4 * (9 + 2048) * 0x1p-24);
    gc_step step = {.width = 3, .height = 3, .absolute_sum = 0.5, .largest_value = largest};
    step.least_scale = largest;
    assert_true(gc_range_holds_products(&step, 1, &two, &quarter));
    double near = most * 0.9999, beyond = most * 1.0001;
    assert_true(gc_range_holds_products(&step, 1, &near, &quarter));
    assert_false(gc_range_holds_products(&step, 1, &beyond, &quarter));
    assert_true(gc_range_holds_products(&step, 1, &quarter, &near));
    assert_false(gc_range_holds_products(&step, 1, &quarter, &beyond));
    double pair[2] = {1.5, 1.5}, others[2] = {1.5, 1};
    assert_true(gc_range_holds_products(&step, 2, pair, others));
    others[1] = 1.2;
    assert_false(gc_range_holds_products(&step, 2, pair, others));
    /* Three errors between the passes, times the weights of the other, and three more: 34 in
     * all. */
    step.absolute_sum = step.least_scale = step.largest_value = 1e-30;
    double few = 10.3, many = 10.4;
    assert_true(gc_range_holds_products(&step, 1, &quarter, &few));
    assert_false(gc_range_holds_products(&step, 1, &quarter, &many));
    assert_true(gc_range_holds_products(&step, 1, &few, &quarter));
    assert_false(gc_range_holds_products(&step, 1, &many, &quarter));
}

/* ---- Transforms on a GPU --------------------------------------------------------------------- */

static bool fft_holds(double points, double largest, double least, double sum)
{
    gc_step step = {.width = 9, .height = 9};
    step.absolute_sum = sum;
    step.largest_value = largest;
    step.least_scale = least;
    return gc_range_holds_fft(&step, points);
}

TEST(fft_at_its_edges)
{
    double most = (double)FLT_MAX / 2, points = 0x1p20, least = 64 * 0x1p-102;
    assert_true(fft_holds(points, 65535, 1, 1));
    assert_true(fft_holds(points, most / points * 0.9999, 1, 1));
    assert_false(fft_holds(points, most / points * 1.0001, 1, 1));
    assert_true(fft_holds(points, 255, 1, most / points / 255 * 0.9999));
    assert_false(fft_holds(points, 255, 1, most / points / 255 * 1.0001));
    assert_false(fft_holds(points, 1e-20, 1e-20, most * 1.0001));
    assert_true(fft_holds(points, 255, 1, least * 0x1p30 * 1.0001));
    assert_false(fft_holds(points, 255, 1, least * 0x1p30 * 0.9999));
    assert_true(fft_holds(points, 255, least * 0x1p10 * 1.0001, 0x1p10));
    assert_false(fft_holds(points, 255, least * 0x1p10 * 0.9999, 0x1p10));
    assert_true(fft_holds(points, 255, least * 0x1p22, 0.25001));
    assert_false(fft_holds(points, 255, least * 0x1p22, 0.24999));
    assert_true(fft_holds(points, 255, 1, 0));
    assert_true(fft_holds(points, 0, 0, 1));
}
