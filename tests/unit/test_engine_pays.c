/* When starting a GPU's JPEG engine pays: when decoding and encoding the images that are left keep
 * the CPU busy for long enough. */
#include "core_support.h"

#include "gpu/cost/costs.h"
#include "gpu/cost/images.h"

static float weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static gconv_filter box = {
    .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 9, .weights = weights};
static const gconv_filter *const chain[] = {&box};

static gconv_device_info h200(void)
{
    gconv_device_info device = {.kind = GCONV_DEVICE_CUDA, .usable = true, .compute_major = 9};
    strcpy(device.name, "NVIDIA H200");
    return device;
}

/* JPEG of 4096x3072, RGB, 16 at one time. */
static gconv_job jpegs(uint64_t count)
{
    gconv_job job = job_of(chain, 1, shape_of(4096, 3072, 3, 8));
    job.threads = 16;
    job.between_files = true;
    job.images_at_once = 16;
    job.source_format = GCONV_FORMAT_JPEG;
    job.runs = count;
    return job;
}

static bool pays_on(const gconv_job *job, const gconv_device_info *device)
{
    gc_problem problem;
    gconv_error error;
    if (gc_problem_create(job, &problem, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    bool pays = gc_cost_engine_pays(&problem, device);
    gc_problem_destroy(&problem);
    return pays;
}

static bool pays(const gconv_job *job)
{
    gconv_device_info device = h200();
    return pays_on(job, &device);
}

/* Decoding and encoding one takes 73 + 60 ms, on 16 threads 8.3 ms; 4 times the engine's start is
 * 2.6 s. */
static void many_images_pay(void **state)
{
    (void)state;
    gconv_job job = jpegs(1600);
    assert_true(pays(&job));
    job = jpegs(330);
    assert_true(pays(&job));
    job = jpegs(300);
    assert_false(pays(&job));
    job.threads = 8;
    assert_true(pays(&job));
    job = jpegs(0);
    assert_false(pays(&job));
}

/* On one thread 20 of them take 2.7 s. */
static void images_one_by_one_pay_earlier(void **state)
{
    (void)state;
    gconv_job job = jpegs(20);
    assert_false(pays(&job));
    job.images_at_once = 1;
    assert_true(pays(&job));
    job.runs = 18;
    assert_false(pays(&job));
}

/* The driver needs 0.38 ms for a picture. 16 threads decode and encode one of 1024x1024 in 0.7 ms,
 * one of 512x512 in 0.2 ms. */
static void small_pictures_do_not_pay(void **state)
{
    (void)state;
    gconv_job job = jpegs(100000);
    job.input.width = job.input.height = 1024;
    assert_true(pays(&job));
    job.input.width = job.input.height = 512;
    assert_false(pays(&job));
}

static void only_what_an_engine_takes_pays(void **state)
{
    (void)state;
    gconv_job job = jpegs(1600);
    job.source_format = GCONV_FORMAT_PNG;
    assert_false(pays(&job));
    job.source_format = GCONV_FORMAT_UNKNOWN;
    assert_false(pays(&job));
    job = jpegs(1600);
    job.source_decoder = GCONV_DECODER_CPU;
    assert_false(pays(&job));
    job = jpegs(1600);
    job.input.channels = 1;
    assert_true(pays(&job));
    job.input.channels = 4;
    assert_false(pays(&job));
    job = jpegs(1600);
    job.border = GCONV_BORDER_WRAP;
    assert_false(pays(&job));
    job = jpegs(1600);
    job.input.depth = 16;
    assert_false(pays(&job));
}

static void devices_without_an_engine_do_not_pay(void **state)
{
    (void)state;
    gconv_job job = jpegs(1600);
    gconv_device_info device = h200();
    device.compute_minor = 6;
    device.compute_major = 8;
    strcpy(device.name, "NVIDIA GeForce RTX 3090");
    assert_false(pays_on(&job, &device));
    device.compute_minor = 0;
    assert_true(pays_on(&job, &device));
    device.compute_major = 7;
    assert_false(pays_on(&job, &device));
}

static void who_asks_for_the_engine_gets_it(void **state)
{
    (void)state;
    gconv_job job = jpegs(1);
    job.source_decoder = GCONV_DECODER_HARDWARE;
    assert_true(pays(&job));
    job.source_format = GCONV_FORMAT_PNG;
    assert_false(pays(&job));
}

static void who_asks_for_kernels_gets_no_engine(void **state)
{
    (void)state;
    gconv_job job = jpegs(1600);
    job.source_decoder = GCONV_DECODER_CUDA;
    assert_false(pays(&job));
}

static void what_the_job_says_of_the_source_is_checked(void **state)
{
    (void)state;
    gconv_error error;
    gconv_job job = jpegs(1);
    job.source_format = GCONV_FORMAT_COUNT;
    assert_int_equal(gconv_job_check(&job, &error), GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "source"));
    job = jpegs(1);
    job.source_decoder = (gconv_decoder)(GCONV_DECODER_HARDWARE + 1);
    assert_int_equal(gconv_job_check(&job, &error), GCONV_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_images_pay),
        cmocka_unit_test(images_one_by_one_pay_earlier),
        cmocka_unit_test(small_pictures_do_not_pay),
        cmocka_unit_test(only_what_an_engine_takes_pays),
        cmocka_unit_test(devices_without_an_engine_do_not_pay),
        cmocka_unit_test(who_asks_for_the_engine_gets_it),
        cmocka_unit_test(who_asks_for_kernels_gets_no_engine),
        cmocka_unit_test(what_the_job_says_of_the_source_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
