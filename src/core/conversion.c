#include "core/conversion.h"

#include "base/bits.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* Pixels converted at a time: intermediate doubles stay in the first-level cache. */
enum { CHUNK = 256 };

/* In samples of the input's depth. */
static double offset_of(const gconv_job *job, double samples_per_level)
{
    const gconv_filter *last = job->filters[job->filter_count - 1];
    double offset = job->has_offset ? job->offset : last->has_offset ? last->offset : 0;
    return offset * samples_per_level;
}

/* A negative divisor turns the sign of what the rule sees. */
static gconv_rule rule_of(const gconv_job *job, double divisor)
{
    if (divisor >= 0 || job->rule == GCONV_RULE_ABS)
        return job->rule;
    return job->rule == GCONV_RULE_POSITIVE ? GCONV_RULE_NEGATIVE : GCONV_RULE_POSITIVE;
}

gc_conversion gc_conversion_of(const gconv_job *job)
{
    bool has_alpha = job->input.channels % 2 == 0;
    /* Only a single channel can be packed to bits; elsewhere bilevel samples take 8. */
    bool packs = job->output_depth != 1 || job->input.channels == 1;
    gc_conversion conversion = {
        .input = job->input,
        .output = job->input,
        .keeps_alpha = has_alpha && job->alpha == GCONV_ALPHA_KEEP,
        .premultiplies = has_alpha && job->alpha == GCONV_ALPHA_PREMULTIPLY,
        .sample_max = job->input.depth == 16 ? 65535 : 255,
        .divisor = 1,
        .finds_edges = job->output == GCONV_OUTPUT_EDGES,
        .absolute = job->absolute,
        .scale = job->scale,
        .invert = job->invert,
    };
    double samples_per_level = conversion.sample_max / 255;
    for (int s = 0; s < job->filter_count; s++)
        conversion.divisor *= job->filters[s]->divisor;
    conversion.output.depth = packs ? job->output_depth : 8;
    conversion.chain_channels = job->input.channels - (conversion.keeps_alpha ? 1 : 0);
    conversion.bilevel = conversion.finds_edges || job->output_depth == 1;
    conversion.offset = offset_of(job, samples_per_level);
    conversion.threshold = job->threshold * samples_per_level * fabs(conversion.divisor);
    conversion.rule = rule_of(job, conversion.divisor);
    return conversion;
}

gc_loaded_range gc_loaded_range_of(const gc_conversion *conversion)
{
    bool whole = conversion->input.depth != 32;
    double largest = whole ? conversion->sample_max : 0x1p32; /* rule 82 */
    return (gc_loaded_range){.largest = conversion->premultiplies ? largest * largest : largest,
                             .least = whole ? 1 : 0x1p-60,
                             .whole = whole};
}

/* ---- Samples to chain values ----------------------------------------------------------------- */

static void load_samples(const gc_conversion *conversion, const void *samples, size_t count,
                         float *row)
{
    size_t values = count * (size_t)conversion->chain_channels;
    if (conversion->input.depth == 8) {
        const uint8_t *from = samples;
        for (size_t i = 0; i < values; i++)
            row[i] = (float)from[i];
    } else if (conversion->input.depth == 32) {
        memcpy(row, samples, values * sizeof *row);
    } else {
        const uint16_t *from = samples;
        for (size_t i = 0; i < values; i++)
            row[i] = (float)from[i];
    }
}

static inline float sample_at(const void *samples, int depth, size_t index)
{
    return depth == 8    ? (float)((const uint8_t *)samples)[index]
           : depth == 16 ? (float)((const uint16_t *)samples)[index]
                         : ((const float *)samples)[index];
}

/* If alpha is kept, loads colours alone. If colours are premultiplied, loads colours times alpha,
 * then alpha. */
static void load_with_alpha(const gc_conversion *conversion, const void *samples, size_t count,
                            float *row)
{
    int depth = conversion->input.depth;
    size_t channels = (size_t)conversion->input.channels;
    size_t colours = channels - 1;
    for (size_t x = 0; x < count; x++) {
        float alpha = sample_at(samples, depth, x * channels + colours);
        float factor = conversion->premultiplies ? alpha : 1;
        for (size_t c = 0; c < colours; c++)
            *row++ = sample_at(samples, depth, x * channels + c) * factor;
        if (conversion->premultiplies)
            *row++ = alpha;
    }
}

