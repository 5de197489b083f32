#include "core/detector.h"

#include "base/number.h"
#include "base/status.h"
#include "core/separate.h"
#include "core/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whole weights --------------------------------------------------------------------------- */

/* Fraction bits of weights. Samples of 8 bits leave room for more. */
enum { VECTOR_BITS_8 = 18, VECTOR_BITS_16 = 16, MATRIX_BITS = 20 };

static bool is_whole(const gconv_filter *f)
{
    bool whole = true;
    for (int i = 0; f->weights != NULL && i < f->width * f->height; i++)
        whole = whole && f->weights[i] == truncf(f->weights[i]);
    for (int i = 0; f->column != NULL && i < f->height; i++)
        whole = whole && f->column[i] == trunc(f->column[i]);
    for (int i = 0; f->row != NULL && i < f->width; i++)
        whole = whole && f->row[i] == trunc(f->row[i]);
    return whole;
}

/* *vectors becomes the column and the row of a filter, scaled so that their magnitudes have equal
 * sums; NULL if the filter is of higher rank. */
static gconv_status find_vectors(const gconv_filter *f, int bits, gconv_filter **vectors,
                                 gconv_error *error)
{
    int rank = 0;
    GC_TRY(gconv_filter_create_vectors(f->width, f->height, vectors, error));
    gconv_filter *v = *vectors;
    gconv_status status = gconv_filter_rank(f, 1, v->column, v->row, &rank, error);
    if (status != GCONV_OK || rank > 1) {
        gconv_filter_free(v);
        *vectors = NULL;
        return status;
    }
    double across = gc_magnitude_of(v->row, f->width), down = gc_magnitude_of(v->column, f->height);
    double factor = rank == 1 ? sqrt(across / down) : 1;
    for (int i = 0; i < f->height; i++)
        v->column[i] = rint(ldexp(v->column[i] * factor, bits));
    for (int i = 0; i < f->width; i++)
        v->row[i] = rint(ldexp(v->row[i] / factor, bits));
    v->divisor = ldexp(f->divisor, 2 * bits);
    v->anchor_x = f->anchor_x;
    v->anchor_y = f->anchor_y;
    return GCONV_OK;
}

gconv_status gc_make_weights_whole(gconv_filter **filter, int depth, gconv_error *error)
{
    gconv_filter *f = *filter, *vectors = NULL;
    free(f->terms); /* the weights define the sums */
    f->terms = NULL;
    if (is_whole(f))
        return GCONV_OK;
    int bits = depth == 8 ? VECTOR_BITS_8 : VECTOR_BITS_16;
    gconv_status status = find_vectors(f, bits, &vectors, error);
    if (vectors != NULL) {
        gconv_filter_free(f);
        *filter = vectors;
        return GCONV_OK;
    }
    for (int i = 0; status == GCONV_OK && i < f->width * f->height; i++)
        f->weights[i] = rintf(ldexpf(f->weights[i], MATRIX_BITS));
    f->divisor = ldexp(f->divisor, MATRIX_BITS);
    return status;
}

/* ---- Operators ------------------------------------------------------------------------------- */

static const struct {
    int side;
    int32_t smooth[GC_OPERATOR_SIDE_MAX], slope[GC_OPERATOR_SIDE_MAX];
} operators[] = {
    [GCONV_OPERATOR_SOBEL] = {3, {1, 2, 1}, {-1, 0, 1}},
    [GCONV_OPERATOR_SCHARR] = {3, {3, 10, 3}, {-1, 0, 1}},
    [GCONV_OPERATOR_PREWITT] = {3, {1, 1, 1}, {-1, 0, 1}},
    [GCONV_OPERATOR_SOBEL5] = {5, {1, 4, 6, 4, 1}, {-1, -2, 0, 2, 1}},
    [GCONV_OPERATOR_SOBEL7] = {7, {1, 6, 15, 20, 15, 6, 1}, {-1, -4, -5, 0, 5, 4, 1}},
};

