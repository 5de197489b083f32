/* Conversions in wide vectors give the bits of core/conversion.h, on every instruction set here. */
#include "core/conversion.h"
#include "cpu/fast/loops/loops.h"

#include "core_support.h"
#include "sets_support.h"

enum { WIDTH = 4099 };

static float one[] = {1};

TEST(loads_every_sample)
{
    static uint16_t samples[65536];
    static uint8_t levels[256];
    static float row[65536];
    for (int i = 0; i < 65536; i++)
        samples[i] = (uint16_t)i;
    for (int i = 0; i < 256; i++)
        levels[i] = (uint8_t)i;
    EACH_SET(set, n)
    {
        set->samples->load16(samples, 65536, row);
        for (int i = 0; i < 65536; i++)
            assert_true(row[i] == (float)i);
        set->samples->load8(levels, 256, row);
        for (int i = 0; i < 256; i++)
            assert_true(row[i] == (float)i);
    }
}

/* Sample i of a row. */
static double sample_at(const void *samples, int depth, int i)
{
    return depth == 8    ? ((const uint8_t *)samples)[i]
           : depth == 16 ? ((const uint16_t *)samples)[i]
                         : (double)((const float *)samples)[i];
}

/* One row through every instruction set and through core/conversion.c. */
static void compare_row(const gc_problem *problem, const float *row)
{
    static float wanted[WIDTH], got[WIDTH + 1];
    const gc_conversion *conversion = &problem->conversion;
    int depth = conversion->output.depth;
    gc_store_pixels(conversion, row, WIDTH, NULL, wanted);
    EACH_SET(set, n)
    {
        memset(got, 99, sizeof got);
        set->samples->store(conversion, row, WIDTH, got);
        assert_int_equal(((uint8_t *)got)[WIDTH * depth / 8], 99);
        bool same = memcmp(got, wanted, (size_t)WIDTH * (size_t)depth / 8) == 0;
        for (int i = 0; !same && i < WIDTH; i++)
            if (sample_at(got, depth, i) != sample_at(wanted, depth, i))
                fail_msg("%s: %.9g over %g times %g plus %g becomes %.9g, not %.9g", set->name,
                         (double)row[i], conversion->divisor, conversion->scale, conversion->offset,
                         sample_at(got, depth, i), sample_at(wanted, depth, i));
        assert_true(same); /* zeros have the same signs */
    }
}

/* Where rounding decides: `steps` floats to both sides of what becomes a half level, of more levels
 * than there are. */
static void compare_around_halves(const gc_problem *problem, int steps)
{
    static float row[WIDTH];
    int filled = 0;
    int step = problem->conversion.output.depth == 16 ? 257 : 1;
    double of_output = step * 255 / problem->conversion.sample_max;
    for (int half = -20 * step; half < 540 * step; half += step) {
        const gc_conversion *conversion = &problem->conversion;
        double level = half / 2.0 / of_output - conversion->offset;
        float value = (float)(level / conversion->scale * conversion->divisor);
        for (int i = 0; i < steps; i++)
            value = nextafterf(value, -INFINITY);
        for (int i = -steps; i <= steps; i++) {
            row[filled++] = value;
            value = nextafterf(value, INFINITY);
            if (filled == WIDTH) {
                compare_row(problem, row);
                filled = 0;
            }
        }
    }
    compare_row(problem, row);
}

/* Any bits, among them infinities, not-a-number, denormals and both zeros. */
static void compare_any_floats(const gc_problem *problem)
{
    static float row[WIDTH];
    uint32_t bits = 0;
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < WIDTH; i++, bits += 5237u)
            memcpy(&row[i], &bits, sizeof bits);
        compare_row(problem, row);
    }
    const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 255, 256, 0.5f, 1.5f, 254.5f};
    memcpy(row, special, sizeof special);
    compare_row(problem, row);
}

TEST(stores_the_same_levels)
{
    static const double divisors[] = {1, 2, 3, 9, 16, -16, 289, -7, 0.37};
    static const struct {
        double scale, offset;
        bool absolute;
    } rules[] = {{1, 0, false},      {1, 0, true},      {0.3, 0, false},   {1, 100.5, false},
                 {-1, 255, false},   {2.5, -255, true}, {-0.7, 128, true}, {0.125, -3.3, false},
                 {1, -30000, false}, {3, 0, false},     {1e-31, 7, false}};
    static const int depths[][2] = {{8, 8}, {16, 16}, {8, 16}, {16, 8}, {8, 32}};
    for (size_t d = 0; d < COUNT(divisors); d++)
        for (size_t r = 0; r < COUNT(depths) * COUNT(rules); r++) {
            gconv_filter filter = filter_of(1, 1, divisors[d], one);
            const int *depth = depths[r / COUNT(rules)];
            gconv_job job = job_of(CHAIN(&filter), 1, shape_of(WIDTH, 1, 1, depth[0]));
            job.output_depth = depth[1];
            job.absolute = rules[r % COUNT(rules)].absolute;
            job.scale = rules[r % COUNT(rules)].scale;
            job.has_offset = true;
            job.offset = rules[r % COUNT(rules)].offset;
            OWNED_PROBLEM problem = problem_of(&job);
            problem.conversion.whole = false; /* any floats follow */
            compare_around_halves(&problem, 200);
            compare_any_floats(&problem);
        }
}

/* Whole chain values over whole divisors: many levels are ties, and most others are near one if the
 * divisor is large. */
