/* gconv edges, gconv filter: one image or a batch, from file to file. */
#include "cli/commands/commands.h"

#include "base/status.h"
#include "cli/commands/image_report.h"
#include "cli/commands/queues.h"
#include "cli/commands/summary.h"
#include "cli/image/batch.h"
#include "cli/image/result.h"
#include "cli/image/session.h"
#include "cli/journal/journal.h"
#include "cli/options/effects.h"
#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "cli/options/values.h"
#include "cli/report/exit.h"
#include "cli/report/messages.h"
#include "cli/report/signals.h"
#include "cli/report/tally.h"
#include "cli/tasks/collect.h"
#include "cli/tasks/collisions.h"
#include "cli/tasks/directories.h"
#include "cli/tasks/identity.h"
#include "cli/tasks/names.h"
#include "cli/tasks/stream.h"
#include "cli/tasks/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const char *option)
{
    return option != NULL && strcmp(option, "auto") != 0;
}

/* The exit code of one image alone. A depth that its format cannot hold is a mistake in the command
 * line. A device that breaks down is a failure of the image, unless the command line names a device
 * or an implementation. */
static int single_code(const gc_options *options, const gc_result *result)
{
    bool named = is_named(options->implementations) || is_named(options->job.device) ||
                 gc_gpu_decoder(options) != NULL;
    if (result->outcome == GC_OUTCOME_MISMATCH)
        return GC_EXIT_MISMATCH;
    if (result->outcome != GC_OUTCOME_FAILED)
        return GC_EXIT_DONE;
    if (result->error.status == GCONV_ERROR_DEVICE && !named)
        return GC_EXIT_FAILED;
    return result->error.status == GCONV_ERROR_ARGUMENT ? GC_EXIT_USAGE
                                                        : gc_exit_code(result->error.status);
}

/* What has been reported so far. */
typedef struct summary {
    const gc_options *options;
    bool batch;
    size_t reported, failed, skipped, mismatched;
    size_t written;
    bool list_failed;          /* the list of --files-from cannot be read to its end */
    size_t names_with_returns; /* of files that failed: they end in a carriage return */
    unsigned met;              /* by all images that were written, as gc_note_effects takes it */
    int code;                  /* of one input alone */
    gc_collisions collisions;  /* with names of a list */
    size_t composited;         /* transparent pixels were put on the background */
    int losses;                /* devices of which was said that they are lost */
    gc_summary images;
} summary;

/* Says which devices have failed and are not used any more, once for each. The message about one
 * image that has failed alone says it already. */
static void say_losses(summary *s, const gc_result *result)
{
    const char *message;
    if (!s->batch && result->outcome == GC_OUTCOME_FAILED)
        return;
    while ((message = gconv_device_loss(s->losses)) != NULL) {
        gc_say("%s", message);
        s->losses++;
    }
}

static bool ends_in_return(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && name[length - 1] == '\r';
}

static void take_result(void *user, const gc_task *task, const gc_result *result)
{
    summary *s = user;
    say_losses(s, result);
    if (task->is_list) {
        s->list_failed = true;
        gc_report(task->input, &result->error);
        return;
    }
    s->reported++;
    gc_report_image(s->options, task, result);
    gc_summary_take(&s->images, task, result);
    if (task->collides && result->outcome == GC_OUTCOME_FAILED)
        gc_collisions_add(&s->collisions, task->refused);
    s->failed += result->outcome == GC_OUTCOME_FAILED;
    s->names_with_returns += result->outcome == GC_OUTCOME_FAILED && ends_in_return(task->input);
    s->skipped += result->outcome == GC_OUTCOME_SKIPPED;
    s->mismatched += result->outcome == GC_OUTCOME_MISMATCH;
    int code = single_code(s->options, result);
    if (code != GC_EXIT_DONE) /* a mismatch among the images of a stream stays one */
        s->code = code;
    if (result->outcome != GC_OUTCOME_DONE && result->outcome != GC_OUTCOME_MISMATCH)
        return;
    s->written++;
    s->met |= gc_met_format(result->format) | gc_met_implementation(result->implementation);
    if (result->input_format == GCONV_FORMAT_JPEG &&
        (gc_is_cuda(result->implementation) || s->options->reader.decoder == GCONV_DECODER_CPU))
        s->met |= GC_MET_DECODER;
    s->met |= result->input_format == GCONV_FORMAT_PFM ? GC_MET_PFM : 0;
    s->met |= result->input.channels % 2 == 0 ? GC_MET_ALPHA : 0;
    s->met |= result->composited ? GC_MET_BACKGROUND : 0;
    s->composited += result->composited;
}

