/* Plans through the public interface: choosing, running, failing, comparing. */
#include "base/status.h"
#include "core/plan.h"
#include "core_support.h"

#include <math.h>

static float box_weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
static gconv_filter box = {
    .width = 3, .height = 3, .anchor_x = 1, .anchor_y = 1, .divisor = 9, .weights = box_weights};
static const gconv_filter *const chain[] = {&box};

enum { WIDTH = 53, HEIGHT = 300 };

static gconv_plan *planned(const gconv_job *job)
{
    gconv_plan *plan;
    gconv_error error;
    if (gconv_plan_create(job, &plan, &error) != GCONV_OK)
        fail_msg("%s", error.message);
    return plan;
}

static gconv_job usual_job(void)
{
    gconv_job job = job_of(chain, 1, shape_of(WIDTH, HEIGHT, 1, 8));
    job.threads = 2;
    return job;
}

static void refused(const gconv_job *job, gconv_status status, const char *says)
{
    gconv_plan *plan = (gconv_plan *)1;
    gconv_error error;
    assert_int_equal(gconv_plan_create(job, &plan, &error), status);
    assert_null(plan);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, says));
    assert_int_equal(gconv_plan_create(job, &plan, NULL), status);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static void unknown_implementation(void **state)
{
    (void)state;
    gconv_job job = usual_job();
    job.implementation = "fastest";
    refused(&job, GCONV_ERROR_ARGUMENT, "'fastest'");
}

static void unknown_device(void **state)
{
    (void)state;
    gconv_job job = usual_job();
    static const char *const devices[] = {"gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", ""};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        job.device = devices[i];
        refused(&job, GCONV_ERROR_ARGUMENT, "unknown device");
    }
    job.device = "cuda:1023"; /* a device that no machine has */
    refused(&job, GCONV_ERROR_DEVICE, "");
}

static void unusable_implementations(void **state)
{
    (void)state;
    for (int i = 0; i < gconv_implementation_count(); i++) {
        gconv_implementation_info info;
        assert_int_equal(gconv_implementation_describe(i, &info, NULL), GCONV_OK);
        assert_true(info.usable == (info.reason[0] == '\0'));
        if (info.usable)
            continue;
        gconv_job job = usual_job();
        job.implementation = info.name;
        refused(&job, GCONV_ERROR_DEVICE, info.name);
    }
    gconv_implementation_info info;
    assert_int_equal(gconv_implementation_describe(-1, &info, NULL), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_implementation_describe(gconv_implementation_count(), &info, NULL),
                     GCONV_ERROR_ARGUMENT);
}

static void implementation_on_the_wrong_device(void **state)
{
    (void)state;
    gconv_job job = usual_job();
    job.implementation = "cpu";
    job.device = "cuda";
    refused(&job, GCONV_ERROR_DEVICE, "cpu");
}

static void named_ones_are_used(void **state)
{
    (void)state;
    static const char *const names[] = {"reference", "cpu"};
    for (size_t i = 0; i < 2; i++) {
        gconv_job job = usual_job();
        char name[16];
        snprintf(name, sizeof name, "%s", names[i]);
        job.implementation = name;
        gconv_plan *plan = planned(&job);
        memset(name, 'x', sizeof name - 1); /* the plan has its own copy */
        assert_string_equal(gconv_plan_implementation(plan), names[i]);
        assert_non_null(strstr(gconv_plan_explanation(plan), names[i]));
        gconv_plan_free(plan);
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

static void auto_takes_the_least_estimate(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 100, 3000};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        gconv_job job = usual_job();
        job.device = "cpu";
        job.input.width = job.input.height = sides[i];
        gconv_plan *plan = planned(&job);
        char least[64];
        find_least(gconv_plan_explanation(plan), least);
        assert_string_equal(gconv_plan_implementation(plan), least);
        if (sides[i] > 1)
            assert_string_equal(least, "cpu");
        gconv_plan_free(plan);
    }
}

static void auto_explains_its_choice(void **state)
{
    (void)state;
    gconv_job job = usual_job();
    job.device = "cpu";
    gconv_plan *plan = planned(&job);
    const char *text = gconv_plan_explanation(plan);
    char chosen[64];
    snprintf(chosen, sizeof chosen, "chosen: %s", gconv_plan_implementation(plan));
    assert_non_null(strstr(text, chosen));
    assert_non_null(strstr(text, "reference"));
    assert_non_null(strstr(text, "ms estimated"));
    gconv_plan_free(plan);
    job.implementation = NULL; /* no name and no device are auto too */
    job.device = NULL;
    plan = planned(&job);
    assert_non_null(strstr(gconv_plan_explanation(plan), "chosen: "));
    gconv_plan_free(plan);
}

