/* The sweep of gconv bench: every case is measured with every implementation. */
#pragma once

#include "cli/image/picture.h"
#include "cli/image/session.h"
#include "lab/bench/cases.h"
#include "lab/bench/circumstances.h"
#include "lab/bench/resume.h"
#include "lab/bench/table.h"
#include "lab/bench/transforms.h"

typedef struct gc_sweep {
    /* Set by the caller. */
    const gc_session *session;
    gc_bench_table table;
    gc_cases cases;
    gc_resume resume; /* the file of --resume, which keeps every point */
    gc_points baseline;
    gc_points beside;    /* of --with */
    gc_points published; /* likewise: what the source of the preset prints */
    gc_machine machine;  /* that measures */
    const char **names;
    int name_count;
    double seconds; /* that measuring all points may take */

    gc_points points; /* that were measured, those of the file of --resume among them */
    unsigned met;     /* as gc_note_effects takes it */
    bool wrong;       /* some result was */
    bool refused;     /* an implementation could not be used */
    bool slower;      /* than the baseline, beyond the limit */

    /* What is measured now. */
    gc_point next; /* its image and filter */
    gc_picture timed, checked;
    gc_transforms *transforms; /* NULL before the first */
    double limit;              /* seconds that one run may take */
    double begin;              /* when the first point began */
    size_t entry, count;       /* points that are measured, and that will be */
} gc_sweep;

/* How many points the sweep has; of these, how many `among` has with times, unless it is NULL. */
size_t gc_sweep_count(const gc_sweep *sweep, const gc_points *among);

/* Keeps those points of another machine that are of a case of the sweep. */
void gc_sweep_keep(const gc_sweep *sweep, gc_points *points);

/* How many points are to be measured, and the seconds that this may take: without those that the
 * file of --resume holds. */
void gc_sweep_plan(const gc_sweep *sweep, size_t *count, double *seconds);

/* Measures what the file of --resume does not hold, and prints every point. */
gconv_status gc_sweep_run(gc_sweep *sweep, gconv_error *error);

/* Frees points and images. */
void gc_sweep_destroy(gc_sweep *sweep);
