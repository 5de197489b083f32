#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_alpha(const gconv_job *job)
{
    return job->input.channels % 2 == 0;
}

static double white(const gconv_job *job)
{
    return job->input.depth == 16 ? 65535 : 255;
}

int judge_channels(const gconv_job *job)
{
    return job->input.channels - (has_alpha(job) && job->alpha == GCONV_ALPHA_KEEP);
}

double judge_divisor(const gconv_job *job)
{
    double divisor = 1;
    for (int s = 0; s < job->filter_count; s++)
        divisor *= job->filters[s]->divisor;
    return divisor;
}

double judge_work(const gconv_job *job)
{
    double work = 0;
    for (int s = 0; s < job->filter_count; s++) {
        double width = job->filters[s]->width, height = job->filters[s]->height;
        work += (job->input.width + 2 * width) * (job->input.height + 2 * height) * width * height;
    }
    return work * judge_channels(job);
}

/* ---- The chain ------------------------------------------------------------------------------- */

/* Where one arrives who walks from the nearest edge out to `index`, a step at a time; -1 in the
 * land of a constant border. */
static int64_t walk(gconv_border border, int64_t index, int64_t size)
{
    if (index >= 0 && index < size)
        return index;
    if (border == GCONV_BORDER_CONSTANT)
        return -1;
    int64_t at = index < 0 ? 0 : size - 1;
    int64_t direction = index < 0 ? -1 : 1;
    for (int64_t steps = index < 0 ? -index : index - (size - 1); steps > 0; steps--) {
        int64_t next = at + direction;
        if (next >= 0 && next < size)
            at = next;
        else if (border == GCONV_BORDER_WRAP)
            at = next < 0 ? size - 1 : 0;
        else if (border == GCONV_BORDER_MIRROR) /* the edge stands twice */
            direction = -direction;
        else if (border == GCONV_BORDER_MIRROR101 && size > 1) {
            direction = -direction;
            at += direction;
        }
    }
    return at;
}

/* One step of a chain on images of long double. */
typedef struct scatter {
    const gconv_job *job;
    const gconv_filter *filter;
    const long double *in;
    long double *out;
    long double constant[4]; /* the constant border of this step's input */
    int64_t width, height;
    int channels;
} scatter;

static long double weight_at(const gconv_filter *filter, int j, int i)
{
    return filter->weights != NULL ? (long double)filter->weights[j * filter->width + i]
                                   : (long double)(filter->column[j] * filter->row[i]);
}

/* The sample at (x, y) of the extended input gives its share to every output that sees it. */
static void spread(const scatter *s, const long double *value, int64_t x, int64_t y)
{
    const gconv_filter *filter = s->filter;
    int64_t sign = s->job->correlate ? -1 : 1;
    for (int j = 0; j < filter->height; j++) {
        int64_t to_y = y + sign * (j - filter->anchor_y);
        if (to_y < 0 || to_y >= s->height)
            continue;
        for (int i = 0; i < filter->width; i++) {
            int64_t to_x = x + sign * (i - filter->anchor_x);
            if (to_x < 0 || to_x >= s->width)
                continue;
            long double *out = &s->out[(to_y * s->width + to_x) * s->channels];
            long double weight = weight_at(filter, j, i);
            for (int c = 0; c < s->channels; c++)
                out[c] += weight * value[c];
        }
    }
}

static void scatter_image(const scatter *s)
{
    int64_t reach_x = s->filter->width, reach_y = s->filter->height;
    int64_t *columns = check_allocate((size_t)(s->width + 2 * reach_x), sizeof *columns);
    for (int64_t x = -reach_x; x < s->width + reach_x; x++)
        columns[x + reach_x] = walk(s->job->border, x, s->width);
    for (int64_t y = -reach_y; y < s->height + reach_y; y++) {
        int64_t from_y = walk(s->job->border, y, s->height);
        for (int64_t x = -reach_x; x < s->width + reach_x; x++) {
            int64_t from_x = columns[x + reach_x];
            bool outside = from_x < 0 || from_y < 0;
            spread(s, outside ? s->constant : &s->in[(from_y * s->width + from_x) * s->channels], x,
                   y);
        }
    }
    free(columns);
}

