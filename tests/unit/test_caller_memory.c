/* Memory that callers get from the library or register, with a GPU and without. */
#include "plan_support.h"

#include <stdint.h>

static void memory_is_aligned_and_zero(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4097, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *memory;
        assert_int_equal(gconv_memory_allocate(sizes[i], &memory, NULL), GCONV_OK);
        assert_int_equal((uintptr_t)memory % (sizes[i] < 2 << 20 ? 4096 : 2 << 20), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(((unsigned char *)memory)[at], 0);
        memset(memory, 1, sizes[i]);
        gconv_memory_free(memory);
    }
    gconv_memory_free(NULL);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    gconv_error error;
    char byte = 0;
    void *memory = &byte;
    assert_int_equal(gconv_memory_allocate(0, &memory, &error), GCONV_ERROR_ARGUMENT);
    assert_null(memory);
    assert_int_equal(gconv_memory_allocate(SIZE_MAX, &memory, &error), GCONV_ERROR_MEMORY);
    assert_null(memory);
    assert_int_equal(gconv_memory_allocate(SIZE_MAX / 2, &memory, NULL), GCONV_ERROR_MEMORY);
    assert_int_equal(gconv_memory_register(NULL, 1, &error), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_memory_register(&byte, 0, &error), GCONV_ERROR_ARGUMENT);
    gconv_memory_unregister(NULL);
}

/* A run on the CPU takes memory of every kind. */
static void plans_take_this_memory(void **state)
{
    (void)state;
    gconv_job job = usual_job();
    job.device = "cpu";
    gconv_plan *plan = planned(&job);
    void *input, *output;
    unsigned char *expected = calloc(HEIGHT, WIDTH);
    assert_int_equal(gconv_memory_allocate(WIDTH * HEIGHT, &input, NULL), GCONV_OK);
    assert_int_equal(gconv_memory_allocate(WIDTH * HEIGHT, &output, NULL), GCONV_OK);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ((unsigned char *)input)[i] = (unsigned char)(i * 7);
    assert_int_equal(gconv_memory_register(expected, WIDTH * HEIGHT, NULL), GCONV_OK);
    assert_int_equal(gconv_plan_run_memory(plan, input, WIDTH, expected, WIDTH, NULL, NULL),
                     GCONV_OK);
    assert_int_equal(gconv_plan_run_memory(plan, input, WIDTH, output, WIDTH, NULL, NULL),
                     GCONV_OK);
    assert_memory_equal(output, expected, WIDTH * HEIGHT);
    gconv_memory_unregister(expected);
    free(expected);
    gconv_memory_free(output);
    gconv_memory_free(input);
    gconv_plan_free(plan);
}

static void cpu_plans_have_no_device_memory(void **state)
{
    (void)state;
    static unsigned char input[WIDTH * HEIGHT], output[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    job.device = "cpu";
    gconv_plan *plan = planned(&job);
    gconv_error error;
    assert_int_equal(gconv_plan_run_device(plan, input, WIDTH, output, WIDTH, NULL, &error),
                     GCONV_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "'cpu' runs on no device"));
    gconv_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_zero),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(plans_take_this_memory),
        cmocka_unit_test(cpu_plans_have_no_device_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
