/* Structures that may grow. A program with an older header gives shorter ones: what lies behind
 * them is neither read nor written. */
#include "io_support.h"
#include "plan_support.h"

/* Room for a structure of an older header, with other bytes behind it. */
typedef struct older {
    union {
        unsigned char bytes[2048];
        size_t size;
        void *aligned;
    };
} older;

#define SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

static void *begin(older *room, size_t size)
{
    memset(room->bytes, 0xa5, sizeof room->bytes);
    room->size = size;
    return room->bytes;
}

static void assert_untouched(const older *room, size_t size)
{
    assert_int_equal(room->size, size);
    for (size_t i = size; i < sizeof room->bytes; i++)
        assert_int_equal(room->bytes[i], 0xa5);
}

static gconv_job *older_job(older *room, size_t size)
{
    gconv_job *job = begin(room, size);
    gconv_job_init(job, size);
    job->filters = box_chain();
    job->filter_count = 1;
    job->input = shape_of(4, 3, 1, 8);
    return job;
}

TEST(a_shorter_job_is_a_job_with_defaults)
{
    const size_t sizes[] = {SIZE_UP_TO(gconv_job, output_depth) + 4, SIZE_UP_TO(gconv_job, device),
                            SIZE_UP_TO(gconv_job, source_format) + 4};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        older room;
        size_t size = sizes[i] / sizeof(size_t) * sizeof(size_t);
        gconv_job *job = older_job(&room, size);
        gconv_plan *plan;
        assert_ok(gconv_job_check(job, NULL));
        assert_false(gconv_alpha_needs_pixels(job));
        assert_int_equal(gconv_alpha_resolve(job, false), GCONV_ALPHA_KEEP);
        assert_ok(gconv_plan_create(job, &plan, NULL));
        gconv_plan_free(plan);
        gconv_device_foresee(job);
        assert_untouched(&room, size);
    }
}

TEST(a_size_that_no_header_gives_is_refused)
{
    const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(gconv_job) - 1, SIZE_MAX, 1 << 30};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        gconv_job job = usual_job();
        gconv_plan *plan = (gconv_plan *)&job;
        job.size = sizes[i];
        assert_invalid(gconv_plan_create(&job, &plan, &error));
        assert_null(plan);
        assert_contains(error.message, "gconv_job_default()");
        assert_invalid(gconv_job_check(&job, NULL));
        assert_false(gconv_alpha_needs_pixels(&job));
        assert_false(gconv_device_foresee(&job));
    }
}

/* A program with a newer header has members that this library does not know. */
TEST(a_longer_job_may_leave_new_members_alone)
{
    older room;
    gconv_job *job = older_job(&room, sizeof *job + 16);
    assert_ok(gconv_job_check(job, &error));
    assert_untouched(&room, sizeof *job + 16);
    room.bytes[sizeof *job + 9] = 1;
    assert_fails(gconv_job_check(job, &error), GCONV_ERROR_ARGUMENT, &error, "does not know");
}

TEST(shorter_options_open_files)
{
    older room;
    size_t size = SIZE_UP_TO(gconv_writer_options, metadata);
    gconv_writer_options *writing = begin(&room, size);
    gconv_writer_options_init(writing, size);
    writing->format = GCONV_FORMAT_PGM;
    writing->shape = shape_of(4, 1, 1, 8);
    gconv_writer *writer = opened_writer("sized", writing);
    assert_ok(gconv_writer_write(writer, 1, "\1\2\3\4", 4, &error));
    assert_ok(gconv_writer_finish(writer, &error));
    gconv_writer_free(writer);
    assert_untouched(&room, size);

    size = offsetof(gconv_reader_options, warn);
    gconv_reader_options *reading = begin(&room, size);
    gconv_reader_options_init(reading, size);
    gconv_reader *reader = opened_reader("sized", reading);
    gconv_reader_free(reader);
    assert_untouched(&room, size);

    writing->size = 0;
    assert_fails(gconv_writer_open("sized", writing, &writer, &error), GCONV_ERROR_ARGUMENT, &error,
                 "gconv_writer_options_default()");
    assert_fails(gconv_reader_open("sized", (gconv_reader_options *)writing, &reader, &error),
                 GCONV_ERROR_ARGUMENT, &error, "gconv_reader_options_default()");
}

