/* One image from file to file. */
#ifndef GC_CLI_IMAGE_IMAGE_H
#define GC_CLI_IMAGE_IMAGE_H

#include "cli/image/worker.h"

/* Reads, computes and writes one task. Fills `result`, also after a failure; the caller destroys
 * it. Reports nothing. Of a stream, `result` is that of the last image; the others go to
 * worker->image_done. */
void gc_process(gc_worker *worker, const gc_task *task, gc_result *result);

/* Fails where the task is doomed: reading the operands showed that. */
gconv_status gc_check_task(const gc_task *task, gconv_error *error);

#endif
