/* Generators and built-in filters: sums, symmetry, values, and the direction of derivatives. */
#include "unit.h"

#include "filter/filter.h"

static float at(const gconv_filter *filter, int x, int y)
{
    return filter->weights != NULL ? filter->weights[y * filter->width + x]
                                   : (float)(filter->column[y] * filter->row[x]);
}

/* ---- Generators ------------------------------------------------------------------------------ */

static void check_symmetric(const gconv_filter *filter)
{
    int last_x = filter->width - 1, last_y = filter->height - 1;
    for (int y = 0; y < filter->height; y++)
        for (int x = 0; x < filter->width; x++) {
            assert_true(at(filter, x, y) == at(filter, last_x - x, y));
            assert_true(at(filter, x, y) == at(filter, x, last_y - y));
            assert_true(last_x != last_y || at(filter, x, y) == at(filter, y, x));
        }
}

TEST(gaussians_sum_to_one)
{
    static const struct {
        const char *specification;
        int size;
    } cases[] = {
        {"gaussian:1", 7},         {"gaussian:1.5", 11},      {"gaussian:0.1", 3},
        {"gaussian:0x1p1,5", 5},   {"gaussian:42.33", 255},   {"gaussian:1e308,255", 255},
        {"gaussian:1e-320", 3},    {"gaussian:3,1", 1},       {"gaussian:1,255", 255},
        {"gaussian:42.3", 255},    {"gaussian:42", 253},      {"gaussian:0.3334", 5},
        {"gaussian:1e6,255", 255}, {"gaussian:42.34", 257},   {"gaussian:60", 361},
        {"gaussian:250", 1501},    {"gaussian:1,4095", 4095},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED_FILTER filter = load_filter(cases[i].specification);
        assert_int_equal(filter->width, cases[i].size);
        assert_int_equal(filter->height, cases[i].size);
        assert_int_equal(filter->anchor_x, cases[i].size / 2);
        assert_true(filter->divisor == 1 && !filter->has_offset);
        assert_true(fabs(gconv_filter_gain(filter) - 1) < 1e-7);
        assert_string_equal(filter->name, cases[i].specification);
        assert_true((filter->weights == NULL) == (cases[i].size > GCONV_FILTER_SIDE_MAX));
        check_symmetric(filter);
    }
}

TEST(gaussian_is_sampled_at_the_integers)
{
    OWNED_FILTER filter = load_filter("gaussian:2");
    double sum = 0;
    for (int i = -6; i <= 6; i++)
        sum += exp(-i * i / 8.0);
    for (int y = -6; y <= 6; y++)
        for (int x = -6; x <= 6; x++) {
            double expected = exp(-(x * x + y * y) / 8.0) / (sum * sum);
            assert_true(fabs(at(filter, x + 6, y + 6) - expected) <= 1e-7 * expected);
        }
}

TEST(boxes_are_whole_weights)
{
    static const struct {
        const char *specification;
        int width, height;
    } cases[] = {{"box:1", 1, 1},         {"box:4", 4, 4},       {"box:255x2", 255, 2},
                 {"box:255", 255, 255},   {"box:256x1", 256, 1}, {"box:3x4095", 3, 4095},
                 {"box:4095", 4095, 4095}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED_FILTER filter = load_filter(cases[i].specification);
        assert_int_equal(filter->width, cases[i].width);
        assert_int_equal(filter->height, cases[i].height);
        assert_true(filter->divisor == cases[i].width * cases[i].height);
        assert_true(gconv_filter_gain(filter) == 1);
        assert_int_equal(filter->anchor_x, cases[i].width / 2);
    }
}