static long double *load_image(const gconv_job *job, const check_image *input)
{
    int channels = judge_channels(job), all = job->input.channels, depth = job->input.depth;
    bool premultiplied = has_alpha(job) && job->alpha == GCONV_ALPHA_PREMULTIPLY;
    long double *image = check_allocate(
        (size_t)job->input.width * job->input.height * (size_t)channels, sizeof *image);
    long double *to = image;
    for (uint32_t y = 0; y < job->input.height; y++) {
        const unsigned char *row = check_image_row(input, y);
        for (size_t x = 0; x < job->input.width; x++)
            for (int c = 0; c < channels; c++) {
                long double value = check_sample(row, depth, x * (size_t)all + (size_t)c);
                if (premultiplied && c < all - 1)
                    value *= check_sample(row, depth, x * (size_t)all + (size_t)(all - 1));
                *to++ = value;
            }
    }
    return image;
}

/* The constant border at the chain's start: V, times opaque alpha where that is multiplied in. */
static void set_constant(const gconv_job *job, long double *constant)
{
    int channels = judge_channels(job);
    for (int c = 0; c < channels; c++) {
        constant[c] = (long double)job->border_value * (white(job) / 255);
        if (channels % 2 == 0 && c == channels - 1)
            constant[c] = white(job);
        else if (has_alpha(job) && job->alpha == GCONV_ALPHA_PREMULTIPLY)
            constant[c] *= white(job);
    }
}

float *judge_chain(const gconv_job *job, const check_image *input)
{
    int channels = judge_channels(job);
    size_t values = (size_t)job->input.width * job->input.height * (size_t)channels;
    scatter s = {
        .job = job, .width = job->input.width, .height = job->input.height, .channels = channels};
    set_constant(job, s.constant);
    long double *image = load_image(job, input);
    for (int k = 0; k < job->filter_count; k++) {
        s.filter = job->filters[k];
        s.in = image;
        s.out = check_allocate(values, sizeof *s.out);
        scatter_image(&s);
        free(image);
        image = s.out;
        for (int c = 0; c < channels; c++)
            s.constant[c] *= job->filters[k]->divisor;
    }
    float *chain = check_allocate(values, sizeof *chain);
    for (size_t i = 0; i < values; i++)
        chain[i] = (float)image[i];
    free(image);
    return chain;
}

/* ---- The final conversion -------------------------------------------------------------------- */

