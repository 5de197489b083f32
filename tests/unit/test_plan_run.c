/* Runs of a plan: sources and sinks that fail, many images, and the CPU in the place of a device
 * that breaks. */
#include "base/status.h"
#include "core/plan.h"
#include "plan_support.h"

TEST(stride_under_a_row)
{
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    static float values[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    OWNED_PLAN plan = planned(&job);
    assert_fails(gconv_plan_run_memory(plan, in, WIDTH - 1, out, WIDTH, NULL, &error),
                 GCONV_ERROR_ARGUMENT, &error, "stride");
    assert_invalid(gconv_plan_run_memory(plan, in, WIDTH, out, WIDTH - 1, NULL, NULL));
    assert_invalid(
        gconv_plan_run_chain(plan, in, WIDTH, values, WIDTH * sizeof(float) - 4, NULL, &error));
    assert_ok(gconv_plan_run_chain(plan, in, WIDTH, values, WIDTH * sizeof(float), NULL, &error));
}

/* Both implementations of the CPU, source or sink failing after `good` rows. */
static void run_broken(uint32_t good_in, uint32_t good_out, gconv_status status, int threads)
{
    static const char *const names[] = {"reference", "cpu"};
    for (size_t i = 0; i < 2; i++) {
        gconv_job job = usual_job();
        job.implementation = names[i];
        job.threads = threads;
        OWNED_PLAN plan = planned(&job);
        broken source = {.good = good_in}, sink = {.good = good_out};
        gconv_error error = {.status = GCONV_OK};
        gconv_status got = gconv_plan_run(plan, SOURCE(read_broken, &source),
                                          SINK(write_broken, &sink), NULL, &error);
        assert_int_equal(got, status);
        if (status != GCONV_OK) {
            assert_int_equal(error.status, status);
            assert_int_equal(error.line, 42);
            assert_contains(error.message, "broken after");
        }
        assert_int_equal(source.calls_after + sink.calls_after, 0);
        /* The plan is as good as new. */
        source = (broken){.good = HEIGHT};
        sink = (broken){.good = HEIGHT};
        assert_ok(gconv_plan_run(plan, SOURCE(read_broken, &source), SINK(write_broken, &sink),
                                 NULL, NULL));
        assert_int_equal(source.done, HEIGHT);
        assert_int_equal(sink.done, HEIGHT);
    }
}

static bool help_nothing(void *user)
{
    (void)user;
    return false;
}

static int threads_told;

static void note_threads(void *user, int threads)
{
    (void)user;
    threads_told = threads;
}

/* Of several threads, before the first row, to a sink that others help. */
TEST(a_run_tells_the_sink_its_threads)
{
    for (int threads = 1; threads <= 3; threads++) {
        gconv_job job = usual_job();
        job.input.height = 300 * HEIGHT;
        job.threads = threads;
        OWNED_PLAN plan = planned(&job);
        broken source = {.good = job.input.height}, counted = {.good = job.input.height};
        gconv_sink sink = gconv_sink_default();
        sink.write = write_broken;
        sink.user = &counted;
        sink.help = help_nothing;
        sink.spread = note_threads;
        threads_told = 0;
        assert_ok(gconv_plan_run(plan, SOURCE(read_broken, &source), &sink, NULL, NULL));
        assert_int_equal(threads_told, threads > 1 ? threads : 0);
        sink.help = NULL;
        threads_told = 0;
        source.done = counted.done = 0;
        assert_ok(gconv_plan_run(plan, SOURCE(read_broken, &source), &sink, NULL, NULL));
        assert_int_equal(threads_told, 0);
    }
}

TEST(failing_source)
{
    static const uint32_t rows[] = {0, 1, 100, HEIGHT - 1};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int threads = 1; threads <= 3; threads++)
            run_broken(rows[i], HEIGHT, GCONV_ERROR_FORMAT, threads);
}

TEST(failing_sink)
{
    static const uint32_t rows[] = {0, 1, 100, HEIGHT - 1};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int threads = 1; threads <= 3; threads++)
            run_broken(HEIGHT, rows[i], GCONV_ERROR_WRITE, threads);
}

TEST(failing_without_a_word)
{
    static const char *const names[] = {"reference", "cpu"};
    gconv_status bad = GCONV_ERROR_LIMIT, good = GCONV_OK;
    for (size_t i = 0; i < 4; i++) {
        gconv_job job = usual_job();
        job.implementation = names[i % 2];
        OWNED_PLAN plan = planned(&job);
        const gconv_source *source = SOURCE(read_silently, i < 2 ? &bad : &good);
        const gconv_sink *sink = SINK(write_silently, i < 2 ? &good : &bad);
        error = (gconv_error){.status = GCONV_ERROR_OPEN, .line = 3, .message = "of old"};
        assert_int_equal(gconv_plan_run(plan, source, sink, NULL, &error), bad);
        assert_int_equal(error.status, bad);
        assert_int_equal(error.line, 0);
        assert_string_equal(error.message, gconv_status_text(bad));
        assert_int_equal(gconv_plan_run(plan, source, sink, NULL, NULL), bad);
    }
}

/* An image whose samples depend on their place and on the run, so that no two runs have equal
 * images. */
static void fill(uint8_t *image, unsigned run)
{
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        image[i] = (uint8_t)((i * 7 + i / WIDTH * 31 + run * 59) * 2654435761u >> 24);
}

