/* Pixels of an output against the reference, which is computed there alone. */
#include "base/status.h"
#include "core/compare.h"
#include "core/plan.h"
#include "core/spot.h"

#include <math.h>
#include <string.h>

/* Samples of one pixel of output. */
typedef struct pixel {
    double samples[GC_CHANNELS_MAX];
} pixel;

/* Pixel x of an output row. */
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

/* What chain values become in the output. `alpha` is as gc_store_pixels takes it. */
static pixel convert(const gc_conversion *conversion, const float *values, const void *alpha)
{
    union {
        float align;
        char bytes[GC_CHANNELS_MAX * sizeof(float)];
    } output;
    gc_store_pixels(conversion, values, 1, alpha, output.bytes);
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

/* The outputs of values up to `bound` away from the reference's. The conversion rises or falls
 * throughout, or turns at 0, where it takes the absolute value. */
static limits limits_of(const gc_problem *problem, const float *values, double bound,
                        const void *alpha)
{
    pixel right = convert(&problem->conversion, values, alpha);
    limits l = {right, right};
    if (problem->chain.exact)
        return l;
    float low[GC_CHANNELS_MAX], high[GC_CHANNELS_MAX], middle[GC_CHANNELS_MAX];
    for (int c = 0; c < problem->chain.channels; c++) {
        low[c] = nextafterf((float)(values[c] - bound), -INFINITY);
        high[c] = nextafterf((float)(values[c] + bound), INFINITY);
        middle[c] = low[c] < 0 && high[c] > 0 ? 0 : values[c];
    }
    widen(&l, convert(&problem->conversion, low, alpha));
    widen(&l, convert(&problem->conversion, high, alpha));
    widen(&l, convert(&problem->conversion, middle, alpha));
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
        /* A pixel that is wrong comes before one that is right. */
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
    if (input == NULL || output == NULL || pixels == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the input, output or list of pixels is a null pointer");
    if (input_stride < gconv_shape_row_bytes(in) || output_stride < gconv_shape_row_bytes(out))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a stride is smaller than a row");
    if (conversion->premultiplies)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "single pixels cannot be judged where colours are multiplied by alpha");
    double bound;
    gconv_status status = gc_plan_bound(plan, input, input_stride, &bound, error);
    for (size_t i = 0; status == GCONV_OK && i < count; i++) {
        gconv_pixel at = pixels[i];
        float values[GC_CHANNELS_MAX];
        if (at.x >= in->width || at.y >= in->height)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "a pixel lies outside the image");
        status = gc_spot_values(problem, input, input_stride, at.x, at.y, values, error);
        if (status != GCONV_OK)
            break;
        size_t bytes = (size_t)in->depth / 8, channels = (size_t)in->channels;
        const char *alpha =
            (const char *)input + at.y * input_stride + (at.x * channels + channels - 1) * bytes;
        pixel got = read_pixel(out, (const char *)output + at.y * output_stride, at.x);
        judge(out, at, got, convert(conversion, values, alpha),
              limits_of(problem, values, bound, alpha), difference);
    }
    difference->bound = bound / fabs(conversion->divisor);
    return status;
}
