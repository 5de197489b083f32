/* What would become of an image. */
#ifndef GC_CLI_IMAGE_DRY_RUN_H
#define GC_CLI_IMAGE_DRY_RUN_H

#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/tasks/tasks.h"

/* Fills `result` for --dry-run: planned, skipped or failed. Reads no image and writes nothing. */
void gc_plan_only(const gc_session *session, const gc_task *task, gc_result *result);

#endif
