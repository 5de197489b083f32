/* What was measured on a GPU of this machine: kept in the cache, loaded again, and used in place of
 * the figures of an H200. */
#include "cache_support.h"
#include "core_support.h"

#include "gpu/cost/costs.h"
#include "gpu/cost/measured.h"

/* gc_costs_of knows a kind of device for the life of the process: each test has its own. */
static gconv_device_info device_named(const char *name)
{
    gconv_device_info device = {.kind = GCONV_DEVICE_CUDA,
                                .usable = true,
                                .compute_major = 9,
                                .processors = 132,
                                .clock_khz = 1980000,
                                .driver_version = 13000,
                                .memory_bandwidth = 4e12};
    snprintf(device.name, sizeof device.name, "%s", name);
    return device;
}

static const gc_measured figures = {.start_seconds = 0.5,
                                    .pinned_upload_rate = 12e9,
                                    .pinned_download_rate = 13e9,
                                    .memory_rate = 1e12};

TEST(nothing_is_known_at_first)
{
    gconv_device_info device = device_named("New");
    gc_measured none = gc_measured_load(&device);
    assert_true(none.start_seconds == 0 && none.pinned_upload_rate == 0 && none.memory_rate == 0);
    assert_false(gc_costs_are_measured(&device));
    const gc_costs *h200 = gc_costs_of(NULL), *costs = gc_costs_of(&device);
    assert_true(costs->start_seconds == h200->start_seconds);
    assert_true(costs->decode_rate == h200->decode_rate);
    assert_true(costs->memory_rate == 0);
    assert_true(access(cache_path, F_OK) != 0); /* asking makes no file */
}

TEST(figures_are_kept_and_used)
{
    gconv_device_info device = device_named("Measured");
    gc_measured_keep(&device, &figures);
    const gc_costs *costs = gc_costs_of(&device);
    assert_true(gc_costs_are_measured(&device));
    assert_true(costs->start_seconds == 0.5);
    assert_true(costs->pinned_upload_rate == 12e9);
    assert_true(costs->pinned_download_rate == 13e9);
    assert_true(costs->memory_rate == 1e12);
    assert_true(costs->adaptive_share == gc_costs_of(NULL)->adaptive_share);
    /* What is measured later is for later processes. */
    gc_measured_keep(&device, &(gc_measured){.start_seconds = 0.7});
    assert_true(gc_costs_of(&device)->start_seconds == 0.5);
    assert_true(gc_measured_load(&device).start_seconds == 0.7);
    assert_true(gc_measured_load(&device).pinned_upload_rate == 12e9);
    gc_measured_keep(&device, &(gc_measured){.start_seconds = 0.75}); /* as good as the same */
    assert_true(gc_measured_load(&device).start_seconds == 0.7);
}

TEST(a_pass_takes_as_long_as_memory_does)
{
    gconv_device_info device = device_named("Memory"), other = device_named("Other memory");
    gc_measured_keep(&device, &figures);
    static float weights[1] = {1};
    gconv_filter filter = filter_of(1, 1, 1, weights);
    gconv_job job = job_of(CHAIN(&filter), 1, shape_of(4096, 4096, 1, 8));
    gc_problem problem = problem_of(&job);
    double launch = gc_costs_of(&device)->launch_seconds, bytes = 4096.0 * 4096 * 2 * 4;
    double measured = gc_cost_of_pass(&problem, 8, 0, &device, 0.5);
    double rated = gc_cost_of_pass(&problem, 8, 0, &other, 0.5);
    gc_problem_destroy(&problem);
    assert_true(fabs(measured - launch - bytes / 1e12) < 1e-12);
    assert_true(fabs(rated - launch - bytes / (0.85 * 4e12)) < 1e-12);
}

TEST(another_driver_or_device_is_measured_again)
{
    gconv_device_info device = device_named("Driver");
    gc_measured_keep(&device, &figures);
    device.driver_version = 13010;
    assert_true(gc_measured_load(&device).start_seconds == 0);
    assert_false(gc_costs_are_measured(&device));
    device = device_named("Driver 2");
    assert_true(gc_measured_load(&device).start_seconds == 0);
}

/* Before the driver is asked, the last device that was measured stands for all. */
TEST(the_last_device_is_known_before_asking)
{
    gconv_device_info device = device_named("First"), second = device_named("Second");
    gc_measured_keep(&device, &figures);
    gc_measured_keep(&second, &(gc_measured){.start_seconds = 0.9});
    assert_true(gc_measured_load(NULL).start_seconds == 0.9);
    assert_true(gc_measured_load(NULL).memory_rate == 0);
    assert_true(gc_costs_before_asking()->start_seconds == 0.9);
}

TEST(damaged_files_count_as_none)
{
    gconv_device_info device = device_named("Damaged");
    gc_measured_keep(&device, &figures);
    DIR *listing = opendir(cache_path);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[512];
        if (strncmp(entry->d_name, "costs-", 6) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", cache_path, entry->d_name);
        assert_int_equal(truncate(path, 20), 0);
    }
    closedir(listing);
    assert_true(gc_measured_load(&device).start_seconds == 0);
    assert_false(gc_costs_are_measured(&device));
    gc_measured_keep(&device, &figures);
    assert_true(gc_measured_load(&device).start_seconds == 0.5);
}

TEST(figures_that_cannot_be_right_are_dropped)
{
    gconv_device_info device = device_named("Wrong");
    gc_measured wrong = {.start_seconds = 1e-6,
                         .pinned_upload_rate = NAN,
                         .pinned_download_rate = INFINITY,
                         .memory_rate = -1};
    gc_measured_keep(&device, &figures);
    gc_measured_keep(&device, &wrong);
    gc_measured kept = gc_measured_load(&device);
    assert_true(kept.start_seconds == 0.5 && kept.pinned_upload_rate == 12e9 &&
                kept.pinned_download_rate == 13e9 && kept.memory_rate == 1e12);
}

/* Nothing is written where the cache is a file. */
TEST(without_a_cache_nothing_is_kept)
{
    int file = open(cache_path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
    gconv_device_info device = device_named("No cache");
    gc_measured_keep(&device, &figures);
    assert_false(gc_costs_are_measured(&device));
    assert_int_equal(unlink(cache_path), 0);
}

/* Older versions kept six figures under a key of their own. */
TEST(what_other_versions_kept_is_not_used)
{
    gconv_device_info device = device_named("Older");
    double older[6] = {0.5, 12e9, 13e9, 1e12, 0.4, 7e9};
    int driver = device.driver_version;
    gc_hash key = gc_hash_string(gc_hash_start(), "figures of a GPU, 1");
    key = gc_hash_bytes(gc_hash_string(key, device.name), &driver, sizeof driver);
    assert_ok(gc_cache_store("costs", key, older, sizeof older, NULL));
    assert_int_equal(count_cached("costs-", NULL), 1);
    assert_true(gc_measured_load(&device).start_seconds == 0);
    assert_false(gc_costs_are_measured(&device));
    gc_measured_keep(&device, &figures);
    assert_true(gc_measured_load(&device).start_seconds == 0.5);
}

const test_suite suite = {.before = make_cache, .after = remove_cache};