static void bad_jobs_are_refused(void **state)
{
    (void)state;
    gconv_job job = usual_job();
    job.input.width = 0;
    refused(&job, GCONV_ERROR_ARGUMENT, "shape");
    job = usual_job();
    job.filter_count = 0;
    refused(&job, GCONV_ERROR_ARGUMENT, "filter");
    gconv_plan_free(NULL);
}

static void null_pointers_are_refused(void **state)
{
    (void)state;
    refused(NULL, GCONV_ERROR_ARGUMENT, "null");
    gconv_job job = usual_job();
    job.filters = NULL;
    refused(&job, GCONV_ERROR_ARGUMENT, "null");
    static const gconv_filter *const gap[] = {&box, NULL};
    job.filters = gap;
    job.filter_count = 2;
    refused(&job, GCONV_ERROR_ARGUMENT, "null");
    gconv_filter empty = box;
    empty.weights = NULL;
    const gconv_filter *const weightless[] = {&empty};
    job.filters = weightless;
    job.filter_count = 1;
    refused(&job, GCONV_ERROR_ARGUMENT, "null");

    job = usual_job();
    gconv_plan *plan = planned(&job);
    static unsigned char rows[HEIGHT][WIDTH];
    gconv_source source = {.read = NULL};
    gconv_sink sink = {.write = NULL};
    assert_int_equal(gconv_plan_run(plan, source, sink, NULL, NULL), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_plan_run_memory(plan, NULL, WIDTH, rows, WIDTH, NULL, NULL),
                     GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_plan_run_memory(plan, rows, WIDTH, NULL, WIDTH, NULL, NULL),
                     GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_plan_convert(plan, NULL, WIDTH * sizeof(float), rows, WIDTH, sink, NULL),
                     GCONV_ERROR_ARGUMENT);
    gconv_plan_free(plan);

    gconv_border border;
    double value;
    assert_int_equal(gconv_border_parse(NULL, &border, &value, NULL), GCONV_ERROR_ARGUMENT);
    gconv_filter *filter;
    assert_int_equal(gconv_filter_parse(NULL, 3, NULL, &filter, NULL), GCONV_ERROR_ARGUMENT);
    assert_int_equal(gconv_filter_parse(NULL, 0, NULL, &filter, NULL), GCONV_ERROR_FILTER);
    gconv_reader *reader;
    assert_int_equal(gconv_reader_open(NULL, NULL, &reader, NULL), GCONV_ERROR_ARGUMENT);
    gconv_writer *writer;
    assert_int_equal(gconv_writer_open(NULL, NULL, &writer, NULL), GCONV_ERROR_ARGUMENT);
}

static void devices(void **state)
{
    (void)state;
    gconv_device_info info;
    assert_true(gconv_device_count() >= 1);
    assert_int_equal(gconv_device_describe(0, &info, NULL), GCONV_OK);
    assert_int_equal(info.kind, GCONV_DEVICE_CPU);
    assert_true(info.usable && info.name[0] != '\0' && info.processors >= 1);
    assert_int_not_equal(gconv_device_describe(-1, &info, NULL), GCONV_OK);
    assert_int_not_equal(gconv_device_describe(gconv_device_count(), &info, NULL), GCONV_OK);
}

/* ---- Running --------------------------------------------------------------------------------- */

static void stride_under_a_row(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    static float values[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    gconv_error error;
    assert_int_equal(gconv_plan_run_memory(plan, in, WIDTH - 1, out, WIDTH, NULL, &error),
                     GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "stride"));
    assert_int_equal(gconv_plan_run_memory(plan, in, WIDTH, out, WIDTH - 1, NULL, NULL),
                     GCONV_ERROR_ARGUMENT);
    assert_int_equal(
        gconv_plan_run_chain(plan, in, WIDTH, values, WIDTH * sizeof(float) - 4, NULL, &error),
        GCONV_ERROR_ARGUMENT);
    assert_int_equal(
        gconv_plan_run_chain(plan, in, WIDTH, values, WIDTH * sizeof(float), NULL, &error),
        GCONV_OK);
    gconv_plan_free(plan);
}

