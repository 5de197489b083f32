/* The output of one image: its format and depth, and its writer. */
#include "cli/image/work.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/image/journaled.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <sys/stat.h>

gconv_format gc_output_format(const gc_work *work)
{
    const gc_task *task = work->task;
    if (task->format == GCONV_FORMAT_UNKNOWN)
        return gconv_reader_format(work->reader);
    bool grey = task->either_pnm && work->result->input.channels < 3;
    return grey ? GCONV_FORMAT_PGM : task->format;
}

/* The deepest samples that a format can hold. */
static int largest_depth(const gconv_format_info *info)
{
    int depth = 32;
    while (depth > 1 && (info->depths & depth) == 0)
        depth /= 2;
    return depth;
}

gconv_status gc_output_depth(const gc_work *work, int *depth)
{
    const gc_options *options = work->options;
    gconv_format format = work->result->format;
    const gconv_format_info *info = gconv_format_describe(format);
    *depth = options->form.depth;
    if (*depth != 0)
        return gc_check_depth(format, *depth, work->error);
    if (options->command == GC_COMMAND_EDGES)
        *depth = format == GCONV_FORMAT_PNG ? 1 : 8;
    else
        *depth = work->result->input.depth;
    if ((info->depths & *depth) == 0)
        *depth = largest_depth(info);
    return GCONV_OK;
}

static gconv_status keep_times(const gc_work *work, int descriptor, gconv_error *error)
{
    if (work->options->form.preserve && work->has_times && futimens(descriptor, work->times) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot keep the times of its input");
    return GCONV_OK;
}

/* A gconv_complete_function, whose `user` is a gc_work. A journal has the time that the output
 * keeps, and may read the output. */
static gconv_status complete(void *user, int descriptor, gconv_error *error)
{
    gc_work *work = user;
    gconv_status status = keep_times(work, descriptor, error);
    if (status != GCONV_OK || work->worker->session->journal == NULL)
        return status;
    status = gc_journaled_complete(work, descriptor, error);
    return status == GCONV_OK ? keep_times(work, descriptor, error) : status;
}

gconv_keep gc_kept_metadata(const gc_options *options)
{
    if (options->form.strip)
        return GCONV_KEEP_NOTHING;
    return options->command == GC_COMMAND_EDGES ? GCONV_KEEP_RESOLUTION : GCONV_KEEP_ALL;
}

static gconv_writer_options writer_options(gc_work *work)
{
    const gc_options *options = work->options;
    gconv_writer_options writer = options->writer;
    writer.format = work->result->format;
    writer.shape = work->result->output;
    writer.white = work->result->input.depth == 16 ? 65535 : 255;
    writer.metadata = gconv_reader_metadata(work->reader);
    writer.keep = gc_kept_metadata(options);
    if (options->rows.join) {
        writer.part_of = work->result->input.height;
        writer.part_first = options->rows.first;
    }
    writer.warn = gc_take_warning;
    writer.warn_user = &work->output_warnings;
    writer.complete = complete;
    writer.complete_user = work;
    if (work->worker->session->journal != NULL)
        writer.written = gc_journaled_written;
    return writer;
}

gconv_status gc_open_output(gc_work *work)
{
    const char *output = work->task->output;
    gc_directories *directories = work->worker->directories;
    work->result->blamed = gc_output_name(output);
    work->output_warnings =
        (gc_warning_target){work->result->blamed, work->worker->notes, &work->result->warnings};
    gconv_writer_options writer = writer_options(work);
    if (work->writer != NULL)
        return gconv_writer_next(work->writer, &writer, work->error);
    gconv_status status = GCONV_OK;
    if (directories != NULL)
        status = gc_prepare_parent(directories, output, work->worker->notes, work->error);
    return status == GCONV_OK ? gconv_writer_open(output, &writer, &work->writer, work->error)
                              : status;
}

const gconv_sink *gc_output_sink(gc_work *work)
{
    const gconv_sink *sink = gconv_writer_sink(work->writer);
    if (!work->options->report.verbose && !work->options->report.json)
        return sink;
    return gc_count_clipped(&work->clip_counter, &work->result->clipped, &work->worker->kept.job,
                            &work->result->output, sink);
}

gconv_status gc_finish_output(gc_work *work)
{
    work->result->blamed = gc_output_name(work->task->output);
    double start = gc_seconds();
    gconv_status status = gconv_writer_finish(work->writer, work->error);
    work->result->timings.encode += gc_seconds() - start;
    return status;
}
