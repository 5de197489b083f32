/* The final conversion on a device: which one is taken, and that the short ones round as the long
 * one. */
#include "core_support.h"

#include "gpu/pass/finish.h"

/* ---- What is taken --------------------------------------------------------------------------- */

static gc_finish finish; /* what was taken last */
static float whole[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
static float real[9] = {0.1f, 0.1f, 0.1f, 0.1f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f};

/* The conversion of a 3x3 filter over `divisor`; -1 where the device leaves it to the CPU. */
static int kind_with(gconv_job job, float *weights, double divisor)
{
    gconv_filter filter = filter_of(3, 3, divisor, weights);
    const gconv_filter *filters[] = {&filter};
    job.filters = filters;
    job.filter_count = 1;
    OWNED_PROBLEM problem = problem_of(&job);
    bool made = gc_finish_of(&problem, &finish);
    return made ? finish.kind : -1;
}

static int kind_of(gconv_job job, double divisor)
{
    return kind_with(job, whole, divisor);
}

TEST(real_sums_are_short_over_a_power_of_2)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_with(job, real, 1), GC_FINISH_ROUND);
    assert_int_equal(kind_with(job, real, 4), GC_FINISH_ROUND);
    assert_int_equal(kind_with(job, real, 3), GC_FINISH_NEAREST);
    job.absolute = true;
    assert_int_equal(kind_with(job, real, 1), GC_FINISH_NEAREST);
}

TEST(divisions_without_ties_are_short)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_of(job, 1), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 16), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 289), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 65536), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 18), GC_FINISH_QUOTIENT);
    job.absolute = true;
    assert_int_equal(kind_of(job, 16), GC_FINISH_NEAREST);
    assert_true(finish.absolute);
}

/* Kernels clamp quotients to bytes two at a time, as numbers of 16 bits: 64 * 255 is below 2^14. */
TEST(far_quotients_are_not_short)
{
    float far[9] = {0, 0, 0, 0, 65, 0, 0, 0, 0};
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_with(job, far, 1), GC_FINISH_NEAREST);
    assert_int_equal(kind_with(job, far, 2), GC_FINISH_ROUND);
    far[4] = 64;
    assert_int_equal(kind_with(job, far, 1), GC_FINISH_ROUND);
    job = job_of(NULL, 0, shape_of(8, 8, 1, 16));
    assert_int_equal(kind_with(job, far, 1), GC_FINISH_ROUND);
}

TEST(other_bytes_are_nearly_always_short)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_of(job, 2.5), GC_FINISH_NEAREST);
    assert_true(finish.gain == 0.4f && finish.base == 0);
    assert_int_equal(kind_of(job, -3), GC_FINISH_NEAREST);
    assert_int_equal(kind_of(job, 1000003), GC_FINISH_NEAREST);
    gconv_job scaled = WITH(job, it.scale = 2, it.has_offset = true, it.offset = 128);
    assert_int_equal(kind_of(scaled, 16), GC_FINISH_NEAREST);
    assert_true(finish.gain == 0.125f && finish.base == 128);
    gconv_job shallower = job_of(NULL, 0, shape_of(8, 8, 1, 16));
    shallower.output_depth = 8;
    assert_int_equal(kind_of(shallower, 16), GC_FINISH_NEAREST);
    assert_true(finish.narrows && finish.gain == (float)(1 / 257.0 / 16));
}

TEST(all_else_is_computed_in_double)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    gconv_job far = WITH(job, it.has_offset = true, it.offset = 1025);
    assert_int_equal(kind_of(far, 16), GC_FINISH_SAMPLES);
    assert_int_equal(kind_of(WITH(job, it.scale = 1e39), 1), GC_FINISH_SAMPLES);
    assert_int_equal(kind_of(WITH(job, it.output_depth = 1), 2.5), GC_FINISH_SAMPLES);
    assert_int_equal(kind_of(WITH(job, it.output_depth = 16), 16), GC_FINISH_NEAREST);
    assert_true(finish.factor == 257 && finish.gain == 257.0f / 16);
    assert_false(finish.narrows);
}

