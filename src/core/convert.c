#include "core/convert.h"

#include "base/bits.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* Pixels converted at a time: intermediate doubles stay in the first-level cache. */
enum { CHUNK = 256 };

/* ---- Samples to chain values ----------------------------------------------------------------- */

static void load_samples(const gc_problem *problem, const void *samples, size_t count, float *row)
{
    size_t values = count * (size_t)problem->channels;
    if (problem->job.input.depth == 8) {
        const uint8_t *from = samples;
        for (size_t i = 0; i < values; i++)
            row[i] = (float)from[i];
    } else {
        const uint16_t *from = samples;
        for (size_t i = 0; i < values; i++)
            row[i] = (float)from[i];
    }
}

static inline float sample_at(const void *samples, int depth, size_t index)
{
    return depth == 8 ? (float)((const uint8_t *)samples)[index]
                      : (float)((const uint16_t *)samples)[index];
}

/* Colours without alpha, or times alpha with alpha last. */
static void load_with_alpha(const gc_problem *problem, const void *samples, size_t count,
                            float *row)
{
    int depth = problem->job.input.depth;
    size_t channels = (size_t)problem->job.input.channels;
    size_t colours = channels - 1;
    for (size_t x = 0; x < count; x++) {
        float alpha = sample_at(samples, depth, x * channels + colours);
        float factor = problem->premultiplies ? alpha : 1;
        for (size_t c = 0; c < colours; c++)
            *row++ = sample_at(samples, depth, x * channels + c) * factor;
        if (problem->premultiplies)
            *row++ = alpha;
    }
}

void gc_load_pixels(const gc_problem *problem, const void *samples, size_t count, float *row)
{
    if (problem->keeps_alpha || problem->premultiplies)
        load_with_alpha(problem, samples, count, row);
    else
        load_samples(problem, samples, count, row);
}

void gc_load_row(const gc_problem *problem, const void *samples, float *row)
{
    gc_load_pixels(problem, samples, problem->width, row);
}

void gc_extract_alpha(const gconv_shape *input, const void *samples, void *alpha)
{
    size_t channels = (size_t)input->channels;
    if (input->depth == 8)
        for (size_t x = 0; x < input->width; x++)
            ((uint8_t *)alpha)[x] = ((const uint8_t *)samples)[x * channels + channels - 1];
    else
        for (size_t x = 0; x < input->width; x++)
            ((uint16_t *)alpha)[x] = ((const uint16_t *)samples)[x * channels + channels - 1];
}

/* ---- Chain values to output ------------------------------------------------------------------ */

/* Rule 5 for one value in samples of the input's depth, before clamping and rounding. */
static inline double scaled(const gc_problem *problem, double value)
{
    value = problem->job.absolute ? fabs(value) : value;
    return problem->job.scale * value + problem->offset;
}

/* v of `count` pixels whose channels are all in the chain and independent. */
static void final_values(const gc_problem *problem, const float *chain, size_t count, double *v)
{
    size_t values = count * (size_t)problem->channels;
    double divisor = problem->divisor;
    for (size_t i = 0; i < values; i++)
        v[i] = (double)chain[i] / divisor;
    if (problem->job.absolute)
        for (size_t i = 0; i < values; i++)
            v[i] = fabs(v[i]);
    if (problem->job.scale != 1 || problem->offset != 0)
        for (size_t i = 0; i < values; i++)
            v[i] = problem->job.scale * v[i] + problem->offset;
}

/* v of `count` pixels whose alpha is copied from the input (first sample at alpha[first]). */
static void final_values_alpha_kept(const gc_problem *problem, const float *chain, size_t count,
                                    const void *alpha, size_t first, double *v)
{
    for (size_t x = 0; x < count; x++) {
        for (int c = 0; c < problem->channels; c++)
            *v++ = scaled(problem, (double)*chain++ / problem->divisor);
        *v++ = sample_at(alpha, problem->job.input.depth, first + x);
    }
}

/* v of `count` pixels of convolved premultiplied colour: divided again, 0 where nothing is seen. */
static void final_values_premultiplied(const gc_problem *problem, const float *chain, size_t count,
                                       double *v)
{
    int colours = problem->channels - 1;
    for (size_t x = 0; x < count; x++) {
        double alpha = (double)chain[colours] / problem->divisor;
        for (int c = 0; c < colours; c++) {
            double colour = alpha > 0 ? (double)chain[c] / (double)chain[colours] : 0;
            *v++ = scaled(problem, colour);
        }
        *v++ = alpha;
        chain += problem->channels;
    }
}

