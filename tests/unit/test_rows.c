/* The inner loops for every instruction set this processor has, against a plain sum. */
#include "cpu/rows.h"
#include "cpu/window.h"

#include "core_support.h"

enum { COUNT_MAX = 300, TAPS_MAX = 9, ROW = COUNT_MAX + 4 * TAPS_MAX + GC_WINDOW_SLACK };

static float samples[TAPS_MAX][ROW];
static float taps[TAPS_MAX * TAPS_MAX];

/* Whole numbers, so that the order of summation does not matter; zeros among the taps. */
static void fill(void)
{
    unsigned seed = 1;
    for (int j = 0; j < TAPS_MAX; j++)
        for (int i = 0; i < ROW; i++)
            samples[j][i] = (float)((seed = seed * 1103515245 + 12345) >> 16 & 255);
    for (int i = 0; i < TAPS_MAX * TAPS_MAX; i++)
        taps[i] = (float)(i % 7 - 3);
}

static float plain_sum(const gc_step *step, size_t channels, size_t at)
{
    float sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int k = 0; k < step->width; k++)
            sum += step->taps[j * step->width + k] * samples[j][at + (size_t)k * channels];
    return sum;
}

static void check_kernel(const gc_rows_kernel *kernel, const gc_step *step, size_t channels,
                         size_t count)
{
    static _Alignas(64) float out[ROW];
    const float *rows[TAPS_MAX];
    for (int j = 0; j < step->height; j++)
        rows[j] = samples[j];
    for (size_t i = 0; i < ROW; i++)
        out[i] = -1;
    kernel->convolve(step, rows, channels, count, out);
    for (size_t i = 0; i < count; i++)
        if (out[i] != plain_sum(step, channels, i))
            fail_msg("%s: %dx%d, %zu channels, value %zu of %zu is wrong", kernel->name,
                     step->width, step->height, channels, i, count);
    for (size_t i = count + GC_WINDOW_SLACK; i < ROW; i++)
        assert_true(out[i] == -1);
}

static void all_kernels_agree(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 191, 300};
    fill();
    for (int n = 0; n < gc_rows_kernel_count(); n++) {
        const gc_rows_kernel *kernel = gc_rows_kernel_at(n);
        if (!kernel->usable()) {
            print_message("%s: not on this processor\n", kernel->name);
            continue;
        }
        for (int side = 1; side <= TAPS_MAX; side++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                gc_step step = {.taps = taps, .width = side, .height = TAPS_MAX + 1 - side};
                check_kernel(kernel, &step, 1 + c % 4, counts[c]);
            }
    }
}

static void the_list_of_kernels(void **state)
{
    (void)state;
    int count = gc_rows_kernel_count();
    assert_true(count >= 1);
    assert_string_equal(gc_rows_kernel_at(count - 1)->name, "portable");
    assert_true(gc_rows_kernel_at(count - 1)->usable());
    assert_null(gc_rows_kernel_at(count));
    assert_null(gc_rows_kernel_at(-1));
    assert_true(gc_rows_kernel_best()->usable());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kernels_agree),
        cmocka_unit_test(the_list_of_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
