/* Filters of real weights on 8 bits: a plan on a GPU that promises samples that are rounded once
 * gives them. They are reckoned in whole numbers here, without the library: weights, scale, offset
 * and threshold have few enough bits. Many samples are made to lie at a tie or near one.
 *
 *     gpu_rounded [--impl NAME] [--seed N] [--cases N] [--runs N]
 *
 * It takes direct, separable and tensor unless one is named. --runs is how often plans expect to
 * run: with many, kernels are compiled for all filters; else at random. The exit status is 77 where
 * there is no GPU. */
#include "../draw.h"

#include "gconv.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

__extension__ typedef __int128 whole;

/* All numbers are multiples of 2^-UNIT: weights of 2^-WEIGHT_UNIT, and scale, offset, threshold and
 * border value of 2^-12. */
enum { WEIGHT_UNIT = 38, JOB_UNIT = 12, UNIT = WEIGHT_UNIT + JOB_UNIT, SIDE_MAX = 31 };

static unsigned long checked, failed, refused, bounded, near_ties;
static uint64_t runs;

static double draw_unit(void)
{
    return draw(1u << 30) * 0x1p-30;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

typedef struct problem {
    gconv_job job;
    gconv_filter *filter;
    unsigned char *input, *expected, *output;
    size_t bytes, output_row, output_bytes;
} problem;

static float of_unit(double weight)
{
    return (float)ldexp(rint(ldexp(weight, WEIGHT_UNIT)), -WEIGHT_UNIT);
}

/* Weights: of a Gaussian, positive, of both signs, or multiples of 1/8, whose sums are ties often.
 * In two of three cases a column times a row. */
static void choose_weights(gconv_filter *f)
{
    double column[SIDE_MAX], row[SIDE_MAX], sum = 0;
    unsigned kind = draw(4), ranks = draw(3), gain = 1 + draw(3);
    for (int i = 0; i < SIDE_MAX; i++) {
        double t = i - f->width / 2;
        column[i] = kind == 0   ? exp(-t * t / f->width)
                    : kind == 2 ? draw_unit() - 0.4
                                : draw_unit();
        row[i] = kind == 0 ? column[i] : kind == 2 ? draw_unit() - 0.4 : draw_unit();
    }
    for (int k = 0; k < f->width * f->height; k++) {
        double weight = column[k / f->width] * row[k % f->width];
        if (ranks == 0 && kind != 0)
            weight = kind == 2 ? draw_unit() - 0.4 : draw_unit();
        f->weights[k] = (float)weight;
        sum += fabs(weight);
    }
    for (int k = 0; k < f->width * f->height; k++)
        f->weights[k] =
            kind == 3 ? (float)(draw(17) - 8.0) / 8 : of_unit((double)f->weights[k] / sum * gain);
}

static int choose_side(void)
{
    static const int usual[] = {3, 3, 5, 5, 7, 9, 13, 15};
    return draw(4) > 0 ? usual[draw(8)] : 1 + (int)draw(SIDE_MAX);
}

static void choose_job(problem *p)
{
    static const unsigned sides[] = {1, 2, 3, 7, 31, 64, 127, 128, 131, 257};
    gconv_job *job = &p->job;
    *job = gconv_job_default();
    int width = choose_side(), height = draw(3) > 0 ? width : choose_side();
    if (gconv_filter_create(width, height, &p->filter, NULL) != GCONV_OK)
        exit(1);
    choose_weights(p->filter);
    p->filter->divisor = draw(2) == 0 ? 1 : (double)(1 + draw(7)) / (1 + (draw(2) == 0));
    job->filters = (const gconv_filter *const *)&p->filter;
    job->filter_count = 1;
    job->input = (gconv_shape){sides[draw(10)], sides[draw(10)], 1, 8};
    job->output = draw(4) == 0 ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    if (job->output == GCONV_OUTPUT_SAMPLES && draw(3) == 0)
        job->input.channels = draw(3) == 0 ? 4 : 3;
    job->output_depth = draw(4) == 0 && job->input.channels == 1 ? 1 : 8;
    job->alpha = GCONV_ALPHA_KEEP;
    job->border = (gconv_border)draw(GCONV_BORDER_COUNT);
    job->border_value = draw(3) == 0 ? draw(256 << 4) * 0x1p-4 : draw(256);
    job->correlate = draw(2) == 0;
    job->absolute = job->output == GCONV_OUTPUT_SAMPLES && draw(4) == 0;
    job->scale = draw(2) == 0 ? 1 : draw(3 << JOB_UNIT) * ldexp(1, -JOB_UNIT) - 1;
    job->has_offset = job->output == GCONV_OUTPUT_SAMPLES && draw(2) == 0;
    job->offset = job->has_offset ? draw(256 << JOB_UNIT) * ldexp(1, -JOB_UNIT) : 0;
    job->threshold = draw(100 << JOB_UNIT) * ldexp(1, -JOB_UNIT);
    job->rule = (gconv_rule)draw(3);
    job->invert = draw(2) == 0;
    job->runs = runs > 0 ? runs : draw(2) == 0 ? 1 : 1 << 30;
}

/* ---- What is right --------------------------------------------------------------------------- */

static whole whole_of(double value, int unit)
{
    return (whole)(long long)ldexp(value, unit);
}

static int index_of(const gconv_job *job, int i, int size)
{
    bool constant = job->border == GCONV_BORDER_CONSTANT;
    int edge = job->border == GCONV_BORDER_MIRROR;
    while (!constant && (i < 0 || i >= size))
        if (job->border == GCONV_BORDER_REPLICATE || size == 1)
            i = i < 0 ? 0 : size - 1;
        else if (job->border == GCONV_BORDER_WRAP)
            i += i < 0 ? size : -size;
        else
            i = i < 0 ? -edge - i : 2 * size - 2 + edge - i;
    return i < 0 || i >= size ? -1 : i;
}

/* The sum of a filter at a sample, in 2^-UNIT. */
static whole sum_at(const problem *p, int x, int y, int c)
{
    const gconv_job *job = &p->job;
    const gconv_filter *f = p->filter;
    int channels = job->input.channels, width = (int)job->input.width;
    whole sum = 0;
    for (int j = 0; j < f->height; j++)
        for (int i = 0; i < f->width; i++) {
            int sign = job->correlate ? 1 : -1;
            int column = index_of(job, x + sign * (i - f->anchor_x), width);
            int row = index_of(job, y + sign * (j - f->anchor_y), (int)job->input.height);
            double sample = row < 0 || column < 0 ? job->border_value
                                                  : p->input[(row * width + column) * channels + c];
            sum += whole_of((double)f->weights[j * f->width + i], WEIGHT_UNIT) *
                   whole_of(sample, JOB_UNIT);
        }
    return sum;
}

/* scale * S / D + offset as `over` / `under`, in units of which no number is rounded. */
static void value_of(const problem *p, whole sum, whole *over, whole *under)
{
    const gconv_job *job = &p->job;
    whole divisor = whole_of(p->filter->divisor, 1);
    sum = job->absolute && sum < 0 ? -sum : sum;
    *over = whole_of(job->scale, JOB_UNIT) * sum * 2;
    *under = divisor << (UNIT + JOB_UNIT);
    *over += whole_of(job->offset, JOB_UNIT) * divisor * ((whole)1 << UNIT);
}

static unsigned sample_at(const problem *p, int x, int y, int c)
{
    const gconv_job *job = &p->job;
    whole sum = sum_at(p, x, y, c), over, under;
    if (job->output == GCONV_OUTPUT_EDGES) {
        whole response =
            job->rule == GCONV_RULE_NEGATIVE || (job->rule == GCONV_RULE_ABS && sum < 0) ? -sum
                                                                                         : sum;
        whole limit = whole_of(job->threshold, JOB_UNIT) * whole_of(p->filter->divisor, 1) *
                      ((whole)1 << (WEIGHT_UNIT - 1));
        bool edge = (response > limit) != job->invert;
        return edge ? (job->output_depth == 1 ? 1 : 255) : 0;
    }
    value_of(p, sum, &over, &under);
    if (job->output_depth == 1)
        return over >= 128 * under;
    if (over <= 0)
        return 0;
    whole low = over / under, rest = 2 * (over - low * under) - under;
    if (low >= 255)
        return 255;
    near_ties += rest < under >> 12 && -rest < under >> 12;
    return (unsigned)low + (rest > 0 || (rest == 0 && low % 2 == 1));
}

static void reckon(problem *p)
{
    int width = (int)p->job.input.width, channels = p->job.input.channels;
    bool keeps = channels == 4;
    memset(p->expected, 0, p->output_bytes);
    for (int y = 0; y < (int)p->job.input.height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++) {
                size_t at = (size_t)((y * width + x) * channels + c);
                unsigned sample = keeps && c == 3 ? p->input[at] : sample_at(p, x, y, c);
                if (p->job.output_depth == 1)
                    p->expected[(size_t)y * p->output_row + (size_t)x / 8] |=
                        (unsigned char)(sample << (7 - x % 8));
                else
                    p->expected[at] = (unsigned char)sample;
            }
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* An offset or a threshold that brings a flat picture, or a sample, within 2^-12 of a tie. */
static void aim(problem *p)
{
    gconv_job *job = &p->job;
    whole sum = sum_at(p, (int)draw(job->input.width), (int)draw(job->input.height), 0);
    double value = (double)sum / ldexp(1, UNIT) / p->filter->divisor;
    if (job->output == GCONV_OUTPUT_EDGES) {
        double response = job->rule == GCONV_RULE_NEGATIVE ? -value : fabs(value);
        job->threshold = fmax(0, ldexp(rint(ldexp(response, JOB_UNIT)), -JOB_UNIT));
        return;
    }
    value = job->scale * (job->absolute ? fabs(value) : value);
    double tie = job->output_depth == 1 ? 128 : draw(250) + 0.5;
    job->has_offset = true;
    job->offset = ldexp(rint(ldexp(tie - value, JOB_UNIT)), -JOB_UNIT);
}

/* Noise, a flat picture, or two levels. */
static void draw_picture(problem *p)
{
    unsigned kind = draw(4), low = draw(256), high = draw(256);
    for (size_t i = 0; i < p->bytes; i++)
        p->input[i] = (unsigned char)(kind < 2                    ? draw(256)
                                      : kind == 2 || draw(2) == 0 ? low
                                                                  : high);
    if (draw(3) > 0)
        aim(p);
}

/* ---- Checking -------------------------------------------------------------------------------- */

static void complain(const problem *p, const char *implementation)
{
    size_t first = 0, count = 0;
    for (size_t i = p->output_bytes; i-- > 0;)
        if (p->output[i] != p->expected[i]) {
            first = i;
            count++;
        }
    printf(
        "FAILED: %s, filter %dx%d, image %ux%ux%d, border %d, depth %d, output %d: %zu bytes, the "
        "first is %zu, %u and not %u\n",
        implementation, p->filter->width, p->filter->height, p->job.input.width,
        p->job.input.height, p->job.input.channels, (int)p->job.border, p->job.output_depth,
        (int)p->job.output, count, first, p->output[first], p->expected[first]);
    failed++;
}

static void check(problem *p, const char *implementation)
{
    gconv_job job = p->job;
    gconv_plan *plan;
    gconv_error error;
    job.implementation = implementation;
    job.device = "cuda:0";
    gconv_status status = gconv_plan_create(&job, &plan, &error);
    if (status != GCONV_OK) {
        if (status != GCONV_ERROR_UNSUPPORTED)
            printf("%s: %s\n", implementation, error.message);
        refused++;
        return;
    }
    bool promised = gconv_plan_promise(plan) != GCONV_PROMISE_BOUNDED;
    memset(p->output, 0x5a, p->output_bytes);
    status =
        gconv_plan_run_memory(plan, p->input, (size_t)job.input.width * (size_t)job.input.channels,
                              p->output, p->output_row, NULL, &error);
    if (status != GCONV_OK) {
        printf("FAILED: %s: %s\n", implementation, error.message);
        failed++;
    } else if (!promised)
        bounded++;
    else if (memcmp(p->output, p->expected, p->output_bytes) == 0)
        checked++;
    else
        complain(p, implementation);
    gconv_plan_free(plan);
}

static void check_case(char *const *names, int count)
{
    problem p = {.input = NULL};
    choose_job(&p);
    size_t row = (size_t)p.job.input.width * (size_t)p.job.input.channels;
    p.bytes = row * p.job.input.height;
    p.output_row = p.job.output_depth == 1 ? (row + 7) / 8 : row;
    p.output_bytes = p.output_row * p.job.input.height;
    p.input = must_have(malloc(p.bytes));
    p.output = must_have(malloc(p.output_bytes));
    p.expected = must_have(malloc(p.output_bytes));
    draw_picture(&p);
    reckon(&p);
    for (int i = 0; i < count; i++)
        check(&p, names[i]);
    gconv_filter_free(p.filter);
    free(p.input);
    free(p.output);
    free(p.expected);
}

int main(int count, char **arguments)
{
    static char names[][16] = {"direct", "separable", "tensor"};
    char *implementations[] = {names[0], names[1], names[2]};
    unsigned long cases = 2000;
    int devices = 0, implementation_count = 3;
    for (int i = 1; i + 1 < count; i += 2)
        if (strcmp(arguments[i], "--impl") == 0) {
            implementations[0] = arguments[i + 1];
            implementation_count = 1;
        } else if (strcmp(arguments[i], "--cases") == 0)
            cases = strtoul(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--runs") == 0)
            runs = strtoull(arguments[i + 1], NULL, 10);
        else if (strcmp(arguments[i], "--seed") == 0)
            draw_state = strtoull(arguments[i + 1], NULL, 10);
        else
            return 2;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("no GPU\n");
        return 77;
    }
    for (unsigned long i = 0; i < cases; i++)
        check_case(implementations, implementation_count);
    printf("%lu checked, %lu failed, %lu not promised, %lu refused; %lu samples within 2^-13 of a "
           "tie\n",
           checked, failed, bounded, refused, near_ties);
    return failed > 0 || checked == 0;
}
