/* Checks implementations against the reference and times them, for gconv compare and gconv-lab. */
#pragma once

#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "cli/measure/point.h"
#include "gconv_lab.h"

enum { GC_EXPLANATION_BYTES = 1024 };

typedef struct gc_subject gc_subject;

/* Judges the output of the last timed run, and changes the point if it is wrong. */
typedef gconv_status gc_last_judge(const gc_subject *subject, const gconv_plan *plan,
                                   const gc_picture *picture, const void *output, gc_point *point,
                                   gconv_error *error);

/* What is measured: a session's chain, with alpha treated one way. */
struct gc_subject {
    const gc_session *session;
    gconv_alpha alpha;
    size_t entry, entry_count; /* of all measurements of the command, for the progress line */
    char *explanation;         /* gets lines on how an implementation was chosen; NULL: unwanted */
    gc_last_judge *judge;      /* NULL: none */
    const void *user;          /* for the judge */
};

/* Progress of the command's measurements when `part` (0 to 1) of the present one is done. */
double gc_subject_progress(const gc_subject *subject, double part);
void gc_subject_begin_progress(const gc_subject *subject, const char *name);

/* Creates a plan of the point's implementation, which may be "auto". If the point's name is "auto",
 * the plan is chosen for one run, else for many runs. */
gconv_status gc_subject_plan(const gc_subject *subject, const gc_point *point,
                             const gc_picture *picture, gconv_plan **plan, gconv_error *error);

/* gc_subject_plan, ready to run at once. Adds the seconds of compiling to the point. */
gconv_status gc_subject_ready_plan(const gc_subject *subject, gc_point *point,
                                   const gc_picture *picture, gconv_plan **plan,
                                   gconv_error *error);

/* The reference's result on one picture: what measurements are checked against. */
typedef struct gc_expectation {
    gconv_expectation of;
    double seconds; /* of the reference's one run */
} gc_expectation;

/* On failure, too, gc_results_free(&expectation->of) follows. */
gconv_status gc_expect(const gc_subject *subject, const gc_picture *picture,
                       gc_expectation *expectation, gconv_error *error);

/* Checks the plan's output and its chain values, and fills verdict and difference. If the run takes
 * longer than `limit` seconds, its time becomes the point's. */
gconv_status gc_check_plan(gconv_plan *plan, const gc_picture *picture,
                           const gc_expectation *expectation, double limit, gc_point *point,
                           gconv_error *error);

/* Makes the expectation the result of the reference's own point. */
gconv_status gc_adopt_expectation(const gconv_plan *plan, const gc_picture *picture,
                                  const gc_expectation *expectation, gc_point *point,
                                  gconv_error *error);

/* Turns a failure, whose message is the point's reason, into the verdict "not usable" if the
 * implementation cannot run or broke down, or a GPU lacks memory. Other failures are passed on. */
gconv_status gc_settle_verdict(gconv_status status, gc_point *point, gconv_error *error);

/* How long and how often something is timed. */
typedef struct gc_budget {
    double seconds; /* for all runs together; half of it if a kernel is timed, too */
    int runs_min;   /* fewer only if the first run takes longer than `seconds` */
} gc_budget;

/* Times runs of the plan until the budget is spent, and fills times and rates of the point. */
gconv_status gc_time_plan(const gc_subject *subject, gconv_plan *plan, const gc_picture *picture,
                          gc_budget budget, gc_point *point, gconv_error *error);

/* Sorts the times of `count` runs, at least 1, and fills the point's median, shortest run and
 * quartiles. */
void gc_take_runs(gc_point *point, double *times, int count);

/* Fills the rates of a point that has times. */
void gc_fill_rates(const gc_subject *subject, gconv_plan *plan, const gc_picture *picture,
                   gc_point *point);
