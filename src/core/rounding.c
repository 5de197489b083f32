/* v is estimated in double. Its error is below 2^-50 of it: a S + b by one fma, or as the sum of an
 * expansion, and then the quotient. Only if that may change the result, the sign of a S + b -
 * boundary * c decides. It is computed without an error, as an expansion (Shewchuk 1997): doubles
 * that do not overlap, in ascending order. The sign of the last one is that of their sum. */
#include "core/rounding.h"

#include "base/number.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 2 * GC_ROUNDING_PARTS + 3 };

/* ---- Expansions ------------------------------------------------------------------------------ */

typedef struct expansion {
    double parts[PARTS_MAX];
    int count;
} expansion;

static void add(expansion *e, double value)
{
    int kept = 0;
    for (int i = 0; i < e->count; i++) {
        double sum = value + e->parts[i], taken = sum - value;
        double rest = (value - (sum - taken)) + (e->parts[i] - taken);
        if (rest != 0)
            e->parts[kept++] = rest;
        value = sum;
    }
    if (value != 0)
        e->parts[kept++] = value;
    e->count = kept;
}

static void add_product(expansion *e, double x, double y)
{
    double product = x * y;
    add(e, fma(x, y, -product));
    add(e, product);
}

static int sign_of(const expansion *e)
{
    return e->count == 0 ? 0 : e->parts[e->count - 1] > 0 ? 1 : -1;
}

/* ---- Rounding -------------------------------------------------------------------------------- */

/* a S + b - boundary * c */
static expansion beyond(const gc_rounding *r, const double *parts, int count, double boundary)
{
    bool turns = r->absolute && parts[count - 1] < 0;
    expansion e = {.count = 0};
    for (int i = 0; i < count; i++)
        add_product(&e, turns ? -r->a : r->a, parts[i]);
    add(&e, r->b);
    add_product(&e, -boundary, r->c);
    return e;
}

static void add_square(expansion *e, const expansion *of, double factor)
{
    for (int i = 0; i < of->count; i++)
        for (int j = 0; j < of->count; j++)
            add_product(e, factor * of->parts[i], of->parts[j]);
}

/* The sign of a R + t, with t = b - boundary * c, for the root R of a sum. If the signs of a R and
 * t differ, the larger square decides. The square of t has at most 9 products. */
static int side_of_root(const gc_rounding *r, const double *parts, int count, double boundary)
{
    expansion t = {.count = 0}, a = {.count = 0}, difference = {.count = 0};
    add(&t, r->b);
    add_product(&t, -boundary, r->c);
    int of_root = parts[count - 1] > 0 ? (r->a > 0) - (r->a < 0) : 0;
    if (of_root * sign_of(&t) >= 0)
        return of_root != 0 ? of_root : sign_of(&t);
    add_product(&a, r->a, r->a);
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < count; j++)
            add_product(&difference, a.parts[i], parts[j]);
    add_square(&difference, &t, -1);
    return of_root * sign_of(&difference);
}

/* If b - boundary * c is a double, one fma gives the sign of the whole. */
static int side_of(const gc_rounding *r, const double *parts, int count, double boundary)
{
    double product = boundary * r->c, others = r->b - product, back = others - r->b;
    bool is_exact =
        fma(boundary, r->c, -product) == 0 && (r->b - (others - back)) + (-product - back) == 0;
    if (count == 1 && is_exact) {
        double all = fma(r->a, r->absolute ? fabs(parts[0]) : parts[0], others);
        return (all > 0) - (all < 0);
    }
    expansion e = beyond(r, parts, count, boundary);
    return sign_of(&e);
}

/* What stands in the place of S, a sum or the root of one; and v in double, off by less than
 * `error`. */
typedef struct number {
    const double *parts;
    int count;
    bool is_root;
    double v, error;
} number;

static number number_of_sum(const gc_rounding *r, const double *parts, int count)
{
    double sum = 0;
    if (count == 1) {
        sum = fma(r->a, r->absolute ? fabs(parts[0]) : parts[0], r->b);
    } else {
        expansion e = beyond(r, parts, count, 0);
        for (int i = 0; i < e.count; i++)
            sum += e.parts[i];
    }
    double v = sum / r->c;
    return (number){parts, count, false, v, 0x1p-50 * fabs(v)};
}

/* If a R and b cancel, v in double says little. */
static number number_of_root(const gc_rounding *r, const double parts[2])
{
    double of_root = r->a * sqrt(parts[1]) / r->c, others = r->b / r->c;
    double error = 0x1p-50 * (fabs(of_root) + fabs(others));
    return (number){parts, 2, true, of_root + others, error};
}

