/* What checking and timing share. */
#ifndef GC_CLI_MEASURE_STEPS_H
#define GC_CLI_MEASURE_STEPS_H

#include "cli/image/picture.h"
#include "cli/measure/measure.h"
#include "gconv_lab.h"

/* Progress of the command's measurements when `part` (0 to 1) of the present one is done. */
double gc_subject_progress(const gc_subject *subject, double part);
void gc_subject_begin_progress(const gc_subject *subject, const char *name);

/* Creates a plan for `implementation`, which may be "auto". `name` is what the user asked for.
 * Where it is "auto", the plan is chosen for one run, else for many runs. */
gconv_status gc_subject_plan(const gc_subject *subject, const char *name,
                             const char *implementation, const gc_picture *picture,
                             gconv_plan **plan, gconv_error *error);

/* Creates a plan for `row` whose runs begin at once. Adds the seconds of compiling to the row. */
gconv_status gc_subject_ready_plan(const gc_subject *subject, const gc_picture *picture,
                                   gc_measurement *row, gconv_plan **plan, gconv_error *error);

/* Rows of output that are collected in memory. */
typedef struct gc_row_sink {
    char *to;
    size_t row_bytes;
    uint32_t rows, height; /* rows that came; all rows of the output */
    double start, limit;   /* where limit > 0: a run that will take longer is given up */
    double first;          /* when the first rows came; this may be at the end of the run */
    uint32_t first_rows;   /* how many these were */
} gc_row_sink;

/* Fails with GCONV_ERROR_LIMIT where the run will take too long. */
gconv_sink gc_row_sink_of(gc_row_sink *sink);

/* The final conversion alone, from chain values of gconv_plan_run_chain. */
gconv_status gc_convert_chain(const gconv_plan *plan, const gc_picture *picture, const float *chain,
                              size_t chain_stride, void *output, gconv_error *error);

/* Sorts the times of `count` runs, at least 1, and fills the row's median, shortest run and
 * quartiles. */
void gc_take_runs(gc_measurement *row, double *times, int count);

/* Makes `seconds` the time of the only run. */
void gc_take_one_run(gc_measurement *row, double seconds);

/* Checks the plan's output and its chain values, and fills verdict and difference. Where a run
 * takes longer than `limit` seconds, its time becomes the row's. */
gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expectation, double limit, gc_measurement *row,
                           gconv_error *error);

/* Checks the reference's own row with the expectation, where another run would take too long. */
gconv_status gc_adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                  const gc_expectation *expectation, gc_measurement *row,
                                  gconv_error *error);

/* Turns a failure into the verdict "not usable" where the implementation cannot run or broke down,
 * or a GPU lacks memory. Other failures are passed on. */
gconv_status gc_settle_verdict(gconv_status status, gc_measurement *row, gconv_error *error);

#endif