/* Rows of a flat image that end in a failure. */
typedef struct broken {
    uint32_t good; /* rows before it breaks */
    uint32_t done;
    int calls_after;
} broken;

static gconv_status break_off(broken *b, uint32_t count, gconv_status status, gconv_error *error)
{
    if (b->done > b->good)
        b->calls_after++;
    b->done += count;
    if (b->done <= b->good)
        return GCONV_OK;
    if (error != NULL) {
        *error = (gconv_error){.status = status, .line = 42};
        snprintf(error->message, sizeof error->message, "broken after %u rows", b->good);
    }
    return status;
}

static gconv_status read_broken(void *user, uint32_t count, void *rows, size_t stride,
                                gconv_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        memset((char *)rows + i * stride, 100, WIDTH);
    return break_off(user, count, GCONV_ERROR_FORMAT, error);
}

static gconv_status write_broken(void *user, uint32_t count, const void *rows, size_t stride,
                                 gconv_error *error)
{
    (void)rows;
    (void)stride;
    return break_off(user, count, GCONV_ERROR_WRITE, error);
}

/* Both implementations of the CPU, source or sink failing after `good` rows. */
static void run_broken(uint32_t good_in, uint32_t good_out, gconv_status status, int threads)
{
    static const char *const names[] = {"reference", "cpu"};
    for (size_t i = 0; i < 2; i++) {
        gconv_job job = usual_job();
        job.implementation = names[i];
        job.threads = threads;
        gconv_plan *plan = planned(&job);
        broken source = {.good = good_in}, sink = {.good = good_out};
        gconv_error error = {.status = GCONV_OK};
        gconv_status got = gconv_plan_run(plan, (gconv_source){read_broken, &source},
                                          (gconv_sink){write_broken, &sink}, NULL, &error);
        assert_int_equal(got, status);
        if (status != GCONV_OK) {
            assert_int_equal(error.status, status);
            assert_int_equal(error.line, 42);
            assert_non_null(strstr(error.message, "broken after"));
        }
        assert_int_equal(source.calls_after + sink.calls_after, 0);
        /* The plan is as good as new. */
        source = (broken){.good = HEIGHT};
        sink = (broken){.good = HEIGHT};
        assert_int_equal(gconv_plan_run(plan, (gconv_source){read_broken, &source},
                                        (gconv_sink){write_broken, &sink}, NULL, NULL),
                         GCONV_OK);
        assert_int_equal(source.done, HEIGHT);
        assert_int_equal(sink.done, HEIGHT);
        gconv_plan_free(plan);
    }
}

static void failing_source(void **state)
{
    (void)state;
    static const uint32_t rows[] = {0, 1, 100, HEIGHT - 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int threads = 1; threads <= 3; threads++)
            run_broken(rows[i], HEIGHT, GCONV_ERROR_FORMAT, threads);
}

static void failing_sink(void **state)
{
    (void)state;
    static const uint32_t rows[] = {0, 1, 100, HEIGHT - 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int threads = 1; threads <= 3; threads++)
            run_broken(HEIGHT, rows[i], GCONV_ERROR_WRITE, threads);
}

/* An image that depends on everything, so that no two runs look alike. */
static void fill(uint8_t *image, unsigned run)
{
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        image[i] = (uint8_t)((i * 7 + i / WIDTH * 31 + run * 59) * 2654435761u >> 24);
}

/* Callbacks that fail and do not say why. */
static gconv_status read_silently(void *user, uint32_t count, void *rows, size_t stride,
                                  gconv_error *error)
{
    (void)count;
    (void)rows;
    (void)stride;
    assert_non_null(error);
    return *(const gconv_status *)user;
}

static gconv_status write_silently(void *user, uint32_t count, const void *rows, size_t stride,
                                   gconv_error *error)
{
    (void)count;
    (void)rows;
    (void)stride;
    assert_non_null(error);
    return *(const gconv_status *)user;
}