static int side_of_number(const gc_rounding *r, const number *n, double boundary)
{
    return n->is_root ? side_of_root(r, n->parts, n->count, boundary)
                      : side_of(r, n->parts, n->count, boundary);
}

static uint32_t round_number(const gc_rounding *r, number n)
{
    if (r->bilevel)
        return side_of_number(r, &n, 128) >= 0 ? (uint32_t)r->largest : 0;
    uint32_t low = (uint32_t)gc_clamp_and_round(n.v - n.error, r->largest);
    uint32_t high = (uint32_t)gc_clamp_and_round(n.v + n.error, r->largest);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int side = side_of_number(r, &n, middle + 0.5);
        if (side == 0)
            return middle + middle % 2;
        low = side > 0 ? middle + 1 : low;
        high = side > 0 ? high : middle;
    }
    return low;
}

uint32_t gc_round_parts(const gc_rounding *r, const double *parts, int count)
{
    return round_number(r, number_of_sum(r, parts, count));
}

uint32_t gc_round_once(const gc_rounding *r, double sum)
{
    return gc_round_parts(r, &sum, 1);
}

uint32_t gc_round_root(const gc_rounding *r, const double parts[2])
{
    return round_number(r, number_of_root(r, parts));
}

bool gc_parts_pass(const gc_rounding *r, const double *parts, int count)
{
    return side_of(r, parts, count, 0) > 0;
}

/* fma rounds once: its sign is that of a S + b. */
bool gc_passes_threshold(const gc_rounding *r, double sum)
{
    return fma(r->a, r->absolute ? fabs(sum) : sum, r->b) > 0;
}

/* The place of a float32 among all, in ascending order; that of 0 is 0. */
static int32_t place_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -(bits & INT32_MAX) : bits;
}

/* The value at a place; for an infinite one 2^128. */
static double value_at(int32_t place)
{
    float value;
    int32_t bits = abs(place);
    memcpy(&value, &bits, sizeof value);
    return copysign(isinf(value) ? 0x1p128 : (double)value, place);
}

/* The middle of two float32 is a double. Converting it rounds ties to even. */
static float round_to_float(const gc_rounding *r, number n)
{
    int32_t low = place_of((float)(n.v - n.error)), high = place_of((float)(n.v + n.error));
    while (low < high) {
        int32_t place = low + (int32_t)(((int64_t)high - low) / 2);
        double middle = (value_at(place) + value_at(place + 1)) / 2;
        int side = side_of_number(r, &n, middle);
        if (side == 0)
            return (float)middle + 0.0f;
        low = side > 0 ? place + 1 : low;
        high = side > 0 ? high : place;
    }
    return (float)value_at(low) + 0.0f;
}

float gc_round_parts_to_float(const gc_rounding *r, const double *parts, int count)
{
    return round_to_float(r, number_of_sum(r, parts, count));
}

float gc_round_root_to_float(const gc_rounding *r, const double parts[2])
{
    return round_to_float(r, number_of_root(r, parts));
}

