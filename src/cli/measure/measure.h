/* Checks implementations against the reference and times them, for gconv compare and gconv-lab. */
#ifndef GC_CLI_MEASURE_MEASURE_H
#define GC_CLI_MEASURE_MEASURE_H

#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/measure/point.h"
#include "gconv_lab.h"

enum { GC_EXPLANATION_BYTES = 1024 };

/* What is measured: a session's chain, with alpha treated one way. */
typedef struct gc_subject {
    const gc_session *session;
    gconv_alpha alpha;
    size_t entry, entry_count; /* of all measurements of the command, for the progress line */
    const gconv_pixel *spots;  /* pixels at which gc_time checks its last result */
    size_t spot_count;
    char *explanation; /* becomes lines that say how an implementation was chosen; NULL: unwanted */
} gc_subject;

/* Progress of the command's measurements when `part` (0 to 1) of the present one is done. */
double gc_subject_progress(const gc_subject *subject, double part);
void gc_subject_begin_progress(const gc_subject *subject, const char *name);

/* The reference's result on one picture: what measurements are checked against. */
typedef struct gc_expectation {
    float *chain;
    size_t chain_stride;
    size_t output_stride;
    double seconds; /* of the reference's one run */
} gc_expectation;

gconv_status gc_expect(const gc_subject *subject, const gc_picture *picture,
                       gc_expectation *expectation, gconv_error *error);
void gc_expectation_destroy(gc_expectation *expectation);

/* How long and how often something is timed. */
typedef struct gc_budget {
    double seconds; /* for all runs together; half of it where a kernel is timed, too */
    double limit;   /* for one run, which is given up after that; 0: no limit */
    int runs_min;   /* fewer only where the first run takes longer than `seconds` */
    bool warm;      /* no run to warm up is needed */
} gc_budget;

/* Checks an implementation on `picture`. `name` may be "auto": then it is the implementation that
 * auto chooses for `timed`. Fills names and verdict of the point. An implementation that cannot run
 * or breaks down is a verdict, not a failure. */
gconv_status gc_check(const gc_subject *subject, const char *name, const gc_picture *picture,
                      const gc_picture *timed, const gc_expectation *expectation, gc_point *point,
                      gconv_error *error);

/* Times on `picture` the implementation that was checked for the point. If the result of the last
 * run is wrong at the subject's spots, the verdict becomes so, and the point has no times. */
gconv_status gc_time(const gc_subject *subject, const gc_picture *picture, gc_budget budget,
                     gc_point *point, gconv_error *error);

/* Checks and times on one picture. If one run takes longer than `seconds`, there is no second run:
 * the time is that of the checked run, or for the reference that of `expectation`. */
gconv_status gc_check_and_time(const gc_subject *subject, const char *name,
                               const gc_picture *picture, const gc_expectation *expectation,
                               double seconds, gc_point *point, gconv_error *error);

/* Sorts the times of `count` runs, at least 1, and fills the point's median, shortest run and
 * quartiles. */
void gc_take_runs(gc_point *point, double *times, int count);

/* ---- What checking and timing share ---------------------------------------------------------- */

/* Creates a plan for what runs in the point, which may be "auto", so that runs begin at once. If
 * its name is "auto", the plan is chosen for one run, else for many runs. Adds the seconds of
 * compiling to the point. */
gconv_status gc_subject_ready_plan(const gc_subject *subject, const gc_picture *picture,
                                   gc_point *point, gconv_plan **plan, gconv_error *error);

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

/* Checks the plan's output and its chain values, and fills verdict and difference. If a run takes
 * longer than `limit` seconds, its time becomes the point's. */
gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expectation, double limit, gc_point *point,
                           gconv_error *error);

/* Checks the reference's own point with the expectation, if another run would take too long. */
gconv_status gc_adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                  const gc_expectation *expectation, gc_point *point,
                                  gconv_error *error);

/* Turns a failure, whose message is the point's reason, into the verdict "not usable" if the
 * implementation cannot run or broke down, or a GPU lacks memory. Other failures are passed on. */
gconv_status gc_settle_verdict(gconv_status status, gc_point *point, gconv_error *error);

#endif
