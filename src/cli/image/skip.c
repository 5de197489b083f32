#include "cli/image/skip.h"

#include "cli/image/journaled.h"
#include "cli/tasks/names.h"

#include <string.h>
#include <sys/stat.h>

/* Whether the file `a` was changed after the file `b`. */
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
    gc_journal_verdict verdict = gc_journaled_judge(session, task, &result->error);
    /* The journal knows more than the times of the files. */
    bool update = session->options->batch.update && verdict == GC_JOURNAL_UNKNOWN;
    if (verdict == GC_JOURNAL_DONE)
        result->skipped = "done before; skipped";
    else
        result->skipped = reason_to_skip(session->options, task, update);
    if (result->skipped != NULL)
        return GCONV_ERROR_EXISTS;
    result->blamed = gc_input_name(task->input);
    result->recorded = verdict == GC_JOURNAL_FAILED;
    bool fails = verdict == GC_JOURNAL_FAILED || verdict == GC_JOURNAL_UNREADABLE;
    return fails ? result->error.status : GCONV_OK;
}
