/* Filters of rank 1: found exactly where all weights are whole, within the bound of rule 4 where
 * they are not, refused where the rank is higher. */
#include "core_support.h"

#include "core/separate.h"

static float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];

static gc_step step_of(int width, int height, float *taps)
{
    gc_step step = {
        .taps = taps, .width = width, .height = height, .largest_value = 255, .least_scale = 1};
    for (int i = 0; i < width * height; i++)
        step.absolute_sum += fabs((double)taps[i]);
    return step;
}

/* Separates into `row` and `column`. */
static bool separates(int width, int height, float *taps)
{
    gc_step step = step_of(width, height, taps);
    return gc_step_separate(&step, row, column);
}

static void assert_exact(int width, int height, float *taps)
{
    assert_true(separates(width, height, taps));
    for (int i = 0; i < width; i++)
        assert_true(row[i] == truncf(row[i]));
    for (int j = 0; j < height; j++)
        assert_true(column[j] == truncf(column[j]));
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++)
            assert_true((double)column[j] * (double)row[i] == (double)taps[j * width + i]);
}

/* ---- Whole weights --------------------------------------------------------------------------- */

TEST(builtin_filters)
{
    static const struct {
        const char *name;
        bool rank_1;
    } filters[] = {
        {"gauss3", true},    {"gauss5", true},    {"box3", true},       {"box5", true},
        {"sobel-x", true},   {"sobel-y", true},   {"scharr-x", true},   {"prewitt-y", true},
        {"identity", true},  {"laplace3", false}, {"laplace8", false},  {"log5", false},
        {"sharpen3", false}, {"emboss3", false},  {"roberts-x", false},
    };
    for (size_t i = 0; i < COUNT(filters); i++) {
        OWNED_FILTER filter = load_filter(filters[i].name);
        if (filters[i].rank_1)
            assert_exact(filter->width, filter->height, filter->weights);
        else
            assert_false(separates(filter->width, filter->height, filter->weights));
    }
}

TEST(common_factors)
{
    /* 6 divides the row of the pivot, which is the largest weight, but not the others. */
    float taps[] = {4, -6, 2, 12, -18, 6, 0, 0, 0};
    assert_exact(3, 3, taps);
    assert_true(fabsf(row[0]) == 2 && fabsf(row[1]) == 3 && fabsf(row[2]) == 1);
    float lone[] = {0, 0, 0, 0, 0, -7};
    assert_exact(3, 2, lone);
    float large[] = {8388608, -16777215, 0, 0};
    assert_exact(2, 2, large);
}

TEST(negative_and_zero_rows)
{
    float negative[] = {-1, -2, -1, -2, -4, -2, -1, -2, -1};
    assert_exact(3, 3, negative);
    float hollow[] = {0, 0, 0, 2, 0, -3, 0, 0, 0, -4, 0, 6};
    assert_exact(3, 4, hollow);
    float nothing[6] = {0};
    assert_exact(3, 2, nothing);
    float single[] = {5};
    assert_exact(1, 1, single);
}

/* Random products, some multiplied by a factor that only the gcd finds again. */
TEST(random_whole_products)
{
    srand(1);
    static float taps[40 * 40];
    for (int n = 0; n < 2000; n++) {
        int width = 1 + rand() % 40, height = 1 + rand() % 40, factor = 1 + rand() % 12;
        int across[40], down[40];
        for (int i = 0; i < width; i++)
            across[i] = rand() % 19 - 9;
        for (int j = 0; j < height; j++)
            down[j] = rand() % 19 - 9;
        for (int k = 0; k < width * height; k++)
            taps[k] = (float)(across[k % width] * down[k / width] * factor);
        assert_exact(width, height, taps);
    }
}

/* One weight more or less makes the rank 2. */
TEST(nearly_whole_products)
{
    srand(2);
    float taps[81];
    for (int n = 0; n < 2000; n++) {
        int width = 2 + rand() % 8, height = 2 + rand() % 8;
        for (int k = 0; k < width * height; k++)
            taps[k] = (float)((1 + k % width) * (1 + k / width) * 500);
        taps[rand() % (width * height)] += rand() % 2 == 0 ? 1 : -1;
        assert_false(separates(width, height, taps));
    }
}

/* ---- Real weights ---------------------------------------------------------------------------- */

TEST(gaussians_and_boxes)
{
    static const char *const names[] = {"gaussian:0.3",   "gaussian:0.8",   "gaussian:1.5",
                                        "gaussian:2.5",   "gaussian:5",     "gaussian:12.3",
                                        "gaussian:42",    "gaussian:1,3",   "gaussian:20,5",
                                        "gaussian:5,255", "gaussian:100,7", "box:255"};
    for (size_t i = 0; i < COUNT(names); i++) {
        OWNED_FILTER filter = load_filter(names[i]);
        if (!separates(filter->width, filter->height, filter->weights))
            fail_msg("%s is not found to be of rank 1", names[i]);
    }
    OWNED_FILTER log = load_filter("log:1.4");
    assert_false(separates(log->width, log->height, log->weights));
}

/* ---- Filters of two vectors ------------------------------------------------------------------ */

