/* Random cases: every field of a job from its neighbourhood of awkward values. */
#include "cases.h"

#include "filters.h"

/* Multiply-adds of a random case, which keep the whole run within seconds; and of the few large
 * cases, which several threads share. */
static const double usual_work = 1e6;
static const double shared_work = 8e6;

#define PICK(random, array) ((array)[check_below((random), sizeof(array) / sizeof((array)[0]))])

static uint32_t random_side(check_random *random)
{
    static const uint32_t near[] = {1, 2, 8, 16, 31, 32, 33, 64, 96, 97, 127, 128, 129, 255, 256};
    switch (check_below(random, 4)) {
    case 0:
        return 1 + check_below(random, 6);
    case 1:
        return PICK(random, near);
    case 2:
        return 1 + check_below(random, 160);
    default:
        return 1 + check_below(random, 48);
    }
}

static int random_filter_side(check_random *random)
{
    if (check_once_in(random, 40))
        return check_between(random, 1, GCONV_FILTER_SIDE_MAX);
    return check_once_in(random, 6) ? check_between(random, 1, 40) : check_between(random, 1, 7);
}

/* Whole numbers whose chain is exact on 8 bits or is not, or fractions; now and then as long as
 * vectors get. */
static gconv_filter *random_vectors(check_random *random)
{
    static const int sums[] = {0, 0, 200, 60000, 1000000};
    int most = check_once_in(random, 4)   ? GCONV_FILTER_VECTOR_MAX
               : check_once_in(random, 2) ? 400
                                          : 40;
    int width = check_between(random, 1, most), height = check_between(random, 1, most);
    gconv_filter *filter = check_filter_vectors(random, width, height, PICK(random, sums));
    if (check_once_in(random, 4))
        check_filter_flatten(random, filter, check_once_in(random, 2));
    return filter;
}

static void randomise_chain(check_case *made, check_random *random)
{
    static const char *const common[] = {"gauss3",   "gauss5", "laplace3", "sobel-x",
                                         "identity", "box3",   "negative", "hollow"};
    int count = check_once_in(random, 2) ? 1 : check_between(random, 1, CHECK_CHAIN_MAX);
    bool whole = !check_once_in(random, 4);
    for (int i = 0; i < count; i++) {
        if (check_once_in(random, 3)) {
            check_case_add_filter(made, check_filter_named(PICK(random, common)));
            continue;
        }
        if (check_once_in(random, 8)) {
            check_case_add_filter(made, random_vectors(random));
            continue;
        }
        int width = random_filter_side(random), height = random_filter_side(random);
        gconv_filter *filter = check_filter_random(random, width, height, whole);
        if (whole && check_once_in(random, 8))
            check_filter_enlarge(random, filter);
        if (check_once_in(random, 10))
            check_filter_flatten(random, filter, whole);
        check_case_add_filter(made, filter);
    }
    gconv_filter *last = made->filters[count - 1];
    if (check_once_in(random, 5)) {
        last->has_offset = true;
        last->offset = check_between(random, -20, 140);
    }
}

static void randomise_border(gconv_job *job, check_random *random)
{
    static const double constants[] = {0, 1, 255, 128, -40, 300, 0.5, 33.3};
    job->border = (gconv_border)check_below(random, GCONV_BORDER_COUNT);
    job->border_value = PICK(random, constants);
    job->border_denominator = 10 * check_below(random, 2);
}

/* Now and then values reach to an end of float32. */
static void randomise_range(check_case *made, check_random *random)
{
    static const double ends[] = {3.4e38, 1e38, 1e30, 1e-20, 1e-35, 1e-40, 1e-44};
    if (check_once_in(random, 8))
        check_case_scale(made, check_between(random, 0, made->job.filter_count - 1),
                         PICK(random, ends));
}

static void randomise_output(gconv_job *job, check_random *random)
{
    static const double scales[] = {1, 1, 1, 0.5, -1, 2, 0.37, 0.1};
    static const double offsets[] = {0, 128, 127.5, -3.25, 0.4};
    static const double thresholds[] = {5, 5, 0, 1, 2.5, 20, -1, 255, 7.3};
    static const int depths[] = {1, 8, 8, 16, 32};
    bool edges = job->input.channels == 1 && check_once_in(random, 2);
    job->output = edges ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    job->output_depth = PICK(random, depths);
    job->scale = PICK(random, scales);
    job->offset = PICK(random, offsets);
    job->has_offset = check_once_in(random, 2);
    job->absolute = check_once_in(random, 4);
    job->threshold = PICK(random, thresholds);
    bool as_written = check_once_in(random, 2);
    job->scale_denominator = as_written ? 100 : 0;
    job->offset_denominator = as_written ? 20 : 0;
    job->threshold_denominator = as_written ? 10 : 0;
    job->rule = (gconv_rule)check_below(random, 3);
    job->invert = check_once_in(random, 3);
    job->alpha = (gconv_alpha)check_below(random, 3);
}

/* So many runs that every kernel is compiled for its filter. */
enum { MANY_RUNS = 100000000 };

/* What implementations may be told about how to run, most often nothing. */
static void randomise_tuning(gconv_job *job, gconv_tiling *tiling, check_random *random)
{
    static const int threads[] = {1, 2, 3, 5};
    static const int tiles[] = {1, 2, 4, 8};
    static const int blocks[][2] = {{32, 4}, {32, 8}, {16, 16}, {64, 2}};
    job->threads = PICK(random, threads);
    if (check_once_in(random, 4))
        tiling->tile = PICK(random, tiles);
    if (check_once_in(random, 4)) {
        const int *block = PICK(random, blocks);
        tiling->block_width = block[0];
        tiling->block_height = block[1];
    }
    if (check_once_in(random, 2))
        job->runs = MANY_RUNS;
}

static double work(const check_case *made)
{
    double taps = 0;
    for (int i = 0; i < made->job.filter_count; i++)
        taps += check_filter_terms(made->filters[i]);
    return taps * made->job.input.width * made->job.input.height * made->job.input.channels;
}

void check_case_randomise(check_case *made)
{
    check_random *random = &made->random;
    gconv_job *job = &made->job;
    static const int depths[] = {8, 8, 16, 32};
    snprintf(made->name, sizeof made->name, "random");
    job->input = (gconv_shape){.width = random_side(random),
                               .height = random_side(random),
                               .channels = check_between(random, 1, 4),
                               .depth = PICK(random, depths)};
    job->correlate = check_once_in(random, 3);
    randomise_chain(made, random);
    randomise_border(job, random);
    randomise_output(job, random);
    randomise_range(made, random);
    randomise_tuning(job, &made->tiling, random);
    double most_work = usual_work;
    bool plain = check_once_in(random, 2);
    made->pattern =
        plain ? CHECK_PATTERN_RANDOM : (check_pattern)check_below(random, CHECK_PATTERN_COUNT);
    if (check_once_in(random, 16)) {
        most_work = shared_work;
        job->input.width += 100;
        job->input.height += 200;
    }
    while (work(made) > most_work && job->input.width * job->input.height > 1) {
        if (job->input.width > job->input.height)
            job->input.width = (job->input.width + 1) / 2;
        else
            job->input.height = (job->input.height + 1) / 2;
    }
}
