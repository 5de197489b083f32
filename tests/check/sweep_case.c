/* The sweep: every filter size that the papers measure, with every border, depth and kind of
 * weights, on shapes around the multiples of 32, 64 and 128; then filters up to the largest. */
#include "cases.h"

#include "filters.h"

enum { SIDE_MAX = 43, FORMS = 2, KINDS = 2, DEPTHS = 2 };
enum { VARIANTS = GCONV_BORDER_COUNT * DEPTHS * KINDS };
enum { SMALL_COUNT = SIDE_MAX * FORMS * VARIANTS };

/* Multiply-adds that a case may take; the serial reference needs about 2 ns for each. */
static const double small_work = 8e6;
static const double large_work = 70e6;

static const uint32_t sides[] = {31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
enum { SIDE_COUNT = sizeof sides / sizeof sides[0] };

static const int large_filters[][2] = {
    {255, 255}, {255, 1},   {1, 255},   {64, 255}, {254, 64},
    {128, 128}, {129, 128}, {127, 129}, {200, 60}, {60, 200},
};
enum { LARGE_COUNT = sizeof large_filters / sizeof large_filters[0] };

int check_sweep_count(void)
{
    return SMALL_COUNT + LARGE_COUNT * GCONV_BORDER_COUNT;
}

/* What a case varies. */
typedef struct variant {
    int width, height; /* of the filter */
    gconv_border border;
    int depth, channels;
    bool whole; /* weights */
    int rank;   /* the filter is the sum of so many products of a column and a row; 0: any */
    double work;
} variant;

/* Rank 1 every other time, then by turns 2, any, 3, any. */
static int choose_rank(int number)
{
    static const int ranks[] = {1, 2, 1, 0, 1, 3, 1, 0};
    return ranks[number % 8];
}

static variant small_variant(int number)
{
    int kind = number % KINDS;
    int deep = number / KINDS % DEPTHS;
    int border = number / (KINDS * DEPTHS) % GCONV_BORDER_COUNT;
    int form = number / VARIANTS % FORMS;
    int side = number / (VARIANTS * FORMS) + 1;
    return (variant){
        .width = side,
        .height = form == 0 ? side : SIDE_MAX + 1 - side,
        .border = (gconv_border)border,
        .depth = deep == 0 ? 8 : 16,
        .channels = (side / 2 + border + deep + kind) % 2 == 0 ? 1 : 3,
        .whole = kind == 0,
        .rank = choose_rank(side + border + form),
        .work = small_work,
    };
}

static variant large_variant(int number)
{
    const int *size = large_filters[number / GCONV_BORDER_COUNT];
    int border = number % GCONV_BORDER_COUNT;
    return (variant){
        .width = size[0],
        .height = size[1],
        .border = (gconv_border)border,
        .depth = border % 3 == 1 ? 16 : 8,
        .channels = size[0] == 1 || size[1] == 1 ? 3 : 1,
        .whole = number % 2 == 0,
        .rank = choose_rank(number / 2),
        .work = large_work,
    };
}

/* Shapes by turns, of those that the filter leaves affordable. */
static void choose_shape(check_case *made, const variant *v, int number)
{
    uint32_t affordable[SIDE_COUNT * SIDE_COUNT][2] = {{31, 31}};
    int count = 0;
    double taps = (double)v->width * v->height * v->channels;
    for (int i = 0; i < SIDE_COUNT * SIDE_COUNT; i++) {
        uint32_t width = sides[i % SIDE_COUNT], height = sides[i / SIDE_COUNT];
        if (taps * width * height > v->work)
            continue;
        affordable[count][0] = width;
        affordable[count++][1] = height;
    }
    /* A prime larger than the number of shapes visits them all before one comes again. */
    const uint32_t *shape = affordable[count > 0 ? number * 151 % count : 0];
    made->job.input.width = shape[0];
    made->job.input.height = shape[1];
}

/* Sums of |weights| that keep a chain of whole numbers exact: under 2^24 over the largest
 * sample. */
static int largest_sum(int depth)
{
    return depth == 16 ? 256 : 65793;
}

static gconv_filter *choose_filter(check_random *random, const variant *v)
{
    if (v->rank > 0)
        return check_filter_product(random, v->width, v->height, v->rank,
                                    v->whole ? largest_sum(v->depth) : 0);
    gconv_filter *filter = check_filter_random(random, v->width, v->height, v->whole);
    if (filter->weights[0] == 0)
        filter->weights[0] = 1; /* never a filter of nothing */
    if (v->whole)
        check_filter_thin(random, filter, largest_sum(v->depth));
    return filter;
}

void check_case_sweep(check_case *made, int number)
{
    variant v = number < SMALL_COUNT ? small_variant(number) : large_variant(number - SMALL_COUNT);
    gconv_job *job = &made->job;
    if (v.rank > 0)
        snprintf(made->name, sizeof made->name, "sweep, rank %d", v.rank);
    else
        snprintf(made->name, sizeof made->name, "sweep");
    job->border = v.border;
    job->border_value = v.whole ? 200 : 33.3;
    job->input.depth = v.depth;
    job->input.channels = v.channels;
    job->output_depth = v.depth;
    job->correlate = number % 7 == 0;
    job->threads = 2;
    choose_shape(made, &v, number);
    check_case_add_filter(made, choose_filter(&made->random, &v));
}