TEST(far_divisors_are_left_to_the_cpu)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    assert_int_equal(kind_of(job, 1e300), -1);
    assert_int_equal(kind_of(job, -1e-300), -1);
}

TEST(alpha_has_conversions_of_its_own)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 4, 8));
    job.alpha = GCONV_ALPHA_KEEP;
    assert_int_equal(kind_of(job, 16), GC_FINISH_ROUND);
    assert_int_equal(finish.alpha, GC_PASS_KEEPS);
    job.alpha = GCONV_ALPHA_FILTER;
    assert_int_equal(kind_of(job, 16), GC_FINISH_ROUND);
    assert_int_equal(finish.alpha, GC_PASS_NO_ALPHA);
    job.alpha = GCONV_ALPHA_PREMULTIPLY; /* the divisor has no part in a colour over alpha */
    assert_int_equal(kind_of(job, 16), GC_FINISH_NEAREST);
    assert_int_equal(finish.alpha, GC_PASS_MULTIPLIES);
    assert_true(finish.gain == 1);
    assert_int_equal(kind_of(WITH(job, it.output_depth = 16), 16), GC_FINISH_SAMPLES);
    job.has_offset = true;
    job.offset = 513;
    assert_int_equal(kind_of(job, 16), GC_FINISH_SAMPLES);
    job.output_depth = 1; /* colour becomes black or white, alpha does not */
    assert_int_equal(kind_of(job, 16), -1);
}

TEST(integers_of_16_bits_have_a_remainder)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 16));
    assert_int_equal(kind_of(job, 16), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 9), GC_FINISH_ROUND);
    assert_int_equal(kind_of(job, 1001), GC_FINISH_REMAINDER);
    assert_true(finish.whole == 1001);
    assert_int_equal(kind_of(job, 1001.5), GC_FINISH_NEAREST);
    job.absolute = true;
    assert_int_equal(kind_of(job, 1001), GC_FINISH_NEAREST);
}

TEST(thresholds_are_those_of_rule_6)
{
    gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, 8));
    job.output = GCONV_OUTPUT_EDGES;
    job.output_depth = 1;
    job.threshold = 5;
    assert_int_equal(kind_of(job, 16), GC_FINISH_EDGES);
    assert_true(finish.threshold == 80 && finish.side == 0 && finish.largest == 1);
    job.rule = GCONV_RULE_POSITIVE;
    kind_of(job, -16); /* a negative divisor turns the side */
    assert_int_equal(finish.side, -1);
}

/* ---- That they round alike ------------------------------------------------------------------- */

/* gc_finish_round and gc_finish_quotient of gpu/pass/finish.cuh. */
static const float shift = 12582912;

static unsigned clamp(float shifted, float largest)
{
    return (unsigned)(fminf(fmaxf(shifted, shift), shift + largest) - shift);
}

static unsigned round_short(float value, const gc_finish *f, float largest)
{
    return clamp(fmaf(value, f->reciprocal, shift), largest);
}

static unsigned round_quotient(float value, const gc_finish *f, float largest)
{
    float upper = fmaf(value, f->above, shift), lower = fmaf(value, f->below, shift);
    uint32_t upper_bits, lower_bits;
    memcpy(&upper_bits, &upper, sizeof upper);
    memcpy(&lower_bits, &lower, sizeof lower);
    upper_bits &= lower_bits | ~1u;
    memcpy(&upper, &upper_bits, sizeof upper);
    return clamp(upper, largest);
}

/* contract.md, rule 5. */
static unsigned round_in_double(float value, float divisor, float largest)
{
    return (unsigned)rint(fmin(fmax((double)value / (double)divisor, 0), (double)largest));
}

static void check_around(float value, float divisor, float largest, bool plain)
{
    gc_finish divided;
    gc_finish_divide((double)divisor, &divided);
    for (float near = value - 2; near <= value + 2; near += 1) {
        unsigned expected = round_in_double(near, divisor, largest);
        unsigned got =
            plain ? round_short(near, &divided, largest) : round_quotient(near, &divided, largest);
        if (got != expected)
            fail_msg("%g / %g: %u instead of %u", (double)near, (double)divisor, got, expected);
    }
}

