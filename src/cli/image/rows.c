/* Some rows of the image alone: --rows. */
#include "base/status.h"
#include "cli/image/work.h"

gconv_status gc_judge_rows(gc_work *work)
{
    const gc_rows *rows = &work->options->rows;
    gconv_format format = work->result->format;
    uint32_t height = work->result->input.height;
    if (rows->count == 0)
        return GCONV_OK;
    if (rows->first >= height || rows->count > height - rows->first)
        return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                       "--rows %lu:%lu goes beyond the image, which has rows 0 to %lu",
                       (unsigned long)rows->first, (unsigned long)rows->count,
                       (unsigned long)height - 1);
    if (work->options->rows.join && format != GCONV_FORMAT_PGM && format != GCONV_FORMAT_PPM)
        return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                       "--join makes parts of PGM and PPM, and the output is %s; --format pnm "
                       "makes one of these",
                       gconv_format_name(format));
    return GCONV_OK;
}

/* Where the times of parts go; NULL where no option prints them, because taking them slows a GPU
 * down. */
static gconv_timings *wanted_timings(gc_work *work)
{
    return work->options->report.timings || work->options->report.json ? &work->result->timings
                                                                       : NULL;
}

gconv_status gc_run_rows(gc_work *work, const gconv_source *source)
{
    const gc_rows *rows = &work->options->rows;
    gconv_plan *plan = work->worker->kept.plan;
    const gconv_sink *sink = gc_output_sink(work);
    gconv_timings *timings = wanted_timings(work);
    if (rows->count == 0)
        return gconv_plan_run(plan, source, sink, timings, work->error);
    return gconv_plan_run_rows(plan, rows->first, rows->count, source, sink, timings, work->error);
}
