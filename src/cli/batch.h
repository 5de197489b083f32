/* Many images, several at one time. */
#ifndef GC_CLI_BATCH_H
#define GC_CLI_BATCH_H

#include "cli/process.h"

typedef void gc_report_function(void *user, const gc_task *task, const gc_result *result);

/* Processes every task, and reports the results one at a time in the order of the tasks. Where there
 * are several, each thread takes one image after the other, so that no thread waits for another. */
gconv_status gc_batch_run(const gc_session *session, const gc_task_list *list,
                          gc_report_function *report, void *user, gconv_error *error);

#endif