/* Bits of values: int32_t holds twice a gradient by `scharr`, which is at most 16 times a value. */
enum { GRADIENT_BITS = 25, CROSSING_BITS = 29 };

static void set_operator(gc_detector *d)
{
    const gconv_detector *asked = &d->asked;
    d->side = 1;
    if (asked->method != GCONV_METHOD_ZERO_CROSSING) {
        d->side = operators[asked->derivative].side;
        memcpy(d->smooth, operators[asked->derivative].smooth, sizeof d->smooth);
        memcpy(d->slope, operators[asked->derivative].slope, sizeof d->slope);
    }
    d->by_16 = asked->derivative == GCONV_OPERATOR_SOBEL7;
    int around = d->side > 1 ? d->side / 2 : 1;
    d->stencil =
        (gc_step){.width = 2 * around + 1, .height = 2 * around + 1, .left = around, .top = around};
    d->beside = gc_detects_canny(d);
    bool like = asked->like == GCONV_LIKE_OPENCV;
    d->across = like ? 1 << 15 : 408; /* 169/408 and 13573/2^15 are close to tan 22.5 degrees */
    d->tangent = like ? 13573 : 169;
}

/* The largest magnitude of a gradient in one direction, for values up to `largest`. */
static double largest_gradient(const gc_detector *d, double largest)
{
    double smooth = 0, slope = 0;
    for (int i = 0; i < d->side; i++) {
        smooth += d->smooth[i];
        slope += abs(d->slope[i]);
    }
    return smooth * slope / 2 * largest * (d->by_16 ? 1.0 / 16 : 1);
}

/* ---- Thresholds ------------------------------------------------------------------------------ */

/* The largest whole number that is at most `limit`, or its square, which may have more than 53
 * bits: double rounds it, and fma gives the rest. All that is compared with it is above -1. */
static int64_t whole_limit(double limit, bool squared)
{
    double nearest = rint(limit);
    if (limit < 0)
        return -1;
    if (fabs(limit - nearest) <= 0x1p-50 * limit) /* meant as a whole number */
        limit = nearest;
    double whole = floor(squared ? limit * limit : limit);
    if (whole >= 0x1p62)
        return (int64_t)1 << 62;
    return (int64_t)whole + (squared ? (int64_t)floor(fma(limit, limit, -whole)) : 0);
}

static void set_thresholds(const gconv_job *job, const gc_conversion *conversion, gc_detector *d)
{
    const gconv_detector *asked = &d->asked;
    double unit = ldexp(conversion->sample_max / 255 * fabs(conversion->divisor), -d->shift);
    bool squared = d->side > 1 && asked->norm == GCONV_NORM_L2;
    double low = job->threshold * unit, high = 2 * low;
    if (asked->method == GCONV_METHOD_CANNY) {
        low = asked->low * unit / (d->by_16 ? 16 : 1);
        high = asked->high * unit / (d->by_16 ? 16 : 1);
    }
    if (squared && asked->like == GCONV_LIKE_OPENCV) {
        low = fmin(low, INT16_MAX);
        high = fmin(high, INT16_MAX);
    }
    d->low = whole_limit(low, squared);
    d->high = whole_limit(high, squared);
}

