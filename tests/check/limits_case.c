/* Cases at the limits of arithmetic: whole weights where integers of 8, 16 and 24 bits end, and
 * chains whose values come near the largest and the smallest float32. */
#include "cases.h"

#include "filters.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- Whole weights --------------------------------------------------------------------------- */

/* Where signed and unsigned bytes end, what 11 bits hold, and 16 bits. */
static const int lone_weights[] = {-129,  -128, 127,   128,   200,   255,   256,    -200,
                                   -2047, 2049, 32767, 32768, 65535, 65536, -65536, -32769};

/* Ones or a product of small numbers around that weight; or a sum of weights next to 2^24. */
static const struct {
    int width, height;
} whole_sizes[] = {{3, 1}, {1, 3}, {3, 3}, {5, 5}, {9, 9}, {11, 7}, {17, 17}, {31, 29}};

/* Sums of |weights| next to what keeps a chain of 8 or 16 bits exact. */
typedef struct whole_limit {
    int depth, sum;
    check_exactness exactness;
} whole_limit;

static const whole_limit whole_limits[] = {
    {8, 65793, CHECK_EXACT}, {8, 65794, CHECK_INEXACT}, {8, 65280, CHECK_EXACT},
    {16, 256, CHECK_EXACT},  {16, 257, CHECK_INEXACT},  {16, 255, CHECK_EXACT},
};

enum {
    LONE_COUNT = LENGTH(lone_weights) * LENGTH(whole_sizes),
    SUM_COUNT = LENGTH(whole_limits) * LENGTH(whole_sizes),
};

/* The larger the filter, the smaller the image. */
static void set_image(check_case *made, int number, int depth, int taps)
{
    static const uint32_t sizes[][2] = {{29, 31}, {132, 11}, {65, 34}};
    const uint32_t *size = sizes[taps > 100 ? 0 : number % 3];
    gconv_job *job = &made->job;
    job->input = (gconv_shape){.width = size[0],
                               .height = size[1],
                               .channels = number % 5 == 4 && taps < 100 ? 3 : 1,
                               .depth = depth};
    job->output_depth = number % 2 == 0 ? 32 : depth;
    job->border = (gconv_border)(number % GCONV_BORDER_COUNT);
    job->border_value = 255;
    job->threads = 2;
}

static void make_lone(check_case *made, int number)
{
    int weight = lone_weights[number % LENGTH(lone_weights)];
    int form = number / LENGTH(lone_weights);
    gconv_filter *filter = check_filter_zero(whole_sizes[form].width, whole_sizes[form].height);
    int width = filter->width, count = width * filter->height;
    /* Every other time of rank 1. */
    bool separable = number % 2 == 0 && abs(weight) < 40000;
    for (int i = 0; i < count; i++)
        filter->weights[i] = 1;
    for (int i = count / 2 % width; separable && i < count; i += width)
        filter->weights[i] = (float)weight;
    filter->weights[count / 2] = (float)weight;
    /* Samples of 16 bits wherever they leave the sums exact. */
    set_image(made, number, check_filter_sum(filter) * 65535 < 0x1p24 ? 16 : 8, count);
    made->exactness = check_filter_sum(filter) * 255 < 0x1p24 ? CHECK_EXACT : CHECK_INEXACT;
    made->pattern = number % 3 == 0 ? CHECK_PATTERN_EXTREMES : CHECK_PATTERN_RANDOM;
    check_case_add_filter(made, filter);
    snprintf(made->name, sizeof made->name, "weight %d", weight);
}

/* Random weights whose magnitudes sum up to `sum`, of one sign or both. */
static gconv_filter *filter_of_sum(check_random *random, int width, int height, int sum, bool both)
{
    gconv_filter *filter = check_filter_zero(width, height);
    int count = width * height, left = sum;
    for (int i = 0; i < count && left > 0; i++) {
        int most = 2 * left / (count - i) + 1;
        int weight = i + 1 == count ? left : check_between(random, 0, most < left ? most : left);
        left -= weight;
        filter->weights[i] = (float)(both && check_once_in(random, 2) ? -weight : weight);
    }
    return filter;
}

static void make_sum(check_case *made, int number)
{
    const whole_limit *limit = &whole_limits[number % LENGTH(whole_limits)];
    int form = number / LENGTH(whole_limits), kind = (number + form) % 3;
    int width = whole_sizes[form].width, height = whole_sizes[form].height;
    set_image(made, number, limit->depth, width * height);
    made->exactness = limit->exactness;
    made->pattern = kind == 0 ? CHECK_PATTERN_MAX : CHECK_PATTERN_EXTREMES;
    check_case_add_filter(made, filter_of_sum(&made->random, width, height, limit->sum, kind == 2));
    snprintf(made->name, sizeof made->name, "weights that sum up to %d", limit->sum);
}

/* ---- The ends of float32 --------------------------------------------------------------------- */

typedef enum form { FULL, RANK_1, RANK_2, MEAN } form;

