/* Reports of the images of a stream. A direct output, such as a pipe, gets each image as soon as it
 * is computed, and its result is reported then. A file appears whole after the last image. Until
 * then the results are kept. */
#ifndef GC_CLI_IMAGE_SEVERAL_REPORTS_H
#define GC_CLI_IMAGE_SEVERAL_REPORTS_H

#include "cli/image/result.h"
#include "cli/options/options.h"
#include "cli/tasks/tasks.h"
#include "gconv.h"

typedef struct gc_several_reports {
    gc_report_function *report;
    void *user;
    bool appears_whole; /* the output is a file, not a direct output */
    bool is_told;       /* something is said of an image that is done */
    gc_result *kept;
    size_t count, capacity; /* of `kept` */
} gc_several_reports;

/* Begins the reports of a task with this output. */
void gc_several_reports_begin(gc_several_reports *reports, const gc_options *options,
                              const char *output, gc_report_function *report, void *user);

/* Reports an image that is not the last one, or keeps its result. A gc_image_function, whose `user`
 * is a gc_several_reports. */
gconv_status gc_several_reports_take(void *reports, const gc_task *task, gc_result *result,
                                     gconv_error *error);

/* Reports the results that were kept, now that the last image says what became of the output. Does
 * nothing where none was kept. */
void gc_several_reports_end(gc_several_reports *reports, const gc_task *task,
                            const gc_result *last);

#endif
