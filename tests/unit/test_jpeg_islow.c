/* The inverse DCT gives the same samples and the same verdicts with each instruction set.
 * test_jpeg_rows.c shows with whole files that the samples are libjpeg-turbo's. */
#include "io_support.h"

#include "io/jpeg/fast/islow.h"
#include "jpeg/random.h"

enum { BLOCKS_MAX = 40, MCU_MAX = 6 * GC_JPEG_COEFFICIENTS, SIDE = 8 };
enum { STRIDE = SIDE * BLOCKS_MAX + GC_ISLOW_STRAY + 8, SAMPLES = SIDE * STRIDE };

typedef struct job {
    gc_islow_steps steps;
    gc_islow_layout layout;
    uint32_t count;
    int16_t blocks[BLOCKS_MAX * MCU_MAX];
} job;

/* Blocks of `large` or small coefficients in places that the layout leaves, and noise elsewhere. */
static void make_job(job *made, jpeg_random *random, bool large)
{
    made->layout.across = 1 + (uint32_t)jpeg_random_below(random, 4);
    made->layout.mcu = (made->layout.across + jpeg_random_below(random, 3)) * GC_JPEG_COEFFICIENTS;
    made->count = 1 + (uint32_t)jpeg_random_below(random, BLOCKS_MAX);
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
        made->steps.steps[k] = (int16_t)(1 + jpeg_random_below(random, large ? 255 : 20));
    gc_islow_set_limits(&made->steps);
    memset(made->blocks, 0, sizeof made->blocks);
    for (size_t i = 0; i < sizeof made->blocks / sizeof made->blocks[0]; i++)
        if (jpeg_random_below(random, 6) == 0)
            made->blocks[i] = (int16_t)((int)jpeg_random_below(random, 9) - 4);
    if (large)
        made->blocks[jpeg_random_below(random, made->count * GC_JPEG_COEFFICIENTS)] =
            (int16_t)((int)jpeg_random_below(random, 4096) - 2048);
}

TEST(every_instruction_set)
{
    enum { COUNT = 20000 };
    static job made;
    static unsigned char wanted[SAMPLES], got[SAMPLES];
    jpeg_random random = {3};
    gc_islow_function *usual = gc_islow_at(0), *wide = gc_islow_at(1);
    int sound = 0;
    if (wide == NULL) {
        print_message("this processor has one set\n");
        return;
    }
    for (int i = 0; i < COUNT; i++) {
        make_job(&made, &random, i % 2 == 0);
        memset(wanted, 1, SAMPLES);
        memset(got, 1, SAMPLES);
        bool first = usual(made.blocks, &made.layout, made.count, &made.steps, wanted, STRIDE);
        bool second = wide(made.blocks, &made.layout, made.count, &made.steps, got, STRIDE);
        assert_int_equal(first, second);
        sound += first;
        for (size_t y = 0; first && y < SIDE; y++) {
            size_t here = (size_t)SIDE * made.count, end = here + GC_ISLOW_STRAY;
            assert_memory_equal(got + y * STRIDE, wanted + y * STRIDE, here);
            for (size_t x = end; x < STRIDE; x++)
                assert_int_equal(got[y * STRIDE + x] + wanted[y * STRIDE + x], 2);
        }
    }
    assert_in_range(sound, COUNT / 4, COUNT - COUNT / 20);
}

/* One coefficient alone: the largest that is sound, and one more. */
TEST(limits)
{
    static job made;
    static unsigned char samples[SAMPLES];
    for (int set = 0; gc_islow_at(set) != NULL; set++)
        for (uint32_t b = 0; b < 5; b++)
            for (int sign = -1; sign <= 1; sign += 2) {
                made = (job){.layout = {1, GC_JPEG_COEFFICIENTS}, .count = 5};
                for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
                    made.steps.steps[k] = 8;
                gc_islow_set_limits(&made.steps);
                int16_t *dc = made.blocks + b * GC_JPEG_COEFFICIENTS;
                *dc = (int16_t)(sign * 126);
                gc_islow_function *loops = gc_islow_at(set);
                assert_true(loops(made.blocks, &made.layout, 5, &made.steps, samples, STRIDE));
                assert_int_equal(samples[SIDE * b], 128 + sign * 126);
                *dc = (int16_t)(sign * 256);
                assert_false(loops(made.blocks, &made.layout, 5, &made.steps, samples, STRIDE));
                *dc = INT16_MIN;
                assert_false(loops(made.blocks, &made.layout, 5, &made.steps, samples, STRIDE));
            }
}

static const char *missing(void)
{
    return gc_islow_chosen() != NULL ? NULL : "this processor has no loops for it";
}

const test_suite suite = {.missing = missing};