/* Two filters; the first or the second one is scaled. */
static const struct {
    int width, height;
    form form;
} end_forms[] = {{1, 1, FULL},    {3, 3, FULL},   {5, 5, RANK_1},   {7, 7, FULL},
                 {9, 11, RANK_2}, {15, 15, FULL}, {15, 15, RANK_1}, {21, 17, RANK_2},
                 {31, 29, FULL},  {61, 61, MEAN}, {61, 60, FULL},   {255, 1, FULL}};

/* What values reach: next to infinity in each step; or numbers down to less than the smallest. */
static const double ends[] = {
    0.9999 * (double)FLT_MAX, 0.5 * (double)FLT_MAX, 1e-33, 1e-37, 1e-41, 1e-44, 1e-47};

enum { END_COUNT = LENGTH(end_forms) * LENGTH(ends) };

static gconv_filter *filter_of_form(check_random *random, int width, int height, form of)
{
    if (of == RANK_1 || of == RANK_2)
        return check_filter_product(random, width, height, of == RANK_1 ? 1 : 2, 0);
    gconv_filter *filter = check_filter_random(random, width, height, false);
    for (int i = 0; of == MEAN && i < width * height; i++)
        filter->weights[i] = 1;
    if (filter->weights[0] == 0)
        filter->weights[0] = 1;
    filter->divisor = 1;
    return filter;
}

/* The largest value after the first `count` steps, with the margin that the manual gives. */
static double reach_after(const check_case *made, int count)
{
    const gconv_job *job = &made->job;
    bool multiplies = job->input.channels % 2 == 0 && job->alpha == GCONV_ALPHA_PREMULTIPLY;
    double white = job->input.depth == 16 ? 65535 : 255;
    double unit = multiplies ? white : 1;
    double largest = job->input.depth == 32 ? 0x1p32 : white;
    double reach = largest * (multiplies ? largest : 1);
    double border = fmax(fabs(job->border_value) * (white / 255) * unit, white);
    for (int s = 0; s < count; s++) {
        const gconv_filter *filter = made->filters[s];
        double terms = check_filter_terms(filter) + 2048;
        if (job->border == GCONV_BORDER_CONSTANT)
            reach = fmax(reach, border);
        reach *= check_filter_sum(filter) * (1 + 4 * terms * 0x1p-24);
        border *= fabs(filter->divisor);
    }
    return reach;
}

void check_case_scale(check_case *made, int step, double end)
{
    double reach = reach_after(made, step + 1), most = reach;
    int count = made->job.filter_count;
    if (reach == 0)
        return;
    for (int s = step + 1; s < count; s++)
        most = fmax(most, reach_after(made, s + 1));
    double before = reach_after(made, count);
    check_filter_scale(made->filters[step], end < 1 ? end / reach : end / most);
    /* The chain's result is what it was, over the divisor. */
    gconv_filter *last = made->filters[count - 1];
    double change = before > 0 ? reach_after(made, count) / before : 0;
    last->divisor *= change > 0 ? change : 1;
}

/* Place 0: the first filter makes values large or small. Place 1: the second one does. Place 2: the
 * first one does, and the second brings them back half the way. */
static void make_end(check_case *made, int number)
{
    int index = number % LENGTH(ends), shape = number / LENGTH(ends), place = number % 3;
    int width = end_forms[shape].width, height = end_forms[shape].height;
    form of = end_forms[shape].form;
    double end = ends[index];
    check_random *random = &made->random;
    gconv_job *job = &made->job;
    static const int depths[] = {8, 16, 8, 32};
    set_image(made, number, depths[number % 4], width * height);
    if (check_once_in(random, 6)) {
        job->input.channels = 4;
        job->alpha = GCONV_ALPHA_PREMULTIPLY;
    }
    job->output_depth = 32;
    static const check_pattern patterns[] = {CHECK_PATTERN_MAX, CHECK_PATTERN_RANDOM,
                                             CHECK_PATTERN_DIM};
    made->pattern = patterns[check_below(random, 3)];
    bool first = place != 1;
    int small = check_once_in(random, 2) ? 1 : 3;
    check_case_add_filter(made, filter_of_form(random, first ? small : width,
                                               first ? small : height, first ? FULL : of));
    check_case_add_filter(made, filter_of_form(random, first ? width : small,
                                               first ? height : small, first ? of : FULL));
    if (place == 2)
        check_filter_scale(made->filters[1], end > 1 ? 1e-15 : 1e15);
    check_case_scale(made, place == 1 ? 1 : 0, end);
    snprintf(made->name, sizeof made->name, "values to %.3g, place %d", end, place);
}

/* ---- All of them ----------------------------------------------------------------------------- */

int check_limits_count(void)
{
    return LONE_COUNT + SUM_COUNT + END_COUNT;
}

void check_case_limits(check_case *made, int number)
{
    if (number < LONE_COUNT)
        make_lone(made, number);
    else if (number < LONE_COUNT + SUM_COUNT)
        make_sum(made, number - LONE_COUNT);
    else
        make_end(made, number - LONE_COUNT - SUM_COUNT);
}
