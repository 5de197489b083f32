/* The tasks of a batch: operands are files, and directories in which images are looked for. */
#include "cli/tasks/batch.h"

#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"
#include "cli/tasks/collisions.h"
#include "cli/tasks/listing.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a walk through operands and directories carries along. */
typedef struct walk {
    const gc_options *options;
    gc_task_list *list;
    struct stat output; /* of the output directory, where it exists */
    bool output_exists;
    const char **blamed;
    gconv_error *error;
} walk;

static gconv_status add_batch_file(walk *w, const char *path, const char *relative, int unknown)
{
    const char *directory = w->options->output_directory;
    if (directory == NULL) /* --in-place: under its own name, in its own format */
        return gc_task_list_add(w->list,
                                (gc_task){.input = gc_copy_string(path),
                                          .output = gc_copy_string(path),
                                          .unknown = unknown},
                                w->error);
    gconv_format format = gc_batch_format(w->options, path, &unknown);
    return gc_task_list_add(w->list,
                            (gc_task){.input = gc_copy_string(path),
                                      .output = gc_batch_output(w->options, relative, format),
                                      .either_pnm = w->options->either_pnm,
                                      .format = format,
                                      .unknown = unknown},
                            w->error);
}

/* Whether a file found in a directory is an image to process. Its content or its name says so: a
 * broken image is an error to report, not a file to pass over. */
static bool looks_like_image(const char *path, int *unknown)
{
    const gconv_format_info *named = gconv_format_describe(gconv_format_from_path(path));
    return (named != NULL && named->reads) || gc_sniff(path, unknown) != GCONV_FORMAT_UNKNOWN ||
           *unknown != 0;
}

static gconv_status add_directory(walk *w, const char *path, const char *relative);

static gconv_status add_entry(walk *w, const char *directory, const char *relative,
                              const char *name)
{
    struct stat about, link;
    char *path = gc_join_path(directory, name);
    char *below = gc_join_path(relative, name);
    bool known = path != NULL && stat(path, &about) == 0 && lstat(path, &link) == 0;
    int unknown = path == NULL || known || !gc_is_passing(errno) ? 0 : errno;
    bool is_file = !known || S_ISREG(about.st_mode);
    gconv_status result = GCONV_OK;
    if (path == NULL || below == NULL)
        result = gc_fail_memory(w->error, strlen(directory) + strlen(name));
    else if (unknown != 0 || (is_file && looks_like_image(path, &unknown)))
        result = add_batch_file(w, path, below, unknown);
    /* A linked directory may lead back here, and so it is not entered. The output directory holds
     * results, not inputs. */
    else if (!is_file && S_ISDIR(link.st_mode) && w->options->recursive &&
             !(w->output_exists && gc_same_file(&about, &w->output)))
        result = add_directory(w, path, below);
    free(below);
    free(path);
    return result;
}

/* A directory that cannot be listed becomes a task that fails, like a file that cannot be read. */
static gconv_status add_unlisted(walk *w, const char *path, int error_number)
{
    return gc_task_list_add(w->list,
                            (gc_task){.input = gc_copy_string(path),
                                      .output = gc_copy_string(path),
                                      .unlisted = error_number},
                            w->error);
}

static gconv_status add_directory(walk *w, const char *path, const char *relative)
{
    gc_name_list list = {.names = NULL};
    gconv_status status = GCONV_OK;
    if (!gc_list_directory(path, &list))
        status = add_unlisted(w, path, errno);
    for (size_t i = 0; status == GCONV_OK && i < list.count; i++)
        status = add_entry(w, path, relative, list.names[i]);
    gc_free_names(&list);
    return status;
}

static gconv_status add_operand(walk *w, const char *operand)
{
    *w->blamed = operand;
    if (strcmp(operand, "-") == 0)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "standard input has no name to write under in a directory");
    struct stat about;
    bool found = stat(operand, &about) == 0;
    int failure = errno;
    if (found && S_ISDIR(about.st_mode))
        return add_directory(w, operand, "");
    const char *name = gc_base_name(operand);
    bool means_directory = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (means_directory)
        return add_unlisted(w, operand, failure);
    return add_batch_file(w, operand, name, !found && gc_is_passing(failure) ? failure : 0);
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* -o takes a directory. A name that looks like that of an image is refused. */
static gconv_status check_output_directory(walk *w)
{
    const char *path = w->options->output_directory;
    if (path == NULL)
        return GCONV_OK;
    *w->blamed = path;
    w->output_exists = stat(path, &w->output) == 0;
    bool image = gconv_format_from_path(path) != GCONV_FORMAT_UNKNOWN || strcmp(path, "-") == 0;
    if (w->output_exists ? !S_ISDIR(w->output.st_mode) : image)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "not a directory; -o takes one, a single output is given as IN OUT");
    *w->blamed = NULL;
    return GCONV_OK;
}

/* With --in-place an image keeps its name, and so its format. */
static gconv_status check_in_place(const gc_options *options, gconv_error *error)
{
    if (options->in_place && options->writer.no_clobber)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place replaces images, --no-clobber leaves them alone; give one");
    if (options->output_directory == NULL && options->writer.format != GCONV_FORMAT_UNKNOWN)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place keeps the format of every image; --format needs -o DIR");
    return GCONV_OK;
}

static gconv_status check(walk *w)
{
    const gc_options *options = w->options;
    gconv_status status = check_in_place(options, w->error);
    if (status == GCONV_OK)
        status = check_output_directory(w);
    if (status == GCONV_OK && options->operand_count == 0)
        status = gc_fail(w->error, GCONV_ERROR_ARGUMENT, "no input is named");
    if (status == GCONV_OK && options->depth != 0 && options->writer.format != GCONV_FORMAT_UNKNOWN)
        status = gc_check_depth(options->writer.format, options->depth, w->error);
    return status;
}

gconv_status gc_collect_batch(const gc_options *options, gc_task_list *list, const char **blamed,
                              gconv_error *error)
{
    walk w = {.options = options, .list = list, .blamed = blamed, .error = error};
    gconv_status status = check(&w);
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = add_operand(&w, options->operands[i]);
    if (status != GCONV_OK)
        return status;
    *blamed = NULL;
    if (list->count == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no image among the inputs%s",
                       options->recursive ? "" : " (--recursive looks below directories)");
    return gc_refuse_collisions(options, list, error);
}