/* Colour channels become black or white of the input's depth; alpha stays. */
static void make_bilevel(const gc_problem *problem, size_t count, double *v)
{
    int channels = problem->output.channels;
    int colours = channels % 2 == 0 ? channels - 1 : channels;
    double middle = 128 * problem->sample_max / 255;
    for (size_t x = 0; x < count; x++)
        for (int c = 0; c < colours; c++) {
            double *value = &v[x * (size_t)channels + (size_t)c];
            *value = *value >= middle ? problem->sample_max : 0;
        }
}

/* Nearest integer, ties to even, of a value in [0, 2^51): adding 1.5 * 2^52 leaves no bits for a
 * fraction. Unlike rint, compilers vectorise it on every target. Not-a-number gives 0. */
static inline double clamp_and_round(double value, double largest)
{
    value = value > 0 ? value : 0;
    value = value < largest ? value : largest;
    return (value + 0x1.8p52) - 0x1.8p52;
}

/* Stores `count` pixels of v at pixel `first` of an output row. */
static void quantize(const gc_problem *problem, const double *v, size_t first, size_t count,
                     void *output)
{
    size_t channels = (size_t)problem->output.channels;
    size_t values = count * channels;
    size_t at = first * channels;
    int depth = problem->output.depth;
    double factor = 1;
    if (depth == 8 || depth == 16)
        factor = (depth == 16 ? 65535.0 : 255.0) / problem->sample_max;
    bool narrows = factor < 1;
    if (depth == 32) {
        for (size_t i = 0; i < values; i++)
            ((float *)output)[at + i] = (float)v[i];
    } else if (depth == 16) {
        uint16_t *to = (uint16_t *)output + at;
        for (size_t i = 0; i < values; i++)
            to[i] = (uint16_t)(int32_t)clamp_and_round(v[i] * factor, 65535);
    } else if (depth == 8) {
        uint8_t *to = (uint8_t *)output + at;
        for (size_t i = 0; i < values; i++)
            to[i] = (uint8_t)(int32_t)clamp_and_round(narrows ? v[i] / 257 : v[i], 255);
    } else {
        uint8_t flags[CHUNK + 8];
        for (size_t i = 0; i < count; i++)
            flags[i] = v[i] > 0;
        gc_pack_bits(flags, count, (uint8_t *)output + first / 8);
    }
}

static void store_samples(const gc_problem *problem, const float *row, size_t pixels,
                          const void *alpha, void *output)
{
    double v[CHUNK * GC_CHANNELS_MAX];
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t count = pixels - first < CHUNK ? pixels - first : CHUNK;
        const float *chain = row + first * (size_t)problem->channels;
        if (problem->premultiplies)
            final_values_premultiplied(problem, chain, count, v);
        else if (problem->keeps_alpha)
            final_values_alpha_kept(problem, chain, count, alpha, first, v);
        else
            final_values(problem, chain, count, v);
        if (problem->bilevel)
            make_bilevel(problem, count, v);
        quantize(problem, v, first, count, output);
    }
}

/* flags[i] = whether the response passes the threshold (rule 6). */
static void find_edges(const gc_problem *problem, const float *row, size_t count, uint8_t *flags)
{
    float threshold = gc_float_at_most(problem->threshold);
    uint8_t inverted = problem->job.invert;
    if (problem->rule == GCONV_RULE_ABS)
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint8_t)(fabsf(row[i]) > threshold) ^ inverted;
    else if (problem->rule == GCONV_RULE_POSITIVE)
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint8_t)(row[i] > threshold) ^ inverted;
    else
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint8_t)(-row[i] > threshold) ^ inverted;
}

static void store_edges(const gc_problem *problem, const float *row, size_t pixels, void *output)
{
    uint8_t flags[CHUNK + 8];
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t count = pixels - first < CHUNK ? pixels - first : CHUNK;
        find_edges(problem, row + first, count, flags);
        if (problem->output.depth == 1)
            gc_pack_bits(flags, count, (uint8_t *)output + first / 8);
        else if (problem->output.depth == 8)
            for (size_t i = 0; i < count; i++)
                ((uint8_t *)output)[first + i] = (uint8_t)-flags[i];
        else if (problem->output.depth == 16)
            for (size_t i = 0; i < count; i++)
                ((uint16_t *)output)[first + i] = (uint16_t)-flags[i];
        else
            for (size_t i = 0; i < count; i++)
                ((float *)output)[first + i] = flags[i] ? (float)problem->sample_max : 0;
    }
}

void gc_store_pixels(const gc_problem *problem, const float *row, size_t count, const void *alpha,
                     void *output)
{
    if (problem->job.output == GCONV_OUTPUT_EDGES)
        store_edges(problem, row, count, output);
    else
        store_samples(problem, row, count, alpha, output);
}

void gc_store_row(const gc_problem *problem, const float *row, const void *alpha, void *output)
{
    gc_store_pixels(problem, row, problem->width, alpha, output);
}
