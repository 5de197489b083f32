/* Which blocks the inverse DCT rejects. test_jpeg_rows.c shows with whole files that the samples
 * are libjpeg-turbo's. */
#include "io_support.h"

#include "io/jpeg/fast/blocks.h"

enum { BLOCKS = 5, SIDE = 8 };
enum { STRIDE = SIDE * BLOCKS + GC_ISLOW_STRAY, SAMPLES = SIDE * STRIDE };

typedef struct job {
    gc_islow_steps steps;
    gc_islow_layout layout;
    int16_t blocks[BLOCKS * GC_JPEG_COEFFICIENTS];
} job;

/* One coefficient alone: the largest that is sound, and one more. */
TEST(limits)
{
    static job made;
    static unsigned char samples[SAMPLES];
    for (uint32_t b = 0; b < BLOCKS; b++)
        for (int sign = -1; sign <= 1; sign += 2) {
            made = (job){.layout = {1, GC_JPEG_COEFFICIENTS}};
            for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++)
                made.steps.steps[k] = 8;
            gc_islow_set_limits(&made.steps);
            int16_t *dc = made.blocks + b * GC_JPEG_COEFFICIENTS;
            *dc = (int16_t)(sign * 126);
            assert_true(
                gc_islow_avx2(made.blocks, &made.layout, BLOCKS, &made.steps, samples, STRIDE));
            assert_int_equal(samples[SIDE * b], 128 + sign * 126);
            *dc = (int16_t)(sign * 256);
            assert_false(
                gc_islow_avx2(made.blocks, &made.layout, BLOCKS, &made.steps, samples, STRIDE));
            *dc = INT16_MIN;
            assert_false(
                gc_islow_avx2(made.blocks, &made.layout, BLOCKS, &made.steps, samples, STRIDE));
        }
}

static const char *missing(void)
{
    return gc_jpeg_can_decode() ? NULL : "this processor has no loops for it";
}

const test_suite suite = {.missing = missing};
