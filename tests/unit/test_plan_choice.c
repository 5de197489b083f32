/* Plans through the public interface: jobs that are refused, and how an implementation is
 * chosen. */
#include "plan_support.h"

static void refused(const gconv_job *job, gconv_status status, const char *says)
{
    gconv_plan *plan = (gconv_plan *)1;
    gconv_error error;
    assert_int_equal(gconv_plan_create(job, &plan, &error), status);
    assert_null(plan);
    assert_int_equal(error.status, status);
    assert_contains(error.message, says);
    assert_int_equal(gconv_plan_create(job, &plan, NULL), status);
}

TEST(unknown_implementation)
{
    gconv_job job = usual_job();
    job.implementation = "fastest";
    refused(&job, GCONV_ERROR_ARGUMENT, "'fastest'");
}

TEST(unknown_device)
{
    gconv_job job = usual_job();
    static const char *const devices[] = {"gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", ""};
    for (size_t i = 0; i < COUNT(devices); i++) {
        job.device = devices[i];
        refused(&job, GCONV_ERROR_ARGUMENT, "unknown device");
    }
    job.device = "cuda:1023"; /* a device that no machine has */
    refused(&job, GCONV_ERROR_DEVICE, "");
}

TEST(unusable_implementations)
{
    for (int i = 0; i < gconv_implementation_count(); i++) {
        gconv_implementation_info info = gconv_implementation_info_default();
        assert_ok(gconv_implementation_describe(i, &info, NULL));
        assert_true(info.usable == (info.reason[0] == '\0'));
        if (info.usable)
            continue;
        gconv_job job = usual_job();
        job.implementation = info.name;
        refused(&job, GCONV_ERROR_DEVICE, info.name);
    }
    gconv_implementation_info info = gconv_implementation_info_default();
    assert_invalid(gconv_implementation_describe(-1, &info, NULL));
    assert_invalid(gconv_implementation_describe(gconv_implementation_count(), &info, NULL));
}

TEST(implementation_on_the_wrong_device)
{
    gconv_job job = usual_job();
    job.implementation = "cpu";
    job.device = "cuda";
    refused(&job, GCONV_ERROR_DEVICE, "cpu");
}

TEST(named_ones_are_used)
{
    static const char *const names[] = {"reference", "cpu"};
    for (size_t i = 0; i < 2; i++) {
        gconv_job job = usual_job();
        char name[16];
        snprintf(name, sizeof name, "%s", names[i]);
        job.implementation = name;
        OWNED_PLAN plan = planned(&job);
        memset(name, 'x', sizeof name - 1); /* the plan has its own copy */
        assert_string_equal(gconv_plan_implementation(plan), names[i]);
        assert_contains(gconv_plan_explanation(plan), names[i]);
    }
}

/* The candidate with the least estimate in an explanation. */
static void find_least(const char *explanation, char name[64])
{
    double least = INFINITY;
    int candidates = 0;
    name[0] = '\0';
    for (const char *line = explanation; *line != '\0'; line += strcspn(line, "\n") + 1) {
        char candidate[64];
        double milliseconds;
        int end = 0;
        if (sscanf(line, "%63s %lf ms estimated%n", candidate, &milliseconds, &end) < 2 || end == 0)
            continue;
        candidates++;
        if (milliseconds < least)
            strcpy(name, candidate);
        least = fmin(least, milliseconds);
    }
    assert_true(candidates >= 2);
}

TEST(auto_takes_the_least_estimate)
{
    static const uint32_t sides[] = {1, 2, 8, 100, 3000};
    for (size_t i = 0; i < COUNT(sides); i++) {
        gconv_job job = usual_job();
        job.device = "cpu";
        job.input.width = job.input.height = sides[i];
        OWNED_PLAN plan = planned(&job);
        char least[64];
        assert_string_equal(gconv_plan_implementation(plan), "cpu");
        find_least(gconv_plan_explanation(plan), least);
        if (sides[i] > 2) /* estimates are printed to the microsecond */
            assert_string_equal(least, "cpu");
    }
}

TEST(auto_explains_its_choice)
{
    gconv_job job = usual_job();
    job.device = "cpu";
    gconv_plan *plan = planned(&job);
    const char *text = gconv_plan_explanation(plan);
    char chosen[64];
    snprintf(chosen, sizeof chosen, "chosen: %s", gconv_plan_implementation(plan));
    assert_contains(text, chosen);
    assert_contains(text, "reference");
    assert_contains(text, "ms estimated");
    gconv_plan_free(plan);
    job.implementation = NULL; /* no name and no device are auto too */
    job.device = NULL;
    plan = planned(&job);
    assert_contains(gconv_plan_explanation(plan), "chosen: ");
    gconv_plan_free(plan);
}

