/* Samples to chain values and back: rounding, clamping, depths, alpha, thresholds, bits. */
#include "core/conversion.h"

#include "core_support.h"

#include <math.h>

static float one[] = {1};

/* A chain of one 1x1 filter with this divisor. The conversion depends on the divisor alone. */
typedef struct bench {
    gconv_filter filter;
    const gconv_filter *chain[1];
    gconv_job job;
} bench;

static void set_up(bench *b, gconv_shape shape, int output_depth)
{
    b->filter = filter_of(1, 1, 1, one);
    b->chain[0] = &b->filter;
    b->job = job_of(b->chain, 1, shape);
    b->job.output_depth = output_depth;
}

/* Converts one row of chain values; the output is poisoned first. */
static void store(const bench *b, const float *row, const void *alpha, void *output)
{
    gc_problem problem;
    gconv_error error;
    if (gc_problem_create(&b->job, &problem, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    memset(output, 0xa5, gconv_shape_row_bytes(&problem.conversion.output));
    gc_store_row(&problem.conversion, row, alpha, output);
    gc_problem_destroy(&problem);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void load(const bench *b, const void *samples, float *row)
{
    gc_problem problem;
    assert_int_equal(gc_problem_create(&b->job, &problem, NULL), GCONV_OK);
    gc_load_row(&problem.conversion, samples, row);
    gc_problem_destroy(&problem);
}

static void assert_floats(const float *got, const float *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (got[i] != wanted[i])
            fail_msg("value %zu is %.9g, not %.9g", i, (double)got[i], (double)wanted[i]);
}

static void loads_both_depths(void **state)
{
    (void)state;
    bench b;
    float row[6];
    set_up(&b, shape_of(2, 1, 3, 8), 8);
    load(&b, (const uint8_t[]){0, 1, 2, 127, 254, 255}, row);
    assert_floats(row, (const float[]){0, 1, 2, 127, 254, 255}, 6);
    set_up(&b, shape_of(2, 1, 3, 16), 16);
    load(&b, (const uint16_t[]){0, 1, 256, 257, 65534, 65535}, row);
    assert_floats(row, (const float[]){0, 1, 256, 257, 65534, 65535}, 6);
}

static void loads_alpha_by_mode(void **state)
{
    (void)state;
    const uint16_t samples[] = {10, 3, 20, 0, 65535, 65535};
    bench b;
    float row[6];
    set_up(&b, shape_of(3, 1, 2, 16), 16);
    b.job.alpha = GCONV_ALPHA_KEEP;
    load(&b, samples, row);
    assert_floats(row, (const float[]){10, 20, 65535}, 3);
    b.job.alpha = GCONV_ALPHA_FILTER;
    load(&b, samples, row);
    assert_floats(row, (const float[]){10, 3, 20, 0, 65535, 65535}, 6);
    b.job.alpha = GCONV_ALPHA_PREMULTIPLY;
    load(&b, samples, row);
    assert_floats(row, (const float[]){30, 3, 0, 0, 65535.0f * 65535.0f, 65535}, 6);
}

static void extracts_alpha(void **state)
{
    (void)state;
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

static void rounds_ties_to_even(void **state)
{
    (void)state;
    static const rounding roundings[] = {
        {0.5f, 0},        {1.5f, 2},       {2.5f, 2},       {3.5f, 4},
        {253.5f, 254},    {254.5f, 254},   {0.4999999f, 0}, {0.500001f, 1},
        {254.5001f, 255}, {-0.5f, 0},      {-1e30f, 0},     {255.5f, 255},
        {1e30f, 255},     {INFINITY, 255}, {-INFINITY, 0},  {254.9999f, 255},
    };
    enum { COUNT = sizeof roundings / sizeof roundings[0] };
    float row[COUNT];
    uint8_t out[COUNT];
    bench b;
    set_up(&b, shape_of(COUNT, 1, 1, 8), 8);
    for (int i = 0; i < COUNT; i++)
        row[i] = roundings[i].value;
    store(&b, row, NULL, out);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], roundings[i].sample);
}

static void rounds_16_bits(void **state)
{
    (void)state;
    const float row[] = {0.5f, 1.5f, 65534.5f, 65535.5f, 70000, -3, 32767.5f};
    const uint16_t wanted[] = {0, 2, 65534, 65535, 65535, 0, 32768};
    uint16_t out[7];
    bench b;
    set_up(&b, shape_of(7, 1, 1, 16), 16);
    store(&b, row, NULL, out);
    assert_memory_equal(out, wanted, sizeof wanted);
}

/* A chain value that is not a number is stored as black, and is no edge. */
static void nan_is_black(void **state)
{
    (void)state;
    const float row[] = {NAN, NAN};
    uint8_t out[2];
    bench b;
    set_up(&b, shape_of(2, 1, 1, 8), 8);
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 0}), 2);
    b.job.output_depth = 1;
    store(&b, row, NULL, out);
    assert_int_equal(out[0], 0);
    b.job.output = GCONV_OUTPUT_EDGES;
    store(&b, row, NULL, out);
    assert_int_equal(out[0], 0);
}