static void failing_without_a_word(void **state)
{
    (void)state;
    static const char *const names[] = {"reference", "cpu"};
    gconv_status bad = GCONV_ERROR_LIMIT, good = GCONV_OK;
    for (size_t i = 0; i < 4; i++) {
        gconv_job job = usual_job();
        job.implementation = names[i % 2];
        gconv_plan *plan = planned(&job);
        gconv_source source = {read_silently, i < 2 ? &bad : &good};
        gconv_sink sink = {write_silently, i < 2 ? &good : &bad};
        gconv_error error = {.status = GCONV_ERROR_OPEN, .line = 3, .message = "of old"};
        assert_int_equal(gconv_plan_run(plan, source, sink, NULL, &error), bad);
        assert_int_equal(error.status, bad);
        assert_int_equal(error.line, 0);
        assert_string_equal(error.message, gconv_status_text(bad));
        assert_int_equal(gconv_plan_run(plan, source, sink, NULL, NULL), bad);
        gconv_plan_free(plan);
    }
}

static void plan_serves_many_images(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT], once[WIDTH * HEIGHT], again[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    job.implementation = "cpu";
    gconv_plan *reused = planned(&job);
    for (unsigned run = 0; run < 6; run++) {
        fill(in, run);
        assert_int_equal(gconv_plan_run_memory(reused, in, WIDTH, again, WIDTH, NULL, NULL),
                         GCONV_OK);
        gconv_plan *fresh = planned(&job);
        assert_int_equal(gconv_plan_run_memory(fresh, in, WIDTH, once, WIDTH, NULL, NULL),
                         GCONV_OK);
        gconv_plan_free(fresh);
        assert_memory_equal(again, once, sizeof once);
    }
    gconv_plan_free(reused);
}

static void timings_add_up(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    gconv_timings timings = {.decode = 100, .compute = 200};
    for (int i = 0; i < 2; i++)
        assert_int_equal(gconv_plan_run_memory(plan, in, WIDTH, out, WIDTH, &timings, NULL),
                         GCONV_OK);
    assert_true(timings.decode >= 100 && timings.decode < 101);
    assert_true(timings.compute > 200 && timings.compute < 201);
    gconv_plan_free(plan);
}

/* ---- Falling back ---------------------------------------------------------------------------- */

/* Stands for a device that breaks in a run, before or after it has taken the input, or after it has
 * written some rows. */
typedef struct device {
    bool keeps;
    uint32_t writes;
    bool released;
} device;

static gconv_status run_device(void *opaque, gc_stream *stream, gconv_error *error)
{
    const device *own = opaque;
    static const uint8_t rows[WIDTH * HEIGHT];
    gconv_status status = own->keeps ? gc_stream_keep(stream, error) : GCONV_OK;
    if (status == GCONV_OK && own->writes > 0)
        status = gc_stream_write(stream, own->writes, rows, WIDTH, error);
    return status != GCONV_OK ? status : gc_fail(error, GCONV_ERROR_DEVICE, "the device broke");
}

static void release_device(void *opaque)
{
    ((device *)opaque)->released = true;
}

static void describe_device(void *opaque, char *text, size_t size)
{
    (void)opaque;
    snprintf(text, size, "breaks\n");
}

/* A plan that `auto` has given to the device. */
static gconv_plan *planned_on(device *own)
{
    static const gc_operations operations = {
        .run = run_device, .release = release_device, .describe = describe_device};
    static const gc_implementation implementation = {
        .name = "fake", .kind = GCONV_DEVICE_CUDA, .operations = &operations};
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    plan->choice.implementation->operations->release(plan->state);
    plan->choice.implementation = &implementation;
    plan->state = own;
    return plan;
}

static void cpu_takes_over(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    job.implementation = "cpu";
    gconv_plan *cpu = planned(&job);
    fill(in, 0);
    assert_int_equal(gconv_plan_run_memory(cpu, in, WIDTH, expected, WIDTH, NULL, NULL), GCONV_OK);
    gconv_plan_free(cpu);
    for (int keeps = 0; keeps < 2; keeps++) {
        device own = {.keeps = keeps};
        gconv_plan *plan = planned_on(&own);
        assert_non_null(strstr(gconv_plan_explanation(plan), "breaks"));
        assert_string_equal(gconv_plan_fallback(plan), "");
        for (int run = 0; run < 2; run++) {
            memset(out, 0, sizeof out);
            assert_int_equal(gconv_plan_run_memory(plan, in, WIDTH, out, WIDTH, NULL, NULL),
                             GCONV_OK);
            assert_memory_equal(out, expected, sizeof out);
            assert_true(own.released);
            assert_string_equal(gconv_plan_implementation(plan), "cpu");
            assert_string_equal(gconv_plan_fallback(plan), "the device broke");
            assert_non_null(
                strstr(gconv_plan_explanation(plan), "\ncpu took over: the device broke\n"));
        }
        gconv_plan_free(plan);
    }
}

