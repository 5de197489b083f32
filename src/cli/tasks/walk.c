#include "cli/tasks/walk.h"

#include "base/memory.h"
#include "base/place.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "cli/options/table.h"
#include "cli/tasks/names.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- The names in a directory ---------------------------------------------------------------- */

typedef struct listed_name {
    char *name;
    bool is_file; /* a regular file; false, too, if the file system does not tell in a listing */
} listed_name;

typedef struct name_list {
    listed_name *names;
    size_t count, capacity;
} name_list;

static int compare_names(const void *a, const void *b)
{
    const listed_name *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Whether the listing itself says that an entry is a regular file. */
static bool is_listed_as_file(const struct dirent *entry)
{
#ifdef DT_REG
    return entry->d_type == DT_REG;
#else /* a system whose listings do not tell */
    (void)entry;
    return false;
#endif
}

static bool add_name(name_list *list, const struct dirent *entry)
{
    listed_name *names = gc_make_room(list->names, list->count, &list->capacity, sizeof *names);
    if (names == NULL)
        return false;
    list->names = names;
    names[list->count] = (listed_name){gc_copy_string(entry->d_name), is_listed_as_file(entry)};
    return names[list->count].name != NULL && ++list->count > 0;
}

static void free_names(name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i].name);
    free(list->names);
}

/* Lists a directory into an empty list, sorted by bytes; names that begin with a dot are left out.
 * False with errno set if that fails; the names that were read are there all the same. */
static bool list_directory(const char *path, name_list *list)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return false;
    bool listed = true;
    struct dirent *entry;
    errno = 0;
    while (listed && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            listed = add_name(list, entry);
        errno = listed ? 0 : ENOMEM;
    }
    int failure = errno;
    closedir(directory);
    if (list->count > 0)
        qsort(list->names, list->count, sizeof list->names[0], compare_names);
    errno = failure;
    return failure == 0;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Whether outputs are PGM or PPM by their content. */
static bool is_either_pnm(const gc_options *options)
{
    bool by_name =
        options->batch.name_template != NULL && gc_is_either_pnm(options->batch.name_template);
    return options->form.either_pnm || (by_name && options->writer.format == GCONV_FORMAT_UNKNOWN);
}

/* The task of an input. `is_file`: it is a regular file. Without memory its strings are NULL. Any
 * thread. */
static gc_task make_task(const gc_options *options, const char *path, const char *relative,
                         bool is_file, int unknown)
{
    if (options->batch.directory == NULL) /* --in-place: under its own name, in its own format */
        return (gc_task){
            .input = gc_copy_string(path), .output = gc_copy_string(path), .unknown = unknown};
    gconv_format format = gc_batch_format(options, path, is_file, &unknown);
    return (gc_task){.input = gc_copy_string(path),
                     .output = gc_batch_output(options, relative, format),
                     .either_pnm = is_either_pnm(options),
                     .format = format,
                     .unknown = unknown};
}

/* Whether a file found in a directory is an image to process. Its content or its name says so: a
 * broken image is an error to report, not a file to pass over. `foreign`: it is one of another
 * format. */
static bool looks_like_image(const char *path, int *unknown, bool *foreign)
{
    const gconv_format_info *named = gconv_format_describe(gconv_format_from_path(path));
    const gconv_foreign_format *other = gconv_foreign_from_path(path), *seen = NULL;
    if ((named != NULL && named->reads) || gc_sniff(path, unknown, &seen) != GCONV_FORMAT_UNKNOWN ||
        *unknown != 0)
        return true;
    *foreign = (other != NULL && other->image) || (seen != NULL && seen->image);
    return false;
}

/* A directory that cannot be listed becomes a task that fails, like a file that cannot be read. */
static gconv_status add_unlisted(gc_walk *w, const char *path, int error_number)
{
    return gc_task_list_add(w->list,
                            (gc_task){.input = gc_copy_string(path),
                                      .output = gc_copy_string(path),
                                      .unlisted = error_number},
                            w->error);
}

/* What a name in a directory stands for. */
typedef struct entry {
    bool is_foreign; /* of ENTRY_NOTHING: an image in a format that gconv does not read */
    enum { ENTRY_NOTHING, ENTRY_IMAGE, ENTRY_DIRECTORY, ENTRY_LOST } kind;
    gc_task task;       /* of an image */
    char *path, *below; /* of a directory: its path, and its place below the output directory */
} entry;

