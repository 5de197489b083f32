/* Memory that callers get from the library or register, with a GPU and without. */
#include "base/memory_rows.h"
#include "plan_support.h"

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