/* Nothing is said where nothing was written. */
static void note_effects(const gc_options *options, const summary *s)
{
    unsigned met = s->met | (options->command == GC_COMMAND_EDGES ? GC_MET_EDGES : 0);
    met |= s->written > 1 ? GC_MET_THREADS : 0;
    met |= options->batch.files_from != NULL ? GC_MET_DIRECTORY : 0; /* the list may name some */
    for (int i = 0; i < options->operand_count; i++)
        met |= gc_is_directory(options->operands[i]) ? GC_MET_DIRECTORY : 0;
    if (s->written > 0 && options->report.verbose)
        gc_note_effects(options, met);
}

/* What the gate checks, and the exit code and the name for the message of a failure. */
typedef struct entrance {
    const gc_session *session;
    gc_directories *directories;
    const char *blamed;
    int code;
} entrance;

/* A gc_gate_function: the devices can be used, and the directory of -o is there. */
static gconv_status enter(void *user, gconv_error *error)
{
    entrance *e = user;
    const char *directory = e->session->options->batch.directory;
    gconv_status status = gc_session_check_all(e->session, error);
    if (status != GCONV_OK) {
        e->code = gc_start_code(status);
    } else if (directory != NULL && !e->session->options->batch.dry_run) {
        status = gc_make_directory(e->directories, directory, error);
        e->blamed = status != GCONV_OK ? directory : NULL;
    }
    return status;
}

/* Counts the images of a batch in a line where some were not computed. */
static void say_counts(const summary *s, const gc_task_list *list)
{
    size_t count = list->stream != NULL ? s->reported : list->count;
    size_t done = s->reported - s->failed - s->skipped;
    char rest[64] = "";
    if (count > s->reported)
        snprintf(rest, sizeof rest, ", %zu not begun", count - s->reported);
    else if (s->list_failed)
        snprintf(rest, sizeof rest, "; what else the list names is not known");
    else if (list->stream != NULL && gc_stop_is_requested())
        snprintf(rest, sizeof rest, "; what else the list names was not begun");
    if (s->failed + s->skipped > 0 || rest[0] != '\0' || gc_stop_is_requested())
        gc_say("%zu of %zu images %s, %zu failed, %zu skipped%s", done, count,
               s->options->batch.dry_run ? "to do" : "done", s->failed, s->skipped, rest);
}

/* Counts what was passed over in directories. */
static void say_foreign(const gc_task_list *list)
{
    size_t count = list->stream != NULL ? gc_task_stream_foreign(list->stream) : list->foreign;
    if (count > 0)
        gc_say("%zu image file%s of other formats ignored", count, count == 1 ? "" : "s");
}

/* Why names of a list may not be found. */
static void give_hint(const summary *s)
{
    if (s->options->batch.files_from != NULL && !s->options->batch.files_end_in_nul &&
        s->names_with_returns > 0)
        gc_say("%s: its lines end in a carriage return and a newline; tr -d '\\r' makes names of "
               "them",
               gc_input_name(s->options->batch.files_from));
}

/* Says that pixels were put on a background that the command line does not name. -v says it of each
 * image. */
static void say_background(const summary *s)
{
    char images[64] = "";
    if (s->composited == 0 || s->options->report.verbose ||
        gc_option_given(s->options, "background"))
        return;
    if (s->batch)
        snprintf(images, sizeof images, "in %zu image%s ", s->composited,
                 s->composited == 1 ? "" : "s");
    gc_say("%stransparent pixels were put on white; --background COLOUR takes another colour",
           images);
}

/* The exit code of images that were reported. */
static int finish(const summary *s, const gc_task_list *list)
{
    gconv_error error;
    note_effects(s->options, s);
    if (gc_collisions_tell(&s->collisions, &error) != GCONV_OK)
        gc_report(NULL, &error);
    say_background(s);
    if (!list->batch)
        return s->code;
    gc_summary_say(&s->images);
    say_foreign(list);
    give_hint(s);
    say_counts(s, list);
    if (s->failed > 0 || s->list_failed)
        return GC_EXIT_FAILED;
    return s->mismatched > 0 ? GC_EXIT_MISMATCH : GC_EXIT_DONE;
}

/* How to go on with a batch that a signal stopped. NULL where a repetition would repeat work that
 * is done, or would take old files for results. */
static const char *how_to_go_on(const gc_options *options)
{
    if (options->batch.dry_run)
        return NULL;
    if (options->journal.file != NULL || options->writer.no_clobber || options->batch.update)
        return "the same command does the others";
    if (options->batch.in_place || !gc_is_empty_directory(options->batch.directory))
        return NULL;
    return "the same command with --no-clobber does the others";
}

