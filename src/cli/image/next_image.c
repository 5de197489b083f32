/* Inputs of several images, one behind the other. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/tasks/names.h"

static gconv_status refuse_several(const gc_work *work)
{
    gconv_format format = work->result->format;
    if (!gconv_format_describe(format)->several)
        return gc_fail(work->error, GCONV_ERROR_FORMAT,
                       "more than one image, and %s holds one; --format pnm holds all",
                       gconv_format_name(format));
    if (work->worker->image_done == NULL)
        return gc_fail(work->error, GCONV_ERROR_FORMAT,
                       "more than one image, and a batch takes one of each input; give IN OUT");
    return GCONV_OK;
}

/* Hands over the result of an image, and begins that of the next one. */
static gconv_status hand_over(gc_work *work, gconv_error *error)
{
    gc_worker *worker = work->worker;
    gc_conclude(work, GCONV_OK);
    work->result->image = work->image++;
    gconv_status status = worker->image_done(worker->image_user, work->task, work->result, error);
    gc_picture_destroy(&work->picture);
    *work->result =
        (gc_result){.blamed = gc_input_name(work->task->input), .timings = gconv_timings_default()};
    work->start = gc_seconds();
    return status;
}

gconv_status gc_next_image(gc_work *work, bool *more)
{
    gconv_error failure, untold;
    *more = false;
    if (work->options->rows.count > 0)
        return GCONV_OK;
    gconv_status status = gconv_reader_next(work->reader, more, &failure);
    if (status == GCONV_OK && !*more)
        return GCONV_OK;
    work->result->blamed = gc_input_name(work->task->input);
    if (!*more) {
        *work->error = failure;
        return status;
    }
    if (refuse_several(work) != GCONV_OK)
        return work->error->status;
    gconv_status handed_over = hand_over(work, &untold);
    if (handed_over != GCONV_OK)
        *work->error = untold;
    else if (status != GCONV_OK)
        *work->error = failure;
    return handed_over != GCONV_OK ? handed_over : status;
}
