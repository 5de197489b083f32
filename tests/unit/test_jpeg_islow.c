/* Which blocks the inverse DCT rejects, and that each set of instructions gives the same.
 * test_jpeg_rows.c shows with whole files that the samples are libjpeg-turbo's. */
#include "io_support.h"

#include "io/jpeg/fast/blocks.h"
#include "jpeg/random.h"

enum { BLOCKS = 5, SIDE = 8 };
enum { STRIDE = SIDE * BLOCKS + GC_ISLOW_STRAY, SAMPLES = SIDE * STRIDE };

typedef struct job {
    gc_islow_steps steps;
    gc_islow_layout layout;
    int16_t blocks[BLOCKS * GC_JPEG_COEFFICIENTS];
} job;

static void check_limits(gc_islow_function *islow, uint32_t block, int sign)
{
    static job made;
    static unsigned char samples[SAMPLES];
    made = (job){.layout = {1, GC_JPEG_COEFFICIENTS}};
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
        made.steps.steps[k] = 8;
    gc_islow_set_limits(&made.steps);
    int16_t *dc = made.blocks + block * GC_JPEG_COEFFICIENTS;
    *dc = (int16_t)(sign * 126);
    assert_true(islow(made.blocks, &made.layout, BLOCKS, &made.steps, samples, STRIDE));
    for (uint32_t b = 0; b < BLOCKS; b++)
        assert_int_equal(samples[SIDE * b], 128 + (b == block ? sign * 126 : 0));
    *dc = (int16_t)(sign * 256);
    assert_false(islow(made.blocks, &made.layout, BLOCKS, &made.steps, samples, STRIDE));
    *dc = INT16_MIN;
    assert_false(islow(made.blocks, &made.layout, BLOCKS, &made.steps, samples, STRIDE));
}

/* One coefficient alone: the largest that is sound, and one more. */
TEST(limits)
{
    gc_islow_function *sets[] = {gc_islow_avx2, gc_islow_chosen()};
    for (size_t set = 0; set < 2; set++)
        for (uint32_t block = 0; block < BLOCKS; block++)
            for (int sign = -1; sign <= 1; sign += 2)
                check_limits(sets[set], block, sign);
}

/* Blocks of small coefficients, beside which every second job has one of any size. */
static void make_blocks(job *made, jpeg_random *random, bool large)
{
    made->layout = (gc_islow_layout){1, GC_JPEG_COEFFICIENTS};
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
        made->steps.steps[k] = (int16_t)(1 + jpeg_random_below(random, 40));
    gc_islow_set_limits(&made->steps);
    for (size_t i = 0; i < BLOCKS * GC_JPEG_COEFFICIENTS; i++)
        made->blocks[i] =
            (int16_t)(jpeg_random_below(random, 6) == 0 ? (int)jpeg_random_below(random, 9) - 4
                                                        : 0);
    if (large)
        made->blocks[jpeg_random_below(random, BLOCKS * GC_JPEG_COEFFICIENTS)] =
            (int16_t)((int)jpeg_random_below(random, 400) - 200);
}

TEST(every_set)
{
    enum { COUNT = 4000 };
    static job made;
    static unsigned char wanted[SAMPLES], got[SAMPLES];
    jpeg_random random = {3};
    int sound = 0;
    for (int i = 0; i < COUNT; i++) {
        make_blocks(&made, &random, i % 2 == 0);
        uint32_t count = 1 + (uint32_t)jpeg_random_below(&random, BLOCKS);
        bool first = gc_islow_avx2(made.blocks, &made.layout, count, &made.steps, wanted, STRIDE);
        assert_int_equal(
            gc_islow_chosen()(made.blocks, &made.layout, count, &made.steps, got, STRIDE), first);
        sound += first;
        for (size_t y = 0; first && y < SIDE; y++)
            assert_memory_equal(got + y * STRIDE, wanted + y * STRIDE, (size_t)SIDE * count);
    }
    assert_in_range(sound, COUNT / 4, COUNT - COUNT / 20);
}

static const char *missing(void)
{
    return gc_jpeg_can_decode() ? NULL : "this processor has no loops for it";
}

const test_suite suite = {.missing = missing};