TEST(plan_serves_many_images)
{
    static uint8_t in[WIDTH * HEIGHT], once[WIDTH * HEIGHT], again[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    job.implementation = "cpu";
    OWNED_PLAN reused = planned(&job);
    for (unsigned run = 0; run < 6; run++) {
        fill(in, run);
        assert_ok(gconv_plan_run_memory(reused, in, WIDTH, again, WIDTH, NULL, NULL));
        gconv_plan *fresh = planned(&job);
        assert_ok(gconv_plan_run_memory(fresh, in, WIDTH, once, WIDTH, NULL, NULL));
        gconv_plan_free(fresh);
        assert_memory_equal(again, once, sizeof once);
    }
}

TEST(timings_add_up)
{
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    OWNED_PLAN plan = planned(&job);
    gconv_timings timings = {.size = sizeof timings, .decode = 100, .compute = 200};
    for (int i = 0; i < 2; i++)
        assert_ok(gconv_plan_run_memory(plan, in, WIDTH, out, WIDTH, &timings, NULL));
    assert_true(timings.decode >= 100 && timings.decode < 101);
    assert_true(timings.compute > 200 && timings.compute < 201);
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
    const gc_lent_memory memory = {.bytes = own->keeps ? malloc(sizeof rows) : NULL};
    gconv_status status = own->keeps ? gc_stream_keep_in(stream, &memory, error) : GCONV_OK;
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
static gconv_plan *planned_on(const gconv_job *job, device *own)
{
    static const gc_operations operations = {
        .run = run_device, .release = release_device, .describe = describe_device};
    static const gc_implementation implementation = {
        .name = "fake", .kind = GCONV_DEVICE_CUDA, .operations = &operations};
    gconv_plan *plan = planned(job);
    plan->choice.implementation->operations->release(plan->state);
    plan->choice.implementation = &implementation;
    plan->state = own;
    return plan;
}

TEST(cpu_takes_over)
{
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    gconv_job job = usual_job();
    job.implementation = "cpu";
    gconv_plan *cpu = planned(&job);
    fill(in, 0);
    assert_ok(gconv_plan_run_memory(cpu, in, WIDTH, expected, WIDTH, NULL, NULL));
    gconv_plan_free(cpu);
    for (int keeps = 0; keeps < 2; keeps++) {
        device own = {.keeps = keeps};
        gconv_job any = usual_job();
        OWNED_PLAN plan = planned_on(&any, &own);
        assert_contains(gconv_plan_explanation(plan), "breaks");
        assert_string_equal(gconv_plan_fallback(plan), "");
        for (int run = 0; run < 2; run++) {
            memset(out, 0, sizeof out);
            assert_ok(gconv_plan_run_memory(plan, in, WIDTH, out, WIDTH, NULL, NULL));
            assert_memory_equal(out, expected, sizeof out);
            assert_true(own.released);
            assert_string_equal(gconv_plan_implementation(plan), "cpu");
            assert_string_equal(gconv_plan_fallback(plan), "the device broke");
            assert_contains(gconv_plan_explanation(plan), "\ncpu took over: the device broke\n");
        }
    }
}

/* The device has kept rows that are grey already. */
TEST(cpu_takes_over_edges_of_colours)
{
    static uint8_t in[3 * WIDTH * HEIGHT], out[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * 2654435761u >> 24);
    gconv_job job = usual_job();
    job.input.channels = 3;
    job.output = GCONV_OUTPUT_EDGES;
    job.threshold = 126;
    for (int keeps = -1; keeps < 2; keeps++) {
        device own = {.keeps = keeps == 1};
        OWNED_PLAN plan = keeps < 0 ? planned(&job) : planned_on(&job, &own);
        assert_ok(gconv_plan_run_memory(plan, in, 3 * WIDTH, keeps < 0 ? expected : out, WIDTH,
                                        NULL, NULL));
        if (keeps >= 0)
            assert_memory_equal(out, expected, sizeof out);
    }
}

/* Rows that the sink already has must not be written twice. */
TEST(cpu_does_not_take_over_a_begun_image)
{
    for (uint32_t rows = 1; rows <= HEIGHT; rows += HEIGHT - 1) {
        device own = {.keeps = true, .writes = rows};
        gconv_job job = usual_job();
        OWNED_PLAN plan = planned_on(&job, &own);
        broken source = {.good = HEIGHT}, sink = {.good = HEIGHT};
        assert_int_equal(gconv_plan_run(plan, SOURCE(read_broken, &source),
                                        SINK(write_broken, &sink), NULL, &error),
                         GCONV_ERROR_DEVICE);
        assert_string_equal(error.message, "the device broke");
        assert_int_equal(sink.done, rows);
        assert_string_equal(gconv_plan_implementation(plan), "fake");
        assert_string_equal(gconv_plan_fallback(plan), "");
        assert_false(own.released);
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

/* A source that fails ends the run as a failing device does. But the CPU cannot take over: it has
 * no input to compute from. */
TEST(cpu_does_not_take_over_a_broken_source)
{
    device own = {.keeps = true};
    gconv_job job = usual_job();
    OWNED_PLAN plan = planned_on(&job, &own);
    int reads = 0;
    broken sink = {.good = HEIGHT};
    assert_int_equal(gconv_plan_run(plan, SOURCE(read_without_memory, &reads),
                                    SINK(write_broken, &sink), NULL, &error),
                     GCONV_ERROR_MEMORY);
    assert_string_equal(error.message, "no memory to read");
    assert_int_equal(reads, 1);
    assert_int_equal(sink.done, 0);
    assert_string_equal(gconv_plan_fallback(plan), "");
}