gconv_status gc_detector_create(const gconv_job *job, const gc_conversion *conversion,
                                const gc_chain *chain, gc_detector *d, gconv_error *error)
{
    const gc_step *last = &chain->steps[chain->step_count - 1];
    double border = job->border == GCONV_BORDER_CONSTANT ? job->border_value : 0;
    border *= conversion->sample_max / 255 * conversion->divisor;
    bool fits = chain->sums_fit && fabs(border) < 0x1p53;
    for (int s = 0; s < chain->step_count; s++)
        fits = fits && chain->steps[s].terms_border[0] == trunc(chain->steps[s].terms_border[0]);
    if (!fits)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "the values of this chain are too large for this method, or its divisors "
                       "are not whole numbers");
    set_operator(d);
    double largest = fmax(fabs(border), last->largest_input * last->absolute_sum);
    int bits = d->side == 1 ? CROSSING_BITS : GRADIENT_BITS;
    while (ldexp(largest, -d->shift) >= ldexp(1, bits))
        d->shift++;
    d->border = d->side == 1 ? 0 : gc_detector_value(d, rint(border));
    d->gradient = largest_gradient(d, ldexp(largest, -d->shift) + 1);
    double products = d->gradient * (d->tangent + 2 * d->across);
    bool squares = d->asked.norm == GCONV_NORM_L2;
    d->is_wide = fmax(products, squares ? 2 * d->gradient * d->gradient : 0) >= INT32_MAX;
    set_thresholds(job, conversion, d);
    d->level = ldexp(fabs(conversion->divisor) / (d->by_16 ? 16 : 1), -d->shift);
    d->rounding = gc_rounding_of(job, conversion, chain->divisor != 0 ? conversion->divisor : 0);
    d->rounding.a = copysign(ldexp(d->rounding.a, d->shift + (d->by_16 ? 4 : 0)), job->scale);
    return GCONV_OK;
}

/* Stores the sample of a magnitude, or of the root of a square, rounded once. */
static void round_magnitude(const gc_detector *d, int depth, int64_t own, size_t at, void *output)
{
    const gc_rounding *r = &d->rounding;
    bool squared = d->asked.norm == GCONV_NORM_L2;
    double nearest = (double)own, parts[2] = {(double)(own - (int64_t)nearest), nearest};
    if (depth == 32)
        ((float *)output)[at] =
            squared ? gc_round_root_to_float(r, parts) : gc_round_parts_to_float(r, &nearest, 1);
    else
        gc_set_sample(depth, output, at,
                      squared ? gc_round_root(r, parts) : gc_round_once(r, nearest));
}

/* Whether v in samples, a sum of numbers of magnitude `largest`, may be rounded to another sample.
 * Roundings of double have left it off by at most 2^-50 of these numbers. Adding 1.5 * 2^52 rounds
 * to a whole number; where it does not, all are in doubt. */
static inline bool is_in_doubt(double v, double largest)
{
    double nearest = (v + 0x1.8p52) - 0x1.8p52;
    return 0.5 - fabs(v - nearest) <= 0x1p-50 * largest;
}

void gc_detector_store(const gc_detector *d, const gc_conversion *conversion, const void *found,
                       bool are_wide, size_t count, void *output)
{
    enum { CHUNK = 256 };
    bool squared = d->asked.norm == GCONV_NORM_L2;
    int depth = conversion->output.depth;
    double v[CHUNK], factor = (depth == 16 ? 65535 : 255) / conversion->sample_max;
    int64_t own[CHUNK];
    uint8_t flags[CHUNK], doubtful[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t part = count - first < CHUNK ? count - first : CHUNK;
        for (size_t i = 0; i < part; i++) {
            own[i] = are_wide ? ((const int64_t *)found)[first + i]
                              : ((const int32_t *)found)[first + i];
            flags[i] = own[i] != 0;
            v[i] = (squared ? sqrt((double)own[i]) : (double)own[i]) / d->level;
            double scaled = conversion->scale * v[i];
            v[i] = scaled + conversion->offset;
            doubtful[i] =
                is_in_doubt(v[i] * factor, (fabs(scaled) + fabs(conversion->offset)) * factor);
        }
        if (conversion->finds_edges) {
            gc_store_flags(conversion, flags, first, part, output);
            continue;
        }
        gc_store_values(conversion, v, first, part, output);
        for (size_t i = 0; i < part && d->rounding.once; i++)
            if (doubtful[i] || (depth != 8 && depth != 16))
                round_magnitude(d, depth, own[i], first + i, output);
    }
}

void gc_detector_range(const gc_chain *chain, const gc_detector *detector, int64_t *first,
                       int64_t *last)
{
    *first = gc_larger(*first - detector->beside, 0);
    *last = gc_smaller(*last + detector->beside, (int64_t)chain->height - 1);
    gc_step_range(chain, &detector->stencil, *first, *last, first, last);
}