/* A large matrix that is a column times a row is computed as two vectors are. */
TEST(large_matrix_of_rank_1)
{
    enum { SIDE = 247 };
    OWNED_FILTER filter = load_filter("gaussian:41");
    assert_int_equal(filter->width, SIDE);
    double vector[SIDE];
    gconv_filter vectors = *filter;
    for (int i = 0; i < SIDE; i++)
        vector[i] = (double)filter->weights[SIDE / 2 * SIDE + i];
    vectors.weights = NULL;
    vectors.terms = NULL;
    vectors.row = vectors.column = vector;
    const gconv_filter *const chains[2][1] = {{filter}, {&vectors}};
    char solvers[2][512];
    for (int i = 0; i < 2; i++) {
        gconv_job job = usual_job();
        job.filters = chains[i];
        job.filter_count = 1;
        job.implementation = "cpu";
        job.input.width = job.input.height = 1000;
        gconv_plan *plan;
        assert_ok(gconv_plan_create(&job, &plan, NULL));
        snprintf(solvers[i], sizeof solvers[i], "%s", gconv_plan_explanation(plan));
        gconv_plan_free(plan);
    }
    assert_string_equal(solvers[0], solvers[1]);
}

TEST(bad_jobs_are_refused)
{
    gconv_job job = usual_job();
    job.input.width = 0;
    refused(&job, GCONV_ERROR_ARGUMENT, "width 0");
    job = usual_job();
    job.filter_count = 0;
    refused(&job, GCONV_ERROR_ARGUMENT, "filter");
    gconv_plan_free(NULL);
}

TEST(null_pointers_are_refused)
{
    refused(NULL, GCONV_ERROR_ARGUMENT, "null");
    gconv_job job = usual_job();
    job.filters = NULL;
    refused(&job, GCONV_ERROR_ARGUMENT, "null");
    const gconv_filter *const box = box_chain()[0];
    const gconv_filter *const gap[] = {box, NULL};
    job.filters = gap;
    job.filter_count = 2;
    refused(&job, GCONV_ERROR_ARGUMENT, "null");
    gconv_filter empty = *box;
    empty.weights = NULL;
    const gconv_filter *const weightless[] = {&empty};
    job.filters = weightless;
    job.filter_count = 1;
    refused(&job, GCONV_ERROR_ARGUMENT, "null");

    job = usual_job();
    gconv_plan *plan = planned(&job);
    static unsigned char rows[HEIGHT][WIDTH];
    gconv_source source = {.size = sizeof(gconv_source), .read = NULL};
    gconv_sink sink = {.size = sizeof(gconv_sink), .write = NULL};
    assert_invalid(gconv_plan_run(plan, &source, &sink, NULL, NULL));
    assert_invalid(gconv_plan_run_memory(plan, NULL, WIDTH, rows, WIDTH, NULL, NULL));
    assert_invalid(gconv_plan_run_memory(plan, rows, WIDTH, NULL, WIDTH, NULL, NULL));
    gconv_plan_free(plan);

    gconv_border border;
    double value;
    assert_invalid(gconv_border_parse(NULL, &border, &value, &value, NULL));
    gconv_filter *filter;
    assert_invalid(gconv_filter_parse(NULL, 3, NULL, &filter, NULL));
    assert_int_equal(gconv_filter_parse(NULL, 0, NULL, &filter, NULL), GCONV_ERROR_FILTER);
    gconv_reader *reader;
    assert_invalid(gconv_reader_open(NULL, NULL, &reader, NULL));
    gconv_writer *writer;
    assert_invalid(gconv_writer_open(NULL, NULL, &writer, NULL));
}

TEST(devices)
{
    gconv_device_info info = gconv_device_info_default();
    assert_true(gconv_device_count() >= 1);
    assert_ok(gconv_device_describe(0, &info, NULL));
    assert_int_equal(info.kind, GCONV_DEVICE_CPU);
    assert_true(info.usable && info.name[0] != '\0' && info.processors >= 1);
    assert_int_not_equal(gconv_device_describe(-1, &info, NULL), GCONV_OK);
    assert_int_not_equal(gconv_device_describe(gconv_device_count(), &info, NULL), GCONV_OK);
}
