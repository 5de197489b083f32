/* Which images need no work, what the journal says of them, and what it is told. */
#include "cli/image/work.h"

#include "base/status.h"
#include "cli/journal/journal.h"
#include "cli/tasks/names.h"
#include "cli/terminal/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool gc_is_in_place(const gc_options *options, const gc_task *task)
{
    return options->batch.in_place &&
           (strcmp(task->input, task->output) == 0 || gc_replaces_input(task->input, task->output));
}

/* ---- Judging --------------------------------------------------------------------------------- */

typedef enum verdict {
    JOURNAL_UNKNOWN, /* there is no journal, or it does not have the image */
    JOURNAL_AGAIN,   /* input, recipe or output are not as recorded */
    JOURNAL_DONE,
    JOURNAL_FAILED,    /* failed before; `error` says how */
    JOURNAL_UNREADABLE /* the journal cannot be read; `error` says why */
} verdict;

static gc_file_state look_at(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? gc_file_state_of(&about)
                                                             : (gc_file_state){.size = -1};
}

/* Whether a file is as it was recorded. The size has to be equal, and then either the time, which
 * counts only if `tells`, or the hash of the content. */
static bool is_as_recorded(const char *path, const gc_file_state *recorded, bool tells)
{
    gc_file_state now = look_at(path);
    if (recorded->digest[0] == '\0' || now.size != recorded->size)
        return false;
    return (tells && gc_file_state_is_same(&now, recorded)) || gc_file_has_digest(path, recorded);
}

static verdict judge_record(const gc_session *session, const gc_task *task, const gc_record *record,
                            gconv_error *error)
{
    bool in_place = gc_is_in_place(session->options, task);
    if (strcmp(record->recipe, session->recipe.name) != 0 &&
        !(in_place && record->in_place && gc_recipe_was(&session->recipe, record->recipe)))
        return JOURNAL_AGAIN;
    if (record->status == GC_RECORD_FAILED) {
        gc_file_state now = look_at(task->input);
        if (session->options->journal.retry_failed || !record->final ||
            !gc_file_state_is_same(&now, &record->in))
            return JOURNAL_AGAIN;
        gc_fail(error, GCONV_ERROR_READ, "failed before: %.300s; --retry-failed tries again",
                record->error != NULL ? record->error : "");
        return JOURNAL_FAILED;
    }
    /* An output that replaced its input may have the input's size and, under --preserve, its time.
     * Then only the content tells them apart. */
    bool done = (in_place || is_as_recorded(task->input, &record->in, true)) &&
                is_as_recorded(task->output, &record->out,
                               !in_place || !gc_file_state_is_same(&record->in, &record->out));
    return done ? JOURNAL_DONE : JOURNAL_AGAIN;
}

/* Judges an image by its last record, the times and sizes of its files and, if these differ, by
 * hashes. */
static verdict judge(const gc_session *session, const gc_task *task, gconv_error *error)
{
    gc_record record;
    bool found = false;
    if (session->journal == NULL || gc_task_is_doomed(task))
        return JOURNAL_UNKNOWN;
    gconv_status status =
        gc_journal_find(session->journal, task->input, task->output, &record, &found, error);
    if (status != GCONV_OK)
        return JOURNAL_UNREADABLE;
    verdict found_out = JOURNAL_UNKNOWN;
    if (found) {
        found_out = judge_record(session, task, &record, error);
        gc_record_destroy(&record);
    }
    bool open = found_out == JOURNAL_UNKNOWN || found_out == JOURNAL_AGAIN;
    /* The journal may have the file under another name. */
    if (open && gc_is_in_place(session->options, task) &&
        gc_journal_has_result(session->journal, task->input))
        return JOURNAL_DONE;
    return found_out;
}

/* ---- Skipping -------------------------------------------------------------------------------- */