TEST(shorter_structures_are_filled_as_far_as_they_go)
{
    older room;
    size_t size = offsetof(gconv_device_info, compute_major) / sizeof(size_t) * sizeof(size_t);
    gconv_device_info *device = begin(&room, size);
    assert_ok(gconv_device_describe(0, device, NULL));
    assert_true(device->usable && device->name[0] != '\0');
    assert_true(gconv_device_peak(device) == 0);
    assert_untouched(&room, size);

    size = offsetof(gconv_device_choice, count) / sizeof(size_t) * sizeof(size_t);
    gconv_device_choice *choice = begin(&room, size);
    assert_ok(gconv_device_parse("cuda:3", choice, NULL));
    assert_int_equal(choice->index, 3);
    assert_untouched(&room, size);

    size = offsetof(gconv_implementation_info, limits);
    gconv_implementation_info *implementation = begin(&room, size);
    assert_ok(gconv_implementation_describe(0, implementation, NULL));
    assert_string_equal(implementation->name, gconv_implementation_name(0));
    assert_untouched(&room, size);

    size = offsetof(gconv_instructions_info, usable);
    gconv_instructions_info *set = begin(&room, size);
    assert_ok(gconv_instructions_describe(0, set, NULL));
    assert_non_null(set->name);
    assert_untouched(&room, size);
}

TEST(structures_without_a_size_are_not_filled)
{
    older room;
    void *unsized = begin(&room, 0);
    assert_fails(gconv_device_describe(0, unsized, &error), GCONV_ERROR_ARGUMENT, &error,
                 "gconv_device_info_default()");
    assert_invalid(gconv_device_parse("cpu", unsized, &error));
    assert_invalid(gconv_implementation_describe(0, unsized, &error));
    assert_invalid(gconv_instructions_describe(0, unsized, &error));
    assert_true(gconv_device_peak(unsized) == 0);
    room.size = 0xa5a5a5a5;
    assert_untouched(&room, 0xa5a5a5a5);
}

TEST(a_run_takes_shorter_timings_sources_and_sinks)
{
    older parts, from, to;
    OWNED_PLAN plan;
    gconv_job job = usual_job();
    broken read = {.good = HEIGHT}, written = {.good = HEIGHT};
    assert_ok(gconv_plan_create(&job, &plan, &error));
    gconv_timings *timings = begin(&parts, offsetof(gconv_timings, encode));
    memset(parts.bytes + sizeof(size_t), 0, timings->size - sizeof(size_t));
    gconv_source *source = begin(&from, offsetof(gconv_source, offer));
    source->read = read_broken;
    source->user = &read;
    gconv_sink *sink = begin(&to, offsetof(gconv_sink, help));
    sink->write = write_broken;
    sink->user = &written;
    assert_ok(gconv_plan_run(plan, source, sink, timings, &error));
    assert_true(timings->compute > 0);
    assert_int_equal(read.done, HEIGHT);
    assert_int_equal(written.done, HEIGHT);
    assert_untouched(&parts, offsetof(gconv_timings, encode));

    timings->size = 0;
    assert_fails(gconv_plan_run(plan, source, sink, timings, &error), GCONV_ERROR_ARGUMENT, &error,
                 "gconv_timings_default()");
    source->size = 0;
    assert_fails(gconv_plan_run(plan, source, sink, NULL, &error), GCONV_ERROR_ARGUMENT, &error,
                 "gconv_source_default()");
    assert_int_equal(read.done, HEIGHT);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