static gconv_status read_without_memory(void *user, uint32_t count, void *rows, size_t stride,
                                        gconv_error *error)
{
    (void)count;
    (void)rows;
    (void)stride;
    ++*(int *)user;
    return gc_fail(error, GCONV_ERROR_MEMORY, "no memory to read");
}

/* A source that fails looks like a device that does, but there is nothing to compute from. */
/* What the sink has, it has: a row must not be written twice. */
static void cpu_does_not_take_over_a_begun_image(void **state)
{
    (void)state;
    for (uint32_t rows = 1; rows <= HEIGHT; rows += HEIGHT - 1) {
        device own = {.keeps = true, .writes = rows};
        gconv_plan *plan = planned_on(&own);
        broken source = {.good = HEIGHT}, sink = {.good = HEIGHT};
        gconv_error error;
        assert_int_equal(gconv_plan_run(plan, (gconv_source){read_broken, &source},
                                        (gconv_sink){write_broken, &sink}, NULL, &error),
                         GCONV_ERROR_DEVICE);
        assert_string_equal(error.message, "the device broke");
        assert_int_equal(sink.done, rows);
        assert_string_equal(gconv_plan_implementation(plan), "fake");
        assert_string_equal(gconv_plan_fallback(plan), "");
        assert_false(own.released);
        gconv_plan_free(plan);
    }
}

