/* Filters of low rank as sums of products: exact in exact chains, within the bound of rule 4 in
 * others, refused where the rank is higher or the sums would be too large. */
#include "core_support.h"

#include "core/products.h"

enum { SIDE = 24 };

static gc_products products;
static float taps[SIDE * SIDE];

static gc_step step_of(int width, int height, double largest_input)
{
    gc_step step = {.taps = taps,
                    .width = width,
                    .height = height,
                    .largest_input = largest_input,
                    .largest_value = largest_input,
                    .least_scale = 1};
    for (int i = 0; i < width * height; i++)
        step.absolute_sum += fabs((double)taps[i]);
    return step;
}

static double product_sum(int j, int i)
{
    double sum = 0;
    for (int p = 0; p < products.count; p++)
        sum += (double)products.column[p][j] * (double)products.row[p][i];
    return sum;
}

static double magnitude(int width, int height)
{
    double all = 0;
    for (int p = 0; p < products.count; p++)
        for (int k = 0; k < width * height; k++)
            all += fabs((double)products.column[p][k / width] * (double)products.row[p][k % width]);
    return all;
}

/* ---- Whole weights --------------------------------------------------------------------------- */

static void assert_exact(int width, int height, int most, double white)
{
    gc_step step = step_of(width, height, white);
    assert_true(gc_step_products(&step, true, most, &products));
    assert_in_range(products.count, 1, most);
    for (int k = 0; k < width * height; k++)
        assert_true(product_sum(k / width, k % width) == (double)taps[k]);
    for (int p = 0; p < products.count; p++)
        for (int i = 0; i < (width > height ? width : height); i++) {
            assert_true(i >= width || products.row[p][i] == truncf(products.row[p][i]));
            assert_true(i >= height || products.column[p][i] == truncf(products.column[p][i]));
        }
    assert_true(magnitude(width, height) * white < 0x1p24);
}

static void add_whole_product(int width, int height, int largest)
{
    int row[SIDE], column[SIDE];
    for (int i = 0; i < width; i++)
        row[i] = rand() % (2 * largest + 1) - largest;
    for (int j = 0; j < height; j++)
        column[j] = rand() % (2 * largest + 1) - largest;
    for (int k = 0; k < width * height; k++)
        taps[k] += (float)(column[k / width] * row[k % width]);
}

/* A random sum is of its rank or less, and always found as long as its numbers are small. */
TEST(random_whole_sums)
{
    srand(1);
    for (int n = 0; n < 3000; n++) {
        int rank = 1 + n % GC_PRODUCTS_MAX;
        int width = 1 + rand() % SIDE, height = 1 + rand() % SIDE;
        memset(taps, 0, sizeof taps);
        for (int p = 0; p < rank; p++)
            add_whole_product(width, height, 2);
        assert_exact(width, height, rank, 1);
    }
}

TEST(sharpening)
{
    for (int side = 3; side < SIDE; side += 2) {
        for (int k = 0; k < side * side; k++)
            taps[k] = -1;
        taps[side * side / 2] = (float)(2 * side * side - 1);
        assert_exact(side, side, 2, 255);
        assert_int_equal(products.count, 2);
        gc_step step = step_of(side, side, 255);
        assert_false(gc_step_products(&step, true, 1, &products));
    }
}

TEST(full_rank_is_refused)
{
    srand(2);
    for (int n = 0; n < 300; n++) {
        int side = 4 + n % (SIDE - 3);
        for (int k = 0; k < side * side; k++)
            taps[k] = (float)(k % (side + 1) == 0 ? 100 : rand() % 3);
        gc_step step = step_of(side, side, 255);
        assert_false(gc_step_products(&step, true, GC_PRODUCTS_MAX, &products));
        assert_false(gc_step_products(&step, false, GC_PRODUCTS_MAX, &products));
    }
}

/* Two products that nearly cancel: the filter's sums are exact, those of the products are not. */
TEST(large_products_are_refused)
{
    for (int k = 0; k < 6 * 6; k++)
        taps[k] = (float)((k % 6 + 1) * (k / 6 + 1) * 40 + (k == 7));
    gc_step step = step_of(6, 6, 255);
    assert_true(gc_step_products(&step, true, 2, &products));
    step = step_of(6, 6, 65535);
    assert_false(gc_step_products(&step, true, 2, &products));
}

/* Behind a filter of zeros every value is 0, and the chain exact whatever its taps. */
TEST(huge_taps_are_refused)
{
    for (int k = 0; k < 5 * 5; k++)
        taps[k] = (float)(k + (k == 7)) * 0x1p100F;
    gc_step step = step_of(5, 5, 0);
    assert_false(gc_step_products(&step, true, 3, &products));
}