/* Looks at what no listing told to be a regular file. `unknown` as in gc_task. */
static void look_closer(const gc_walk *w, const char *path, entry *e, int *unknown)
{
    struct stat about, link = {.st_mode = 0};
    bool known = lstat(path, &link) == 0;
    about = link;
    if (known && S_ISLNK(link.st_mode))
        known = stat(path, &about) == 0;
    if (!known && gc_is_passing(errno))
        *unknown = errno;
    if (!known || S_ISREG(about.st_mode))
        e->kind = ENTRY_IMAGE;
    /* A linked directory may lead back here, and so it is not entered. The output directory holds
     * results, not inputs. */
    else if (S_ISDIR(link.st_mode) && w->options->batch.recursive &&
             !(w->output_exists && gc_same_file(&about, &w->output)))
        e->kind = ENTRY_DIRECTORY;
}

/* Any thread. */
static entry look_at(const gc_walk *w, const char *directory, const char *relative,
                     const listed_name *listed)
{
    entry e = {.kind = listed->is_file ? ENTRY_IMAGE : ENTRY_NOTHING};
    int unknown = 0;
    char *path = gc_join_path(directory, listed->name);
    char *below = gc_join_path(relative, listed->name);
    if (path == NULL || below == NULL)
        e.kind = ENTRY_LOST;
    else if (!listed->is_file)
        look_closer(w, path, &e, &unknown);
    if (e.kind == ENTRY_IMAGE && unknown == 0 && !looks_like_image(path, &unknown, &e.is_foreign))
        e.kind = ENTRY_NOTHING;
    if (e.kind == ENTRY_IMAGE) {
        e.task = make_task(w->options, path, below, true, unknown);
        e.task.is_plain = listed->is_file;
    }
    if (e.kind == ENTRY_DIRECTORY) {
        e.path = path;
        e.below = below;
        return e;
    }
    free(below);
    free(path);
    return e;
}

/* Names of a directory at which several threads look. */
typedef struct look {
    const gc_walk *walk;
    const char *directory, *relative;
    const listed_name *names;
    entry *entries;
} look;

/* A gc_range_function. */
static void look_at_range(void *user, size_t first, size_t end)
{
    const look *l = user;
    for (size_t i = first; i < end; i++)
        l->entries[i] = look_at(l->walk, l->directory, l->relative, &l->names[i]);
}

static gconv_status add_directory(gc_walk *w, const char *path, const char *relative);

/* Adds what an entry stands for, unless `status` is a failure, and frees the entry. */
static gconv_status add_entry(gc_walk *w, entry *e, gconv_status status)
{
    w->list->foreign += e->is_foreign;
    if (e->kind == ENTRY_IMAGE && status == GCONV_OK)
        status = gc_task_list_add(w->list, e->task, w->error);
    else if (e->kind == ENTRY_IMAGE)
        gc_task_destroy(&e->task);
    else if (e->kind == ENTRY_DIRECTORY && status == GCONV_OK)
        status = add_directory(w, e->path, e->below);
    else if (e->kind == ENTRY_LOST && status == GCONV_OK)
        status = gc_fail_memory(w->error, PATH_MAX);
    free(e->path);
    free(e->below);
    return status;
}

/* Adds what names of a directory stand for, at most SOME at one time. */
static gconv_status add_names(gc_walk *w, const char *path, const char *relative,
                              const name_list *list)
{
    enum { SOME = 4096 };
    size_t room = list->count < SOME ? list->count : SOME;
    entry *entries = gc_allocate_array(room + 1, sizeof *entries);
    gconv_status status =
        entries != NULL ? GCONV_OK : gc_fail_memory(w->error, room * sizeof *entries);
    for (size_t first = 0; status == GCONV_OK && first < list->count; first += room) {
        size_t count = list->count - first < room ? list->count - first : room;
        look l = {w, path, relative, list->names + first, entries};
        gc_share_out(count, gc_thread_count(w->options->job.threads), look_at_range, &l);
        for (size_t i = 0; i < count; i++)
            status = add_entry(w, &entries[i], status);
    }
    free(entries);
    return status;
}

static gconv_status add_directory(gc_walk *w, const char *path, const char *relative)
{
    name_list list = {.names = NULL};
    gconv_status status = GCONV_OK;
    if (!list_directory(path, &list))
        status = add_unlisted(w, path, errno);
    if (status == GCONV_OK)
        status = add_names(w, path, relative, &list);
    free_names(&list);
    return status;
}