/* A GPU that is named starts while the first images are read. Other devices are checked first. */
static int run_tasks(const gc_session *session, const gc_task_list *list,
                     gc_directories *directories, const gc_borrowers *borrowers)
{
    summary s = {.options = session->options,
                 .batch = list->batch,
                 .code = GC_EXIT_DONE,
                 .images = gc_summary_begin()};
    entrance e = {.session = session, .directories = directories, .code = GC_EXIT_FAILED};
    gconv_error error;
    gc_gate gate;
    gc_gate_create(&gate, enter, &e);
    gc_tally_advise(list->batch ? how_to_go_on(session->options) : NULL);
    gconv_status status = GCONV_OK;
    if (!gc_names_gpu(session->options))
        status = gc_gate_pass(&gate, &error);
    if (list->batch)
        gc_signals_stop_softly();
    if (status == GCONV_OK) {
        gc_tally_begin("images done", true, list->count);
        if (list->stream != NULL)
            gc_tally_several("done", true);
        status =
            gc_batch_run(session, list, &gate, directories, borrowers, take_result, &s, &error);
    }
    gc_gate_destroy(&gate);
    int code = e.code;
    if (status == GCONV_OK)
        code = finish(&s, list);
    else
        gc_report(e.blamed, &error);
    gc_summary_destroy(&s.images);
    return code;
}

/* Begins to start what is named. One image needs one device. */
static void start_gpus(const gc_options *options)
{
    char first[32];
    gconv_device_choice choice = gconv_device_choice_default();
    if (gconv_device_parse(options->job.device, &choice, NULL) != GCONV_OK)
        return;
    snprintf(first, sizeof first, "cuda:%d", choice.any ? 0 : choice.index);
    gconv_device_start(gc_is_batch(options) ? options->job.device : first);
}

/* Opens the journal of a batch. A dry run changes none, and needs none. */
static gconv_status open_journal(const gc_options *options, gc_session *session,
                                 gc_directories *directories, const char **blamed,
                                 gconv_error *error)
{
    if (options->journal.file == NULL)
        return GCONV_OK;
    *blamed = options->journal.file;
    gconv_status status = gc_digest_check(options->journal.digest, error);
    if (status != GCONV_OK)
        return status;
    if (options->batch.dry_run && access(options->journal.file, F_OK) != 0 && errno == ENOENT)
        return GCONV_OK;
    /* The output directory is made later, by the gate. */
    if (!options->batch.dry_run && options->batch.directory != NULL &&
        gc_lies_below(options->journal.file, options->batch.directory))
        status = gc_make_parents(directories, options->journal.file, error);
    if (status == GCONV_OK)
        status = gc_journal_open(
            options->journal.file, options->batch.dry_run ? GC_JOURNAL_READ : GC_JOURNAL_WRITE,
            options->journal.digest, options->writer.sync, &session->journal, error);
    if (status == GCONV_OK && !options->batch.dry_run)
        status = gc_journal_note_recipe(session->journal, session->recipe.name,
                                        session->recipe.line, session->recipe.size, error);
    if (status == GCONV_OK && options->batch.in_place)
        status = gc_results_read(session->journal, gc_recipe_was, &session->recipe,
                                 &session->results, error);
    return status;
}

gconv_status gc_check_images(const gc_options *options, gconv_error *error)
{
    if (options->command == GC_COMMAND_FILTER && options->kernel_count == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "which filter? give --kernel (gconv info lists the built-in ones)");
    return GCONV_OK;
}

/* Checks the command line and fills tasks and session. */
static gconv_status prepare(const gc_options *options, gc_task_list *list, gc_session *session,
                            const char **blamed, gconv_error *error)
{
    gconv_status status = gc_check_images(options, error);
    if (status != GCONV_OK)
        return status;
    if (gc_names_gpu(options))
        start_gpus(options);
    status = gc_task_list_create(options, list, blamed, error);
    return status == GCONV_OK ? gc_session_create(options, session, blamed, error) : status;
}

int gc_run_images(const gc_options *options)
{
    gc_widen_queues(options);
    return gc_run_images_with(options, NULL);
}

int gc_run_images_with(const gc_options *options, const gc_borrowers *borrowers)
{
    gc_session session = {.options = options};
    gc_task_list list = {.tasks = NULL};
    gc_directories directories = GC_DIRECTORIES_NONE;
    gconv_error error;
    const char *blamed = NULL;
    gconv_status status = prepare(options, &list, &session, &blamed, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = open_journal(options, &session, &directories, &blamed, &error);
        code = status == GCONV_ERROR_UNSUPPORTED ? GC_EXIT_USAGE : gc_exit_code(status);
    }
    if (status == GCONV_OK)
        code = run_tasks(&session, &list, &directories, options->batch.dry_run ? NULL : borrowers);
    else
        gc_report(blamed, &error);
    if (borrowers != NULL)
        borrowers->end(borrowers->user);
    gc_journal_close(session.journal);
    gc_results_free(&session.results);
    gc_remove_empty_directories(&directories);
    gc_session_destroy(&session);
    gc_task_list_destroy(&list);
    gconv_device_await();
    return code;
}
