/* The report of one image that was processed: text on standard error, JSON on standard output. */
#ifndef GC_CLI_COMMANDS_IMAGE_REPORT_H
#define GC_CLI_COMMANDS_IMAGE_REPORT_H

#include "cli/image/result.h"
#include "cli/options/options.h"
#include "cli/tasks/tasks.h"

void gc_report_image(const gc_options *options, const gc_task *task, const gc_result *result);

#endif
