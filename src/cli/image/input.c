/* The input of one image: opening it, pixels that are read before the plan is made, and the images
 * that follow in one file. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/options/effects.h"
#include "cli/options/values.h"
#include "cli/tasks/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Opening --------------------------------------------------------------------------------- */

gconv_status gc_check_task(const gc_task *task, gconv_error *error)
{
    if (task->refused != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s", task->refused);
    if (task->unlisted != 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, task->unlisted, "cannot list the directory");
    if (task->unknown != 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, task->unknown, "cannot read");
    return GCONV_OK;
}

/* `opened` of gconv_reader_options, whose `user` is a gc_work. */
static void note_opened(void *user, int descriptor)
{
    gc_work *work = user;
    struct stat about;
    work->has_times = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    if (work->has_times) {
        work->times[0] = about.st_atim;
        work->times[1] = about.st_mtim;
    }
    if (work->worker->session->journal != NULL)
        gc_journaled_opened(work, descriptor, work->has_times ? &about : NULL);
}

gconv_status gc_open_input(gc_work *work)
{
    const gc_task *task = work->task;
    work->result->subject = gc_input_name(task->input);
    GC_TRY(gc_check_task(task, work->error));
    work->input_warnings =
        (gc_warning_target){work->result->subject, work->worker->notes, &work->result->warnings};
    gconv_reader_options options = gc_reader_options(work->options);
    if (task->format != GCONV_FORMAT_UNKNOWN) { /* else it holds what the input has */
        const gconv_format_info *output = gconv_format_describe(task->format);
        options.opaque = !output->alpha;
        options.grey = options.grey || output->depths == 1; /* before anything is computed */
    }
    options.warn = gc_take_warning;
    options.warn_damage = gc_take_damage;
    options.warn_user = &work->input_warnings;
    options.any_white = gc_takes_any_white(work);
    options.any_precision = work->options->command != GC_COMMAND_FILTER;
    if (task->format == GCONV_FORMAT_UNKNOWN ||
        (gc_met_format(task->format) & GC_MET_METADATA) != 0)
        options.keep = gc_kept_metadata(work->options);
    options.whole = !options.tolerant && gc_is_in_place(work->options, task);
    options.opened_user = work;
    if (work->options->form.preserve || work->worker->session->journal != NULL)
        options.opened = note_opened;
    if (work->worker->session->journal != NULL)
        options.read = gc_journaled_read;
    return gconv_reader_open(task->input, &options, &work->reader, work->error);
}

/* ---- Looking ahead --------------------------------------------------------------------------- */

/* If gconv has to look at alpha first, it holds images up to this size in memory, and decodes
 * larger ones twice. */
#define HELD_BYTES ((size_t)16 << 20)

/* Bytes of pictures that are read while the devices start. */
#define EARLY_BYTES ((size_t)512 << 20)

/* Whether a file is decoded twice rather than held in memory. */
static bool is_large_file(const gc_work *work)
{
    struct stat about;
    size_t bytes = gconv_shape_row_bytes(&work->result->input) * (size_t)work->result->input.height;
    return bytes > HELD_BYTES && strcmp(work->task->input, "-") != 0 &&
           stat(work->task->input, &about) == 0 && S_ISREG(about.st_mode);
}

/* Reads until `reader` comes to a row that is not opaque, or to the end. */
static gconv_status read_opaque_rows(gconv_reader *reader, unsigned char *rows, uint32_t room,
                                     bool *opaque, gconv_error *error)
{
    const gconv_shape *shape = gconv_reader_shape(reader);
    size_t stride = gconv_shape_row_bytes(shape);
    *opaque = true;
    for (uint32_t y = 0; *opaque && y < shape->height; y += room) {
        uint32_t count = shape->height - y < room ? shape->height - y : room;
        GC_TRY(gconv_reader_read(reader, count, rows, stride, error));
        *opaque = gconv_shape_is_opaque(shape, rows, count, stride);
    }
    return GCONV_OK;
}

/* Sets work->opaque by a reader of its own, which gives no warnings: the other reader will. */
static gconv_status look_for_transparency(gc_work *work)
{
    enum { ROWS = 16 };
    gconv_reader_options options = gc_reader_options(work->options);
    gconv_reader *reader;
    options.page = (options.page > 0 ? options.page : 1) + (uint32_t)work->image - 1;
    options.page_last = options.page;
    GC_TRY(gconv_reader_open(work->task->input, &options, &reader, work->error));
    size_t row_bytes = gconv_shape_row_bytes(gconv_reader_shape(reader));
    unsigned char *rows = gc_allocate_array(ROWS, row_bytes);
    gconv_status status = rows != NULL
                              ? read_opaque_rows(reader, rows, ROWS, &work->opaque, work->error)
                              : gc_fail_memory(work->error, ROWS * row_bytes);
    free(rows);
    gconv_reader_free(reader);
    return status;
}

/* Whether the first plan of a worker would wait for GPUs to start. Begins to start them. */
static bool plan_would_wait(gc_work *work)
{
    gconv_job job;
    return work->worker->plan == NULL && work->worker->images_at_once > 1 &&
           gc_plan_job(work, &job) == GCONV_OK && gconv_device_foresee(&job);
}

/* Whether the image is read while the devices start. Not if a GPU may want to decode the image. */
static bool reads_early(gc_work *work)
{
    const gc_worker *worker = work->worker;
    const gconv_shape *shape = &work->result->input;
    double bytes = (double)gconv_shape_row_bytes(shape) * shape->height;
    bool is_checked = worker->first == NULL || atomic_load(&worker->first->made);
    return bytes <= (double)EARLY_BYTES / worker->images_at_once &&
           gc_gpu_decoder(work->options) == NULL && (!is_checked || plan_would_wait(work));
}

gconv_status gc_look_ahead(gc_work *work)
{
    gconv_job job = gc_job_for(work->worker->session, &work->result->input);
    bool needs_pixels = gconv_alpha_needs_pixels(&job);
    gconv_status status = GCONV_OK;
    double start = gc_seconds();
    work->opaque = true;
    bool finds = gc_finds_limits(work->options);
    bool holds = work->options->report.verify || reads_early(work) ||
                 (finds && (work->image > 1 || !is_large_file(work)));
    if (needs_pixels && !holds && is_large_file(work))
        status = look_for_transparency(work);
    else if (needs_pixels || holds)
        status = gc_picture_read(work->reader, &work->picture, work->error);
    if (status == GCONV_OK && needs_pixels && work->picture.samples != NULL)
        work->opaque = gc_picture_is_opaque(&work->picture);
    GC_THEN(status, gc_find_limits(work));
    work->result->timings.decode += gc_seconds() - start;
    return status;
}

/* ---- Inputs of several images ---------------------------------------------------------------- */

static gconv_status refuse_several(const gc_work *work)
{
    gconv_format format = work->result->format, own = gconv_reader_format(work->reader);
    bool is_own = own == GCONV_FORMAT_TIFF || own == GCONV_FORMAT_Y4M;
    if (gconv_format_describe(format)->several)
        return GCONV_OK;
    return gc_fail(
        work->error, GCONV_ERROR_FORMAT,
        "more than one image, and %s holds one; --format %s holds all, --page N takes one",
        gconv_format_name(format), is_own ? gconv_format_name(own) : "pnm");
}

/* Hands over the result of an image, and begins that of the next one. */
static gconv_status hand_over(gc_work *work, gconv_error *error)
{
    gc_worker *worker = work->worker;
    gc_conclude(work, GCONV_OK);
    work->result->image = work->image++;
    work->mismatched = work->mismatched || work->result->outcome == GC_OUTCOME_MISMATCH;
    unsigned met = work->result->met;
    gconv_status status = worker->image_done(worker->image_user, work->task, work->result, error);
    gc_picture_destroy(&work->picture);
    *work->result = (gc_result){.subject = gc_input_name(work->task->input),
                                .met = met,
                                .timings = gconv_timings_default()};
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
    work->result->subject = gc_input_name(work->task->input);
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