static bool vectors_separate(double *vectors, int width, int height, double least_scale)
{
    double sums[2] = {0, 0};
    for (int i = 0; i < height + width; i++)
        sums[i >= height] += fabs(vectors[i]);
    gc_step step = {.column = vectors,
                    .row = vectors + height,
                    .width = width,
                    .height = height,
                    .absolute_sum = sums[0] * sums[1],
                    .largest_value = 255,
                    .least_scale = least_scale};
    return gc_step_separate(&step, row, column);
}

TEST(whole_vectors_stay_as_they_are)
{
    double vectors[] = {1, -2000, 3, 0, 4000, 5, 1};
    assert_true(vectors_separate(vectors, 4, 3, 1));
    assert_true(column[0] == 1 && column[1] == -2000 && column[2] == 3);
    assert_true(row[0] == 0 && row[1] == 4000 && row[2] == 5 && row[3] == 1);
}

/* Each product is right but for two roundings, however unequal the vectors are. */
TEST(vectors_are_balanced)
{
    double vectors[] = {1e-30, -0.3e-30, 0.7e30, 1e30, -0.1e30};
    assert_true(vectors_separate(vectors, 3, 2, 1));
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) {
            double product = vectors[j] * vectors[2 + i];
            assert_true(fabs((double)column[j] * (double)row[i] - product) <=
                        0x1.01p-23 * fabs(product));
        }
    assert_true(fabsf(column[0]) < 10 && fabsf(row[1]) < 10);
}

TEST(vectors_of_zeros)
{
    double vectors[] = {1e38, 1e38, 0, 0};
    assert_true(vectors_separate(vectors, 2, 2, 1));
    assert_true(column[0] == 0 && row[0] == 0);
}

/* Numbers that are as good as 0 lose the digits that the bound is made for. */
TEST(tiny_vectors_are_refused)
{
    double vectors[] = {1e-60, 1e-60, 1e10, 1e-40};
    assert_true(vectors_separate(vectors, 2, 2, 1));
    double small[] = {1e30, 1e30, 1, 1};
    assert_false(vectors_separate(small, 2, 2, 1e-60));
}

TEST(rows_and_columns_are_of_rank_1)
{
    float taps[] = {0.1f, -0.7f, 3.3e-20f, 0, 1e10f};
    assert_true(separates(5, 1, taps));
    assert_true(separates(1, 5, taps));
    taps[4] = 0x1p-140f;
    assert_true(separates(1, 1, &taps[4]));
}

/* A real number from -1 to 1. */
static double any(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

/* Two passes in float32, as an implementation makes them, over inputs under the filter. */
static float two_passes(int width, int height, const float *inputs)
{
    float sum = 0;
    for (int j = 0; j < height; j++) {
        float across = 0;
        for (int i = 0; i < width; i++)
            across += inputs[j * width + i] * row[i];
        sum += across * column[j];
    }
    return sum;
}

static double directly(int count, const float *taps, const float *inputs)
{
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += (double)taps[k] * (double)inputs[k];
    return sum;
}

/* Inputs that bring out what separation has lost: the largest sample wherever it helps. */
static void worst_inputs(int width, int height, const float *taps, float *inputs)
{
    for (int k = 0; k < width * height; k++) {
        double lost = (double)taps[k] - (double)column[k / width] * (double)row[k % width];
        inputs[k] = lost > 0 ? 255 : 0;
    }
}

static void assert_bound_holds(int width, int height, const float *taps, const float *inputs)
{
    int count = width * height;
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += fabs((double)taps[k]);
    double bound = 4.0 * count * 0x1p-24 * sum * 255;
    double difference = fabs((double)two_passes(width, height, inputs) -
                             (double)(float)directly(count, taps, inputs));
    if (difference > bound)
        fail_msg("%dx%d: %g off, the bound is %g", width, height, difference, bound);
}

/* Products of random vectors, disturbed by more and more: what is accepted keeps rule 4. */
TEST(accepted_filters_keep_the_bound)
{
    srand(3);
    static float taps[20 * 20], inputs[20 * 20];
    int accepted[2] = {0, 0}, refused = 0;
    for (int n = 0; n < 20000; n++) {
        int width = 1 + rand() % 20, height = 1 + rand() % 20;
        double disturbance = n % 2 == 0 ? 0 : exp2(-28 + rand() % 14);
        double across[20], down[20];
        for (int i = 0; i < width; i++)
            across[i] = any();
        for (int j = 0; j < height; j++)
            down[j] = any();
        for (int k = 0; k < width * height; k++)
            taps[k] = (float)(across[k % width] * down[k / width] * (1 + disturbance * any()));
        bool found = separates(width, height, taps);
        accepted[n % 2] += found;
        refused += n % 2 == 1 && !found;
        if (!found)
            continue;
        worst_inputs(width, height, taps, inputs);
        assert_bound_holds(width, height, taps, inputs);
        for (int k = 0; k < width * height; k++)
            inputs[k] = (float)(rand() % 256);
        assert_bound_holds(width, height, taps, inputs);
    }
    assert_int_equal(accepted[0], 10000); /* what only float32 disturbs is found */
    assert_true(accepted[1] > 1000 && refused > 1000);
}
