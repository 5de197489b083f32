/* Several images at one time: shares of the threads, and turns on the GPU. */
#include "base/processors.h"
#include "core/plan.h"
#include "core_support.h"

static float weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static gconv_filter box = {
    .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 9, .weights = weights};
static const gconv_filter *const chain[] = {&box};

/* Threads of the plan that this job gets on the CPU. */
static int threads_from(gconv_format format, uint32_t side, int threads, int images_at_once,
                        bool between_files)
{
    gconv_job job = job_of(chain, 1, shape_of(side, side, 1, 8));
    job.source_format = format;
    job.device = "cpu";
    job.threads = threads;
    job.images_at_once = images_at_once;
    job.between_files = between_files;
    OWNED_PLAN plan = planned(&job);
    int given = plan->problem.job.threads;
    return given;
}

static int threads_of(uint32_t side, int threads, int images_at_once, bool between_files)
{
    return threads_from(GCONV_FORMAT_UNKNOWN, side, threads, images_at_once, between_files);
}

TEST(images_share_the_threads)
{
    for (int files = 0; files < 2; files++) {
        assert_int_equal(threads_of(64, 8, 0, files), 8);
        assert_int_equal(threads_of(64, 8, 1, files), 8);
        assert_int_equal(threads_of(64, 8, 2, files), 4);
        assert_int_equal(threads_of(64, 8, 3, files), 2);
        assert_int_equal(threads_of(64, 8, 100, files), 1);
        int all = gc_processor_count();
        assert_int_equal(threads_of(64, 0, 2, files), all > 1 ? all / 2 : 1);
    }
}

/* 17 multiply-adds a value: a megapixel is small, 3 are not. */
TEST(small_images_between_files_get_one_thread)
{
    assert_int_equal(threads_of(1024, 0, 0, true), 1);
    assert_int_equal(threads_of(1800, 0, 0, true), gc_processor_count());
    assert_int_equal(threads_of(1024, 0, 0, false), 0);
    assert_int_equal(threads_of(1024, 5, 0, true), 5);
}

/* One thread inflates while another one makes rows. */
TEST(small_png_get_few_threads)
{
    int all = gc_processor_count();
    assert_int_equal(threads_from(GCONV_FORMAT_PNG, 256, 0, 0, true), 1);
    assert_int_equal(threads_from(GCONV_FORMAT_PNG, 1024, 0, 0, true), all < 3 ? all : 3);
    assert_int_equal(threads_from(GCONV_FORMAT_PNG, 1800, 0, 0, true), all);
    assert_int_equal(threads_from(GCONV_FORMAT_JPEG, 1024, 0, 0, true), 1);
}

TEST(the_number_of_images_is_checked)
{
    gconv_job job = job_of(chain, 1, shape_of(8, 8, 1, 8));
    job.images_at_once = -1;
    assert_fails(gconv_job_check(&job, &error), GCONV_ERROR_ARGUMENT, &error, "images");
    assert_invalid(gconv_job_check(NULL, &error));
}

/* Any number of plans lives at one time. */
TEST(plans_on_the_cpu_do_not_wait_for_each_other)
{
    gconv_job job = job_of(chain, 1, shape_of(8, 8, 1, 8));
    job.images_at_once = 3;
    gconv_plan *plans[3];
    for (int i = 0; i < 3; i++) {
        job.implementation = i == 2 ? "auto" : "cpu";
        assert_ok(gconv_plan_create(&job, &plans[i], NULL));
        assert_int_equal(gconv_plan_device(plans[i])->kind, GCONV_DEVICE_CPU);
    }
    for (int i = 0; i < 3; i++)
        gconv_plan_free(plans[i]);
}
