#include "cli/image/image.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/status.h"
#include "cli/image/blur.h"
#include "cli/image/work.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/options/values.h"
#include "cli/tasks/names.h"
#include "cli/terminal/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The first check ------------------------------------------------------------------------- */

gconv_status gc_first_check_make(gc_first_check *first, gconv_error *error)
{
    if (first == NULL)
        return GCONV_OK;
    if (!atomic_load(&first->made)) {
        pthread_mutex_lock(&first->lock);
        if (!first->made)
            first->status = first->check(first->user, &first->error);
        first->made = true;
        pthread_mutex_unlock(&first->lock);
    }
    if (first->status != GCONV_OK)
        *error = first->error;
    return first->status;
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* Puts the chain that depends on the size of the image into the job. */
static gconv_status take_own_chain(gc_work *work, gconv_job *job)
{
    gc_worker *worker = work->worker;
    gconv_status status = GCONV_OK;
    if (!gc_has_own_chain(work->options))
        return GCONV_OK;
    if (worker->own.count == 0 || !gc_is_same_shape(&worker->own_shape, &job->input)) {
        gc_filter_chain_free(&worker->own);
        worker->own_shape = job->input;
        status = gc_own_chain_create(work->options, &job->input, &worker->own, work->error);
        if (status != GCONV_OK)
            gc_filter_chain_free(&worker->own);
    }
    job->filters = (const gconv_filter *const *)worker->own.filters;
    job->filter_count = worker->own.count;
    return status;
}

/* --nan can give what is no number, and has no rule for alpha. */
static gconv_status check_nan(const gc_work *work, int depth)
{
    gconv_nan nan = work->options->reader.nan;
    if (nan == GCONV_NAN_REFUSE || work->result->input.depth != 32)
        return GCONV_OK;
    if (nan == GCONV_NAN_SPREAD && gconv_reader_channels(work->reader) % 2 == 0)
        return gc_fail(work->error, GCONV_ERROR_FORMAT, "--nan spread takes no alpha");
    if (depth == 32)
        return GCONV_OK;
    return gc_fail(work->error, GCONV_ERROR_ARGUMENT,
                   "--nan %s needs an output of floats: --depth 32, and TIFF, PFM or NPY",
                   gc_option_value(work->options, "nan"));
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
    if (job->detector != NULL)
        job->detector = &work->detector;
    GC_TRY(gc_output_depth(work, &job->output_depth));
    GC_TRY(check_nan(work, job->output_depth));
    gc_kept_job(work->options, job);
    return take_own_chain(work, job);
}

/* Whether the plan of the latest image fits a job. Jobs of one command differ in nothing else. */
static bool fits(const gc_worker *worker, const gconv_job *job)
{
    return worker->plan != NULL && gc_is_same_shape(&job->input, &worker->job.input) &&
           job->alpha == worker->job.alpha && job->output_depth == worker->job.output_depth &&
           job->source_format == worker->job.source_format &&
           (job->detector == NULL || (job->detector->low == worker->detector.low &&
                                      job->detector->high == worker->detector.high)) &&
           !gconv_plan_is_outdated(worker->plan);
}

/* Says at once what takes long. The explanation follows when the image is done. */
static void tell_seconds(const gc_work *work)
{
    const double many = 2;
    const gconv_plan *plan = work->worker->plan;
    double seconds = gconv_plan_expected_seconds(plan);
    if (work->options->report.explain && !work->options->report.json && seconds > many)
        gc_answer(gc_input_name(work->task->input), "about %.0f s by '%s', %s", seconds,
                  gconv_plan_implementation(plan), gconv_promise_name(gconv_plan_promise(plan)));
}

static gconv_status make_plan(gc_work *work)
{
    gc_worker *worker = work->worker;
    gc_result *result = work->result;
    gconv_job job;
    gconv_status status = gc_plan_job(work, &job);
    if (status == GCONV_OK && !fits(worker, &job)) {
        gconv_plan *old = worker->plan;
        worker->detector = work->detector;
        worker->job = job;
        worker->job.detector = job.detector != NULL ? &worker->detector : NULL;
        status = gconv_plan_create(&job, &worker->plan, work->error);
        gconv_plan_free(old); /* after that: what plans share stays */
    }
    GC_TRY(status);
    gconv_plan_on_wait(worker->plan, worker->waits, worker->waits_user);
    tell_seconds(work);
    result->output = *gconv_plan_output_shape(worker->plan);
    if (work->options->rows.count > 0)
        result->output.height = work->options->rows.count;
    result->found.sigma =
        gc_has_own_chain(work->options) ? gc_sigma_of(work->options, &result->input) : 0;
    result->implementation = gconv_plan_implementation(worker->plan);
    result->exact = gconv_plan_is_exact(worker->plan);
    result->promise = gconv_plan_promise(worker->plan);
    return GCONV_OK;
}

/* ---- Computing ------------------------------------------------------------------------------- */

bool gc_part_show(void *user, double done)
{
    const gc_part *part = user;
    const gc_work *work = part->work;
    size_t count = work->image > 1 ? 0 : work->worker->image_count; /* a stream's is not known */
    gc_progress_show_images(gc_input_name(work->task->input),
                            part->from + (part->to - part->from) * done, count);
    return true;
}

/* Whether --rows fits the image, and --join the format of the output. */
static gconv_status judge_rows(gc_work *work)
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

/* Computes the image, or the rows of --rows. The times of parts are taken if an option prints them:
 * that slows a GPU down. */
static gconv_status run_plan(gc_work *work)
{
    const gc_options *options = work->options;
    const gc_rows *rows = &options->rows;
    gconv_plan *plan = work->worker->plan;
    gconv_timings *timings =
        options->report.timings || options->report.json ? &work->result->timings : NULL;
    gc_part whole = {work, 0, 1};
    gc_memory_source memory;
    gconv_source samples = gc_picture_source(&work->picture, &memory);
    const gconv_source *source =
        work->picture.samples != NULL ? &samples : gconv_reader_source(work->reader);
    const gconv_sink *sink = gc_output_sink(work);
    gconv_plan_watch(plan, gc_part_show, &whole);
    gconv_status status = rows->count == 0
                              ? gconv_plan_run(plan, source, sink, timings, work->error)
                              : gconv_plan_run_rows(plan, rows->first, rows->count, source, sink,
                                                    timings, work->error);
    gconv_plan_watch(plan, NULL, NULL);
    return status;
}

static void note_decoder(gc_work *work)
{
    gc_result *result = work->result;
    const char *wanted = gc_gpu_decoder(work->options);
    result->decoder = gconv_reader_decoder(work->reader);
    result->decode_fallback = gconv_reader_fallback(work->reader);
    if (wanted == NULL || result->decode_fallback[0] != '\0' ||
        strcmp(result->decoder, wanted) == 0)
        return;
    result->decode_fallback = gconv_reader_format(work->reader) == GCONV_FORMAT_JPEG
                                  ? "its rows are needed on the CPU"
                                  : "not a JPEG";
}

/* The things that options affect (effects.h), of an image that is computed. */
static unsigned find_met(const gc_work *work)
{
    const gc_result *result = work->result;
    gconv_format format = gconv_reader_format(work->reader);
    bool is_decoder_followed =
        gc_is_cuda(result->implementation) || work->options->reader.decoder == GCONV_DECODER_CPU;
    unsigned met = gc_met_format(result->format) | gc_met_implementation(result->implementation);
    met |= format == GCONV_FORMAT_JPEG && is_decoder_followed ? GC_MET_DECODER : 0;
    met |= result->input.depth == 32 ? GC_MET_FLOATS : 0;
    met |= gconv_format_describe(format)->several ? GC_MET_PAGES : 0;
    met |= format == GCONV_FORMAT_Y4M ? GC_MET_VIDEO : 0;
    met |= gconv_reader_missing(work->reader) ? GC_MET_MISSING : 0;
    met |= result->input.channels % 2 == 0 ? GC_MET_ALPHA : 0;
    return met | (gconv_reader_composited(work->reader) ? GC_MET_BACKGROUND : 0);
}

static gconv_status compute(gc_work *work)
{
    gconv_status status = work->options->report.verify ? gc_run_verified(work) : run_plan(work);
    note_decoder(work);
    if (status != GCONV_ERROR_WRITE)
        work->result->subject = gc_input_name(work->task->input);
    work->result->implementation = gconv_plan_implementation(work->worker->plan);
    if (status == GCONV_OK && work->picture.samples == NULL)
        status = gconv_reader_finish(work->reader, work->error);
    GC_THEN(status, gc_kept_finish(work));
    if (status == GCONV_OK)
        work->result->met |= find_met(work); /* with that of the images before */
    return status;
}

static gconv_status process_image(gc_work *work)
{
    work->result->subject = gc_input_name(work->task->input);
    work->result->input = *gconv_reader_shape(work->reader);
    work->result->channels = gconv_reader_channels(work->reader);
    work->result->format = gc_output_format(work);
    GC_TRY(judge_rows(work));
    GC_TRY(gc_look_ahead(work));
    GC_TRY(gc_first_check_make(work->worker->first, work->error));
    GC_TRY(make_plan(work));
    GC_TRY(gc_kept_begin(work));
    GC_TRY(gc_open_output(work));
    return compute(work);
}

static gconv_status process(gc_work *work)
{
    GC_TRY(gc_decide_to_skip(work->worker->session, work->task, work->result));
    if (work->worker->session->journal != NULL && !work->task->repeated)
        gc_journaled_begin(work);
    work->result->skipped = "exists; skipped"; /* should it appear meanwhile */
    bool more = true;
    GC_TRY(gc_open_input(work));
    while (more) {
        GC_TRY(process_image(work));
        GC_TRY(gc_next_image(work, &more));
    }
    return gc_finish_output(work);
}

void gc_worker_end(gc_worker *worker)
{
    gconv_plan_free(worker->plan);
    gc_filter_chain_free(&worker->own);
}

void gc_process(gc_worker *worker, const gc_task *task, gc_result *result)
{
    *result = (gc_result){.outcome = GC_OUTCOME_DONE, .timings = gconv_timings_default()};
    gc_work work = {.worker = worker,
                    .options = worker->session->options,
                    .task = task,
                    .result = result,
                    .error = &result->error,
                    .detector = worker->session->options->detector,
                    .image = 1,
                    .start = gc_seconds()};
    gconv_error barred;
    gconv_status status = process(&work);
    gconv_writer_free(work.writer);
    gconv_reader_free(work.reader);
    gc_picture_destroy(&work.picture);
    gc_marks_destroy(&work.marks);
    gc_conclude(&work, status);
    if (work.mismatched && result->outcome == GC_OUTCOME_DONE)
        result->outcome = GC_OUTCOME_MISMATCH;
    if (worker->session->journal != NULL && work.record.input != NULL)
        gc_journaled_end(&work);
    if (gc_first_check_make(worker->first, &barred) != GCONV_OK)
        result->outcome = GC_OUTCOME_BARRED;
    else if (worker->directories != NULL && !gc_task_is_doomed(task)) /* also of a skipped image */
        gc_clean_parent(worker->directories, task->output, worker->notes);
}

/* ---- The result ------------------------------------------------------------------------------ */

/* The lines of --explain: those of the plan, and what decoded the image. NULL if memory is out. */
static char *describe_choice(const gc_result *result, gconv_plan *plan)
{
    gc_buffer text = {.bytes = NULL};
    bool falls_back = result->decode_fallback[0] != '\0';
    gc_buffer_print(&text, "%spromise: %s\ndecoder: %s%s%s%s\n", gconv_plan_explanation(plan),
                    gconv_promise_name(gconv_plan_promise(plan)), result->decoder,
                    falls_back ? " (" : "", result->decode_fallback, falls_back ? ")" : "");
    return gc_buffer_take(&text, NULL);
}

/* Which device took over, and why. NULL if none did, and if memory is out. */
static char *describe_fallback(const gconv_plan *plan)
{
    const gconv_device_info *device = gconv_plan_device(plan);
    gc_buffer text = {.bytes = NULL};
    if (gconv_plan_fallback(plan)[0] == '\0')
        return NULL;
    if (device->kind == GCONV_DEVICE_CUDA)
        gc_buffer_print(&text, "cuda:%d", device->index);
    else
        gc_buffer_put(&text, "the CPU");
    gc_buffer_print(&text, " took over: %s", gconv_plan_fallback(plan));
    return gc_buffer_take(&text, NULL);
}

void gc_conclude(gc_work *work, gconv_status status)
{
    gc_result *result = work->result;
    gconv_error error = *work->error;
    result->timings.total = gc_seconds() - work->start;
    if (work->image > 1)
        result->image = work->image;
    if (status == GCONV_ERROR_EXISTS)
        result->outcome = GC_OUTCOME_SKIPPED;
    else if (status != GCONV_OK)
        result->outcome = GC_OUTCOME_FAILED;
    else if (result->verified && !(result->difference.within && result->output_difference.within))
        result->outcome = GC_OUTCOME_MISMATCH;
    if (status != GCONV_OK && work->image > 1)
        snprintf(work->error->message, sizeof work->error->message, "image %zu: %.480s",
                 work->image, error.message);
    /* The plan serves the next image before this one is reported. */
    if (status == GCONV_OK && (work->options->report.verbose || work->options->report.explain)) {
        result->explanation = describe_choice(result, work->worker->plan);
        result->fallback = describe_fallback(work->worker->plan);
    }
}

void gc_plan_only(const gc_session *session, const gc_task *task, gc_result *result)
{
    *result = (gc_result){.outcome = GC_OUTCOME_PLANNED, .subject = gc_input_name(task->input)};
    gconv_status status = gc_check_task(task, &result->error);
    GC_THEN(status, gc_decide_to_skip(session, task, result));
    if (status == GCONV_OK && access(task->input, R_OK) != 0)
        status = gc_fail_errno(&result->error, GCONV_ERROR_OPEN, errno, "cannot open");
    if (status == GCONV_OK && gc_is_foreign(task->input)) {
        gconv_reader *reader;
        status = gconv_reader_open(task->input, NULL, &reader, &result->error);
        gconv_reader_free(reader);
    }
    if (status == GCONV_ERROR_EXISTS)
        result->outcome = GC_OUTCOME_SKIPPED;
    else if (status != GCONV_OK)
        result->outcome = GC_OUTCOME_FAILED;
}

void gc_result_destroy(gc_result *result)
{
    for (size_t i = 0; i < result->before_count; i++)
        gc_result_destroy(&result->before[i]);
    free(result->before);
    free(result->explanation);
    free(result->fallback);
    free(result->notes);
    free(result->json);
    gc_warning_list_destroy(&result->warnings);
    result->before = NULL;
    result->before_count = 0;
    result->explanation = result->fallback = result->notes = result->json = NULL;
}