TEST(stores_the_same_levels_of_whole_numbers)
{
    static const double divisors[] = {2, 3, 6, 20, -7, 10, 96, 1000, 2046, 2047, 2048, 2050, 5000};
    static const double offsets[] = {0, 128, -3, 0.5};
    static const double scales[] = {1, -1, 0.5, 0.1};
    static float row[WIDTH];
    for (size_t i = 0; i < COUNT(divisors) * COUNT(offsets) * COUNT(scales); i++) {
        gconv_filter filter = filter_of(1, 1, divisors[i / (COUNT(offsets) * COUNT(scales))], one);
        const gconv_filter *chain[] = {&filter};
        gconv_job job = job_of(chain, 1, shape_of(WIDTH, 1, 1, 8));
        job.scale = scales[i % COUNT(scales)];
        job.offset = offsets[i / COUNT(scales) % COUNT(offsets)];
        job.has_offset = true;
        OWNED_PROBLEM problem = problem_of(&job);
        assert_true(problem.conversion.whole);
        long least = lround(-10 * fabs(filter.divisor / job.scale)), next = least;
        while (next < 270 * fabs(filter.divisor / job.scale)) {
            for (int v = 0; v < WIDTH; v++)
                row[v] = (float)next++;
            compare_row(&problem, row);
        }
    }
}

/* ---- Alpha ----------------------------------------------------------------------------------- */

enum { PIXELS = 1031, CHANNELS = 4 };

/* The same pixels by every instruction set and by core/conversion.c. */
static void compare_alpha(const gc_problem *problem, const uint8_t *samples, const uint8_t *alpha,
                          const float *row)
{
    static float wanted_row[PIXELS * CHANNELS], got_row[PIXELS * CHANNELS];
    static uint8_t wanted[PIXELS * CHANNELS], got[PIXELS * CHANNELS + 1];
    const gc_conversion *conversion = &problem->conversion;
    size_t values = PIXELS * (size_t)conversion->chain_channels;
    size_t bytes = PIXELS * (size_t)conversion->output.channels;
    gc_load_pixels(conversion, samples, PIXELS, wanted_row);
    gc_store_pixels(conversion, row, PIXELS, alpha, wanted);
    EACH_SET(set, n)
    {
        set->samples->load8_alpha(conversion, samples, PIXELS, got_row);
        assert_memory_equal(got_row, wanted_row, values * sizeof *got_row);
        got[bytes] = 99;
        set->samples->store8_alpha(conversion, row, PIXELS, &(gc_kept_samples){.alpha = alpha},
                                   got);
        assert_int_equal(got[bytes], 99);
        assert_memory_equal(got, wanted, bytes);
    }
}

/* Chain values with and without alpha, around halves of levels and far from them. */
static void fill_alpha(uint8_t *samples, uint8_t *alpha, float *row, int channels, int turn)
{
    static uint32_t any = 3;
    for (int i = 0; i < PIXELS * CHANNELS; i++) {
        any = any * 1664525 + 1013904223;
        samples[i] = (uint8_t)(any >> 24);
        alpha[i / CHANNELS] = (uint8_t)(any >> 16);
        row[i] = (float)(int)(any >> 8 & 0x1ffff) * (turn % 2 == 0 ? 1 : 0.37f) - 9000;
        if (turn % 3 != 0 && i % channels == channels - 1)
            row[i] = (float)(any >> 20 & 511) - (turn % 3 == 1 ? 0 : 100);
    }
    const float special[] = {NAN, INFINITY, 1, 0, -1, 5, -0.0f, 0, INFINITY, 3, NAN, INFINITY};
    if (turn % 5 == 0)
        memcpy(row, special, sizeof special);
}

TEST(alpha_is_kept_or_multiplied)
{
    static uint8_t samples[PIXELS * CHANNELS], alpha[PIXELS];
    static float row[PIXELS * CHANNELS];
    static const double scales[] = {1, 1, -0.7, 2}, offsets[] = {0, 12.5, 200, 0};
    for (int turn = 0; turn < 120; turn++) {
        gconv_filter filter = filter_of(1, 1, turn % 7 == 0 ? -3 : turn % 7, one);
        gconv_job job = job_of(CHAIN(&filter), 1, shape_of(PIXELS, 1, turn % 2 == 0 ? 4 : 2, 8));
        job.alpha = turn / 2 % 2 == 0 ? GCONV_ALPHA_PREMULTIPLY : GCONV_ALPHA_KEEP;
        job.scale = scales[turn / 4 % 4];
        job.has_offset = true;
        job.offset = offsets[turn / 4 % 4];
        job.absolute = turn / 16 % 2 == 0;
        OWNED_PROBLEM problem = problem_of(&job);
        fill_alpha(samples, alpha, row, job.input.channels, turn);
        compare_alpha(&problem, samples, alpha, row);
    }
}

/* ---- The sets ------------------------------------------------------------------------------- */

TEST(the_list_of_instructions)
{
    int count = gc_instructions_count();
    assert_true(count >= 1);
    assert_string_equal(gc_instructions_at(count - 1)->name, "portable");
    assert_true(gc_instructions_at(count - 1)->usable());
    assert_null(gc_instructions_at(count));
    assert_null(gc_instructions_at(-1));
    unsetenv("GCONV_INSTRUCTIONS");
    assert_true(gc_instructions_chosen()->usable());
    setenv("GCONV_INSTRUCTIONS", "portable", 1);
    assert_string_equal(gc_instructions_chosen()->name, "portable");
    setenv("GCONV_INSTRUCTIONS", "no such", 1);
    assert_true(gc_instructions_chosen()->usable());
    unsetenv("GCONV_INSTRUCTIONS");
}