/* The whole width of a row, past the size of the converter's chunks. */
static void converts_long_rows(void **state)
{
    (void)state;
    enum { WIDTH = 1027 };
    static float row[WIDTH * 3];
    static uint8_t out[WIDTH * 3];
    bench b;
    set_up(&b, shape_of(WIDTH, 1, 3, 8), 8);
    for (int i = 0; i < WIDTH * 3; i++)
        row[i] = (float)(i % 256);
    store(&b, row, NULL, out);
    for (int i = 0; i < WIDTH * 3; i++)
        assert_int_equal(out[i], i % 256);
}

static void divides_scales_and_offsets(void **state)
{
    (void)state;
    const float row[] = {289, -578, 1445, 144.5f};
    uint8_t out[4];
    bench b;
    set_up(&b, shape_of(4, 1, 1, 8), 8);
    b.filter.divisor = 289;
    b.job.scale = 2;
    b.job.offset = 100.5;
    b.job.has_offset = true;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){102, 96, 110, 102}), 4);
    b.job.absolute = true;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){102, 104, 110, 102}), 4);
    b.job.scale = -1; /* after the absolute value */
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){100, 98, 96, 100}), 4);
}

/* ---- Depths ---------------------------------------------------------------------------------- */

static void eight_to_sixteen(void **state)
{
    (void)state;
    const float row[] = {0, 1, 254, 255, 0.5f, 256};
    const uint16_t wanted[] = {0, 257, 65278, 65535, 128, 65535}; /* 0.5 * 257 = 128.5, to even */
    uint16_t out[6];
    bench b;
    set_up(&b, shape_of(6, 1, 1, 8), 16);
    store(&b, row, NULL, out);
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void sixteen_to_eight(void **state)
{
    (void)state;
    const float row[] = {0, 128, 129, 257, 385, 386, 65535, 65406, 65407};
    const uint8_t wanted[] = {0, 0, 1, 1, 1, 2, 255, 254, 255};
    uint8_t out[9];
    bench b;
    set_up(&b, shape_of(9, 1, 1, 16), 8);
    store(&b, row, NULL, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    const float tie[] = {128.5f, 385.5f}; /* half a level, one and a half */
    set_up(&b, shape_of(2, 1, 1, 16), 8);
    store(&b, tie, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 2}), 2);
}

static void offset_is_in_levels(void **state)
{
    (void)state;
    const float row[] = {0, 257};
    uint16_t out[2];
    bench b;
    set_up(&b, shape_of(2, 1, 1, 16), 16);
    b.job.offset = 128;
    b.job.has_offset = true;
    store(&b, row, NULL, out);
    assert_int_equal(out[0], 128 * 257);
    assert_int_equal(out[1], 129 * 257);
}

static void floats_are_left_alone(void **state)
{
    (void)state;
    const float row[] = {-300, 0.1f, 1e30f, 510};
    float out[4];
    bench b;
    set_up(&b, shape_of(4, 1, 1, 8), 32);
    b.filter.divisor = 2;
    store(&b, row, NULL, out);
    assert_floats(out, (const float[]){-150, 0.05f, 5e29f, 255}, 4);
    b.job.input.depth = 16; /* samples of the input's depth, offset in levels */
    b.job.offset = 1;
    b.job.has_offset = true;
    store(&b, row, NULL, out);
    assert_floats(out, (const float[]){107, 257.05f, 5e29f, 512}, 4);
}