/* ---- Real weights ---------------------------------------------------------------------------- */

/* A real number from -1 to 1. */
static double any(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

/* As the CPU sums them up, in float32: columns first. */
static float by_columns(int width, int height, const float *inputs)
{
    float sum = 0;
    for (int p = 0; p < products.count; p++)
        for (int i = 0; i < width; i++) {
            float down = 0;
            for (int j = 0; j < height; j++)
                down += inputs[j * width + i] * products.column[p][j];
            sum += down * products.row[p][i];
        }
    return sum;
}

/* As GPUs do: rows first. */
static float by_rows(int width, int height, const float *inputs)
{
    float sum = 0;
    for (int p = 0; p < products.count; p++)
        for (int j = 0; j < height; j++) {
            float across = 0;
            for (int i = 0; i < width; i++)
                across = fmaf(inputs[j * width + i], products.row[p][i], across);
            sum = fmaf(across, products.column[p][j], sum);
        }
    return sum;
}

static void assert_bound_holds(int width, int height, const float *inputs)
{
    int count = width * height;
    double sum = 0, wanted = 0;
    for (int k = 0; k < count; k++) {
        sum += fabs((double)taps[k]);
        wanted += (double)taps[k] * (double)inputs[k];
    }
    double bound = 4.0 * count * 0x1p-24 * sum * 255;
    const float sums[] = {by_columns(width, height, inputs), by_rows(width, height, inputs)};
    for (int order = 0; order < 2; order++) {
        double difference = fabs((double)sums[order] - (double)(float)wanted);
        if (difference > bound)
            fail_msg("%dx%d: %g off, the bound is %g", width, height, difference, bound);
    }
}

/* The largest sample wherever it adds to what is lost, then any. */
static void try_inputs(int width, int height)
{
    float inputs[SIDE * SIDE] = {0};
    for (int k = 0; k < width * height; k++)
        inputs[k] = (double)taps[k] > product_sum(k / width, k % width) ? 255 : 0;
    assert_bound_holds(width, height, inputs);
    for (int k = 0; k < width * height; k++)
        inputs[k] = taps[k] > 0 ? 255 : 0;
    assert_bound_holds(width, height, inputs);
    for (int k = 0; k < width * height; k++)
        inputs[k] = (float)(rand() % 256);
    assert_bound_holds(width, height, inputs);
}

/* Sums of products of random vectors, disturbed by more and more: what is accepted keeps rule 4. */
TEST(accepted_sums_keep_the_bound)
{
    srand(3);
    int accepted = 0, refused = 0;
    for (int n = 0; n < 10000; n++) {
        int rank = 2 + n % 2, width = 4 + rand() % (SIDE - 3), height = 4 + rand() % (SIDE - 3);
        double disturbance = n % 4 < 2 ? 0 : exp2(-28 + rand() % 14);
        double sums[SIDE * SIDE] = {0};
        for (int p = 0; p < rank; p++) {
            double row[SIDE], column[SIDE];
            for (int i = 0; i < SIDE; i++) {
                row[i] = any();
                column[i] = any() * exp2(-rand() % 8);
            }
            for (int k = 0; k < width * height; k++)
                sums[k] += column[k / width] * row[k % width];
        }
        for (int k = 0; k < width * height; k++)
            taps[k] = (float)(sums[k] * (1 + disturbance * any()));
        gc_step step = step_of(width, height, 255);
        if (gc_step_products(&step, false, rank, &products)) {
            accepted++;
            try_inputs(width, height);
        } else
            refused++;
    }
    assert_true(accepted > 4000 && refused > 1000);
}

/* A Laplacian of a Gaussian is of rank 2, a difference of two Gaussians too. */
TEST(laplacians_and_differences)
{
    for (int side = 5; side < SIDE; side += 2)
        for (int kind = 0; kind < 2; kind++) {
            double narrow = 2 * pow(side / 8.0, 2), wide = 2 * pow(side / 5.0, 2);
            for (int k = 0; k < side * side; k++) {
                double x = k % side - side / 2, y = k / side - side / 2, r = x * x + y * y;
                taps[k] = (float)(kind == 0 ? (r - narrow) * exp(-r / narrow)
                                            : exp(-r / narrow) / narrow - exp(-r / wide) / wide);
            }
            gc_step step = step_of(side, side, 65535);
            assert_true(gc_step_products(&step, false, 2, &products));
            assert_int_equal(products.count, 2);
            try_inputs(side, side);
        }
}
