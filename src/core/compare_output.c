/* Verification (contract.md, rule 12): chain values, outputs and single pixels against the
 * reference. */
#include "base/memory.h"
#include "base/status.h"
#include "core/conversion.h"
#include "core/plan.h"
#include "core/reference_pixel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Chain values ---------------------------------------------------------------------------- */

/* The largest |chain input| of the image. The bound of rule 4 scales with it. */
static gconv_status largest_input(const gc_problem *problem, const void *input, size_t stride,
                                  double *largest, gconv_error *error)
{
    size_t values = gc_chain_row_values(&problem->chain);
    float *row = gc_allocate_array(values, sizeof *row);
    GC_TRY_MEMORY(row != NULL, error, values * sizeof *row);
    float most = 0;
    for (uint32_t y = 0; y < problem->chain.height; y++) {
        gc_load_row(&problem->conversion, (const char *)input + y * stride, row);
        for (size_t i = 0; i < values; i++)
            most = fmaxf(most, fabsf(row[i]));
    }
    free(row);
    *largest = most;
    return GCONV_OK;
}

/* |a - b|: 0 for equal bits, infinite if only one is a number. If the chain is exact, different
 * bits have a distance above 0: zeros of different sign are the smallest float apart. */
static double distance(float a, float b, bool exact)
{
    if (memcmp(&a, &b, sizeof a) == 0)
        return 0;
    double difference = fabs((double)a - (double)b);
    if (isnan(difference))
        return INFINITY;
    return exact ? fmax(difference, FLT_TRUE_MIN) : difference;
}

/* The functions that compare read the caller's input as it enters the chain. */
static gconv_status refuse_colours(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "edges of colours are compared as grey images");
}

/* The bound of rule 4 for images whose largest |chain input| is `largest`. */
static double bound_of(const gconv_plan *plan, double largest)
{
    const gc_operations *operations = plan->choice.implementation->operations;
    double extra = operations->extra_terms != NULL ? operations->extra_terms(&plan->problem) : 0;
    return gc_chain_bound(&plan->problem.chain, largest, extra);
}

/* A bound of |chain value - reference's|. For integers it is rule 4's bound for the brightest image
 * of this depth, for float32 the bound for this image. */
static gconv_status find_bound(const gconv_plan *plan, const void *input, size_t input_stride,
                               double *bound, gconv_error *error)
{
    const gc_problem *problem = &plan->problem;
    if (problem->to_grey)
        return refuse_colours(error);
    double largest = gc_loaded_range_of(&problem->conversion).largest;
    gconv_status status = GCONV_OK;
    /* Integers nearly always have a sample near their largest. */
    if (problem->conversion.input.depth == 32)
        status = largest_input(problem, input, input_stride, &largest, error);
    *bound = bound_of(plan, largest);
    return status;
}

static void compare_chains(const float *chain, const float *reference, const gc_problem *problem,
                           uint32_t y, double bound, gconv_difference *difference)
{
    size_t values = gc_chain_row_values(&problem->chain);
    for (size_t i = 0; i < values; i++) {
        double error = distance(chain[i], reference[i], problem->chain.exact);
        difference->mismatches += error > bound;
        if (error > difference->largest) {
            difference->largest = error;
            difference->x = (uint32_t)(i / (size_t)problem->chain.channels);
            difference->y = y;
            difference->channel = (int)(i % (size_t)problem->chain.channels);
        }
    }
}

