/* Many images, several at one time. */
#pragma once

#include "cli/image/image.h"

struct gc_batch;

/* Other processes that borrow tasks: `run` is called in a thread of its own, after the first
 * check. It lends tasks and settles them, until gc_batch_has_ended and every loan is settled. */
typedef struct gc_borrowers {
    void (*run)(void *user, struct gc_batch *batch);
    /* The batch is over: the borrowers are told to end, and have ended when the function
     * returns. */
    void (*end)(void *user);
    void *user;
} gc_borrowers;

/* A task that another process computes. */
typedef struct gc_loan {
    size_t number;
    const gc_task *task; /* valid until the loan is settled */
    size_t images_left;  /* that are not reported yet */
} gc_loan;

/* Takes the next task. False if there is none now. */
bool gc_batch_lend(struct gc_batch *batch, gc_loan *loan);

/* Whether there will be no more tasks. */
bool gc_batch_has_ended(struct gc_batch *batch);

/* Takes the result of a loan, and owns it then. */
void gc_batch_settle(struct gc_batch *batch, const gc_loan *loan, gc_result *result);

const gc_session *gc_batch_session(const struct gc_batch *batch);

typedef struct gc_batch_plan {
    const gc_session *session;
    const gc_task_list *list;
    gc_first_check *first;         /* NULL: all was checked before */
    gc_directories *directories;   /* records those that are made for the outputs of a batch */
    const gc_borrowers *borrowers; /* NULL: there are none */
    gc_report_function *report;
    void *user;
} gc_batch_plan;

/* Processes every task, and reports the results one at a time in the order of the tasks. Each
 * worker takes one task after the other, so that no worker waits for another one. If images
 * wait for a GPU, more workers compute others meanwhile. The first images are read before the first
 * check is made. If that fails, nothing is written or reported, and its error returned. Tasks of
 * list->source are reported as soon as they are done. */
gconv_status gc_batch_run(const gc_batch_plan *plan, gconv_error *error);
