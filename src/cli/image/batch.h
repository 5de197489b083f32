/* Many images, several at one time. */
#ifndef GC_CLI_IMAGE_BATCH_H
#define GC_CLI_IMAGE_BATCH_H

#include "cli/image/gate.h"
#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/tasks/directories.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

typedef void gc_report_function(void *user, const gc_task *task, const gc_result *result);

/* Processes every task, and reports the results one at a time in the order of the tasks. Each
 * worker takes one task after the other, so that no worker waits for another one. Where images
 * wait for a GPU, more workers compute others meanwhile. The first images are read before `gate`
 * is passed. Where it bars them, nothing is written or reported, and its error returned.
 * `directories` records the directories that are made for the outputs of a batch. */
gconv_status gc_batch_run(const gc_session *session, const gc_task_list *list, gc_gate *gate,
                          gc_directories *directories, gc_report_function *report, void *user,
                          gconv_error *error);

#endif