gconv_status gconv_plan_compare(const gconv_plan *plan, const void *input, size_t input_stride,
                                const float *chain, const float *reference, size_t chain_stride,
                                gconv_difference *difference, gconv_error *error)
{
    const gc_problem *problem = &plan->problem;
    memset(difference, 0, sizeof *difference);
    if (problem->to_grey)
        return refuse_colours(error);
    if (input == NULL || chain == NULL || reference == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the input, chain or reference is a null pointer");
    if (input_stride < gconv_shape_row_bytes(&problem->conversion.input) ||
        chain_stride < gc_chain_row_values(&problem->chain) * sizeof(float))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a stride is smaller than a row");
    double largest = 0;
    GC_TRY(largest_input(problem, input, input_stride, &largest, error));
    double bound = bound_of(plan, largest);
    for (uint32_t y = 0; y < problem->chain.height; y++)
        compare_chains((const float *)((const char *)chain + y * chain_stride),
                       (const float *)((const char *)reference + y * chain_stride), problem, y,
                       bound, difference);
    difference->within = difference->mismatches == 0;
    difference->bound = bound / fabs(problem->conversion.divisor);
    difference->largest /= fabs(problem->conversion.divisor);
    return GCONV_OK;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* Samples of one pixel of output. */
typedef struct pixel {
    double samples[GC_CHANNELS_MAX];
} pixel;

static pixel read_pixel(const gconv_shape *shape, const void *row, uint32_t x)
{
    pixel p;
    for (int c = 0; c < shape->channels; c++) {
        size_t i = (size_t)x * (size_t)shape->channels + (size_t)c;
        p.samples[c] = shape->depth == 1    ? ((const uint8_t *)row)[x / 8] >> (7 - x % 8) & 1
                       : shape->depth == 8  ? ((const uint8_t *)row)[i]
                       : shape->depth == 16 ? ((const uint16_t *)row)[i]
                                            : (double)((const float *)row)[i];
    }
    return p;
}

/* One pixel of output from chain values, or from exact sums unless `sums` is NULL. `alpha` is as
 * gc_store_pixels takes it. */
static pixel convert(const gc_problem *problem, const float *values, const gc_word *sums,
                     const void *alpha)
{
    const gc_conversion *conversion = &problem->conversion;
    union {
        float align;
        char bytes[GC_CHANNELS_MAX * sizeof(float)];
    } output;
    gc_store_pixels(conversion, values, 1, alpha, output.bytes);
    if (sums != NULL)
        gc_words_round(problem, sums, 1, output.bytes);
    return read_pixel(&conversion->output, output.bytes, 0);
}

typedef struct limits {
    pixel least, most;
} limits;

static void widen(limits *l, pixel p)
{
    for (int c = 0; c < GC_CHANNELS_MAX; c++) {
        l->least.samples[c] = fmin(l->least.samples[c], p.samples[c]);
        l->most.samples[c] = fmax(l->most.samples[c], p.samples[c]);
    }
}

/* Three chain values within `bound` of the reference's: the least, the largest, and one between
 * them. That is 0 if 0 lies between, because the absolute value is least there; else the
 * reference's. */
typedef struct candidates {
    float values[3][GC_CHANNELS_MAX];
} candidates;

static candidates candidates_of(const gc_chain *chain, const float *values, double bound)
{
    candidates result;
    for (int c = 0; c < chain->channels; c++) {
        float low = nextafterf((float)(values[c] - bound), -INFINITY);
        float high = nextafterf((float)(values[c] + bound), INFINITY);
        result.values[0][c] = low;
        result.values[1][c] = high;
        result.values[2][c] = low < 0 && high > 0 ? 0 : values[c];
    }
    return result;
}

/* Colours are divided by alpha, so the limits of colour are combined with both limits of alpha. If
 * alpha may be 0 or less, the quotient has no limits. */
static void widen_by_alpha(const gc_problem *problem, candidates of, limits *l)
{
    int alpha = problem->chain.channels - 1;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            float mixed[GC_CHANNELS_MAX];
            memcpy(mixed, of.values[k], sizeof mixed);
            mixed[alpha] = of.values[i][alpha];
            widen(l, convert(problem, mixed, NULL, NULL));
        }
    for (int c = 0; c < alpha && !(of.values[0][alpha] > 0); c++) {
        l->least.samples[c] = -INFINITY;
        l->most.samples[c] = INFINITY;
    }
}

/* The outputs of values up to `bound` away from the reference's. The conversion is monotonic, but
 * for the absolute value, which is least at 0. `right` is the reference's output. */
static limits limits_of(const gconv_plan *plan, const float *values, double bound,
                        const void *alpha, pixel right)
{
    const gc_problem *problem = &plan->problem;
    limits l = {right, right};
    if (gc_problem_is_same_everywhere(problem) || gconv_plan_promise(plan) != GCONV_PROMISE_BOUNDED)
        return l;
    candidates ends = candidates_of(&problem->chain, values, bound);
    for (int k = 0; k < 3 && !problem->conversion.premultiplies; k++)
        widen(&l, convert(problem, ends.values[k], NULL, alpha));
    if (problem->conversion.premultiplies)
        widen_by_alpha(problem, ends, &l);
    return l;
}

static void judge(const gconv_shape *shape, gconv_pixel at, pixel got, pixel right, limits l,
                  gconv_difference *difference)
{
    for (int c = 0; c < shape->channels; c++) {
        double value = got.samples[c], distance = fabs(value - right.samples[c]);
        bool within = value >= l.least.samples[c] && value <= l.most.samples[c];
        difference->mismatches += !within;
        if (isnan(distance))
            distance = INFINITY;
        /* A wrong pixel is reported rather than a right one. */
        bool first = !within && difference->within;
        if (first || (within == difference->within && distance > difference->largest)) {
            difference->largest = distance;
            difference->x = at.x;
            difference->y = at.y;
            difference->channel = c;
        }
        difference->within = difference->within && within;
    }
}

/* ---- A whole image --------------------------------------------------------------------------- */

/* An output, row by row. */
typedef struct comparison {
    const gconv_plan *plan;
    double bound;      /* on chain values */
    void *alpha;       /* a row of alpha samples if alpha is kept, else NULL */
    size_t alpha_size; /* bytes of a sample of it */
    gconv_difference *difference;
} comparison;

/* Most rows equal the reference's. Of a row that differs only the pixels that differ are judged. */
static void compare_row(const comparison *c, const void *input, const char *output,
                        const char *expected, const float *chain, uint32_t y)
{
    const gc_problem *problem = &c->plan->problem;
    const gconv_shape *shape = &problem->conversion.output;
    if (memcmp(expected, output, gconv_shape_row_bytes(shape)) == 0)
        return;
    if (c->alpha != NULL)
        gc_extract_alpha(&problem->conversion.input, input, c->alpha);
    for (uint32_t x = 0; x < shape->width; x++) {
        pixel got = read_pixel(shape, output, x), right = read_pixel(shape, expected, x);
        if (memcmp(&got, &right, sizeof *got.samples * (size_t)shape->channels) == 0)
            continue;
        const float *values = chain + (size_t)x * (size_t)problem->chain.channels;
        const char *alpha = c->alpha == NULL ? NULL : (const char *)c->alpha + x * c->alpha_size;
        judge(shape, (gconv_pixel){x, y}, got, right,
              limits_of(c->plan, values, c->bound, alpha, right), c->difference);
    }
}

static gconv_status check_arguments(const gc_problem *problem, const void *input,
                                    size_t input_stride, const void *output, size_t output_stride,
                                    gconv_error *error)
{
    const gc_conversion *conversion = &problem->conversion;
    if (input == NULL || output == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the input or output is a null pointer");
    if (input_stride < gconv_shape_row_bytes(&conversion->input) ||
        output_stride < gconv_shape_row_bytes(&conversion->output))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a stride is smaller than a row");
    return GCONV_OK;
}

static gconv_status check_expectation(const gc_problem *problem, const gconv_expectation *expected,
                                      gconv_error *error)
{
    if (expected->chain == NULL || expected->output == NULL ||
        expected->chain_stride < gc_chain_row_values(&problem->chain) * sizeof(float) ||
        expected->output_stride < gconv_shape_row_bytes(&problem->conversion.output))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "nothing of the reference to compare with, or less than a row of it");
    return GCONV_OK;
}

gconv_status gconv_plan_compare_output(const gconv_plan *plan, const void *input,
                                       size_t input_stride, const void *output,
                                       size_t output_stride, const gconv_expectation *expected,
                                       gconv_difference *difference, gconv_error *error)
{
    const gc_conversion *conversion = &plan->problem.conversion;
    comparison c = {
        .plan = plan, .alpha_size = (size_t)conversion->input.depth / 8, .difference = difference};
    *difference = (gconv_difference){.within = true};
    GC_TRY(check_arguments(&plan->problem, input, input_stride, output, output_stride, error));
    GC_TRY(check_expectation(&plan->problem, expected, error));
    GC_TRY(find_bound(plan, input, input_stride, &c.bound, error));
    if (conversion->keeps_alpha) {
        c.alpha = gc_allocate_array(conversion->input.width, c.alpha_size);
        GC_TRY_MEMORY(c.alpha != NULL, error, conversion->input.width * c.alpha_size);
    }
    for (uint32_t y = 0; y < conversion->output.height; y++)
        compare_row(&c, (const char *)input + y * input_stride,
                    (const char *)output + y * output_stride,
                    (const char *)expected->output + y * expected->output_stride,
                    (const float *)(const void *)((const char *)expected->chain +
                                                  y * expected->chain_stride),
                    y);
    difference->bound = c.bound / fabs(conversion->divisor);
    free(c.alpha);
    return GCONV_OK;
}

/* ---- Single pixels --------------------------------------------------------------------------- */

gconv_status gconv_plan_compare_pixels(const gconv_plan *plan, const void *input,
                                       size_t input_stride, const void *output,
                                       size_t output_stride, const gconv_pixel *pixels,
                                       size_t count, gconv_difference *difference,
                                       gconv_error *error)
{
    const gc_problem *problem = &plan->problem;
    const gc_conversion *conversion = &problem->conversion;
    const gconv_shape *in = &conversion->input, *out = &conversion->output;
    *difference = (gconv_difference){.within = true};
    GC_TRY(check_arguments(problem, input, input_stride, output, output_stride, error));
    if (pixels == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the list of pixels is a null pointer");
    if (gc_detects(&problem->detector))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "single pixels are judged for the method laplace alone");
    if (conversion->premultiplies)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "single pixels cannot be judged where colours are multiplied by alpha");
    double bound;
    gconv_status status = find_bound(plan, input, input_stride, &bound, error);
    for (size_t i = 0; status == GCONV_OK && i < count; i++) {
        gconv_pixel at = pixels[i];
        float values[GC_CHANNELS_MAX];
        gc_word sums[GC_CHANNELS_MAX * GC_LIMBS_MAX];
        if (at.x >= in->width || at.y >= in->height)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "a pixel lies outside the image");
        status = gc_reference_pixel(problem, input, input_stride, at.x, at.y, sums, error);
        if (status != GCONV_OK)
            break;
        gc_words_to_chain(&problem->chain, sums, (size_t)problem->chain.channels, values);
        size_t bytes = (size_t)in->depth / 8, channels = (size_t)in->channels;
        const char *alpha =
            (const char *)input + at.y * input_stride + (at.x * channels + channels - 1) * bytes;
        pixel got = read_pixel(out, (const char *)output + at.y * output_stride, at.x);
        pixel right = convert(problem, values, sums, alpha);
        judge(out, at, got, right, limits_of(plan, values, bound, alpha, right), difference);
    }
    difference->bound = bound / fabs(conversion->divisor);
    return status;
}