TEST(logs_sum_to_zero)
{
    static const char *const cases[] = {"log:1", "log:1.4,9", "log:0.5", "log:20", "log:2,3"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED_FILTER filter = load_filter(cases[i]);
        int middle = filter->width / 2;
        double sum = 0, absolute = 0;
        for (int k = 0; k < filter->width * filter->height; k++) {
            sum += filter->weights[k];
            absolute += fabs((double)filter->weights[k]);
            assert_true(filter->weights[k] >= at(filter, middle, middle));
        }
        assert_true(fabs(sum) <= 1e-6 * absolute);
        assert_true(at(filter, middle, middle) < 0);
        check_symmetric(filter);
    }
    OWNED_FILTER filter =
        load_filter("log:1.5,31"); /* so wide that the mean is 0 but for rounding */
    double centre = -1 / (3.14159265358979 * 1.5 * 1.5 * 1.5 * 1.5);
    assert_true(fabs(at(filter, 15, 15) - centre) < 1e-6);
    assert_true(fabs(at(filter, 18, 15) - -centre * exp(-2)) < 1e-6); /* r = 2 sigma */
}

TEST(refuses_parameters)
{
    static const char *const cases[][2] = {
        {"gaussian", "gaussian:SIGMA[,SIZE]"},
        {"gaussian:", "gaussian:SIGMA[,SIZE]"},
        {"gaussian:x", "SIGMA 'x' is not a finite number above 0"},
        {"gaussian:0", "SIGMA '0'"},
        {"gaussian:-1", "SIGMA '-1'"},
        {"gaussian:inf", "SIGMA 'inf'"},
        {"gaussian:nan", "SIGMA 'nan'"},
        {"gaussian:1e999", "SIGMA '1e999'"},
        {"gaussian:1e-999", "SIGMA '1e-999'"},
        {"gaussian:1 ", "SIGMA '1 '"},
        {"gaussian:,5", "SIGMA ''"},
        {"gaussian:682.34",
         "SIGMA 682.34 needs a side above 4095 (3 SIGMA each way): SIGMA is at most "
         "682.33, or SIZE says where to cut, as in SIGMA,4095"},
        {"log:60", "SIGMA 60 needs a side above 255 (3 SIGMA each way): SIGMA is at most "
                   "42.33, or SIZE says where to cut, as in SIGMA,255"},
        {"gaussian:1e308", "SIGMA 1e+308 needs"},
        {"log:42.34", "SIGMA is at most 42.33"},
        {"gaussian:1,", "SIZE '' is not an odd number from 1 to 4095"},
        {"gaussian:1,4", "SIZE '4'"},
        {"gaussian:1,0", "SIZE '0'"},
        {"gaussian:1,-3", "SIZE '-3'"},
        {"gaussian:1,4097", "SIZE '4097'"},
        {"log:1,257", "SIZE '257' is not an odd number from 1 to 255"},
        {"gaussian:1,5,5", "SIZE '5,5'"},
        {"gaussian:1,5.0", "SIZE '5.0'"},
        {"log:0", "SIGMA '0'"},
        {"log:1,2", "SIZE '2'"},
        {"log:1,1", "no usable weights"},
        {"log:1e-10", "no usable weights"},
        {"log:1e-300", "no usable weights"},
        {"log:1e300,255", "no usable weights"},
        {"box", "box:N or box:WxH"},
        {"box:0", "'0' is not a size (N or WxH, each from 1 to 4095)"},
        {"box:4096", "'4096' is not a size"},
        {"box:3x", "'3x' is not a size"},
        {"box:x3", "'x3' is not a size"},
        {"box:3x3x3", "'3x3x3' is not a size"},
        {"box:3x4096", "'3x4096' is not a size"},
        {"box:3.0", "'3.0' is not a size"},
        {"box:00000000003", "is not a size"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        gconv_filter *filter;
        gconv_status status = gconv_filter_load(cases[i][0], &filter, &error);
        if (status != GCONV_ERROR_FILTER || strstr(error.message, cases[i][1]) == NULL)
            fail_msg("%s: %s", cases[i][0], status == GCONV_OK ? "accepted" : error.message);
        assert_null(filter);
        assert_int_equal(error.line, 0);
    }
}

/* ---- Built-in filters ------------------------------------------------------------------------ */

typedef struct expectation {
    const char *name;
    int width, height;
    double divisor, sum; /* of the weights */
    bool symmetric;
} expectation;

static const expectation expectations[] = {
    {"box3", 3, 3, 9, 9, true},       {"box5", 5, 5, 25, 25, true},
    {"emboss3", 3, 3, 1, 0, false},   {"gauss3", 3, 3, 16, 16, true},
    {"gauss5", 5, 5, 289, 289, true}, {"identity", 1, 1, 1, 1, true},
    {"laplace3", 3, 3, 1, 0, true},   {"laplace8", 3, 3, 1, 0, true},
    {"log5", 5, 5, 1, 0, true},       {"prewitt-x", 3, 3, 1, 0, false},
    {"prewitt-y", 3, 3, 1, 0, false}, {"roberts-x", 2, 2, 1, 0, false},
    {"roberts-y", 2, 2, 1, 0, false}, {"scharr-x", 3, 3, 1, 0, false},
    {"scharr-y", 3, 3, 1, 0, false},  {"sharpen3", 3, 3, 1, 1, true},
    {"sobel-x", 3, 3, 1, 0, false},   {"sobel-y", 3, 3, 1, 0, false},
};
enum { BUILTIN_COUNT = COUNT(expectations) };

TEST(builtins_are_as_documented)
{
    assert_int_equal(gconv_builtin_filter_count(), BUILTIN_COUNT);
    assert_null(gconv_builtin_filter_at(BUILTIN_COUNT));
    for (size_t i = 0; i < BUILTIN_COUNT; i++) {
        const expectation *expected = &expectations[i];
        const gconv_builtin_filter *builtin = gconv_builtin_filter_at(i);
        assert_string_equal(builtin->name, expected->name);
        assert_true(strlen(builtin->summary) > 10 && strlen(builtin->summary) < 90);
        assert_memory_equal(builtin->text, "# ", 2);
        assert_memory_equal(builtin->text + 2, builtin->summary, strlen(builtin->summary));
        OWNED_FILTER filter = load_filter(expected->name);
        assert_string_equal(filter->name, expected->name);
        assert_int_equal(filter->width, expected->width);
        assert_int_equal(filter->height, expected->height);
        assert_int_equal(filter->anchor_x, expected->width / 2);
        assert_int_equal(filter->anchor_y, expected->height / 2);
        assert_true(filter->divisor == expected->divisor);
        assert_true(gconv_filter_gain(filter) == expected->sum / expected->divisor);
        assert_int_equal(filter->has_offset, strcmp(expected->name, "emboss3") == 0);
        if (expected->symmetric)
            check_symmetric(filter);
        for (int k = 0; k < filter->width * filter->height; k++)
            assert_true(filter->weights[k] == floorf(filter->weights[k]));
    }
}

TEST(gauss5_is_the_outer_product)
{
    static const int profile[] = {2, 4, 5, 4, 2};
    OWNED_FILTER filter = load_filter("gauss5.txt");
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            assert_true(at(filter, x, y) == (float)(profile[x] * profile[y]));
    assert_string_equal(filter->name, "gauss5");
}

TEST(laplace3_is_the_five_point_star)
{
    static const float star[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    OWNED_FILTER filter = load_filter("laplace3");
    assert_memory_equal(filter->weights, star, sizeof star);
}

/* Rule 1 at one point of the ramp in(x, y) = step_x * x + step_y * y. */
static double ramp_response(const gconv_filter *filter, int step_x, int step_y)
{
    double sum = 0;
    for (int j = 0; j < filter->height; j++)
        for (int i = 0; i < filter->width; i++)
            sum += at(filter, i, j) *
                   (step_x * -(i - filter->anchor_x) + step_y * -(j - filter->anchor_y));
    return sum;
}

TEST(derivatives_rise_with_the_image)
{
    static const struct {
        const char *name;
        double right, down;
    } cases[] = {
        {"sobel-x", 8, 0},   {"sobel-y", 0, 8},   {"scharr-x", 32, 0}, {"scharr-y", 0, 32},
        {"prewitt-x", 6, 0}, {"prewitt-y", 0, 6}, {"roberts-x", 1, 1}, {"roberts-y", -1, 1},
        {"emboss3", 4, 4},   {"laplace3", 0, 0},  {"laplace8", 0, 0},  {"log5", 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED_FILTER filter = load_filter(cases[i].name);
        assert_true(ramp_response(filter, 1, 0) == cases[i].right);
        assert_true(ramp_response(filter, 0, 1) == cases[i].down);
    }
}
