/* Memory that callers get from the library or register, with a GPU and without. */
#include "base/memory_rows.h"
#include "plan_support.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(memory_is_aligned_and_zero)
{
    static const size_t sizes[] = {1, 4097, 3 << 20};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *memory;
        assert_ok(gconv_memory_allocate(sizes[i], &memory, NULL));
        assert_int_equal((uintptr_t)memory % (sizes[i] < 2 << 20 ? 4096 : 2 << 20), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(((unsigned char *)memory)[at], 0);
        memset(memory, 1, sizes[i]);
        gconv_memory_free(memory);
    }
    gconv_memory_free(NULL);
}

TEST(wrong_arguments_are_refused)
{
    char byte = 0;
    void *memory = &byte;
    assert_invalid(gconv_memory_allocate(0, &memory, &error));
    assert_null(memory);
    assert_int_equal(gconv_memory_allocate(SIZE_MAX, &memory, &error), GCONV_ERROR_MEMORY);
    assert_null(memory);
    assert_int_equal(gconv_memory_allocate(SIZE_MAX / 2, &memory, NULL), GCONV_ERROR_MEMORY);
    assert_invalid(gconv_memory_register(NULL, 1, &error));
    assert_invalid(gconv_memory_register(&byte, 0, &error));
    gconv_memory_unregister(NULL);
}

/* A run on the CPU takes memory of every kind. */
TEST(plans_take_this_memory)
{
    gconv_job job = usual_job();
    job.device = "cpu";
    OWNED_PLAN plan = planned(&job);
    void *input, *output;
    OWNED unsigned char *expected = calloc(HEIGHT, WIDTH);
    assert_ok(gconv_memory_allocate(WIDTH * HEIGHT, &input, NULL));
    assert_ok(gconv_memory_allocate(WIDTH * HEIGHT, &output, NULL));
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ((unsigned char *)input)[i] = (unsigned char)(i * 7);
    assert_ok(gconv_memory_register(expected, WIDTH * HEIGHT, NULL));
    assert_ok(gconv_plan_run_memory(plan, input, WIDTH, expected, WIDTH, NULL, NULL));
    assert_ok(gconv_plan_run_memory(plan, input, WIDTH, output, WIDTH, NULL, NULL));
    assert_memory_equal(output, expected, WIDTH * HEIGHT);
    gconv_memory_unregister(expected);
    gconv_memory_free(output);
    gconv_memory_free(input);
}

TEST(cpu_plans_have_no_device_memory)
{
    static unsigned char input[WIDTH * HEIGHT], output[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    job.device = "cpu";
    OWNED_PLAN plan = planned(&job);
    assert_fails(gconv_plan_run_device(plan, input, WIDTH, output, WIDTH, NULL, &error),
                 GCONV_ERROR_UNSUPPORTED, &error, "'cpu' runs on no device");
}

TEST(alignment_is_that_of_samples)
{
    const uint32_t aligned[2] = {0};
    const char *at = (const char *)aligned;
    assert_true(gc_rows_are_aligned(at + 1, 3, 1));
    assert_true(gc_rows_are_aligned(at + 1, 3, 8));
    assert_true(gc_rows_are_aligned(at + 2, 6, 16));
    assert_false(gc_rows_are_aligned(at + 1, 6, 16));
    assert_false(gc_rows_are_aligned(at + 2, 7, 16));
    assert_true(gc_rows_are_aligned(at + 4, 8, 32));
    assert_false(gc_rows_are_aligned(at + 2, 8, 32));
    assert_false(gc_rows_are_aligned(at + 4, 6, 32));
}

/* ---- Rows that are read where they lie ------------------------------------------------------- */

enum { ROWS = 23, VALUES_MAX = 300, PAGES = 16 };

/* Memory before a page that cannot be read. */
static float *floats_before_end(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
    char *pages =
        mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + size, page, PROT_NONE), 0);
    return (float *)(void *)(pages + size) - count;
}

/* A column and a row on floats that end where memory does, into memory of its own and into the same
 * memory: the same bits, near those of the reference. Whether no transform was taken. */
static bool check_vectors(const gconv_filter *filter, int pixels, int channels, gconv_border border)
{
    static float wanted[ROWS * VALUES_MAX], found[ROWS * VALUES_MAX];
    const size_t values = (size_t)(pixels * channels), row = values * sizeof(float);
    float *input = floats_before_end(ROWS * values);
    for (size_t i = 0; i < ROWS * values; i++)
        input[i] = (float)(i * 2654435761u % 1009);
    gconv_job job = job_of(CHAIN(filter), 1, shape_of((uint32_t)pixels, ROWS, channels, 32));
    job.border = border;
    job.implementation = "reference";
    gconv_plan *plan = planned(&job);
    assert_ok(gconv_plan_run_memory(plan, input, row, wanted, row, NULL, NULL));
    gconv_plan_free(plan);
    job.implementation = "cpu";
    job.threads = 1 + pixels % 2;
    plan = planned(&job);
    bool by_taps = strstr(gconv_plan_explanation(plan), "by a column and a row") != NULL;
    assert_ok(gconv_plan_run_memory(plan, input, row, found, row, NULL, NULL));
    assert_ok(gconv_plan_run_memory(plan, input, row, input, row, NULL, NULL));
    gconv_plan_free(plan);
    assert_memory_equal(found, input, ROWS * row);
    for (size_t i = 0; i < ROWS * values; i++)
        if (fabsf(found[i] - wanted[i]) > 0.01f)
            fail_msg("%d pixels of %d channels, border %d: value %zu is %g, not %g", pixels,
                     channels, (int)border, i, (double)found[i], (double)wanted[i]);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)(input + ROWS * values) - PAGES * page, (PAGES + 1) * page);
    return by_taps;
}

TEST(floats_that_end_where_memory_does)
{
    static const int widths[] = {1, 3, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 75};
    static double column[] = {0.1, 0.4, 0.3, 0.2, 0.1}, row[] = {0.3, 0.4, 0.2, 0.15, 0.25};
    int by_taps = 0;
    for (int n = 0; n < 5; n++)
        for (size_t w = 0; w < COUNT(widths); w++)
            for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
                int size = 3 + n % 2 * 2;
                gconv_filter filter = filter_of(size, size, 1.25, NULL);
                filter.column = column;
                filter.row = row;
                filter.anchor_x = n % size;
                by_taps += check_vectors(&filter, widths[w], channels, (gconv_border)n);
            }
    assert_true(by_taps > 100);
}