static bool is_newer(const struct stat *a, const struct stat *b)
{
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Why the options protect an existing output. NULL: they do not. */
static const char *reason_to_skip(const gc_options *options, const gc_task *task, bool update)
{
    struct stat input, output;
    bool protects = options->writer.no_clobber || update;
    if (!protects || gc_task_is_doomed(task) || strcmp(task->output, "-") == 0 ||
        lstat(task->output, &output) != 0)
        return NULL;
    if (options->writer.no_clobber)
        return "exists; skipped";
    bool known = stat(task->input, &input) == 0 && stat(task->output, &output) == 0 &&
                 S_ISREG(output.st_mode); /* a directory has the time of its last entry */
    return known && !is_newer(&input, &output) ? "up to date; skipped" : NULL;
}

gconv_status gc_decide_to_skip(const gc_session *session, const gc_task *task, gc_result *result)
{
    verdict known = judge(session, task, &result->error);
    /* The journal knows more than the times of the files. */
    bool update = session->options->batch.update && known == JOURNAL_UNKNOWN;
    if (known == JOURNAL_DONE)
        result->skipped = "done before; skipped";
    else
        result->skipped = reason_to_skip(session->options, task, update);
    if (result->skipped != NULL)
        return GCONV_ERROR_EXISTS;
    result->subject = gc_input_name(task->input);
    result->recorded = known == JOURNAL_FAILED;
    bool fails = known == JOURNAL_FAILED || known == JOURNAL_UNREADABLE;
    return fails ? result->error.status : GCONV_OK;
}

/* ---- Recording ------------------------------------------------------------------------------- */

void gc_journaled_begin(gc_work *work)
{
    const gc_session *session = work->worker->session;
    work->record = (gc_record){.input = work->task->input,
                               .output = work->task->output,
                               .in = {.size = -1},
                               .out = {.size = -1}};
    memcpy(work->record.recipe, session->recipe.name, sizeof work->record.recipe);
    work->input_digest = gc_digest_create(work->options->journal.digest);
    work->output_digest = gc_digest_create(work->options->journal.digest);
}

void gc_journaled_opened(gc_work *work, int descriptor, const struct stat *about)
{
    work->input = descriptor;
    if (about != NULL)
        work->record.in = gc_file_state_of(about);
}

void gc_journaled_read(void *user, uint64_t offset, const void *bytes, size_t size)
{
    const gc_work *work = user;
    if (work->input_digest != NULL)
        gc_digest_show(work->input_digest, offset, bytes, size);
}

void gc_journaled_written(void *user, uint64_t offset, const void *bytes, size_t size)
{
    const gc_work *work = user;
    if (work->output_digest != NULL)
        gc_digest_show(work->output_digest, offset, bytes, size);
}

/* Ends a hash, or reads the file for it. */
static gconv_status finish_digest(const gc_work *work, gc_digest *digest, int descriptor,
                                  gc_file_state *state, gconv_error *error)
{
    return digest != NULL ? gc_digest_end(digest, descriptor, state->size, state->digest, error)
                          : gc_digest_file(work->options->journal.digest, descriptor, state->size,
                                           state->digest, error);
}

/* Hashes the input, unless it changed since it was opened. */
static gconv_status note_input(gc_work *work, gconv_error *error)
{
    gc_record *record = &work->record;
    struct stat about;
    if (record->in.size < 0)
        return GCONV_OK; /* no regular file: it cannot be read again */
    gconv_status status = finish_digest(work, work->input_digest, work->input, &record->in, error);
    bool known = fstat(work->input, &about) == 0;
    gc_file_state now = gc_file_state_of(&about);
    if (!known || !gc_file_state_is_same(&now, &record->in))
        record->in.digest[0] = '\0';
    return status;
}

gconv_status gc_journaled_complete(gc_work *work, int descriptor, gconv_error *error)
{
    gc_record *record = &work->record;
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot look at it");
    record->out = gc_file_state_of(&about);
    GC_TRY(finish_digest(work, work->output_digest, descriptor, &record->out, error));
    GC_TRY(note_input(work, error));
    if (!gc_is_in_place(work->options, work->task))
        return GCONV_OK;
    record->status = GC_RECORD_INTENT;
    record->in_place = true;
    return gc_journal_append(work->worker->session->journal, record, error);
}

static void fill(gc_record *record, const gc_result *result)
{
    record->seconds = result->timings.total;
    record->exact = result->exact;
    record->promise = result->promise;
    record->error = NULL;
    if (result->outcome == GC_OUTCOME_FAILED) {
        record->status = GC_RECORD_FAILED;
        record->error = (char *)result->error.message; /* the record does not own it */
        /* If the input is at fault, the same recipe would fail again. A file that could not be
         * opened, a full disk or a failed GPU may work the next time. The recipe names no
         * implementation, so a refusal by one is not final. */
        record->final = result->error.status == GCONV_ERROR_FORMAT ||
                        result->error.status == GCONV_ERROR_LIMIT ||
                        result->error.status == GCONV_ERROR_ARGUMENT;
        /* A rename that failed may have replaced the input all the same, as on NFS. */
        if (!record->in_place)
            record->out = (gc_file_state){.size = -1};
        return;
    }
    record->status = result->outcome == GC_OUTCOME_MISMATCH ? GC_RECORD_MISMATCH : GC_RECORD_DONE;
    snprintf(record->implementation, sizeof record->implementation, "%s", result->implementation);
}

void gc_journaled_end(gc_work *work)
{
    free(work->input_digest);
    free(work->output_digest);
    work->input_digest = work->output_digest = NULL;
    gc_journal *journal = work->worker->session->journal;
    gc_result *result = work->result;
    bool ends = result->outcome == GC_OUTCOME_DONE || result->outcome == GC_OUTCOME_MISMATCH ||
                result->outcome == GC_OUTCOME_FAILED;
    /* What fails after a signal fails because the program ends. */
    if (!ends || (result->outcome == GC_OUTCOME_FAILED && gc_counts_are_stopped()))
        return;
    fill(&work->record, result);
    gconv_error error;
    if (gc_journal_append(journal, &work->record, &error) == GCONV_OK)
        return;
    result->outcome = GC_OUTCOME_FAILED;
    result->error = error;
    result->subject = work->options->journal.file;
}
