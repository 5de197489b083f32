#include "cli/tasks/tasks.h"

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

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* The task of an input. `named` is what its extension stands for, and `is_file` says that it is a
 * regular file. Without memory its strings are NULL. Any thread. */
static gc_task make_task(const gc_options *options, const char *path, const char *relative,
                         const gc_named_format *named, bool is_file, int unknown)
{
    bool in_place = options->batch.directory == NULL; /* under its own name, in its own format */
    gc_task task = gc_task_make(path, in_place ? path : NULL);
    if (!in_place) {
        task.format = gc_batch_format(options, path, named, is_file, &unknown);
        task.output = gc_batch_output(options, relative, named, task.format);
        const gc_named_format *says = &options->batch.named;
        bool by_name = says->format != GCONV_FORMAT_UNKNOWN
                           ? says->either_pnm
                           : named->either_pnm && gc_extension_fits(options, named, task.format);
        task.either_pnm =
            options->form.either_pnm || (by_name && options->writer.format == GCONV_FORMAT_UNKNOWN);
    }
    task.unknown = unknown;
    return task;
}

/* Whether a file found in a directory is an image to process. Its content or its name says so: a
 * broken image is an error to report, not a file to pass over. `foreign`: it is one of another
 * format. */
static bool looks_like_image(const char *path, const gc_named_format *named, int *unknown,
                             bool *foreign)
{
    const gconv_format_info *info = gconv_format_describe(named->format);
    const gconv_foreign_format *other = named->foreign, *seen = NULL;
    if (info != NULL && info->reads)
        return true;
    const gconv_format format = gc_sniff(path, unknown, &seen);
    *foreign = (other != NULL && other->image) || (seen != NULL && seen->image);
    bool raw = *foreign && format == GCONV_FORMAT_TIFF; /* of a camera */
    bool image = (format != GCONV_FORMAT_UNKNOWN && !raw) || *unknown != 0;
    *foreign = *foreign && !image;
    return image;
}

/* A directory that cannot be listed becomes a task that fails, like a file that cannot be read. */
static gconv_status add_unlisted(gc_walk *w, const char *path, int error_number)
{
    gc_task task = gc_task_make(path, path);
    task.unlisted = error_number;
    return gc_task_list_add(w->list, task, w->error);
}

