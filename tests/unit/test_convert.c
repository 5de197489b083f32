/* Samples to chain values and back: rounding, clamping, depths, alpha, thresholds, bits. */
#include "core/conversion.h"

#include "core_support.h"

static float one[] = {1};

/* A chain of one 1x1 filter with this divisor. The conversion depends on the divisor alone. */
typedef struct bench {
    gconv_filter filter;
    const gconv_filter *chain[1];
    gconv_job job;
} bench;

static bench b;

static void set_up(gconv_shape shape, int output_depth)
{
    b.filter = filter_of(1, 1, 1, one);
    b.chain[0] = &b.filter;
    b.job = job_of(b.chain, 1, shape);
    b.job.output_depth = output_depth;
}

/* Converts one row of chain values; the output is poisoned first. */
static void store(const float *row, const void *alpha, void *output)
{
    OWNED_PROBLEM problem = problem_of(&b.job);
    memset(output, 0xa5, gconv_shape_row_bytes(&problem.conversion.output));
    gc_store_pixels(&problem.conversion, row, b.job.input.width, alpha, output);
}

static void assert_stored(const float *row, const void *alpha, const uint8_t *wanted, size_t count)
{
    uint8_t out[8];
    store(row, alpha, out);
    assert_memory_equal(out, wanted, count);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void load(const void *samples, float *row)
{
    OWNED_PROBLEM problem = problem_of(&b.job);
    gc_load_row(&problem.conversion, samples, row);
}

static void assert_floats(const float *got, const float *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (got[i] != wanted[i])
            fail_msg("value %zu is %.9g, not %.9g", i, (double)got[i], (double)wanted[i]);
}

TEST(loads_both_depths)
{
    float row[6];
    set_up(shape_of(2, 1, 3, 8), 8);
    load((const uint8_t[]){0, 1, 2, 127, 254, 255}, row);
    assert_floats(row, (const float[]){0, 1, 2, 127, 254, 255}, 6);
    set_up(shape_of(2, 1, 3, 16), 16);
    load((const uint16_t[]){0, 1, 256, 257, 65534, 65535}, row);
    assert_floats(row, (const float[]){0, 1, 256, 257, 65534, 65535}, 6);
}

TEST(loads_alpha_by_mode)
{
    const uint16_t samples[] = {10, 3, 20, 0, 65535, 65535};
    float row[6];
    set_up(shape_of(3, 1, 2, 16), 16);
    b.job.alpha = GCONV_ALPHA_KEEP;
    load(samples, row);
    assert_floats(row, (const float[]){10, 20, 65535}, 3);
    b.job.alpha = GCONV_ALPHA_FILTER;
    load(samples, row);
    assert_floats(row, (const float[]){10, 3, 20, 0, 65535, 65535}, 6);
    b.job.alpha = GCONV_ALPHA_PREMULTIPLY;
    load(samples, row);
    assert_floats(row, (const float[]){30, 3, 0, 0, 65535.0f * 65535.0f, 65535}, 6);
}

TEST(extracts_alpha)
{
    gconv_shape shape = shape_of(3, 1, 4, 8);
    uint8_t bytes[3];
    gc_extract_alpha(&shape, (const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, bytes);
    assert_memory_equal(bytes, ((const uint8_t[]){4, 8, 12}), 3);
    shape = shape_of(2, 1, 2, 16);
    uint16_t words[2];
    gc_extract_alpha(&shape, (const uint16_t[]){1, 65535, 3, 400}, words);
    assert_int_equal(words[0], 65535);
    assert_int_equal(words[1], 400);
}

/* ---- Rounding and clamping ------------------------------------------------------------------- */

typedef struct rounding {
    float value;
    int sample;
} rounding;

TEST(rounds_ties_to_even)
{
    static const rounding roundings[] = {
        {0.5f, 0},        {1.5f, 2},       {2.5f, 2},       {3.5f, 4},
        {253.5f, 254},    {254.5f, 254},   {0.4999999f, 0}, {0.500001f, 1},
        {254.5001f, 255}, {-0.5f, 0},      {-1e30f, 0},     {255.5f, 255},
        {1e30f, 255},     {INFINITY, 255}, {-INFINITY, 0},  {254.9999f, 255},
    };
    enum { ROUNDINGS = COUNT(roundings) };
    float row[ROUNDINGS];
    uint8_t out[ROUNDINGS];
    set_up(shape_of(ROUNDINGS, 1, 1, 8), 8);
    for (int i = 0; i < ROUNDINGS; i++)
        row[i] = roundings[i].value;
    store(row, NULL, out);
    for (int i = 0; i < ROUNDINGS; i++)
        assert_int_equal(out[i], roundings[i].sample);
}

TEST(rounds_16_bits)
{
    const float row[] = {0.5f, 1.5f, 65534.5f, 65535.5f, 70000, -3, 32767.5f};
    const uint16_t wanted[] = {0, 2, 65534, 65535, 65535, 0, 32768};
    uint16_t out[7];
    set_up(shape_of(7, 1, 1, 16), 16);
    store(row, NULL, out);
    assert_memory_equal(out, wanted, sizeof wanted);
}

/* A chain value that is not a number is stored as black, and is no edge. */
TEST(nan_is_black)
{
    const float row[] = {NAN, NAN};
    uint8_t out[2];
    set_up(shape_of(2, 1, 1, 8), 8);
    assert_stored(row, NULL, (const uint8_t[]){0, 0}, 2);
    b.job.output_depth = 1;
    store(row, NULL, out);
    assert_int_equal(out[0], 0);
    b.job.output = GCONV_OUTPUT_EDGES;
    store(row, NULL, out);
    assert_int_equal(out[0], 0);
}

/* The whole width of a row, past the size of the converter's chunks. */
TEST(converts_long_rows)
{
    enum { WIDTH = 1027 };
    static float row[WIDTH * 3];
    static uint8_t out[WIDTH * 3];
    set_up(shape_of(WIDTH, 1, 3, 8), 8);
    for (int i = 0; i < WIDTH * 3; i++)
        row[i] = (float)(i % 256);
    store(row, NULL, out);
    for (int i = 0; i < WIDTH * 3; i++)
        assert_int_equal(out[i], i % 256);
}

TEST(divides_scales_and_offsets)
{
    const float row[] = {289, -578, 1445, 144.5f};
    set_up(shape_of(4, 1, 1, 8), 8);
    b.filter.divisor = 289;
    b.job.scale = 2;
    b.job.offset = 100.5;
    b.job.has_offset = true;
    assert_stored(row, NULL, (const uint8_t[]){102, 96, 110, 102}, 4);
    b.job.absolute = true;
    assert_stored(row, NULL, (const uint8_t[]){102, 104, 110, 102}, 4);
    b.job.scale = -1; /* after the absolute value */
    assert_stored(row, NULL, (const uint8_t[]){100, 98, 96, 100}, 4);
}

/* ---- Depths ---------------------------------------------------------------------------------- */

TEST(eight_to_sixteen)
{
    const float row[] = {0, 1, 254, 255, 0.5f, 256};
    const uint16_t wanted[] = {0, 257, 65278, 65535, 128, 65535}; /* 0.5 * 257 = 128.5, to even */
    uint16_t out[6];
    set_up(shape_of(6, 1, 1, 8), 16);
    store(row, NULL, out);
    assert_memory_equal(out, wanted, sizeof wanted);
}

TEST(sixteen_to_eight)
{
    const float row[] = {0, 128, 129, 257, 385, 386, 65535, 65406, 65407};
    const uint8_t wanted[] = {0, 0, 1, 1, 1, 2, 255, 254, 255};
    uint8_t out[9];
    set_up(shape_of(9, 1, 1, 16), 8);
    store(row, NULL, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    const float tie[] = {128.5f, 385.5f}; /* half a level, one and a half */
    set_up(shape_of(2, 1, 1, 16), 8);
    assert_stored(tie, NULL, (const uint8_t[]){0, 2}, 2);
}

TEST(offset_is_in_levels)
{
    const float row[] = {0, 257};
    uint16_t out[2];
    set_up(shape_of(2, 1, 1, 16), 16);
    b.job.offset = 128;
    b.job.has_offset = true;
    store(row, NULL, out);
    assert_int_equal(out[0], 128 * 257);
    assert_int_equal(out[1], 129 * 257);
}

TEST(floats_are_left_alone)
{
    const float row[] = {-300, 0.1f, 1e30f, 510};
    float out[4];
    set_up(shape_of(4, 1, 1, 8), 32);
    b.filter.divisor = 2;
    store(row, NULL, out);
    assert_floats(out, (const float[]){-150, 0.05f, 5e29f, 255}, 4);
    b.job.input.depth = 16; /* samples of the input's depth, offset in levels */
    b.job.offset = 1;
    b.job.has_offset = true;
    store(row, NULL, out);
    assert_floats(out, (const float[]){107, 257.05f, 5e29f, 512}, 4);
}

TEST(one_bit_turns_at_128)
{
    const float row[] = {127.5f, 127.99999f, 128, 128.5f, 0, 255, -128, 1000};
    uint8_t out[8];
    set_up(shape_of(8, 1, 1, 8), 1);
    store(row, NULL, out);
    assert_int_equal(out[0], 0x35); /* 0011 0101 */
    const float deep[] = {32895, 32895.998f, 32896, 65535};
    set_up(shape_of(4, 1, 1, 16), 1);
    store(deep, NULL, out);
    assert_int_equal(out[0], 0x30);
}

TEST(one_bit_of_colour_takes_eight)
{
    const float row[] = {127, 128, 129, 0, 255, 64};
    set_up(shape_of(2, 1, 3, 8), 1);
    assert_stored(row, NULL, (const uint8_t[]){0, 255, 255, 0, 255, 0}, 6);
    set_up(shape_of(2, 1, 4, 8), 1); /* alpha stays as it is */
    assert_stored(row, (const uint8_t[]){77, 200},
                  (const uint8_t[]){0, 255, 255, 77, 0, 255, 0, 200}, 8);
}

TEST(packs_bits_at_every_width)
{
    for (uint32_t width = 1; width <= 17; width++) {
        float row[17];
        uint8_t out[4] = {0}, wanted[4] = {0};
        for (uint32_t x = 0; x < width; x++) {
            bool white = x % 3 != 1;
            row[x] = white ? 200 : 20;
            wanted[x / 8] |= (uint8_t)(white ? 0x80 >> x % 8 : 0);
        }
        set_up(shape_of(width, 1, 1, 8), 1);
        wanted[(width + 7) / 8] = 0xee; /* the byte after the row is not touched */
        out[(width + 7) / 8] = 0xee;
        store(row, NULL, out);
        assert_memory_equal(out, wanted, (width + 7) / 8 + 1);
    }
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static void set_up_edges(uint32_t width, int depth, int output_depth)
{
    set_up(shape_of(width, 1, 1, depth), output_depth);
    b.job.output = GCONV_OUTPUT_EDGES;
    b.filter.divisor = 289;
}

TEST(edges_are_strictly_above)
{
    const float row[] = {1445, 1446, -1445, -1446, 0, 1444, 1445.0001f, -1e9f};
    set_up_edges(8, 8, 8);
    assert_stored(row, NULL, (const uint8_t[]){0, 255, 0, 255, 0, 0, 255, 255}, 8);
    b.job.rule = GCONV_RULE_POSITIVE;
    assert_stored(row, NULL, (const uint8_t[]){0, 255, 0, 0, 0, 0, 255, 0}, 8);
    b.job.rule = GCONV_RULE_NEGATIVE;
    assert_stored(row, NULL, (const uint8_t[]){0, 0, 0, 255, 0, 0, 0, 255}, 8);
    b.job.invert = true;
    assert_stored(row, NULL, (const uint8_t[]){255, 255, 255, 0, 255, 255, 255, 0}, 8);
}

TEST(negative_divisor_turns_the_rule)
{
    const float row[] = {2000, -2000};
    set_up_edges(2, 8, 8);
    b.filter.divisor = -289;
    b.job.rule = GCONV_RULE_POSITIVE;
    assert_stored(row, NULL, (const uint8_t[]){0, 255}, 2);
}

TEST(edges_of_16_bits_count_in_levels)
{
    const float row[] = {5 * 257 * 289, 5 * 257 * 289 + 1, 5 * 289 + 1};
    set_up_edges(3, 16, 8);
    assert_stored(row, NULL, (const uint8_t[]){0, 255, 0}, 3);
}

TEST(edges_at_every_depth)
{
    const float row[] = {0, 2000, 0};
    uint8_t bits[1];
    uint16_t words[3];
    float floats[3];
    set_up_edges(3, 8, 1);
    store(row, NULL, bits);
    assert_int_equal(bits[0], 0x40);
    b.job.invert = true;
    store(row, NULL, bits);
    assert_int_equal(bits[0], 0xa0); /* the bits that fill up stay 0 */
    b.job.output_depth = 16;
    store(row, NULL, words);
    assert_memory_equal(words, ((const uint16_t[]){65535, 0, 65535}), sizeof words);
    b.job.output_depth = 32;
    store(row, NULL, floats);
    assert_floats(floats, (const float[]){255, 0, 255}, 3);
}

TEST(extreme_thresholds)
{
    const float row[] = {0, -3, 3e38f, -INFINITY};
    set_up_edges(4, 8, 8);
    b.filter.divisor = 1;
    b.job.threshold = -1; /* everything is above */
    assert_stored(row, NULL, (const uint8_t[]){255, 255, 255, 255}, 4);
    b.job.threshold = 1e300; /* nothing finite is */
    assert_stored(row, NULL, (const uint8_t[]){0, 0, 0, 255}, 4);
    b.job.threshold = 0;
    assert_stored(row, NULL, (const uint8_t[]){0, 255, 255, 255}, 4);
    /* Between two floats: 3 is above, though the nearest float of the threshold is 3. */
    b.job.threshold = nextafter(3, 0);
    assert_stored(row, NULL, (const uint8_t[]){0, 255, 255, 255}, 4);
    b.job.threshold = 3;
    assert_stored(row, NULL, (const uint8_t[]){0, 0, 255, 255}, 4);
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

TEST(kept_alpha_is_copied)
{
    const float row[] = {10, 20};
    set_up(shape_of(2, 1, 2, 8), 8);
    b.job.scale = 2; /* of colour only */
    assert_stored(row, (const uint8_t[]){3, 255}, (const uint8_t[]){20, 3, 40, 255}, 4);
    uint16_t deep[4];
    b.job.output_depth = 16;
    store(row, (const uint8_t[]){3, 255}, deep);
    assert_memory_equal(deep, ((const uint16_t[]){20 * 257, 3 * 257, 40 * 257, 65535}), 8);
}

TEST(premultiplied_colour_is_divided)
{
    /* Colour times alpha, and alpha, after a filter with divisor 4. */
    const float row[] = {4 * 100 * 255, 4 * 255, 4 * 100 * 51, 4 * 51, 800, 0, 900, -4};
    set_up(shape_of(4, 1, 2, 8), 8);
    b.job.alpha = GCONV_ALPHA_PREMULTIPLY;
    b.filter.divisor = 4;
    assert_stored(row, NULL, (const uint8_t[]){100, 255, 100, 51, 0, 0, 0, 0}, 8);
    b.job.offset = 10; /* of colour, not of alpha */
    b.job.has_offset = true;
    assert_stored(row, NULL, (const uint8_t[]){110, 255, 110, 51, 10, 0, 10, 0}, 8);
}