static void one_bit_turns_at_128(void **state)
{
    (void)state;
    const float row[] = {127.5f, 127.99999f, 128, 128.5f, 0, 255, -128, 1000};
    uint8_t out[8];
    bench b;
    set_up(&b, shape_of(8, 1, 1, 8), 1);
    store(&b, row, NULL, out);
    assert_int_equal(out[0], 0x35); /* 0011 0101 */
    const float deep[] = {32895, 32895.998f, 32896, 65535};
    set_up(&b, shape_of(4, 1, 1, 16), 1);
    store(&b, deep, NULL, out);
    assert_int_equal(out[0], 0x30);
}

static void one_bit_of_colour_takes_eight(void **state)
{
    (void)state;
    const float row[] = {127, 128, 129, 0, 255, 64};
    uint8_t out[8];
    bench b;
    set_up(&b, shape_of(2, 1, 3, 8), 1);
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 255, 0, 255, 0}), 6);
    set_up(&b, shape_of(2, 1, 4, 8), 1); /* alpha stays as it is */
    store(&b, row, (const uint8_t[]){77, 200}, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 255, 77, 0, 255, 0, 200}), 8);
}

static void packs_bits_at_every_width(void **state)
{
    (void)state;
    bench b;
    for (uint32_t width = 1; width <= 17; width++) {
        float row[17];
        uint8_t out[4] = {0}, wanted[4] = {0};
        for (uint32_t x = 0; x < width; x++) {
            bool white = x % 3 != 1;
            row[x] = white ? 200 : 20;
            wanted[x / 8] |= (uint8_t)(white ? 0x80 >> x % 8 : 0);
        }
        set_up(&b, shape_of(width, 1, 1, 8), 1);
        wanted[(width + 7) / 8] = 0xee; /* the byte after the row is not touched */
        out[(width + 7) / 8] = 0xee;
        store(&b, row, NULL, out);
        assert_memory_equal(out, wanted, (width + 7) / 8 + 1);
    }
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static void set_up_edges(bench *b, uint32_t width, int depth, int output_depth)
{
    set_up(b, shape_of(width, 1, 1, depth), output_depth);
    b->job.output = GCONV_OUTPUT_EDGES;
    b->filter.divisor = 289;
}

static void edges_are_strictly_above(void **state)
{
    (void)state;
    const float row[] = {1445, 1446, -1445, -1446, 0, 1444, 1445.0001f, -1e9f};
    uint8_t out[8];
    bench b;
    set_up_edges(&b, 8, 8, 8);
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 0, 255, 0, 0, 255, 255}), 8);
    b.job.rule = GCONV_RULE_POSITIVE;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 0, 0, 0, 0, 255, 0}), 8);
    b.job.rule = GCONV_RULE_NEGATIVE;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 0, 0, 255, 0, 0, 0, 255}), 8);
    b.job.invert = true;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){255, 255, 255, 0, 255, 255, 255, 0}), 8);
}

static void negative_divisor_turns_the_rule(void **state)
{
    (void)state;
    const float row[] = {2000, -2000};
    uint8_t out[2];
    bench b;
    set_up_edges(&b, 2, 8, 8);
    b.filter.divisor = -289;
    b.job.rule = GCONV_RULE_POSITIVE;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255}), 2);
}

static void edges_of_16_bits_count_in_levels(void **state)
{
    (void)state;
    const float row[] = {5 * 257 * 289, 5 * 257 * 289 + 1, 5 * 289 + 1};
    uint8_t out[3];
    bench b;
    set_up_edges(&b, 3, 16, 8);
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 0}), 3);
}