void gc_load_pixels(const gc_conversion *conversion, const void *samples, size_t count, float *row)
{
    if (conversion->keeps_alpha || conversion->premultiplies)
        load_with_alpha(conversion, samples, count, row);
    else
        load_samples(conversion, samples, count, row);
}

void gc_load_row(const gc_conversion *conversion, const void *samples, float *row)
{
    gc_load_pixels(conversion, samples, conversion->input.width, row);
}

void gc_extract_alpha(const gconv_shape *input, const void *samples, void *alpha)
{
    size_t channels = (size_t)input->channels;
    if (input->depth == 8)
        for (size_t x = 0; x < input->width; x++)
            ((uint8_t *)alpha)[x] = ((const uint8_t *)samples)[x * channels + channels - 1];
    else if (input->depth == 32)
        for (size_t x = 0; x < input->width; x++)
            ((float *)alpha)[x] = ((const float *)samples)[x * channels + channels - 1];
    else
        for (size_t x = 0; x < input->width; x++)
            ((uint16_t *)alpha)[x] = ((const uint16_t *)samples)[x * channels + channels - 1];
}

/* ---- Chain values to output ------------------------------------------------------------------ */

/* Rule 5 for one value in samples of the input's depth, before clamping and rounding. */
static inline double scaled(const gc_conversion *conversion, double value)
{
    value = conversion->absolute ? fabs(value) : value;
    return conversion->scale * value + conversion->offset;
}

/* Final values v of `count` pixels whose channels are all in the chain and independent. */
static void final_values(const gc_conversion *conversion, const float *chain, size_t count,
                         double *v)
{
    size_t values = count * (size_t)conversion->chain_channels;
    double divisor = conversion->divisor;
    for (size_t i = 0; i < values; i++)
        v[i] = (double)chain[i] / divisor;
    if (conversion->absolute)
        for (size_t i = 0; i < values; i++)
            v[i] = fabs(v[i]);
    if (conversion->scale != 1 || conversion->offset != 0)
        for (size_t i = 0; i < values; i++)
            v[i] = conversion->scale * v[i] + conversion->offset;
}

/* Final values v of `count` pixels whose alpha is copied from the input (first sample at
 * alpha[first]). */
static void final_values_alpha_kept(const gc_conversion *conversion, const float *chain,
                                    size_t count, const void *alpha, size_t first, double *v)
{
    for (size_t x = 0; x < count; x++) {
        for (int c = 0; c < conversion->chain_channels; c++)
            *v++ = scaled(conversion, (double)*chain++ / conversion->divisor);
        *v++ = sample_at(alpha, conversion->input.depth, first + x);
    }
}

/* Final values v of `count` pixels of premultiplied colour: divided by alpha, 0 if alpha is not
 * above 0. */
static void final_values_premultiplied(const gc_conversion *conversion, const float *chain,
                                       size_t count, double *v)
{
    int colours = conversion->chain_channels - 1;
    for (size_t x = 0; x < count; x++) {
        double alpha = (double)chain[colours] / conversion->divisor;
        for (int c = 0; c < colours; c++) {
            double colour = alpha > 0 ? (double)chain[c] / (double)chain[colours] : 0;
            *v++ = scaled(conversion, colour);
        }
        *v++ = alpha;
        chain += conversion->chain_channels;
    }
}

/* Colour channels become black or white of the input's depth; alpha stays. */
static void make_bilevel(const gc_conversion *conversion, size_t count, double *v)
{
    int channels = conversion->output.channels;
    int colours = channels % 2 == 0 ? channels - 1 : channels;
    double middle = 128 * conversion->sample_max / 255;
    for (size_t x = 0; x < count; x++)
        for (int c = 0; c < colours; c++) {
            double *value = &v[x * (size_t)channels + (size_t)c];
            *value = *value >= middle ? conversion->sample_max : 0;
        }
}

