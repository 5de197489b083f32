#include "filters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_filter {
    const char *name;
    int width, height;
    int anchor_x, anchor_y;
    double divisor;
    const float *weights; /* NULL: whole numbers from -4 to 5 without symmetry */
    double scale;         /* what those are multiplied by; 0 is 1 */
} named_filter;

static const float one[] = {1};
static const float gauss3[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
static const float gauss5[] = {4,  8,  10, 8,  4,  8,  16, 20, 16, 8,  10, 20, 25,
                               20, 10, 8,  16, 20, 16, 8,  4,  8,  10, 8,  4};
static const float laplace3[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
static const float sobel_x[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
static const float box3[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static const float box2[] = {1, 1, 1, 1};
static const float fraction3[] = {0.1f, 0.2f, -0.3f, 0.7f, 1.1f, 0.01f, -0.05f, 0.4f, 1e-3f};
static const float hollow[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, -2};

/* Whole weights make exact chains. Asymmetric ones tell a flipped filter from a straight one. */
static const named_filter table[] = {
    {"identity", 1, 1, 0, 0, 1, one, 0},        {"gauss3", 3, 3, 1, 1, 16, gauss3, 0},
    {"gauss5", 5, 5, 2, 2, 289, gauss5, 0},     {"laplace3", 3, 3, 1, 1, 1, laplace3, 0},
    {"sobel-x", 3, 3, 1, 1, 1, sobel_x, 0},     {"box3", 3, 3, 1, 1, 9, box3, 0},
    {"box2", 2, 2, 1, 1, 4, box2, 0},           {"negative", 3, 3, 1, 1, -9, box3, 0},
    {"fraction3", 3, 3, 1, 1, 1, fraction3, 0}, {"hollow", 5, 3, 2, 1, 1, hollow, 0},
    {"row7", 7, 1, 3, 0, 7, NULL, 0},           {"column9", 1, 9, 0, 4, 3, NULL, 0},
    {"even4x6", 4, 6, 2, 3, 5, NULL, 0},        {"even2x8", 2, 8, 1, 4, 1, NULL, 0},
    {"corner", 5, 4, 0, 0, 1, NULL, 0},         {"far-corner", 4, 5, 3, 4, 1, NULL, 0},
    {"deep-top", 3, 71, 1, 70, 1, NULL, 0},     {"deep-bottom", 3, 71, 1, 0, 1, NULL, 0},
    {"up40", 1, 40, 0, 0, 1, NULL, 0},          {"down40", 1, 40, 0, 39, 1, NULL, 0},
    {"wide17x3", 17, 3, 8, 1, 2, NULL, 0},      {"large31x29", 31, 29, 15, 14, 1, NULL, 0},
    {"tenths", 7, 5, 3, 2, 1, NULL, 0.1},       {"tiny", 5, 5, 2, 2, 1, NULL, 1e-5},
    {"row255", 255, 1, 127, 0, 1, NULL, 0},     {"column255", 1, 255, 0, 127, 1, NULL, 0},
};
enum { TABLE_COUNT = sizeof table / sizeof table[0] };

/* Sums of products of a column and a row, large enough that implementations take them as such;
 * those of small weights stay exact with 16-bit samples too. */
typedef struct named_sum {
    const char *name;
    int width, height;
    int anchor_x, anchor_y;
    int rank;
    int largest_sum; /* see check_filter_product */
} named_sum;

static const named_sum sums[] = {
    {"two9x11", 9, 11, 4, 5, 2, 2000},          {"two15", 15, 15, 7, 7, 2, 100},
    {"two-fractions17", 17, 17, 8, 8, 2, 0},    {"two-fractions13x10", 13, 10, 12, 0, 2, 0},
    {"three19x15", 19, 15, 3, 11, 3, 1200},     {"three17", 17, 17, 8, 8, 3, 90},
    {"three-fractions14", 14, 14, 0, 13, 3, 0}, {"three-fractions15x21", 15, 21, 7, 10, 3, 0},
};
enum { SUM_COUNT = sizeof sums / sizeof sums[0] };

/* Filters of two vectors. */
typedef struct named_vectors {
    const char *name;
    int width, height;
    int anchor_x, anchor_y;
    int largest_sum; /* see check_filter_product; -1: ones; -2: the same, times 1e-45 */
} named_vectors;

static const named_vectors vectors[] = {
    {"vectors7x9", 7, 9, 3, 4, 1500},         {"vectors-fractions31x17", 31, 17, 30, 0, 0},
    {"vector-row", 40, 1, 0, 0, 1500},        {"vector-column", 1, 1, 0, 0, 0},
    {"long-row", 1501, 5, 750, 2, 0},         {"long-column", 3, 2049, 1, 2048, 0},
    {"long-whole", 700, 600, 350, 10, 60000}, {"long-square", 1501, 1501, 750, 750, 0},
    {"longest", 4095, 4095, 2047, 2047, 0},   {"ones300x301", 300, 301, 150, 150, -1},
    {"ones40x50", 40, 50, 0, 49, -1},         {"ones9x70", 9, 70, 4, 35, -1},
    {"tiny-ones", 33, 63, 16, 31, -2},
};
enum { VECTORS_COUNT = sizeof vectors / sizeof vectors[0] };

gconv_filter *check_filter_zero(int width, int height)
{
    gconv_filter *filter;
    gconv_error error;
    if (gconv_filter_create(width, height, &filter, &error) != GCONV_OK) {
        fprintf(stderr, "gconv_check: %s\n", error.message);
        exit(1);
    }
    return filter;
}

static void set_name(gconv_filter *filter, const char *name)
{
    free(filter->name);
    size_t bytes = strlen(name) + 1;
    filter->name = malloc(bytes);
    if (filter->name != NULL)
        memcpy(filter->name, name, bytes);
}

static gconv_filter *make_filter(const named_filter *row)
{
    gconv_filter *filter = check_filter_zero(row->width, row->height);
    set_name(filter, row->name);
    filter->anchor_x = row->anchor_x;
    filter->anchor_y = row->anchor_y;
    filter->divisor = row->divisor;
    check_random random = check_random_for((uint64_t)row->width, (uint64_t)row->height);
    for (int i = 0; i < row->width * row->height; i++) {
        double whole =
            row->weights != NULL ? (double)row->weights[i] : check_between(&random, -4, 5);
        filter->weights[i] = (float)(row->scale != 0 ? row->scale * whole : whole);
    }
    return filter;
}

static gconv_filter *make_sum(const named_sum *row)
{
    check_random random = check_random_for((uint64_t)row->width, (uint64_t)row->height);
    gconv_filter *filter =
        check_filter_product(&random, row->width, row->height, row->rank, row->largest_sum);
    set_name(filter, row->name);
    filter->anchor_x = row->anchor_x;
    filter->anchor_y = row->anchor_y;
    return filter;
}

static gconv_filter *make_vectors(const named_vectors *row)
{
    check_random random = check_random_for((uint64_t)row->width, (uint64_t)row->height);
    gconv_filter *filter = check_filter_vectors(&random, row->width, row->height, row->largest_sum);
    for (int j = 0; j < row->height && row->largest_sum < 0; j++)
        filter->column[j] = row->largest_sum == -2 ? 1e-22 : 1;
    for (int i = 0; i < row->width && row->largest_sum < 0; i++)
        filter->row[i] = row->largest_sum == -2 ? 1e-23 : 1;
    set_name(filter, row->name);
    filter->anchor_x = row->anchor_x;
    filter->anchor_y = row->anchor_y;
    return filter;
}

gconv_filter *check_filter_named(const char *name)
{
    for (size_t i = 0; i < VECTORS_COUNT; i++)
        if (strcmp(vectors[i].name, name) == 0)
            return make_vectors(&vectors[i]);
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return make_filter(&table[i]);
    for (size_t i = 0; i < SUM_COUNT; i++)
        if (strcmp(sums[i].name, name) == 0)
            return make_sum(&sums[i]);
    fprintf(stderr, "gconv_check: no filter '%s' in tests/check/filters.c\n", name);
    exit(1);
}

static double random_divisor(check_random *random, const gconv_filter *filter)
{
    static const double divisors[] = {1, 1, 1, 16, 289, -3, 0.5, 7.25};
    double sum = gconv_filter_gain(filter) * filter->divisor;
    if (check_once_in(random, 3) && sum != 0)
        return sum;
    return divisors[check_below(random, sizeof divisors / sizeof divisors[0])];
}

gconv_filter *check_filter_random(check_random *random, int width, int height, bool whole)
{
    gconv_filter *filter = check_filter_zero(width, height);
    set_name(filter, "random");
    int low = check_once_in(random, 2) ? -3 : 0;
    bool sparse = check_once_in(random, 4);
    for (int i = 0; i < width * height; i++)
        if (!sparse || check_once_in(random, 3))
            filter->weights[i] =
                whole ? (float)check_between(random, low, 5) : (float)(2 * check_unit(random) - 1);
    filter->divisor = random_divisor(random, filter);
    if (check_once_in(random, 2)) {
        filter->anchor_x = check_between(random, 0, width - 1);
        filter->anchor_y = check_between(random, 0, height - 1);
    }
    return filter;
}

void check_filter_enlarge(check_random *random, gconv_filter *filter)
{
    static const float limits[] = {-129, -128, 127, 128, 255, 256, -2049, 32767, 32768, 65536};
    for (int i = 0; i < filter->width * filter->height; i++)
        if (check_once_in(random, 4))
            filter->weights[i] = limits[check_below(random, sizeof limits / sizeof limits[0])];
}

/* Clears values, but never the first, until their magnitudes add up to `largest_sum` at most. */
static void thin(check_random *random, float *values, int count, int largest_sum)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += fabs((double)values[i]);
    while (sum > largest_sum && count > 1) {
        float *value = &values[check_between(random, 1, count - 1)];
        sum -= fabs((double)*value);
        *value = 0;
    }
}

void check_filter_thin(check_random *random, gconv_filter *filter, int largest_sum)
{
    thin(random, filter->weights, filter->width * filter->height, largest_sum);
}

static void random_vector(check_random *random, float *values, int count, int largest_sum)
{
    for (int i = 0; i < count; i++)
        values[i] = largest_sum > 0 ? (float)check_between(random, -3, 3)
                                    : (float)(2 * check_unit(random) - 1);
    if (values[0] == 0)
        values[0] = 1; /* never a vector of nothing */
    if (largest_sum > 0)
        thin(random, values, count, (int)sqrt(largest_sum));
}

gconv_filter *check_filter_product(check_random *random, int width, int height, int rank,
                                   int largest_sum)
{
    float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    gconv_filter *filter = check_filter_zero(width, height);
    set_name(filter, "product");
    for (int p = 0; p < rank; p++) {
        random_vector(random, row, width, largest_sum / rank);
        random_vector(random, column, height, largest_sum / rank);
        for (int j = 0; j < height; j++)
            for (int i = 0; i < width; i++)
                filter->weights[j * width + i] += column[j] * row[i];
    }
    filter->divisor = random_divisor(random, filter);
    return filter;
}

gconv_filter *check_filter_vectors(check_random *random, int width, int height, int largest_sum)
{
    static float values[GCONV_FILTER_VECTOR_MAX];
    gconv_filter *filter;
    gconv_error error;
    if (gconv_filter_create_vectors(width, height, &filter, &error) != GCONV_OK) {
        fprintf(stderr, "gconv_check: %s\n", error.message);
        exit(1);
    }
    set_name(filter, "vectors");
    random_vector(random, values, width, largest_sum);
    for (int i = 0; i < width; i++)
        filter->row[i] = (double)values[i] * (largest_sum > 0 ? 1 : 1 + 0x1p-30);
    random_vector(random, values, height, largest_sum);
    for (int j = 0; j < height; j++)
        filter->column[j] = (double)values[j] * (largest_sum > 0 ? 1 : 1 - 0x1p-29);
    filter->divisor = random_divisor(random, filter);
    return filter;
}

double check_filter_terms(const gconv_filter *filter)
{
    double width = filter->width, height = filter->height;
    return filter->weights != NULL ? width * height : width + height;
}

double check_filter_sum(const gconv_filter *filter)
{
    double sum = 0, down = 0, across = 0;
    for (int i = 0; filter->weights != NULL && i < filter->width * filter->height; i++)
        sum += fabs((double)filter->weights[i]);
    for (int j = 0; filter->weights == NULL && j < filter->height; j++)
        down += fabs(filter->column[j]);
    for (int i = 0; filter->weights == NULL && i < filter->width; i++)
        across += fabs(filter->row[i]);
    return sum + down * across;
}

void check_filter_scale(gconv_filter *filter, double factor)
{
    for (int i = 0; filter->weights != NULL && i < filter->width * filter->height; i++)
        filter->weights[i] = (float)((double)filter->weights[i] * factor);
    for (int j = 0; filter->weights == NULL && j < filter->height; j++)
        filter->column[j] *= factor;
}

void check_filter_flatten(check_random *random, gconv_filter *filter, bool whole)
{
    double weight = check_once_in(random, 2) ? 1 : check_once_in(random, 2) ? -2 : 3;
    if (!whole)
        weight *= 0.1 + check_unit(random);
    for (int i = 0; filter->weights != NULL && i < filter->width * filter->height; i++)
        filter->weights[i] = (float)weight;
    for (int j = 0; filter->weights == NULL && j < filter->height; j++)
        filter->column[j] = weight;
    for (int i = 0; filter->weights == NULL && i < filter->width; i++)
        filter->row[i] = 1;
}