static judge_range ordered(double a, double b)
{
    return a < b ? (judge_range){a, b} : (judge_range){b, a};
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static judge_range edge_range(const gconv_job *job, double chain, double bound)
{
    double divisor = judge_divisor(job);
    double response = divisor < 0 ? -chain : chain;
    double side = job->rule == GCONV_RULE_ABS        ? fabs(response)
                  : job->rule == GCONV_RULE_POSITIVE ? response
                                                     : -response;
    double threshold = job->threshold * (white(job) / 255) * fabs(divisor);
    bool surely = side - bound > threshold, perhaps = side + bound > threshold;
    double largest = job->output_depth == 1    ? 1
                     : job->output_depth == 8  ? 255
                     : job->output_depth == 16 ? 65535
                                               : white(job);
    return ordered(surely != job->invert ? largest : 0, perhaps != job->invert ? largest : 0);
}

/* Quotients of two ranges; anything where the lower one may be 0. */
static judge_range quotient(judge_range a, judge_range b)
{
    if (b.low <= 0 && b.high >= 0)
        return b.low == b.high ? (judge_range){0, 0} : (judge_range){-INFINITY, INFINITY};
    double q[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    return (judge_range){smaller(smaller(q[0], q[1]), smaller(q[2], q[3])),
                         larger(larger(q[0], q[1]), larger(q[2], q[3]))};
}

/* v of rule 5: abs, scale, offset. */
static judge_range scaled(const gconv_job *job, judge_range value)
{
    const gconv_filter *last = job->filters[job->filter_count - 1];
    double offset = job->has_offset ? job->offset : last->has_offset ? last->offset : 0;
    offset *= white(job) / 255;
    if (job->absolute) {
        bool crosses = value.low <= 0 && value.high >= 0;
        judge_range sides = ordered(fabs(value.low), fabs(value.high));
        value = (judge_range){crosses ? 0 : sides.low, sides.high};
    }
    return ordered(job->scale * value.low + offset, job->scale * value.high + offset);
}

static judge_range value_range(const gconv_job *job, const float *chain, double bound, double alpha,
                               int channel)
{
    double divisor = judge_divisor(job);
    bool is_alpha = has_alpha(job) && channel == job->input.channels - 1;
    if (is_alpha && job->alpha == GCONV_ALPHA_KEEP)
        return (judge_range){alpha, alpha};
    double middle = (double)chain[channel];
    judge_range value = ordered((middle - bound) / divisor, (middle + bound) / divisor);
    if (!has_alpha(job) || job->alpha != GCONV_ALPHA_PREMULTIPLY)
        return scaled(job, value);
    if (is_alpha)
        return value;
    double below = (double)chain[job->input.channels - 1];
    judge_range seen = ordered((below - bound) / divisor, (below + bound) / divisor);
    if (seen.high <= 0)
        return scaled(job, (judge_range){0, 0});
    judge_range sum = {middle - bound, middle + bound};
    return scaled(job, quotient(sum, (judge_range){below - bound, below + bound}));
}

static double stored(const gconv_job *job, double v, bool bilevel)
{
    if (bilevel)
        v = v >= 128 * (white(job) / 255) ? white(job) : 0;
    int depth = job->output_depth;
    if (depth == 1 && job->input.channels == 1)
        return v > 0;
    if (depth == 32)
        return (double)(float)v;
    double largest = depth == 16 ? 65535 : 255;
    v = white(job) == largest ? v : largest == 65535 ? v * 257 : v / 257;
    return nearbyint(smaller(larger(v, 0), largest)); /* ties to even, the default mode */
}

judge_range judge_output(const gconv_job *job, const float *chain, double bound, double alpha,
                         int channel)
{
    if (job->output == GCONV_OUTPUT_EDGES)
        return edge_range(job, (double)chain[0], bound);
    judge_range v = value_range(job, chain, bound, alpha, channel);
    bool is_alpha = has_alpha(job) && channel == job->input.channels - 1;
    bool bilevel = job->output_depth == 1 && !is_alpha;
    return (judge_range){stored(job, v.low, bilevel), stored(job, v.high, bilevel)};
}

/* ---- Rounding once --------------------------------------------------------------------------- */

/* Wide enough for the numbers of the cases: their products have no error. */
#ifdef __x86_64__
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif

/* A number of a job: over / under. */
typedef struct ratio {
    wide over, under;
} ratio;

static ratio ratio_of(double value, double denominator)
{
    if (denominator > 0)
        return (ratio){(wide)rint(value * denominator), (wide)denominator};
    return (ratio){(wide)value, 1};
}

static double edge_once(const gconv_job *job, wide sum, wide divisor)
{
    ratio threshold = ratio_of(job->threshold, job->threshold_denominator);
    wide magnitude = sum < 0 ? -sum : sum;
    wide side = job->rule == GCONV_RULE_ABS        ? magnitude
                : job->rule == GCONV_RULE_POSITIVE ? sum
                                                   : -sum;
    bool passes = side * threshold.under > threshold.over * (wide)(white(job) / 255) * divisor;
    double largest = job->output_depth == 32 ? white(job) : ldexp(1, job->output_depth) - 1;
    return passes != job->invert ? largest : 0;
}

/* The integer nearest to top / under, ties to even, within [0, largest]. */
static double nearest(wide top, wide under, double largest)
{
    double guess = (double)(top / under);
    if (!(guess > 0))
        return 0;
    if (guess >= largest + 1)
        return largest;
    double low = floor(guess);
    low -= (wide)low * under > top;
    wide twice = 2 * (top - (wide)low * under);
    low += twice > under || (twice >= under && fmod(low, 2) != 0);
    return smaller(low, largest);
}

double judge_once(const gconv_job *job, float value)
{
    const gconv_filter *last = job->filters[job->filter_count - 1];
    wide sum = (wide)value, divisor = (wide)judge_divisor(job);
    if (divisor < 0) {
        sum = -sum;
        divisor = -divisor;
    }
    if (job->output == GCONV_OUTPUT_EDGES)
        return edge_once(job, sum, divisor);
    if (job->absolute && sum < 0)
        sum = -sum;
    ratio scale = ratio_of(job->scale, job->scale_denominator), offset = {0, 1};
    if (job->has_offset)
        offset = ratio_of(job->offset, job->offset_denominator);
    else if (last->has_offset)
        offset = ratio_of(last->offset, last->offset_denominator);
    wide levels = (wide)(white(job) / 255), under = scale.under * offset.under * divisor;
    wide top = scale.over * offset.under * sum + offset.over * levels * scale.under * divisor;
    if (job->output_depth == 32)
        return (double)(float)(top / under);
    if (job->output_depth == 1)
        return top >= 128 * levels * under ? job->input.channels == 1 ? 1 : 255 : 0;
    if (job->output_depth == 16)
        return nearest(levels > 1 ? top : 257 * top, under, 65535);
    return nearest(top, levels > 1 ? 257 * under : under, 255);
}