/* Stores `count` pixels of v at pixel `first` of an output row. */
static void quantize(const gc_conversion *conversion, const double *v, size_t first, size_t count,
                     void *output)
{
    size_t channels = (size_t)conversion->output.channels;
    size_t values = count * channels;
    size_t at = first * channels;
    int depth = conversion->output.depth;
    double factor = 1;
    if (depth == 8 || depth == 16)
        factor = (depth == 16 ? 65535.0 : 255.0) / conversion->sample_max;
    bool narrows = factor < 1; /* 1/257 is inexact: a division rounds once */
    if (depth == 32) {
        for (size_t i = 0; i < values; i++)
            ((float *)output)[at + i] = (float)v[i];
    } else if (depth == 16) {
        uint16_t *to = (uint16_t *)output + at;
        for (size_t i = 0; i < values; i++)
            to[i] = (uint16_t)(int32_t)gc_clamp_and_round(v[i] * factor, 65535);
    } else if (depth == 8) {
        uint8_t *to = (uint8_t *)output + at;
        for (size_t i = 0; i < values; i++)
            to[i] = (uint8_t)(int32_t)gc_clamp_and_round(narrows ? v[i] / 257 : v[i], 255);
    } else {
        uint8_t flags[CHUNK + 8];
        for (size_t i = 0; i < count; i++)
            flags[i] = v[i] > 0;
        gc_pack_bits(flags, count, (uint8_t *)output + first / 8);
    }
}

void gc_store_values(const gc_conversion *conversion, double *v, size_t first, size_t count,
                     void *output)
{
    if (conversion->bilevel)
        make_bilevel(conversion, count, v);
    quantize(conversion, v, first, count, output);
}

static void store_samples(const gc_conversion *conversion, const float *row, size_t pixels,
                          const void *alpha, void *output)
{
    double v[CHUNK * GC_CHANNELS_MAX];
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t count = pixels - first < CHUNK ? pixels - first : CHUNK;
        const float *chain = row + first * (size_t)conversion->chain_channels;
        if (conversion->premultiplies)
            final_values_premultiplied(conversion, chain, count, v);
        else if (conversion->keeps_alpha)
            final_values_alpha_kept(conversion, chain, count, alpha, first, v);
        else
            final_values(conversion, chain, count, v);
        gc_store_values(conversion, v, first, count, output);
    }
}

/* flags[i] = whether the response passes the threshold (rule 6). */
static void find_edges(const gc_conversion *conversion, const float *row, size_t count,
                       uint8_t *flags)
{
    float threshold = gc_float_at_most(conversion->threshold);
    uint8_t inverted = conversion->invert;
    if (conversion->rule == GCONV_RULE_ABS)
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint8_t)(fabsf(row[i]) > threshold) ^ inverted;
    else if (conversion->rule == GCONV_RULE_POSITIVE)
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint8_t)(row[i] > threshold) ^ inverted;
    else
        for (size_t i = 0; i < count; i++)
            flags[i] = (uint8_t)(-row[i] > threshold) ^ inverted;
}

/* Minus a flag of 1 is white in every unsigned type. */
void gc_store_flags(const gc_conversion *conversion, const uint8_t *flags, size_t first,
                    size_t count, void *output)
{
    if (conversion->output.depth == 1)
        gc_pack_bits(flags, count, (uint8_t *)output + first / 8);
    else if (conversion->output.depth == 8)
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)output)[first + i] = (uint8_t)-flags[i];
    else if (conversion->output.depth == 16)
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)output)[first + i] = (uint16_t)-flags[i];
    else
        for (size_t i = 0; i < count; i++)
            ((float *)output)[first + i] = flags[i] ? (float)conversion->sample_max : 0;
}

static void store_edges(const gc_conversion *conversion, const float *row, size_t pixels,
                        void *output)
{
    uint8_t flags[CHUNK + 8];
    for (size_t first = 0; first < pixels; first += CHUNK) {
        size_t count = pixels - first < CHUNK ? pixels - first : CHUNK;
        find_edges(conversion, row + first, count, flags);
        gc_store_flags(conversion, flags, first, count, output);
    }
}

void gc_store_pixels(const gc_conversion *conversion, const float *row, size_t count,
                     const void *alpha, void *output)
{
    if (conversion->finds_edges)
        store_edges(conversion, row, count, output);
    else
        store_samples(conversion, row, count, alpha, output);
}