/* Around ties of a divisor that finish.c lets through; returns whether it does. */
static bool check_divisor(int divisor, int largest, int step)
{
    bool plain = divisor % 2 == 1 || (divisor & (divisor - 1)) == 0;
    gc_finish divided;
    gc_finish_divide((double)divisor, &divided);
    if (!gc_finish_rounds(&divided, largest, !plain))
        return false;
    for (int level = -1; level <= largest + 1; level += step)
        check_around(floorf((float)(2 * level + 1) * (float)divisor / 2), (float)divisor,
                     (float)largest, plain);
    return true;
}

TEST(short_conversions_round_as_the_long_one)
{
    int let_through = 0;
    for (int divisor = 1; divisor < 1 << 16; divisor++)
        let_through += check_divisor(divisor, 255, divisor > 512 ? 7 : 1);
    for (int divisor = 1; divisor < 256; divisor++)
        let_through += check_divisor(divisor, 65535, divisor > 16 ? 7 : 1);
    assert_true(let_through > 20000);
    for (int divisor = 1; divisor < 10000; divisor++)
        assert_true(check_divisor(divisor, 255, 255));
}

/* gc_finish_remainder. */
static unsigned round_by_remainder(float value, const gc_finish *f, float largest)
{
    float shifted = fmaf(value, f->reciprocal, shift);
    float twice = 2 * fmaf(shift - shifted, f->whole, value);
    int bits = (int)(shifted - shift), odd = bits & 1;
    bits += odd != 0 ? twice >= f->whole : twice > f->whole;
    bits -= odd != 0 ? twice <= -f->whole : twice < -f->whole;
    return clamp((float)bits + shift, largest);
}

/* Integers around ties and anywhere below 2^24, over divisors up to 2^22. */
TEST(remainders_correct_quotients)
{
    uint64_t random = 1;
    for (int i = 0; i < 3000000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int divisor = 8 + (int)(random >> 40) % (1 << (4 + i % 19));
        gc_finish divided;
        gc_finish_divide(divisor, &divided);
        random = random * 6364136223846793005u + 1442695040888963407u;
        float value = (float)((int)(random >> 39) - (1 << 24));
        if (i % 2 == 0) /* close to a tie */
            value = floorf((floorf(value / (float)divisor) + 0.5f) * (float)divisor) +
                    (float)(i % 3 - 1);
        if (fabsf(value) >= 0x1p24f)
            continue;
        unsigned expected = round_in_double(value, (float)divisor, 65535);
        if (round_by_remainder(value, &divided, 65535) != expected)
            fail_msg("%g / %d: not %u", (double)value, divisor, expected);
    }
}

/* Ties, what lies next to them, and what is clamped. */
TEST(real_values_over_a_power_of_2_do_too)
{
    for (float divisor = 1; divisor <= 1024; divisor *= 32) {
        gc_finish divided;
        gc_finish_divide((double)divisor, &divided);
        for (int level = -2; level <= 65537; level++) {
            float tie = ((float)level + 0.5f) * divisor;
            const float values[] = {tie, nextafterf(tie, -INFINITY), nextafterf(tie, INFINITY),
                                    tie * 1e6f};
            for (int i = 0; i < 4; i++)
                assert_int_equal(round_short(values[i], &divided, 65535),
                                 round_in_double(values[i], divisor, 65535));
        }
    }
}

/* Samples of `finish` by gc_finish_nearest, and by rule 5. */
static unsigned round_nearest(float value, const gc_finish *f, bool *sure)
{
    value = f->absolute ? fabsf(value) : value;
    float sum = fmaf(value, f->gain, f->base), shifted = sum + shift, part;
    part = sum - (shifted - shift);
    if (f->largest > 255) {
        float shift_more = f->base + shift;
        shifted = fmaf(value, f->gain, shift_more);
        part = fmaf(value, f->gain, shift_more - shifted) + fmaf(value, f->gain_rest, f->base_rest);
        float more = (part + shift) - shift;
        part -= more;
        shifted += more;
    }
    *sure = fabsf(part) < 0.5f - (f->largest > 255 ? 0x1p-20f : 0x1p-12f);
    return clamp(shifted, (float)f->largest);
}