static void edges_at_every_depth(void **state)
{
    (void)state;
    const float row[] = {0, 2000, 0};
    uint8_t bits[1];
    uint16_t words[3];
    float floats[3];
    bench b;
    set_up_edges(&b, 3, 8, 1);
    store(&b, row, NULL, bits);
    assert_int_equal(bits[0], 0x40);
    b.job.invert = true;
    store(&b, row, NULL, bits);
    assert_int_equal(bits[0], 0xa0); /* the bits that fill up stay 0 */
    b.job.output_depth = 16;
    store(&b, row, NULL, words);
    assert_memory_equal(words, ((const uint16_t[]){65535, 0, 65535}), sizeof words);
    b.job.output_depth = 32;
    store(&b, row, NULL, floats);
    assert_floats(floats, (const float[]){255, 0, 255}, 3);
}

static void extreme_thresholds(void **state)
{
    (void)state;
    const float row[] = {0, -3, 3e38f, -INFINITY};
    uint8_t out[4];
    bench b;
    set_up_edges(&b, 4, 8, 8);
    b.filter.divisor = 1;
    b.job.threshold = -1; /* everything is above */
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){255, 255, 255, 255}), 4);
    b.job.threshold = 1e300; /* nothing finite is */
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 0, 0, 255}), 4);
    b.job.threshold = 0;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 255, 255}), 4);
    /* Between two floats: 3 is above, though the nearest float of the threshold is 3. */
    b.job.threshold = nextafter(3, 0);
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 255, 255, 255}), 4);
    b.job.threshold = 3;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){0, 0, 255, 255}), 4);
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

static void kept_alpha_is_copied(void **state)
{
    (void)state;
    const float row[] = {10, 20};
    uint8_t out[4];
    bench b;
    set_up(&b, shape_of(2, 1, 2, 8), 8);
    b.job.scale = 2; /* of colour only */
    store(&b, row, (const uint8_t[]){3, 255}, out);
    assert_memory_equal(out, ((const uint8_t[]){20, 3, 40, 255}), 4);
    uint16_t deep[4];
    b.job.output_depth = 16;
    store(&b, row, (const uint8_t[]){3, 255}, deep);
    assert_memory_equal(deep, ((const uint16_t[]){20 * 257, 3 * 257, 40 * 257, 65535}), 8);
}

static void premultiplied_colour_is_divided(void **state)
{
    (void)state;
    /* Colour times alpha, and alpha, after a filter with divisor 4. */
    const float row[] = {4 * 100 * 255, 4 * 255, 4 * 100 * 51, 4 * 51, 800, 0, 900, -4};
    uint8_t out[8];
    bench b;
    set_up(&b, shape_of(4, 1, 2, 8), 8);
    b.job.alpha = GCONV_ALPHA_PREMULTIPLY;
    b.filter.divisor = 4;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){100, 255, 100, 51, 0, 0, 0, 0}), 8);
    b.job.offset = 10; /* of colour, not of alpha */
    b.job.has_offset = true;
    store(&b, row, NULL, out);
    assert_memory_equal(out, ((const uint8_t[]){110, 255, 110, 51, 10, 0, 10, 0}), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_both_depths),
        cmocka_unit_test(loads_alpha_by_mode),
        cmocka_unit_test(extracts_alpha),
        cmocka_unit_test(rounds_ties_to_even),
        cmocka_unit_test(rounds_16_bits),
        cmocka_unit_test(nan_is_black),
        cmocka_unit_test(converts_long_rows),
        cmocka_unit_test(divides_scales_and_offsets),
        cmocka_unit_test(eight_to_sixteen),
        cmocka_unit_test(sixteen_to_eight),
        cmocka_unit_test(offset_is_in_levels),
        cmocka_unit_test(floats_are_left_alone),
        cmocka_unit_test(one_bit_turns_at_128),
        cmocka_unit_test(one_bit_of_colour_takes_eight),
        cmocka_unit_test(packs_bits_at_every_width),
        cmocka_unit_test(edges_are_strictly_above),
        cmocka_unit_test(negative_divisor_turns_the_rule),
        cmocka_unit_test(edges_of_16_bits_count_in_levels),
        cmocka_unit_test(edges_at_every_depth),
        cmocka_unit_test(extreme_thresholds),
        cmocka_unit_test(kept_alpha_is_copied),
        cmocka_unit_test(premultiplied_colour_is_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