/* Adds what an operand stands for. `root` is its place below the output directory. */
static gconv_status add_below(gc_walk *w, const char *operand, const char *root)
{
    struct stat about;
    bool found = lstat(operand, &about) == 0;
    bool is_plain = found && !S_ISLNK(about.st_mode);
    if (found && !is_plain)
        found = stat(operand, &about) == 0;
    int failure = errno;
    if (found && S_ISDIR(about.st_mode))
        return add_directory(w, operand, w->options->batch.parents ? root : "");
    const char *name = gc_base_name(operand);
    bool means_directory = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (means_directory)
        return add_unlisted(w, operand, failure);
    gc_task task =
        make_task(w->options, operand, w->options->batch.parents ? root : name,
                  found && S_ISREG(about.st_mode), !found && gc_is_passing(failure) ? failure : 0);
    task.is_plain = is_plain;
    return gc_task_list_add(w->list, task, w->error);
}

gconv_status gc_walk_add(gc_walk *w, const char *operand)
{
    *w->blamed = operand;
    if (strcmp(operand, "-") == 0)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "standard input has no name to write under in a directory");
    char *root = gc_clean_path(operand);
    if (root == NULL)
        return gc_fail_memory(w->error, strlen(operand));
    gconv_status status = add_below(w, operand, root);
    free(root);
    return status;
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* -o takes a directory. A name that looks like that of an image is refused. */
static gconv_status check_output_directory(gc_walk *w)
{
    const char *path = w->options->batch.directory;
    if (path == NULL)
        return GCONV_OK;
    *w->blamed = path;
    w->output_exists = stat(path, &w->output) == 0;
    bool image = gconv_format_from_path(path) != GCONV_FORMAT_UNKNOWN ||
                 gconv_foreign_from_path(path) != NULL || strcmp(path, "-") == 0;
    if (w->output_exists ? !S_ISDIR(w->output.st_mode) : image)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "not a directory; -o takes one, a single output is given as IN OUT");
    *w->blamed = NULL;
    return GCONV_OK;
}

/* With --in-place an image keeps its name, and so its format. */
static gconv_status check_in_place(const gc_options *options, gconv_error *error)
{
    if (options->batch.in_place && options->writer.no_clobber)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place replaces images, --no-clobber leaves them alone; give one");
    if (options->batch.update && options->writer.no_clobber)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--update replaces outputs that are older than their inputs, --no-clobber "
                       "leaves them alone; give one");
    if (options->batch.in_place && options->batch.update)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--update compares inputs with outputs, and --in-place makes them one file");
    if (options->journal.file == NULL &&
        (options->journal.retry_failed || gc_option_given(options, "hash")))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--%s needs --journal FILE",
                       options->journal.retry_failed ? "retry-failed" : "hash");
    if (options->batch.directory == NULL && options->writer.format != GCONV_FORMAT_UNKNOWN)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place keeps the format of every image; --format needs -o DIR");
    return GCONV_OK;
}

/* --parents and --name say where outputs lie below DIR. */
static gconv_status check_naming(gc_walk *w)
{
    const gc_options *options = w->options;
    const char *name = options->batch.name_template;
    gconv_error *error = w->error;
    if (options->batch.directory == NULL && (name != NULL || options->batch.parents))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place keeps the name of every image; --%s needs -o DIR",
                       name != NULL ? "name" : "parents");
    if (gc_template_format(options) != GCONV_FORMAT_UNKNOWN &&
        options->writer.format != GCONV_FORMAT_UNKNOWN &&
        !gc_extension_fits(options, name, options->writer.format))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--format contradicts the extension of --name '%.200s'; write {ext}", name);
    *w->blamed = name;
    gconv_status status = gc_check_extension(name != NULL ? name : "", error);
    if (status == GCONV_OK)
        *w->blamed = NULL;
    return status;
}

static gconv_status check(gc_walk *w)
{
    const gc_options *options = w->options;
    gconv_status status = check_in_place(options, w->error);
    if (status == GCONV_OK)
        status = check_naming(w);
    if (status == GCONV_OK)
        status = check_output_directory(w);
    if (status == GCONV_OK && options->operand_count == 0 && options->batch.files_from == NULL)
        status = gc_fail(w->error, GCONV_ERROR_ARGUMENT, "no input is named");
    if (status == GCONV_OK && options->form.depth != 0 &&
        options->writer.format != GCONV_FORMAT_UNKNOWN)
        status = gc_check_depth(options->writer.format, options->form.depth, w->error);
    return status;
}

gconv_status gc_walk_begin(gc_walk *w, const gc_options *options, gc_task_list *list,
                           const char **blamed, gconv_error *error)
{
    *w = (gc_walk){.options = options, .list = list, .blamed = blamed, .error = error};
    return check(w);
}
