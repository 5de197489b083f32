/* The rank of filters, their products of columns and rows, and the product of two filters. */
#include "core_support.h"

enum { MOST = 3 };

static double weight_at(const gconv_filter *filter, int j, int i)
{
    if (j < 0 || i < 0 || j >= filter->height || i >= filter->width)
        return 0;
    return filter->weights != NULL ? (double)filter->weights[j * filter->width + i]
                                   : filter->column[j] * filter->row[i];
}

/* Checks the rank, and that the products make the weights. */
static void check_rank(const gconv_filter *filter, int expected)
{
    static double columns[MOST * GCONV_FILTER_VECTOR_MAX], rows[MOST * GCONV_FILTER_VECTOR_MAX];
    int rank = -1, width = filter->width, height = filter->height;
    assert_ok(gconv_filter_rank(filter, MOST, columns, rows, &rank, NULL));
    assert_int_equal(rank, expected);
    double rest = 0, all = 0;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            double sum = 0;
            for (int p = 0; p < rank && p < MOST; p++)
                sum += columns[p * height + j] * rows[p * width + i];
            rest += fabs(sum - weight_at(filter, j, i));
            all += fabs(weight_at(filter, j, i));
        }
    assert_true(rank > MOST || rest <= 0x1p-22 * all);
}

TEST(knows_ranks)
{
    static const struct {
        const char *name;
        int rank;
    } filters[] = {{"identity", 1},
                   {"gauss5", 1},
                   {"sobel-x", 1},
                   {"laplace3", 2},
                   {"laplace8", 2},
                   {"roberts-x", 2},
                   {"emboss3", 2},
                   {"box:255", 1},
                   {"box:300x2", 1},
                   {"gaussian:2", 1},
                   {"gaussian:40,255", 1},
                   {"log:1.4", 3},
                   {"2x2: 0,0,0,0", 0},
                   {"5x5: 1 0 0 0 0  0 1 0 0 0  0 0 1 0 0  0 0 0 1 0  0 0 0 0 1", 5},
                   {"3x3: 8388608 1 0  0 1 0  0 0 1", 3},
                   {"3x3: 1e38 1e38 1e38  1e38 1e38 1e38  1e38 -1e38 1e38", 2},
                   {"2x2: 1e-44 2e-44 0 1e-44", 2}};
    for (size_t i = 0; i < COUNT(filters); i++) {
        OWNED_FILTER filter = load_filter(filters[i].name);
        check_rank(filter, filters[i].rank);
    }
}

/* Whole filters of rank 1 have whole vectors without a common factor in the row. */
TEST(keeps_whole_vectors)
{
    double columns[5], rows[5];
    int rank;
    OWNED_FILTER filter = load_filter("gauss5");
    assert_ok(gconv_filter_rank(filter, 1, columns, rows, &rank, NULL));
    const double expected[5] = {2, 4, 5, 4, 2};
    assert_memory_equal(columns, expected, sizeof expected);
    assert_memory_equal(rows, expected, sizeof expected);
}

static void check_product(const char *first_name, const char *second_name)
{
    OWNED_FILTER first = load_filter(first_name);
    OWNED_FILTER second = load_filter(second_name);
    OWNED_FILTER product;
    assert_ok(gconv_filter_compose(first, second, &product, NULL));
    assert_int_equal(product->width, first->width + second->width - 1);
    assert_int_equal(product->height, first->height + second->height - 1);
    assert_int_equal(product->anchor_x, first->anchor_x + second->anchor_x);
    assert_int_equal(product->anchor_y, first->anchor_y + second->anchor_y);
    assert_true(product->divisor == first->divisor * second->divisor);
    assert_true(product->has_offset == second->has_offset && product->offset == second->offset);
    for (int y = 0; y < product->height; y++)
        for (int x = 0; x < product->width; x++) {
            double sum = 0;
            for (int j = 0; j < first->height; j++)
                for (int i = 0; i < first->width; i++)
                    sum += weight_at(first, j, i) * weight_at(second, y - j, x - i);
            assert_true(fabs(weight_at(product, y, x) - sum) <= 0x1p-23 * fabs(sum));
        }
}

TEST(composes)
{
    check_product("gauss5", "laplace3");
    check_product("laplace3", "emboss3");
    check_product("roberts-x", "3x2+0+1: 1,2,3,4,5,6");
    check_product("box:100x2", "box:1x7");
    check_product("gaussian:2", "log:1");
}

static void check_refused(const char *first_name, const char *second_name, gconv_status expected,
                          const char *message)
{
    OWNED_FILTER first = load_filter(first_name);
    OWNED_FILTER second = load_filter(second_name);
    gconv_filter *product = first;
    gconv_error error;
    assert_fails(gconv_filter_compose(first, second, &product, &error), expected, &error, message);
    assert_null(product);
}

TEST(refuses_what_no_filter_holds)
{
    check_refused("box:200", "box:57", GCONV_ERROR_ARGUMENT, "a filter of 256 x 256");
    check_refused("box:300x1", "box:1x300", GCONV_ERROR_ARGUMENT, "a filter of 300 x 300");
    check_refused("emboss3", "gauss3", GCONV_ERROR_FILTER, "only the last filter");
    check_refused("2x1: 1e30,1", "2x1: 1,1e30", GCONV_ERROR_FILTER, "infinite in float32");
}
