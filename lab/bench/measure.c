#include "lab/bench/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes to the point the implementation that auto stands for on `picture`. */
static gconv_status resolve_auto(const gc_subject *subject, const gc_picture *picture,
                                 gc_point *point)
{
    gconv_plan *plan;
    gconv_status status = gc_subject_plan(subject, point, picture, &plan, &point->reason);
    if (status == GCONV_OK)
        snprintf(point->implementation, sizeof point->implementation, "%s",
                 gconv_plan_implementation(plan));
    gconv_plan_free(plan);
    return status;
}

gconv_status gc_check(const gc_subject *subject, const char *name, const gc_picture *picture,
                      const gc_picture *timed, const gc_expectation *expectation, gc_point *point,
                      gconv_error *error)
{
    gconv_plan *plan = NULL;
    gconv_status status = GCONV_OK;
    gc_point_set_name(point, name);
    if (strcmp(name, "auto") == 0)
        status = resolve_auto(subject, timed, point);
    GC_THEN(status, gc_subject_ready_plan(subject, point, picture, &plan, &point->reason));
    GC_THEN(status, gc_check_plan(plan, picture, expectation, INFINITY, point, &point->reason));
    gconv_plan_free(plan);
    return gc_settle_verdict(status, point, error);
}

/* ---- A run in pieces, which can be given up -------------------------------------------------- */

/* Rows of output that are collected in memory. */
typedef struct row_sink {
    char *to;
    size_t row_bytes;
    uint32_t rows, height; /* rows that came; all rows of the output */
    double start, limit;
    double first;        /* when the first rows came; this may be at the end of the run */
    uint32_t first_rows; /* how many these were */
} row_sink;

/* Whether the run will take longer than its limit, estimated from the rows that came after the
 * first ones; asked once a tenth of the limit is spent. */
static bool takes_too_long(const row_sink *sink)
{
    double now = gc_seconds();
    uint32_t came = sink->rows - sink->first_rows, left = sink->height - sink->rows;
    if (now - sink->start < sink->limit / 10 || came == 0 || left == 0)
        return false;
    return now - sink->start + (now - sink->first) / came * left > sink->limit;
}

static gconv_status write_rows(void *user, uint32_t count, const void *rows, size_t stride,
                               gconv_error *error)
{
    row_sink *sink = user;
    for (uint32_t i = 0; i < count; i++)
        memcpy(sink->to + (size_t)sink->rows++ * sink->row_bytes, (const char *)rows + i * stride,
               sink->row_bytes);
    if (sink->first_rows == 0) {
        sink->first_rows = sink->rows;
        sink->first = gc_seconds();
    }
    if (takes_too_long(sink))
        return gc_fail(error, GCONV_ERROR_LIMIT, "takes too long");
    return GCONV_OK;
}

/* Warms up by a run in pieces. GCONV_ERROR_LIMIT if it will take longer than `limit`. */
static gconv_status warm_up(gconv_plan *plan, const gc_picture *picture, double limit,
                            gconv_error *error)
{
    const gconv_shape *shape = gconv_plan_output_shape(plan);
    size_t row_bytes = gconv_shape_row_bytes(shape);
    row_sink sink = {.to = gc_allocate_array(shape->height, row_bytes),
                     .row_bytes = row_bytes,
                     .height = shape->height,
                     .start = gc_seconds(),
                     .limit = limit};
    gc_memory_source rows;
    gconv_source from = gc_picture_source(picture, &rows);
    const gconv_sink to = {.size = sizeof to, .write = write_rows, .user = &sink};
    GC_TRY_MEMORY(sink.to != NULL, error, shape->height * row_bytes);
    gconv_status status = gconv_plan_run(plan, &from, &to, NULL, error);
    free(sink.to);
    return status;
}

gconv_status gc_time(const gc_subject *subject, const gc_picture *picture, gc_budget budget,
                     double limit, gc_point *point, gconv_error *error)
{
    gconv_plan *plan = NULL;
    gc_subject_begin_progress(subject, point->name);
    gconv_status status = gc_subject_ready_plan(subject, point, picture, &plan, error);
    double start = gc_seconds();
    GC_THEN(status, warm_up(plan, picture, limit, error));
    budget.seconds -= gc_seconds() - start;
    point->too_long = status == GCONV_ERROR_LIMIT;
    GC_THEN(status, gc_time_plan(subject, plan, picture, budget, point, error));
    gconv_plan_free(plan);
    return point->too_long ? GCONV_OK : status;
}
