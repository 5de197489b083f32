/* Several images at one time: shares of the threads, and turns on the GPU. */
#include "base/processors.h"
#include "core/plan.h"
#include "core/turn.h"
#include "core_support.h"

#include <pthread.h>
#include <stdatomic.h>

static float weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static gconv_filter box = {
    .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 9, .weights = weights};
static const gconv_filter *const chain[] = {&box};

/* Threads of the plan that this job gets on the CPU. */
static int threads_of(uint32_t side, int threads, int images_at_once, bool between_files)
{
    gconv_job job = job_of(chain, 1, shape_of(side, side, 1, 8));
    job.device = "cpu";
    job.threads = threads;
    job.images_at_once = images_at_once;
    job.between_files = between_files;
    gconv_plan *plan;
    gconv_error error;
    if (gconv_plan_create(&job, &plan, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    int given = plan->problem.job.threads;
    gconv_plan_free(plan);
    return given;
}

static void images_share_the_threads(void **state)
{
    (void)state;
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
static void small_images_between_files_get_one_thread(void **state)
{
    (void)state;
    assert_int_equal(threads_of(1024, 0, 0, true), 1);
    assert_int_equal(threads_of(1800, 0, 0, true), gc_processor_count());
    assert_int_equal(threads_of(1024, 0, 0, false), 0);
    assert_int_equal(threads_of(1024, 5, 0, true), 5);
}

static void the_number_of_images_is_checked(void **state)
{
    (void)state;
    gconv_job job = job_of(chain, 1, shape_of(8, 8, 1, 8));
    job.images_at_once = -1;
    gconv_error error;
    assert_int_equal(gconv_job_check(&job, &error), GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "images"));
    assert_int_equal(gconv_job_check(NULL, &error), GCONV_ERROR_ARGUMENT);
}

/* Plans that end on the CPU leave the turn alone: any number of them lives at one time. */
static void plans_on_the_cpu_do_not_wait_for_each_other(void **state)
{
    (void)state;
    gconv_job job = job_of(chain, 1, shape_of(8, 8, 1, 8));
    job.images_at_once = 3;
    gconv_plan *plans[3];
    for (int i = 0; i < 3; i++) {
        job.implementation = i == 2 ? "auto" : "cpu";
        assert_int_equal(gconv_plan_create(&job, &plans[i], NULL), GCONV_OK);
        assert_int_equal(gconv_plan_device(plans[i])->kind, GCONV_DEVICE_CPU);
    }
    for (int i = 0; i < 3; i++)
        gconv_plan_free(plans[i]);
    job.implementation = "none such"; /* a plan that is refused gives the turn back, too */
    for (int i = 0; i < 3; i++)
        assert_int_equal(gconv_plan_create(&job, &plans[0], NULL), GCONV_ERROR_ARGUMENT);
    gc_gpu_turn_take(); /* which a check does not wait for */
    job.implementation = "auto";
    assert_int_equal(gconv_job_check(&job, NULL), GCONV_OK);
    gc_gpu_turn_give();
}

static atomic_int inside, most, turns;

static void *take_turns(void *user)
{
    (void)user;
    for (int i = 0; i < 200; i++) {
        gc_gpu_turn_take();
        int now = atomic_fetch_add(&inside, 1) + 1;
        if (now > atomic_load(&most))
            atomic_store(&most, now);
        atomic_fetch_add(&turns, 1);
        atomic_fetch_sub(&inside, 1);
        gc_gpu_turn_give();
    }
    return NULL;
}

static void one_at_a_time_has_the_turn(void **state)
{
    (void)state;
    pthread_t threads[4];
    gc_gpu_turn_take();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    assert_int_equal(atomic_load(&turns), 0);
    gc_gpu_turn_give();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&turns), 800);
    assert_int_equal(atomic_load(&most), 1);
}

static void *give_turn(void *user)
{
    (void)user;
    gc_gpu_turn_give();
    return NULL;
}

static void another_thread_may_give_the_turn_back(void **state)
{
    (void)state;
    pthread_t thread;
    gc_gpu_turn_take();
    assert_int_equal(pthread_create(&thread, NULL, give_turn, NULL), 0);
    gc_gpu_turn_take();
    gc_gpu_turn_give();
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_share_the_threads),
        cmocka_unit_test(small_images_between_files_get_one_thread),
        cmocka_unit_test(the_number_of_images_is_checked),
        cmocka_unit_test(plans_on_the_cpu_do_not_wait_for_each_other),
        cmocka_unit_test(one_at_a_time_has_the_turn),
        cmocka_unit_test(another_thread_may_give_the_turn_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
