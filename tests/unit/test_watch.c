/* What a plan tells of itself: device, expected time, progress; and how a run is cancelled. */
#include "core_support.h"

static float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
static gconv_filter smooth = {
    .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 16, .weights = weights};
static const gconv_filter *const chain[] = {&smooth, &smooth};

enum { WIDTH = 64, HEIGHT = 2000 };

static uint8_t input[HEIGHT][WIDTH], output[HEIGHT][WIDTH], expected[HEIGHT][WIDTH];
static float values[HEIGHT][WIDTH];

static gconv_plan *plan_chain(const char *implementation)
{
    gconv_job job = job_of(chain, 2, shape_of(WIDTH, HEIGHT, 1, 8));
    job.implementation = implementation;
    job.threads = 2;
    for (size_t i = 0; i < sizeof input; i++)
        input[i / WIDTH][i % WIDTH] = (uint8_t)(i * 37 % 251);
    return planned(&job);
}

static gconv_status run(gconv_plan *plan, gconv_error *error)
{
    memset(output, 0, sizeof output);
    return gconv_plan_run_memory(plan, input, WIDTH, output, WIDTH, NULL, error);
}

static gconv_status run_chain(gconv_plan *plan, gconv_error *error)
{
    return gconv_plan_run_chain(plan, input, WIDTH, values[0], sizeof values[0], NULL, error);
}

/* What was told, and when to end the run. */
typedef struct progress {
    int calls;
    double last, limit; /* false is answered beyond `limit` */
    bool falls;         /* less was told than before */
} progress;

static bool follow(void *user, double done)
{
    progress *p = user;
    p->calls++;
    p->falls = p->falls || done < p->last || done < 0 || done > 1;
    p->last = done;
    return done <= p->limit;
}

static const char *const names[] = {"reference", "cpu"};
typedef gconv_status part(gconv_plan *plan, gconv_error *error);
static part *const parts[] = {run, run_chain};

TEST(progress_rises_to_one)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < COUNT(parts); j++) {
            OWNED_PLAN plan = plan_chain(names[i]);
            assert_ok(run_chain(plan, &error));
            progress p = {.limit = 1};
            gconv_plan_watch(plan, follow, &p);
            assert_ok(parts[j](plan, &error));
            assert_false(p.falls);
            assert_true(p.last == 1);
            assert_true(p.calls > 2);
            int calls = p.calls;
            gconv_plan_watch(plan, NULL, NULL);
            assert_ok(parts[j](plan, &error));
            assert_int_equal(p.calls, calls);
        }
}

/* The reference tells while it computes, before a row is out. */
TEST(the_reference_tells_each_row_of_each_step)
{
    OWNED_PLAN plan = plan_chain("reference");
    progress p = {.limit = 1};
    gconv_plan_watch(plan, follow, &p);
    assert_ok(run(plan, NULL));
    assert_int_equal(p.calls, 2 * HEIGHT + HEIGHT);
}

TEST(a_watched_run_gives_the_same_rows)
{
    for (size_t i = 0; i < 2; i++) {
        OWNED_PLAN plan = plan_chain(names[i]);
        assert_ok(run(plan, NULL));
        memcpy(expected, output, sizeof output);
        progress p = {.limit = 1};
        gconv_plan_watch(plan, follow, &p);
        assert_ok(run(plan, NULL));
        assert_memory_equal(output, expected, sizeof output);
    }
}

TEST(false_ends_the_run)
{
    static const double limits[] = {-1, 0.1, 0.7, 0.999};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < COUNT(parts); j++)
            for (size_t k = 0; k < COUNT(limits); k++) {
                OWNED_PLAN plan = plan_chain(names[i]);
                assert_ok(run_chain(plan, &error));
                progress p = {.limit = limits[k]};
                gconv_plan_watch(plan, follow, &p);
                assert_int_equal(parts[j](plan, &error), GCONV_ERROR_CANCELLED);
                assert_int_equal(error.status, GCONV_ERROR_CANCELLED);
                assert_string_equal(error.message, gconv_status_text(GCONV_ERROR_CANCELLED));
                assert_true(p.last > p.limit);
                p.limit = 1; /* the plan is whole */
                p.last = 0;
                assert_ok(parts[j](plan, &error));
            }
}

TEST(a_plan_tells_its_device_and_time)
{
    for (size_t i = 0; i < 2; i++) {
        OWNED_PLAN plan = plan_chain(names[i]);
        const gconv_device_info *device = gconv_plan_device(plan);
        gconv_device_info cpu = gconv_device_info_default();
        assert_ok(gconv_device_describe(0, &cpu, NULL));
        assert_int_equal(device->kind, GCONV_DEVICE_CPU);
        assert_string_equal(device->name, cpu.name);
        double seconds = gconv_plan_expected_seconds(plan);
        assert_true(seconds > 0 && seconds < 60);
        char line[64];
        snprintf(line, sizeof line, "%s on ", names[i]); /* asked for by name */
        assert_contains(gconv_plan_explanation(plan), line);
    }
    OWNED_PLAN slow = plan_chain("reference");
    OWNED_PLAN fast = plan_chain("cpu");
    assert_true(gconv_plan_expected_seconds(slow) > gconv_plan_expected_seconds(fast));
}
