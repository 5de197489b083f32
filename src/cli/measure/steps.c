#include "cli/measure/steps.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/options/presets.h"
#include "cli/report/progress.h"

#include <math.h>
#include <string.h>

/* Runs that a measured plan is made for: so many that the time of its preparation does not
 * matter. */
enum { RUNS_EXPECTED = 1000000 };

double gc_subject_progress(const gc_subject *subject, double part)
{
    return ((double)subject->entry + fmin(part, 1)) / (double)subject->entry_count;
}

void gc_subject_begin_progress(const gc_subject *subject, const char *name)
{
    gc_progress_begin(name, gc_subject_progress(subject, 0), subject->entry, subject->entry_count);
}

gconv_status gc_subject_plan(const gc_subject *subject, const char *name,
                             const char *implementation, const gc_picture *picture,
                             gconv_plan **plan, gconv_error *error)
{
    gconv_job job = gc_job_for(subject->session, &picture->shape);
    job.alpha = subject->alpha;
    job.output_depth = job.output == GCONV_OUTPUT_EDGES ? 1 : picture->shape.depth;
    job.implementation = implementation;
    gc_preset_set_block(subject->session->options, implementation, &job);
    job.runs = strcmp(name, "auto") == 0 ? 0 : RUNS_EXPECTED;
    job.device = gc_device_for(subject->session, name);
    return gconv_plan_create(&job, plan, error);
}

gconv_status gc_subject_ready_plan(const gc_subject *subject, const gc_picture *picture,
                                   gc_measurement *row, gconv_plan **plan, gconv_error *error)
{
    gconv_status status =
        gc_subject_plan(subject, row->name, row->implementation, picture, plan, error);
    if (status != GCONV_OK)
        return status;
    double seconds;
    status = gconv_plan_prepare(*plan, &seconds, error);
    row->compile_seconds += seconds;
    return status;
}

/* ---- Rows of output -------------------------------------------------------------------------- */

/* Whether the run will take longer than its limit, estimated from the rows that came after the
 * first ones; asked once a tenth of the limit is spent. */
static bool takes_too_long(const gc_row_sink *sink)
{
    double now = gc_seconds();
    uint32_t came = sink->rows - sink->first_rows, left = sink->height - sink->rows;
    if (!(sink->limit > 0) || now - sink->start < sink->limit / 10 || came == 0 || left == 0)
        return false;
    return now - sink->start + (now - sink->first) / came * left > sink->limit;
}

static gconv_status write_rows(void *user, uint32_t count, const void *rows, size_t stride,
                               gconv_error *error)
{
    gc_row_sink *sink = user;
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

gconv_sink gc_row_sink_of(gc_row_sink *sink)
{
    return (gconv_sink){.size = sizeof(gconv_sink), .write = write_rows, .user = sink};
}

gconv_status gc_convert_chain(const gconv_plan *plan, const gc_picture *picture, const float *chain,
                              size_t chain_stride, void *output, gconv_error *error)
{
    gc_row_sink sink = {.to = output,
                        .row_bytes = gconv_shape_row_bytes(gconv_plan_output_shape(plan))};
    gconv_sink to = gc_row_sink_of(&sink);
    return gconv_plan_convert(plan, chain, chain_stride, picture->samples, picture->stride, &to,
                              error);
}

void gc_take_one_run(gc_measurement *row, double seconds)
{
    row->runs = 1;
    row->seconds = row->shortest = row->lower_quartile = row->upper_quartile = seconds;
}