/* What a name in a directory stands for. */
typedef struct entry {
    bool is_foreign; /* of ENTRY_NOTHING: an image in a format that gconv does not read */
    enum { ENTRY_NOTHING, ENTRY_IMAGE, ENTRY_DIRECTORY, ENTRY_LOST } kind;
    gc_task task;       /* of an image */
    char *path, *below; /* unless it is an image: its path, its place below the output directory */
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
                     const struct dirent *listed)
{
    bool is_file = listed->d_type == DT_REG; /* not every file system tells in a listing */
    entry e = {.kind = is_file ? ENTRY_IMAGE : ENTRY_NOTHING};
    const gc_named_format named = gc_format_named(listed->d_name);
    int unknown = 0;
    char *path = gc_join_path(directory, listed->d_name);
    char *below = gc_join_path(relative, listed->d_name);
    if (path == NULL || below == NULL)
        e.kind = ENTRY_LOST;
    else if (!is_file)
        look_closer(w, path, &e, &unknown);
    if (e.kind == ENTRY_IMAGE && unknown == 0 &&
        !looks_like_image(path, &named, &unknown, &e.is_foreign))
        e.kind = ENTRY_NOTHING;
    if (e.kind == ENTRY_IMAGE) {
        e.task = make_task(w->options, path, below, &named, true, unknown);
        e.task.is_plain = is_file;
    }
    if (e.kind == ENTRY_DIRECTORY || e.is_foreign) {
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
    struct dirent *const *names;
    entry *entries;
} look;

/* A gc_range_function. */
static void look_at_range(void *user, size_t first, size_t end)
{
    const look *l = user;
    for (size_t i = first; i < end; i++)
        l->entries[i] = look_at(l->walk, l->directory, l->relative, l->names[i]);
}

static gconv_status add_directory(gc_walk *w, const char *path, const char *relative);

/* Adds what an entry stands for, unless `status` is a failure, and frees the entry. */
static gconv_status add_entry(gc_walk *w, entry *e, gconv_status status)
{
    if (e->is_foreign)
        gc_images_count(&w->list->foreign, e->path);
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
                              struct dirent *const *names, size_t count)
{
    enum { SOME = 4096 };
    size_t room = count < SOME ? count : SOME;
    entry *entries = gc_allocate_array(room + 1, sizeof *entries);
    gconv_status status =
        entries != NULL ? GCONV_OK : gc_fail_memory(w->error, room * sizeof *entries);
    for (size_t first = 0; status == GCONV_OK && first < count; first += room) {
        size_t some = count - first < room ? count - first : room;
        look l = {w, path, relative, names + first, entries};
        gc_share_out(some, gc_thread_count(w->options->job.threads), look_at_range, &l);
        for (size_t i = 0; i < some; i++)
            status = add_entry(w, &entries[i], status);
    }
    free(entries);
    return status;
}

static int is_shown(const struct dirent *listed)
{
    return listed->d_name[0] != '.';
}

/* Sorts by bytes, whatever the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static gconv_status add_directory(gc_walk *w, const char *path, const char *relative)
{
    struct dirent **names;
    int count = scandir(path, &names, is_shown, compare_names);
    if (count < 0)
        return add_unlisted(w, path, errno);
    gconv_status status = add_names(w, path, relative, names, (size_t)count);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
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
    const char *name = gc_base_name(operand);
    bool is_directory = found && S_ISDIR(about.st_mode), parents = w->options->batch.parents;
    bool means_directory = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (!is_directory && means_directory)
        return add_unlisted(w, operand, failure);
    if (!is_directory) {
        const gc_named_format named = gc_format_named(name);
        gc_task task = make_task(w->options, operand, parents ? root : name, &named,
                                 found && S_ISREG(about.st_mode),
                                 !found && gc_is_passing(failure) ? failure : 0);
        task.is_plain = is_plain;
        task.is_alone = found && S_ISREG(about.st_mode);
        return gc_task_list_add(w->list, task, w->error);
    }
    return add_directory(w, operand, parents ? root : "");
}

gconv_status gc_walk_add(gc_walk *w, const char *operand)
{
    *w->subject = operand;
    if (strcmp(operand, "-") == 0)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "standard input has no name to write under in a directory");
    char *root = gc_clean_path(operand);
    gconv_status status =
        root != NULL ? add_below(w, operand, root) : gc_fail_memory(w->error, strlen(operand));
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
    *w->subject = path;
    w->output_exists = stat(path, &w->output) == 0;
    const gc_named_format named = gc_format_named(path);
    bool image =
        named.format != GCONV_FORMAT_UNKNOWN || named.foreign != NULL || strcmp(path, "-") == 0;
    if (w->output_exists ? !S_ISDIR(w->output.st_mode) : image)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "not a directory; -o takes one, a single output is given as IN OUT");
    *w->subject = NULL;
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
    if (options->batch.in_place && options->reader.page > 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--page takes one page of an input, and --in-place would lose the others");
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
    if (options->batch.named.format != GCONV_FORMAT_UNKNOWN &&
        options->writer.format != GCONV_FORMAT_UNKNOWN &&
        !gc_extension_fits(options, &options->batch.named, options->writer.format))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--format contradicts the extension of --name '%.200s'; write {ext}", name);
    *w->subject = name;
    const char *extension = name != NULL ? name + gc_find_extension(name) : "";
    bool says_one = extension[0] != '\0' && strpbrk(extension, "{}") == NULL;
    gconv_status status =
        says_one ? gc_check_extension(&options->batch.named, options->writer.format, error)
                 : GCONV_OK;
    if (status == GCONV_OK)
        *w->subject = NULL;
    return status;
}

static gconv_status check(gc_walk *w)
{
    const gc_options *options = w->options;
    GC_TRY(check_in_place(options, w->error));
    GC_TRY(check_naming(w));
    GC_TRY(check_output_directory(w));
    if (options->operand_count == 0 && options->batch.files_from == NULL)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT, "no input is named");
    const gconv_format_info *format = gconv_format_describe(options->writer.format);
    if (options->form.depth != 0)
        GC_TRY(gc_check_depth(format, options->form.depth, w->error));
    return GCONV_OK;
}

gconv_status gc_walk_begin(gc_walk *w, const gc_options *options, gc_task_list *list,
                           const char **subject, gconv_error *error)
{
    *w = (gc_walk){.options = options, .list = list, .subject = subject, .error = error};
    return check(w);
}
