#include "cli/image/image.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/image/journaled.h"
#include "cli/image/picture.h"
#include "cli/image/skip.h"
#include "cli/image/work.h"
#include "cli/options/effects.h"
#include "cli/options/values.h"
#include "cli/tasks/names.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
        gc_journaled_opened(work, descriptor);
}

/* Whether the output cannot hold alpha. An output in the format of its input can hold what that
 * has. */
static bool loses_alpha(const gc_task *task)
{
    return task->format != GCONV_FORMAT_UNKNOWN && !gconv_format_describe(task->format)->alpha;
}

static gconv_status open_input(gc_work *work)
{
    const gc_task *task = work->task;
    work->result->blamed = gc_input_name(task->input);
    gconv_status status = gc_check_task(task, work->error);
    if (status != GCONV_OK)
        return status;
    work->input_warnings =
        (gc_warning_target){work->result->blamed, work->worker->notes, &work->result->warnings};
    gconv_reader_options options = gc_reader_options(work->options);
    options.opaque = loses_alpha(task);
    options.warn = gc_take_warning;
    options.warn_damage = gc_take_damage;
    options.warn_user = &work->input_warnings;
    if (task->format == GCONV_FORMAT_UNKNOWN ||
        (gc_met_format(task->format) & GC_MET_METADATA) != 0)
        options.keep = gc_kept_metadata(work->options);
    options.whole = !options.tolerant && gc_replaces_input(work->options, task);
    options.opened = note_opened;
    options.opened_user = work;
    if (work->worker->session->journal != NULL)
        options.read = gc_journaled_read;
    return gconv_reader_open(task->input, &options, &work->reader, work->error);
}

gconv_status gc_plan_job(gc_work *work, gconv_job *job)
{
    const gc_worker *worker = work->worker;
    *job = gc_job_for(worker->session, &work->result->input);
    job->alpha = gconv_alpha_resolve(job, work->opaque);
    job->runs = worker->images_left;
    job->images_at_once = worker->images_at_once;
    if (work->picture.samples == NULL && !work->options->report.verify)
        job->source_format = gconv_reader_format(work->reader);
    job->source_decoder = work->options->reader.decoder;
    return gc_output_depth(work, &job->output_depth);
}

static gconv_status make_plan(gc_work *work)
{
    gc_worker *worker = work->worker;
    gc_result *result = work->result;
    gconv_job job;
    gconv_status status = gc_plan_job(work, &job);
    if (status == GCONV_OK)
        status = gc_kept_plan_fit(&worker->kept, &job, work->error);
    if (status != GCONV_OK)
        return status;
    gconv_plan_on_wait(worker->kept.plan, worker->waits, worker->waits_user);
    result->output = *gconv_plan_output_shape(worker->kept.plan);
    if (work->options->rows.count > 0)
        result->output.height = work->options->rows.count;
    result->implementation = gconv_plan_implementation(worker->kept.plan);
    result->exact = gconv_plan_is_exact(worker->kept.plan);
    return GCONV_OK;
}

static gconv_status run_plan(gc_work *work)
{
    gconv_plan *plan = work->worker->kept.plan;
    gc_part whole = {work, 0, 1};
    gc_memory_source rows;
    gconv_source samples = gc_picture_source(&work->picture, &rows);
    gconv_plan_watch(plan, gc_part_show, &whole);
    gconv_status status = gc_run_rows(
        work, work->picture.samples != NULL ? &samples : gconv_reader_source(work->reader));
    gconv_plan_watch(plan, NULL, NULL);
    return status;
}

/* Fills what the result says of the decoder. */
static void note_decoder(gc_work *work)
{
    gc_result *result = work->result;
    const char *wanted = gc_gpu_decoder(work->options);
    result->input_format = gconv_reader_format(work->reader);
    result->decoder = gconv_reader_decoder(work->reader);
    result->decode_fallback = gconv_reader_fallback(work->reader);
    if (wanted == NULL || result->decode_fallback[0] != '\0' ||
        strcmp(result->decoder, wanted) == 0)
        return;
    result->decode_fallback =
        result->input_format == GCONV_FORMAT_JPEG ? "its rows are needed on the CPU" : "not a JPEG";
}

static gconv_status compute(gc_work *work)
{
    gconv_status status = work->options->report.verify ? gc_run_verified(work) : run_plan(work);
    note_decoder(work);
    if (status != GCONV_ERROR_WRITE)
        work->result->blamed = gc_input_name(work->task->input);
    work->result->implementation = gconv_plan_implementation(work->worker->kept.plan);
    if (status == GCONV_OK && work->picture.samples == NULL)
        status = gconv_reader_finish(work->reader, work->error);
    work->result->composited = gconv_reader_composited(work->reader);
    return status;
}

static gconv_status process_image(gc_work *work)
{
    work->result->blamed = gc_input_name(work->task->input);
    work->result->input = *gconv_reader_shape(work->reader);
    work->result->channels = gconv_reader_channels(work->reader);
    work->result->format = gc_output_format(work);
    gconv_status status = gc_judge_rows(work);
    if (status == GCONV_OK)
        status = gc_look_ahead(work);
    if (status == GCONV_OK)
        status = gc_gate_pass(work->worker->gate, work->error);
    if (status == GCONV_OK)
        status = make_plan(work);
    if (status == GCONV_OK)
        status = gc_open_output(work);
    return status == GCONV_OK ? compute(work) : status;
}

static gconv_status process(gc_work *work)
{
    gconv_status needed = gc_decide_to_skip(work->worker->session, work->task, work->result);
    if (needed != GCONV_OK)
        return needed;
    if (work->worker->session->journal != NULL && !work->task->repeated)
        gc_journaled_begin(work);
    work->result->skipped = "exists; skipped"; /* should it appear meanwhile */
    bool more = true;
    gconv_status status = open_input(work);
    while (status == GCONV_OK && more) {
        status = process_image(work);
        if (status == GCONV_OK)
            status = gc_next_image(work, &more);
    }
    return status == GCONV_OK ? gc_finish_output(work) : status;
}

void gc_process(gc_worker *worker, const gc_task *task, gc_result *result)
{
    *result = (gc_result){.outcome = GC_OUTCOME_DONE, .timings = gconv_timings_default()};
    gc_work work = {.worker = worker,
                    .options = worker->session->options,
                    .task = task,
                    .result = result,
                    .error = &result->error,
                    .image = 1,
                    .start = gc_seconds()};
    gconv_error barred;
    gconv_status status = process(&work);
    gconv_writer_free(work.writer);
    gconv_reader_free(work.reader);
    gc_picture_destroy(&work.picture);
    gc_conclude(&work, status);
    if (worker->session->journal != NULL && work.record.input != NULL)
        gc_journaled_end(&work);
    if (gc_gate_pass(worker->gate, &barred) != GCONV_OK)
        result->outcome = GC_OUTCOME_BARRED;
    else if (worker->directories != NULL && !gc_task_is_doomed(task)) /* also of a skipped image */
        gc_clean_parent(worker->directories, task->output, worker->notes);
}
