/* Many images, several at one time. */
#ifndef GC_CLI_IMAGE_BATCH_H
#define GC_CLI_IMAGE_BATCH_H

#include "cli/image/gate.h"
#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/tasks/directories.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

struct gc_batch;

/* Other processes that borrow tasks: `run` is called in a thread of its own, once the gate is
 * passed. It lends tasks and settles them, until gc_batch_has_ended and every loan is settled. */
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

/* Takes the next task. False where there is none now. */
bool gc_batch_lend(struct gc_batch *batch, gc_loan *loan);

/* Whether there will be no more tasks. */
bool gc_batch_has_ended(struct gc_batch *batch);

/* Takes the result of a loan, and owns it then. */
void gc_batch_settle(struct gc_batch *batch, const gc_loan *loan, gc_result *result);

const gc_session *gc_batch_session(const struct gc_batch *batch);

/* Processes every task, and reports the results one at a time in the order of the tasks. Each
 * worker takes one task after the other, so that no worker waits for another one. Where images
 * wait for a GPU, more workers compute others meanwhile. The first images are read before `gate`
 * is passed. Where it bars them, nothing is written or reported, and its error returned.
 * `directories` records the directories that are made for the outputs of a batch. Tasks of
 * list->source are reported as soon as they are done. `borrowers` may be NULL. */
gconv_status gc_batch_run(const gc_session *session, const gc_task_list *list, gc_gate *gate,
                          gc_directories *directories, const gc_borrowers *borrowers,
                          gc_report_function *report, void *user, gconv_error *error);

#endif
