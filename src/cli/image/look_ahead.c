/* Pixels that are read before the plan is made. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/options/values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where alpha must be known, an image up to this size is held in memory. A larger one is decoded
 * twice. */
#define HELD_BYTES ((size_t)16 << 20)

/* Bytes of pictures that are read while the devices start. */
#define EARLY_BYTES ((size_t)512 << 20)

/* A file that can be read twice, and is better not held in memory. */
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
        gconv_status status = gconv_reader_read(reader, count, rows, stride, error);
        if (status != GCONV_OK)
            return status;
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
    gconv_status status = gconv_reader_open(work->task->input, &options, &reader, work->error);
    if (status != GCONV_OK)
        return status;
    size_t row_bytes = gconv_shape_row_bytes(gconv_reader_shape(reader));
    unsigned char *rows = gc_allocate_array(ROWS, row_bytes);
    if (rows != NULL)
        status = read_opaque_rows(reader, rows, ROWS, &work->opaque, work->error);
    else
        status = gc_fail_memory(work->error, ROWS * row_bytes);
    free(rows);
    gconv_reader_free(reader);
    return status;
}

/* Whether the first plan of a worker would wait for GPUs that are starting. They begin to start. */
static bool plan_would_wait(gc_work *work)
{
    gconv_job job;
    return work->worker->kept.plan == NULL && work->worker->images_at_once > 1 &&
           gc_plan_job(work, &job) == GCONV_OK && gconv_device_foresee(&job);
}

/* Whether the image is read while the devices start. Rows that the decoder of a GPU may want are
 * left there. */
static bool reads_early(gc_work *work)
{
    const gc_worker *worker = work->worker;
    const gconv_shape *shape = &work->result->input;
    double bytes = (double)gconv_shape_row_bytes(shape) * shape->height;
    return bytes <= (double)EARLY_BYTES / worker->images_at_once &&
           gc_gpu_decoder(work->options) == NULL &&
           (!gc_gate_is_passed(worker->gate) || plan_would_wait(work));
}

gconv_status gc_look_ahead(gc_work *work)
{
    gconv_job job = gc_job_for(work->worker->session, &work->result->input);
    bool needs_pixels = gconv_alpha_needs_pixels(&job);
    gconv_status status = GCONV_OK;
    double start = gc_seconds();
    work->opaque = true;
    bool holds = work->options->report.verify || reads_early(work);
    if (needs_pixels && !holds && is_large_file(work))
        status = look_for_transparency(work);
    else if (needs_pixels || holds)
        status = gc_picture_read(work->reader, &work->picture, work->error);
    if (status == GCONV_OK && needs_pixels && work->picture.samples != NULL)
        work->opaque = gc_picture_is_opaque(&work->picture);
    work->result->timings.decode += gc_seconds() - start;
    return status;
}
