/* The report of bench and compare: points, the charts that fit them, published figures, facts. */
#ifndef GC_CLI_PAGE_STUDY_H
#define GC_CLI_PAGE_STUDY_H

#include "base/output.h"
#include "cli/measure/points.h"
#include "cli/page/facts.h"

typedef struct gc_study {
    const char *title;   /* "gconv bench: kth" */
    const char *subject; /* what was measured, in a sentence */
    const gc_points *points;
    gc_facts facts;
} gc_study;

/* Refuses --html where it would replace a file that the command reads or writes otherwise: an
 * operand, a file of --kernel, --resume or --baseline. Changes nothing. */
gconv_status gc_study_check(const gc_options *options, gconv_error *error);

/* Opens the file of --html before anything is measured. *output is NULL without --html. */
gconv_status gc_study_open(const gc_options *options, gc_output **output, gconv_error *error);

/* Collects the facts, writes the report to `output` and completes it. `subject` says in a sentence
 * what was measured, `cpu` the roofs of the processors, 0 where they were not. gnuplot draws the
 * charts. Where it cannot, the report says so, and data and
 * scripts are written to the directory FILE.data. `output` is freed; NULL is allowed, and nothing
 * is written. */
gconv_status gc_study_close(const gc_options *options, const char *subject, const gc_points *points,
                            gc_roofs cpu, gc_output *output, gconv_error *error);

/* The same for a study whose facts are known. `path` is that of the report. */
gconv_status gc_study_write(const gc_study *study, const char *path, gc_output *output,
                            gconv_error *error);

#endif
