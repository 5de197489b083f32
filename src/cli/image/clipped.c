#include "cli/image/clipped.h"

#include <math.h>
#include <stddef.h>

/* ---- What values a job can have -------------------------------------------------------------- */

typedef struct range {
    double low, high;
} range;

static range ordered(double a, double b)
{
    return (range){fmin(a, b), fmax(a, b)};
}

/* Adds the magnitudes of weights to sums[0], those of negative ones to sums[1]. */
static void add_vector(const double *numbers, int count, double sums[2])
{
    for (int i = 0; i < count; i++)
        sums[numbers[i] < 0] += fabs(numbers[i]);
}

static void sum_weights(const gconv_filter *f, double sums[2])
{
    double column[2] = {0, 0}, row[2] = {0, 0};
    sums[0] = sums[1] = 0;
    for (int i = 0; f->weights != NULL && i < f->width * f->height; i++)
        sums[f->weights[i] < 0] += (double)fabsf(f->weights[i]);
    if (f->weights != NULL)
        return;
    add_vector(f->column, f->height, column);
    add_vector(f->row, f->width, row);
    sums[0] = column[0] * row[0] + column[1] * row[1];
    sums[1] = column[0] * row[1] + column[1] * row[0];
}

/* The values of a chain over its divisors, in samples of the input. Premultiplied colours are means
 * of colours where no weight is negative, else they can be anything. */
static range range_of_chain(const gconv_job *job, double white)
{
    bool means = job->alpha == GCONV_ALPHA_PREMULTIPLY && job->input.channels % 2 == 0;
    range r = {0, white};
    for (int i = 0; i < job->filter_count; i++) {
        double sums[2], border = job->border_value * white / 255;
        sum_weights(job->filters[i], sums);
        if (job->border == GCONV_BORDER_CONSTANT)
            r = (range){fmin(r.low, border), fmax(r.high, border)};
        if (means && sums[1] > 0)
            return (range){-HUGE_VAL, HUGE_VAL};
        if (!means)
            r = ordered((sums[0] * r.low - sums[1] * r.high) / job->filters[i]->divisor,
                        (sums[0] * r.high - sums[1] * r.low) / job->filters[i]->divisor);
    }
    return r;
}

/* The same of v of rule 5, before it is clamped. Samples of float32 can be anything. */
static range range_of_values(const gconv_job *job, double white)
{
    const gconv_filter *last = job->filters[job->filter_count - 1];
    double offset = job->has_offset ? job->offset : last->has_offset ? last->offset : 0;
    range r = {-HUGE_VAL, HUGE_VAL};
    if (job->input.depth != 32)
        r = range_of_chain(job, white);
    if (job->absolute)
        r = (range){fmax(0, fmax(r.low, -r.high)), fmax(-r.low, r.high)};
    r = ordered(job->scale * r.low, job->scale * r.high);
    return (range){r.low + offset * white / 255, r.high + offset * white / 255};
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Of every `step`th sample of a row, from `first` on, how many are `wanted`. */
static uint64_t count_samples(const gconv_shape *shape, const void *row, size_t first, size_t step,
                              uint16_t wanted)
{
    size_t end = shape->width * (size_t)shape->channels;
    uint64_t count = 0;
    if (shape->depth == 8)
        for (size_t i = first; i < end; i += step)
            count += ((const uint8_t *)row)[i] == wanted;
    else
        for (size_t i = first; i < end; i += step)
            count += ((const uint16_t *)row)[i] == wanted;
    return count;
}

/* All samples of a row that are `wanted`, less those of alpha. */
static uint64_t count_colours(const gconv_shape *shape, const void *row, uint16_t wanted)
{
    size_t channels = (size_t)shape->channels;
    uint64_t all = count_samples(shape, row, 0, 1, wanted);
    return channels % 2 == 1 ? all
                             : all - count_samples(shape, row, channels - 1, channels, wanted);
}

static gconv_status count_and_write(void *user, uint32_t count, const void *rows, size_t stride,
                                    gconv_error *error)
{
    gc_clip_counter *c = user;
    uint16_t white = c->shape.depth == 8 ? UINT8_MAX : UINT16_MAX;
    for (uint32_t y = 0; y < count; y++) {
        const void *row = (const char *)rows + y * stride;
        c->clipped->below += c->below ? count_colours(&c->shape, row, 0) : 0;
        c->clipped->above += c->above ? count_colours(&c->shape, row, white) : 0;
    }
    return c->sink->write(c->sink->user, count, rows, stride, error);
}

static bool help(void *user)
{
    const gc_clip_counter *c = user;
    return c->sink->help(c->sink->user);
}

const gconv_sink *gc_count_clipped(gc_clip_counter *counter, gc_clipped *clipped,
                                   const gconv_job *job, const gconv_shape *output,
                                   const gconv_sink *sink)
{
    bool has_levels = output->depth == 8 || output->depth == 16;
    *clipped = (gc_clipped){.counted = has_levels && job->output == GCONV_OUTPUT_SAMPLES};
    if (!clipped->counted)
        return sink;
    double white = job->input.depth == 16 ? UINT16_MAX : UINT8_MAX;
    double half = white / (output->depth == 16 ? UINT16_MAX : UINT8_MAX) / 2; /* of a level */
    range values = range_of_values(job, white);
    *counter = (gc_clip_counter){.own = gconv_sink_default(),
                                 .sink = sink,
                                 .clipped = clipped,
                                 .shape = *output,
                                 .below = values.low<-half, .above = values.high> white + half};
    if (!counter->below && !counter->above)
        return sink;
    counter->own.write = count_and_write;
    counter->own.user = counter;
    counter->own.help = sink->help != NULL ? help : NULL;
    return &counter->own;
}