/* Bytes of `finish` by gc_fft_nearest. */
static unsigned round_fixed(float value, const gc_finish *f, bool *sure)
{
    value = f->absolute ? fabsf(value) : value;
    float share = fminf(fmaxf(fmaf(value, f->fixed_gain, f->fixed_base), 0), 1);
    float fixed = fmaf(share, 255, 256.5f + 0x1p-16f * (float)f->doubtful);
    uint32_t bits;
    memcpy(&bits, &fixed, sizeof bits);
    *sure = (bits & 0x7fff) >= f->doubtful;
    return bits >> 15 & 255;
}

static unsigned round_any(float value, const gc_finish *f)
{
    double v = (double)value / f->divisor;
    v = f->scale * (f->absolute ? fabs(v) : v) + f->offset;
    v = fmin(fmax(v, 0), f->sample_max);
    return (unsigned)rint(f->narrows ? v / 257 : v * f->factor);
}

/* Checks 64 random values from this level to the next. Then checks the level's own value, the tie,
 * values just within and just beyond the distance that is sure, and the numbers next to all these.
 * Returns how many of the 64 are left to double. */
static int check_nearest(const gc_finish *f, double level, uint64_t *random)
{
    bool is_short = f->largest > 255;
    double close = is_short ? 0x1p-20 : 0x1p-12, closer = 0x1p-16 * f->doubtful;
    const double parts[] = {0,
                            0.5,
                            0.5 - 0x1.02p0 * close,
                            0.5 - 0x1.fep-1 * close,
                            0.5 + 0x1.02p0 * close,
                            0.5 - closer,
                            0.5 + closer};
    int doubtful = 0;
    for (int i = 0; i < 64 + 7 * 3; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        double part = i < 64 ? (double)(*random >> 11) * 0x1p-53 : parts[(i - 64) / 3];
        float value =
            (float)((level + part - (double)f->base - (double)f->base_rest) / (double)f->gain);
        if (i >= 64 && i % 3 > 0)
            value = nextafterf(value, i % 3 == 1 ? -1e30f : 1e30f);
        bool sure;
        unsigned byte = round_nearest(value, f, &sure);
        doubtful += !sure && i < 64;
        if (sure && byte != round_any(value, f))
            fail_msg("%.9g: not %u", (double)value, byte);
        if (is_short)
            continue;
        byte = round_fixed(value, f, &sure);
        if (sure ? byte != round_any(value, f) : i == 64)
            fail_msg("%.9g: not %u, or in doubt", (double)value, byte);
    }
    return doubtful;
}

TEST(samples_that_are_sure_are_right)
{
    const double divisors[] = {1, 1.1, 9, -16, 1000003}, scales[] = {1, -0.3, 7};
    const double offsets[] = {0, 127.5, -1000};
    uint64_t random = 1;
    int doubtful = 0, checked = 0;
    for (int i = 0; i < 5 * 3 * 3 * 4 * 2; i++) {
        gconv_job job = job_of(NULL, 0, shape_of(8, 8, 1, i % 2 == 0 ? 8 : 16));
        bool is_short = i >= 5 * 3 * 3 * 4;
        job.output_depth = is_short ? 16 : 8;
        job.absolute = i / 2 % 2 == 1;
        job.has_offset = true;
        job.offset = offsets[i / 4 % 3] * (i % 2 == 0 ? 1 : 257);
        job.scale = scales[i / 12 % 3];
        if (kind_with(job, real, divisors[i / 36 % 5]) != GC_FINISH_NEAREST)
            continue;
        for (int level = -3; level < 260; level++, checked += 64)
            doubtful += check_nearest(&finish, is_short ? level * 257 + level % 7 : level, &random);
    }
    assert_true(checked > 1500000 && doubtful > 0 && doubtful < checked / 500);
}