double gc_whole_threshold(const gc_rounding *r)
{
    gc_rounding rising = *r;
    rising.a = fabs(r->a);
    rising.absolute = false;
    double most = 0x1p25, threshold = fmax(-most, fmin(floor(-r->b / rising.a), most));
    if (fabs(threshold) == most)
        return threshold;
    while (gc_passes_threshold(&rising, threshold))
        threshold--;
    while (!gc_passes_threshold(&rising, threshold + 1))
        threshold++;
    return threshold;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

int gc_lowest_bit(double value)
{
    int exponent;
    double mantissa = ldexp(frexp(value, &exponent), DBL_MANT_DIG);
    if (value == 0 || !isfinite(value))
        return INT_MAX;
    return exponent - DBL_MANT_DIG + __builtin_ctzll((uint64_t)fabs(mantissa));
}

bool gc_multiply_exactly(double *value, double factor)
{
    double product = *value * factor, rest = fma(*value, factor, -product);
    *value = product;
    return rest == 0 && (product == 0 || (fabs(product) >= ldexp(1, GC_ROUNDING_LEAST) &&
                                          fabs(product) <= ldexp(1, GC_ROUNDING_MOST)));
}

/* The product of `count` numbers; *once becomes false if it has an error. */
static double product_of(const double *factors, int count, bool *once)
{
    double product = 1;
    for (int i = 0; i < count; i++)
        *once = gc_multiply_exactly(&product, factors[i]) && *once;
    return product;
}

/* From 8 to 16 bits numbers are multiplied by 257, from 16 to 8 bits divided. Levels count as 8. */
static void set_samples(const gconv_job *job, const gc_conversion *conversion, double divisor,
                        gc_rounding *r)
{
    const gconv_filter *last = job->filters[job->filter_count - 1];
    gc_ratio scale = gc_ratio_of(job->scale, job->scale_denominator), offset = {0, 1};
    if (job->has_offset)
        offset = gc_ratio_of(job->offset, job->offset_denominator);
    else if (last->has_offset)
        offset = gc_ratio_of(last->offset, last->offset_denominator);
    double levels = conversion->sample_max / 255, up = 1, down = 1;
    double common = (double)gc_common_divisor((int64_t)scale.under, (int64_t)offset.under);
    if (conversion->output.depth == 16)
        up = 257 / levels;
    else if (conversion->output.depth != 32)
        down = levels;
    divisor = job->absolute ? fabs(divisor) : divisor;
    double wider = offset.under / common;
    r->a = product_of((double[]){scale.over, wider, up}, 3, &r->once);
    r->b =
        product_of((double[]){offset.over, scale.under / common, levels, up, divisor}, 5, &r->once);
    r->c = product_of((double[]){divisor, scale.under, wider, down}, 4, &r->once);
    r->plain = scale.under == 1 && offset.under == 1;
    if (r->c < 0) {
        r->a = -r->a;
        r->b = -r->b;
        r->c = -r->c;
    }
    r->absolute = job->absolute;
    r->bilevel = conversion->bilevel;
    r->largest = conversion->output.depth == 16 ? 65535 : conversion->output.depth == 1 ? 1 : 255;
}

static void set_edges(const gconv_job *job, const gc_conversion *conversion, double divisor,
                      gc_rounding *r)
{
    double levels = conversion->sample_max / 255;
    gc_ratio threshold = gc_ratio_of(job->threshold, job->threshold_denominator);
    r->a = conversion->rule == GCONV_RULE_NEGATIVE ? -threshold.under : threshold.under;
    r->b = product_of((double[]){-threshold.over, levels, fabs(divisor)}, 3, &r->once);
    r->c = 1;
    r->plain = true;
    r->absolute = conversion->rule == GCONV_RULE_ABS;
}

/* Whether rule 5 in double rounds a whole S below 2^24 as gc_round_once does. If v is on a
 * boundary, doubles hold every step on the way: scale is a power of 2, the offset a multiple of
 * 2^-26, and multiplying by 257 does not take a factor away from the divisor. If v is on no
 * boundary, it is at least 1 / 2c away, with a, b and c whole; the three roundings of double change
 * it by less. float32 holds no quotient of numbers below 2^24 that double could round to the middle
 * of two float32. */
static bool is_plain(const gc_conversion *conversion, double divisor, const gc_rounding *r)
{
    if (!gc_is_power(conversion->scale) || gc_lowest_bit(conversion->offset) < -26)
        return false;
    if (conversion->output.depth == 32)
        return conversion->offset == 0 && divisor > 0 && divisor == trunc(divisor) &&
               divisor < 0x1p24 && fabs(conversion->scale) < 0x1p64 &&
               fabs(conversion->scale) > 0x1p-64;
    double most = 65536 + fabs(conversion->offset), error = 3 * 257 * 0x1p-53 * most;
    int unit = gc_lowest_bit(r->c);
    unit = gc_lowest_bit(r->a) < unit ? gc_lowest_bit(r->a) : unit;
    unit = gc_lowest_bit(r->b) < unit ? gc_lowest_bit(r->b) : unit;
    bool widens = conversion->output.depth == 16 && conversion->sample_max == 255;
    return 2 * ldexp(r->c, -unit) * error < 1 && !(widens && fmod(divisor, 257) == 0);
}

gc_rounding gc_rounding_of(const gconv_job *job, const gc_conversion *conversion, double divisor)
{
    gc_rounding rounding = {.once = divisor != 0};
    bool convolves_alpha = conversion->chain_channels % 2 == 0;
    (conversion->finds_edges ? set_edges : set_samples)(job, conversion, divisor, &rounding);
    rounding.once = rounding.once && conversion->input.depth != 32 && !conversion->premultiplies &&
                    !(conversion->bilevel && convolves_alpha);
    rounding.plain =
        rounding.plain && (conversion->finds_edges || is_plain(conversion, divisor, &rounding));
    return rounding;
}
