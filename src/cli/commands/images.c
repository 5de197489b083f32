/* gconv edges, gconv filter: one image or a batch, from file to file. */
#include "cli/commands/commands.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/commands/summary.h"
#include "cli/image/batch.h"
#include "cli/journal/journal.h"
#include "cli/options/values.h"
#include "cli/tasks/directories.h"
#include "cli/tasks/names.h"
#include "cli/tasks/tasks.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/standard_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Queues of CUDA -------------------------------------------------------------------------- */

/* The GPU runs the work of one queue in order. On an H100 51200 JPEGs of 1024x1024 take 0.81 of the
 * time with 16 queues in place of 8. But each queue takes 0.01 to 0.02 s to start: 1280 of
 * 4096x3072 take 0.13 s more. */
static const char usual[] = "8", most[] = "16";

enum { MANY_IMAGES = 8192, SMALL_BYTES = 1 << 20 };

/* What is seen of the inputs at a first look. */
typedef struct glance {
    int count;
    bool is_small; /* the first one */
} glance;

/* Adds an input; `directory` is that which `name` is relative to. */
static void add(glance *seen, int directory, const char *name)
{
    struct stat about;
    if (seen->count++ == 0)
        seen->is_small = fstatat(directory, name, &about, 0) == 0 && S_ISREG(about.st_mode) &&
                         about.st_size <= SMALL_BYTES;
}

/* Adds the files of a directory, without its subdirectories. */
static void add_directory(glance *seen, DIR *directory)
{
    const struct dirent *entry;
    while (seen->count < MANY_IMAGES && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            add(seen, dirfd(directory), entry->d_name);
}

static bool has_many_small_images(const gc_options *options)
{
    glance seen = {.count = 0};
    for (int i = 0; i < options->operand_count && seen.count < MANY_IMAGES; i++) {
        DIR *directory = opendir(options->operands[i]);
        if (directory == NULL) {
            add(&seen, AT_FDCWD, options->operands[i]);
            continue;
        }
        add_directory(&seen, directory);
        closedir(directory);
    }
    return seen.count >= MANY_IMAGES && seen.is_small;
}

void gc_widen_queues(const gc_options *options)
{
    static const char variable[] = "CUDA_DEVICE_MAX_CONNECTIONS";
    const char *device = options->job.device;
    bool by_cpu = device != NULL && strcmp(device, "cpu") == 0;
    if (!gc_is_batch(options) || by_cpu || getenv(variable) != NULL)
        return;
    setenv(variable, has_many_small_images(options) ? most : usual, 1);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Input and result of the first check. After a failure: the exit code, and the name for the
 * message. */
typedef struct start_check {
    const gc_session *session;
    gc_directories *directories;
    const char *subject;
    int code;
} start_check;

/* A gc_check_function: the devices can be used, and the directory of -o is there. */
static gconv_status check_start(void *user, gconv_error *error)
{
    start_check *e = user;
    const char *directory = e->session->options->batch.directory;
    gconv_status status = gc_session_check_all(e->session, error);
    if (status != GCONV_OK) {
        e->code = gc_start_code(status);
    } else if (directory != NULL && !e->session->options->batch.dry_run) {
        status = gc_make_directory(e->directories, directory, error);
        e->subject = status != GCONV_OK ? directory : NULL;
    }
    return status;
}

/* Advice on how to continue a batch that a signal stopped. NULL if running the command again would
 * repeat work, or would take old files for results. */
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
    gc_summary s = {.options = session->options, .batch = list->batch, .start = gc_seconds()};
    start_check e = {.session = session, .directories = directories, .code = GC_EXIT_FAILED};
    gconv_error error;
    gc_first_check first = {check_start, &e, .lock = PTHREAD_MUTEX_INITIALIZER};
    const gc_batch_plan plan = {session, list, &first, directories, borrowers, gc_summary_take, &s};
    gc_counts_advise(list->batch ? how_to_go_on(session->options) : NULL);
    gconv_status status = GCONV_OK;
    if (!gc_names_gpu(session->options))
        status = gc_first_check_make(&first, &error);
    if (list->batch)
        gc_signals_stop_softly();
    if (status == GCONV_OK) {
        gc_counts_begin("images done", true, list->count);
        if (list->stream != NULL)
            gc_counts_several("done", true);
        status = gc_batch_run(&plan, &error);
    }
    int code = e.code;
    if (status == GCONV_OK)
        code = gc_summary_finish(&s, list);
    else
        gc_report(e.subject, &error);
    gc_summary_destroy(&s);
    return code;
}

/* Begins to start the GPUs that are named. One image needs one device. */
static void start_gpus(const gc_options *options)
{
    char first[32];
    if (!gc_names_gpu(options))
        return;
    snprintf(first, sizeof first, "cuda:%d", options->device.index);
    gconv_device_start(gc_is_batch(options) ? options->job.device : first);
}

/* Opens the journal of a batch. A dry run changes none, and needs none. */
static gconv_status open_journal(const gc_options *options, gc_session *session,
                                 gc_directories *directories, const char **subject,
                                 gconv_error *error)
{
    if (options->journal.file == NULL)
        return GCONV_OK;
    *subject = options->journal.file;
    if (options->batch.dry_run && access(options->journal.file, F_OK) != 0 && errno == ENOENT)
        return GCONV_OK;
    /* The output directory is made later, by check_start. */
    if (!options->batch.dry_run && options->batch.directory != NULL &&
        gc_lies_below(options->journal.file, options->batch.directory))
        GC_TRY(gc_make_parents(directories, options->journal.file, error));
    const gc_journal_opening how = {.writes = !options->batch.dry_run,
                                    .digest = options->journal.digest,
                                    .sync = options->writer.sync,
                                    .counts = options->batch.in_place ? gc_recipe_was : NULL,
                                    .user = &session->recipe};
    GC_TRY(gc_journal_open(options->journal.file, &how, &session->journal, error));
    return options->batch.dry_run ? GCONV_OK
                                  : gc_journal_note_recipe(session->journal, session->recipe.name,
                                                           session->recipe.line, error);
}

gconv_status gc_check_images(const gc_options *options, gconv_error *error)
{
    if (options->command == GC_COMMAND_FILTER && options->kernel_count == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "which filter? give --kernel (gconv info lists the built-in ones)");
    return options->journal.file != NULL ? gc_digest_check(options->journal.digest, error)
                                         : GCONV_OK;
}

static gconv_status prepare(const gc_options *options, gc_task_list *list, gc_session *session,
                            const char **subject, gconv_error *error)
{
    GC_TRY(gc_check_images(options, error));
    start_gpus(options);
    GC_TRY(gc_task_list_create(options, list, subject, error));
    return gc_session_create(options, session, subject, error);
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
    const char *subject = NULL;
    gconv_status status = prepare(options, &list, &session, &subject, &error);
    int code = gc_start_code(status);
    if (status == GCONV_OK) {
        status = open_journal(options, &session, &directories, &subject, &error);
        code = gc_exit_code(status);
    }
    if (status == GCONV_OK)
        code = run_tasks(&session, &list, &directories, options->batch.dry_run ? NULL : borrowers);
    else
        gc_report(subject, &error);
    if (borrowers != NULL)
        borrowers->end(borrowers->user);
    gc_journal_close(session.journal);
    gc_remove_empty_directories(&directories);
    gc_session_destroy(&session);
    gc_task_list_destroy(&list);
    return code;
}
