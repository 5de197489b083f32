/* Conversions in wide vectors give the bits of core/conversion.h, on every instruction set here. */
#include "core/conversion.h"
#include "cpu/instructions/instructions.h"

#include "core_support.h"

#include <math.h>

enum { WIDTH = 4099 };

static float one[] = {1};

static void loads_every_sample(void **state)
{
    (void)state;
    static uint16_t samples[65536];
    static uint8_t levels[256];
    static float row[65536];
    for (int i = 0; i < 65536; i++)
        samples[i] = (uint16_t)i;
    for (int i = 0; i < 256; i++)
        levels[i] = (uint8_t)i;
    for (int n = 0; n < gc_instructions_count(); n++) {
        const gc_instructions *set = gc_instructions_at(n);
        if (!set->usable())
            continue;
        set->samples->load16(samples, 65536, row);
        for (int i = 0; i < 65536; i++)
            assert_true(row[i] == (float)i);
        set->samples->load8(levels, 256, row);
        for (int i = 0; i < 256; i++)
            assert_true(row[i] == (float)i);
    }
}

/* One row through every instruction set and through core/conversion.c. */
static void compare_row(const gc_problem *problem, const float *row)
{
    static uint8_t wanted[WIDTH], got[WIDTH + 1];
    gc_store_row(&problem->conversion, row, NULL, wanted);
    for (int n = 0; n < gc_instructions_count(); n++) {
        const gc_instructions *set = gc_instructions_at(n);
        if (!set->usable())
            continue;
        got[WIDTH] = 99;
        set->samples->store8(&problem->conversion, row, WIDTH, got);
        assert_int_equal(got[WIDTH], 99);
        for (int i = 0; i < WIDTH; i++)
            if (got[i] != wanted[i])
                fail_msg("%s: %.9g over %g times %g plus %g becomes %d, not %d", set->name,
                         (double)row[i], problem->conversion.divisor, problem->conversion.scale,
                         problem->conversion.offset, got[i], wanted[i]);
    }
}

/* Where rounding decides: `steps` floats to both sides of what becomes a half level, of more levels
 * than there are. */
static void compare_around_halves(const gc_problem *problem, int steps)
{
    static float row[WIDTH];
    int filled = 0;
    for (int half = -20; half < 540; half++) {
        const gc_conversion *conversion = &problem->conversion;
        double level = half / 2.0 - conversion->offset;
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

static void stores_the_same_levels(void **state)
{
    (void)state;
    static const double divisors[] = {1, 2, 3, 9, 16, 289, -7, 0.37};
    static const struct {
        double scale, offset;
        bool absolute;
    } rules[] = {{1, 0, false},      {1, 0, true},      {0.3, 0, false},   {1, 100.5, false},
                 {-1, 255, false},   {2.5, -255, true}, {-0.7, 128, true}, {0.125, -3.3, false},
                 {1, -30000, false}, {3, 0, false},     {1e-31, 7, false}};
    for (size_t d = 0; d < sizeof divisors / sizeof divisors[0]; d++)
        for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
            gconv_filter filter = filter_of(1, 1, divisors[d], one);
            const gconv_filter *chain[] = {&filter};
            gconv_job job = job_of(chain, 1, shape_of(WIDTH, 1, 1, 8));
            job.absolute = rules[r].absolute;
            job.scale = rules[r].scale;
            job.has_offset = true;
            job.offset = rules[r].offset;
            gc_problem problem;
            assert_int_equal(gc_problem_create(&job, &problem, NULL), GCONV_OK);
            compare_around_halves(&problem, 200);
            compare_any_floats(&problem);
            gc_problem_destroy(&problem);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_every_sample),
        cmocka_unit_test(stores_the_same_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
