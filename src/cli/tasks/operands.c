/* The tasks of a command line: one input and one output, or a batch. */
#include "cli/tasks/tasks.h"

#include "base/place.h"
#include "base/status.h"
#include "cli/options/table.h"
#include "cli/options/values.h"
#include "cli/options/words.h"
#include "cli/tasks/collisions.h"
#include "cli/tasks/names.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- One input and one output ---------------------------------------------------------------- */

/* Whether what is written to `path` would appear on a terminal. */
static bool is_terminal(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO) == 1;
    if (stat(path, &about) != 0 || !S_ISCHR(about.st_mode))
        return false;
    int descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool terminal = descriptor >= 0 && isatty(descriptor) == 1;
    if (descriptor >= 0)
        close(descriptor);
    return terminal;
}

static gconv_status check_standard_streams(const gc_options *options, const char *input,
                                           const char *output, gconv_error *error)
{
    if (is_terminal(output) && options->operand_count == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "which image? %s",
                       gc_command_of(options->command)->synopsis);
    if (is_terminal(output))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "%s is a terminal; redirect it or name an output", gc_output_name(output));
    if (strcmp(output, "-") == 0 && options->report.json)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--json and the image cannot both go to standard output");
    return gc_check_input(input, error);
}

static bool is_same_pipe(const char *input, const char *output)
{
    struct stat from, to;
    return stat(input, &from) == 0 && stat(output, &to) == 0 && S_ISFIFO(from.st_mode) &&
           gc_same_file(&from, &to);
}

static gconv_status fail_directory(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "a directory; to process its images, give -o DIR");
}

static gconv_status check_paths(const gc_options *options, const char *input, const char *output,
                                const char **subject, gconv_error *error)
{
    *subject = input;
    if (gc_is_directory(input))
        return fail_directory(error);
    *subject = output;
    if (gc_is_directory(output))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "a directory; -o DIR writes into one, and so does a slash at the end");
    if (is_same_pipe(input, output))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "input and output are the same pipe: the result would be read again");
    *subject = NULL;
    /* With --no-clobber nothing is replaced. */
    if (!options->writer.no_clobber && gc_replaces_input(input, output))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the output '%.150s' would replace its input '%.150s'; name another file, "
                       "or give --in-place '%.150s'",
                       output, input, input);
    *subject = output;
    return GCONV_OK;
}

/* Fills format and either_pnm of an output that has a name: from --format, else from its
 * extension. */
static gconv_status choose_named_format(const gc_options *options, gc_task *task,
                                        gconv_error *error)
{
    const gc_named_format named = gc_format_named(task->output);
    GC_TRY(gc_check_extension(&named, task->format, error));
    bool named_pnm = named.format == GCONV_FORMAT_PGM || named.format == GCONV_FORMAT_PPM;
    bool says_which = options->form.either_pnm && named_pnm && !named.either_pnm;
    if (task->format == GCONV_FORMAT_UNKNOWN || says_which) {
        task->format = named.format;
        task->either_pnm = named.either_pnm;
        return GCONV_OK;
    }
    if (named.format != GCONV_FORMAT_UNKNOWN && !gc_extension_fits(options, &named, task->format))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--format %s contradicts the extension",
                       gc_option_value(options, "format"));
    return GCONV_OK;
}

/* Standard output takes the format of --format; else gc_output_format decides. */
static gconv_status choose_format(const gc_options *options, gc_task *task, gconv_error *error)
{
    task->format = options->writer.format;
    task->either_pnm = options->form.either_pnm;
    gconv_status status = GCONV_OK;
    if (strcmp(task->output, "-") != 0)
        status = choose_named_format(options, task, error);
    if (status == GCONV_OK && options->form.depth != 0)
        status = gc_check_depth(gconv_format_describe(task->format), options->form.depth, error);
    return status;
}

/* Fills `list` for IN OUT or a pipe. Otherwise as gc_task_list_create. */
static gconv_status collect_single(const gc_options *options, gc_task_list *list,
                                   const char **subject, gconv_error *error)
{
    *subject = options->operand_count == 1 ? options->operands[0] : NULL;
    if (*subject != NULL && gc_is_directory(*subject))
        return fail_directory(error);
    *subject = NULL;
    if (options->operand_count == 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "one operand alone; give IN and OUT, or -o DIR and inputs");
    if (options->operand_count > 2)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%d operands; several inputs need -o DIR",
                       options->operand_count);
    bool pipe = options->operand_count == 0;
    char dash[] = "-";
    gc_task task = {.input = pipe ? dash : options->operands[0],
                    .output = pipe ? dash : options->operands[1]};
    GC_TRY(check_standard_streams(options, task.input, task.output, error));
    GC_TRY(check_paths(options, task.input, task.output, subject, error));
    GC_TRY(choose_format(options, &task, error));
    *subject = NULL;
    gc_task made = gc_task_make(task.input, task.output);
    made.format = task.format;
    made.either_pnm = task.either_pnm;
    return gc_task_list_add(list, made, error);
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* Refuses options of batches if one image is named. */
static gconv_status refuse_alone(const gc_options *options, gconv_error *error)
{
    const char *given = gc_option_marked(options, GC_OPTION_BATCH);
    if (given != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--%s needs -o DIR or --in-place", given);
    return GCONV_OK;
}

/* Leaves the tasks of --shard in the list. Collisions are found before, among all tasks. */
static void keep_shard(const gc_options *options, gc_task_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (gc_shard_has(&options->batch.shard, list->tasks[i].input))
            list->tasks[kept++] = list->tasks[i];
        else
            gc_task_destroy(&list->tasks[i]);
    }
    list->count = kept;
}

/* Fills `list` for -o DIR or --in-place. Otherwise as gc_task_list_create. */
static gconv_status collect_batch(const gc_options *options, gc_task_list *list,
                                  const char **subject, gconv_error *error)
{
    if (options->batch.files_from != NULL)
        return gc_task_stream_create(options, &list->stream, subject, error);
    gc_walk w;
    gconv_status status = gc_walk_begin(&w, options, list, subject, error);
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = gc_walk_add(&w, options->operands[i]);
    GC_TRY(status);
    *subject = NULL;
    if (list->count == 0 && list->foreign.count > 0) {
        char names[GC_IMAGES_BYTES];
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "no image among the inputs; %zu image file%s of other formats ignored%s",
                       list->foreign.count, list->foreign.count == 1 ? "" : "s",
                       gc_images_list(": ", &list->foreign, GC_IMAGES_SHOWN, names));
    }
    if (list->count == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no image among the inputs%s",
                       options->batch.recursive ? "" : " (--recursive looks below directories)");
    status = gc_refuse_collisions(options, list, error);
    keep_shard(options, list);
    return status;
}

gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list,
                                 const char **subject, gconv_error *error)
{
    *list = (gc_task_list){.batch = gc_is_batch(options)};
    *subject = NULL;
    if (!list->batch && refuse_alone(options, error) != GCONV_OK)
        return GCONV_ERROR_ARGUMENT;
    return list->batch ? collect_batch(options, list, subject, error)
                       : collect_single(options, list, subject, error);
}

void gc_task_list_destroy(gc_task_list *list)
{
    gc_images_free(&list->foreign);
    gc_task_list_clear(list);
    gc_task_stream_free(list->stream);
    list->stream = NULL;
}
