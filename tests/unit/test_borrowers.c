/* A batch with borrowers: tasks that are lent and settled, and results that travel in messages. The
 * borrower is a thread of this process in the place of other ranks. */
#include "io_support.h"

#include "cli/image/batch.h"
#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "mpi/message.h"

#include <pthread.h>
#include <sched.h>

enum { IMAGES = 60, HELD = 5 };

/* ---- Messages -------------------------------------------------------------------------------- */

/* Sends a result as a rank does, and receives it. */
static gc_result send(gc_result *result)
{
    gc_message message = {.at = 0};
    gc_result received;
    gc_message_put_result(&message, result, "said\n", "");
    gc_result_destroy(result);
    gc_message_take_result(&message, &received);
    assert_false(message.failed);
    assert_int_equal(message.at, message.bytes.size);
    gc_message_free(&message);
    return received;
}

TEST(results_travel)
{
    gc_result result = {.outcome = GC_OUTCOME_FAILED,
                        .recorded = true,
                        .met = 1U << 12,
                        .timings = {.total = 2.5},
                        .notes = strdup("a note")};
    RELEASED_BY(gc_result_destroy) gc_result got = send(&result);
    assert_int_equal(got.outcome, GC_OUTCOME_FAILED);
    assert_true(got.recorded);
    assert_int_equal(got.met, 1U << 12);
    assert_string_equal(got.notes, "said\n");
    assert_string_equal(got.json, "");
    assert_true(got.timings.total > 2.4999 && got.timings.total < 2.5001);
}

TEST(tasks_travel)
{
    RELEASED_BY(gc_message_free) gc_message message = {.at = 0};
    char input[] = "in\xff", output[] = "out";
    gc_task task = {.input = input, .output = output, .format = GCONV_FORMAT_PPM, .unlisted = 5};
    gc_task got;
    gc_message_put_task(&message, &task);
    gc_message_take_task(&message, &got);
    assert_false(message.failed);
    assert_string_equal(got.input, input);
    assert_string_equal(got.output, output);
    assert_null(got.refused);
    assert_int_equal(got.format, GCONV_FORMAT_PPM);
    assert_int_equal(got.unlisted, 5);
    gc_task_destroy(&got);
    /* There is no more in it. */
    gc_message_take_task(&message, &got);
    assert_true(message.failed);
    gc_task_destroy(&got);
}

/* ---- A batch --------------------------------------------------------------------------------- */

typedef struct borrower {
    gc_directories *directories;
    int lent, ended;
} borrower;

static void compute(const borrower *b, struct gc_batch *batch, const gc_loan *loan)
{
    gc_worker worker = {.session = gc_batch_session(batch),
                        .images_left = loan->images_left,
                        .images_at_once = 1,
                        .directories = b->directories};
    gc_result result;
    gc_process(&worker, loan->task, &result);
    gconv_plan_free(worker.plan);
    result = send(&result);
    gc_batch_settle(batch, loan, &result);
}

/* Holds some tasks at one time, and settles the last one first. */
static void borrow(void *user, struct gc_batch *batch)
{
    borrower *b = user;
    gc_loan loans[HELD];
    int held = 0;
    while (held > 0 || !gc_batch_has_ended(batch)) {
        if (held < HELD && gc_batch_lend(batch, &loans[held])) {
            held++;
            b->lent++;
        } else if (held > 0) {
            compute(b, batch, &loans[--held]);
        } else {
            sched_yield();
        }
    }
}

static void end(void *user)
{
    borrower *b = user;
    b->ended++;
}

typedef struct reports {
    int count, failed;
} reports;

static void take(void *user, const gc_task *task, const gc_result *result)
{
    reports *r = user;
    char name[16];
    snprintf(name, sizeof name, "%02d.pgm", r->count++);
    assert_string_equal(strrchr(task->input, '/') + 1, name);
    r->failed += result->outcome == GC_OUTCOME_FAILED;
}

static void make_inputs(const char *directory)
{
    OWNED_PICTURE image = make_picture(40, 30, 1, 8);
    assert_int_equal(mkdir(directory, 0777), 0);
    for (int i = 0; i < IMAGES; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%02d.pgm", directory, i);
        if (i == 17)
            save_file(path, "broken", 6);
        else
            must_write(path, GCONV_FORMAT_PGM, &image);
    }
}

static void remove_all(const char *directory)
{
    for (int i = 0; i < IMAGES; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%02d.pgm", directory, i);
        unlink(path);
    }
    assert_int_equal(rmdir(directory), 0);
}

TEST(borrowers_compute)
{
    char in[512], out[512], program[] = "gconv", filter[] = "filter", kernel[] = "-kgauss3";
    char threads[] = "-j2", output[] = "-o";
    snprintf(in, sizeof in, "%s", "in");
    snprintf(out, sizeof out, "%s", "out");
    char *words[] = {program, filter, kernel, threads, output, out, in};
    make_inputs(in);
    int lent = 0;
    /* If the processors are busy, all images may be done before the borrower's thread runs. */
    for (int round = 0; round < 20 || lent == 0; round++) {
        gc_options options;
        gc_task_list list;
        gc_session session;
        gc_directories directories = GC_DIRECTORIES_NONE;
        borrower b = {.directories = &directories};
        const gc_borrowers company = {borrow, end, &b};
        reports r = {0};
        const char *subject;
        assert_ok(gc_options_parse(7, words, &options, NULL));
        assert_ok(gc_task_list_create(&options, &list, &subject, NULL));
        assert_ok(gc_session_create(&options, &session, &subject, NULL));
        const gc_batch_plan plan = {&session, &list, NULL, &directories, &company, take, &r};
        assert_ok(gc_batch_run(&plan, NULL));
        assert_int_equal(r.count, IMAGES);
        assert_int_equal(r.failed, 1);
        lent += b.lent;
        gc_session_destroy(&session);
        gc_task_list_destroy(&list);
        gc_options_free(&options);
        remove_all(out);
        gc_remove_empty_directories(&directories);
    }
    remove_all(in);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