static void cpu_does_not_take_over_a_broken_source(void **state)
{
    (void)state;
    device own = {.keeps = true};
    gconv_plan *plan = planned_on(&own);
    int reads = 0;
    broken sink = {.good = HEIGHT};
    gconv_error error;
    assert_int_equal(gconv_plan_run(plan, (gconv_source){read_without_memory, &reads},
                                    (gconv_sink){write_broken, &sink}, NULL, &error),
                     GCONV_ERROR_MEMORY);
    assert_string_equal(error.message, "no memory to read");
    assert_int_equal(reads, 1);
    assert_int_equal(sink.done, 0);
    assert_string_equal(gconv_plan_fallback(plan), "");
    gconv_plan_free(plan);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static gconv_difference compared(const gconv_plan *plan, const uint8_t *in, const float *a,
                                 const float *b)
{
    gconv_difference difference;
    gconv_error error;
    if (gconv_plan_compare(plan, in, WIDTH, a, b, WIDTH * sizeof(float), &difference, &error) !=
        GCONV_OK)
        fail_msg("%s", error.message);
    return difference;
}

static void compare_exact_chains(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    assert_true(gconv_plan_is_exact(plan));
    gconv_difference d = compared(plan, in, a, b);
    assert_true(d.within && d.mismatches == 0 && d.largest == 0 && d.bound == 0);
    a[7 * WIDTH + 5] = 0x1p-20f;
    a[9 * WIDTH + 6] = -18;
    d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_int_equal(d.mismatches, 2);
    assert_true(d.largest == 2); /* 18 over the divisor */
    assert_int_equal(d.x, 6);
    assert_int_equal(d.y, 9);
    a[0] = NAN;
    d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_true(d.largest == INFINITY);
    b[0] = NAN; /* the same bits */
    assert_int_equal(compared(plan, in, a, b).mismatches, 2);
    gconv_plan_free(plan);
}

static void compare_tells_zeros_apart_where_exact(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    float tenth[] = {0.1f};
    gconv_filter filter = filter_of(1, 1, 1, tenth);
    const gconv_filter *fraction[] = {&filter};
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    a[4 * WIDTH + 3] = -0.0f;
    gconv_difference d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_int_equal(d.mismatches, 1);
    assert_int_equal(d.x, 3);
    assert_int_equal(d.y, 4);
    gconv_plan_free(plan);
    job.filters = fraction;
    plan = planned(&job);
    d = compared(plan, in, a, b);
    assert_true(d.within && d.mismatches == 0 && d.largest == 0);
    gconv_plan_free(plan);
}

static void compare_within_the_bound(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    float tenth[] = {0.1f};
    gconv_filter filter = filter_of(1, 1, 2, tenth);
    const gconv_filter *fraction[] = {&filter};
    in[3] = 200;
    gconv_job job = usual_job();
    job.filters = fraction;
    gconv_plan *plan = planned(&job);
    assert_false(gconv_plan_is_exact(plan));
    float bound = 4 * 0x1p-24f * 0.1f * 200;
    a[50] = bound * 0.99f;
    gconv_difference d = compared(plan, in, a, b);
    assert_true(d.within && d.mismatches == 0 && d.largest > 0 && d.largest <= d.bound);
    assert_true(d.bound > 0.499 * (double)bound && d.bound < 0.501 * (double)bound);
    a[50] = -bound * 1.01f;
    d = compared(plan, in, a, b);
    assert_false(d.within);
    assert_int_equal(d.mismatches, 1);
    gconv_plan_free(plan);
}

static void convert_hands_on_errors(void **state)
{
    (void)state;
    static uint8_t in[WIDTH * HEIGHT];
    static float values[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    broken sink = {.good = 17};
    gconv_error error;
    assert_int_equal(gconv_plan_convert(plan, values, WIDTH * sizeof(float), in, WIDTH,
                                        (gconv_sink){write_broken, &sink}, &error),
                     GCONV_ERROR_WRITE);
    assert_string_equal(error.message, "broken after 17 rows");
    assert_int_equal(sink.done, 18);
    gconv_plan_free(plan);
}

static void convert_needs_the_input_for_alpha_alone(void **state)
{
    (void)state;
    static float values[WIDTH * HEIGHT * 3];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    broken sink = {.good = HEIGHT};
    assert_int_equal(gconv_plan_convert(plan, values, WIDTH * sizeof(float), NULL, WIDTH,
                                        (gconv_sink){write_broken, &sink}, NULL),
                     GCONV_OK);
    assert_int_equal(sink.done, HEIGHT);
    gconv_plan_free(plan);
    job.input.channels = 4;
    plan = planned(&job);
    gconv_error error;
    assert_int_equal(gconv_plan_convert(plan, values, WIDTH * 3 * sizeof(float), NULL, 0,
                                        (gconv_sink){write_broken, &sink}, &error),
                     GCONV_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "alpha"));
    gconv_plan_free(plan);
}

static void convert_fails_without_a_word(void **state)
{
    (void)state;
    static float values[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    gconv_plan *plan = planned(&job);
    gconv_status bad = GCONV_ERROR_WRITE;
    gconv_sink sink = {write_silently, &bad};
    gconv_error error = {.message = "of old"};
    assert_int_equal(gconv_plan_convert(plan, values, WIDTH * sizeof(float), NULL, 0, sink, &error),
                     bad);
    assert_string_equal(error.message, gconv_status_text(bad));
    assert_int_equal(gconv_plan_convert(plan, values, WIDTH * sizeof(float), NULL, 0, sink, NULL),
                     bad);
    gconv_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_implementation),
        cmocka_unit_test(unknown_device),
        cmocka_unit_test(unusable_implementations),
        cmocka_unit_test(implementation_on_the_wrong_device),
        cmocka_unit_test(named_ones_are_used),
        cmocka_unit_test(auto_takes_the_least_estimate),
        cmocka_unit_test(auto_explains_its_choice),
        cmocka_unit_test(bad_jobs_are_refused),
        cmocka_unit_test(null_pointers_are_refused),
        cmocka_unit_test(devices),
        cmocka_unit_test(stride_under_a_row),
        cmocka_unit_test(failing_source),
        cmocka_unit_test(failing_sink),
        cmocka_unit_test(failing_without_a_word),
        cmocka_unit_test(plan_serves_many_images),
        cmocka_unit_test(timings_add_up),
        cmocka_unit_test(cpu_takes_over),
        cmocka_unit_test(cpu_does_not_take_over_a_begun_image),
        cmocka_unit_test(cpu_does_not_take_over_a_broken_source),
        cmocka_unit_test(compare_exact_chains),
        cmocka_unit_test(compare_tells_zeros_apart_where_exact),
        cmocka_unit_test(compare_within_the_bound),
        cmocka_unit_test(convert_hands_on_errors),
        cmocka_unit_test(convert_needs_the_input_for_alpha_alone),
        cmocka_unit_test(convert_fails_without_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
