#include "cli/operands.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"
#include "cli/collisions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a walk through operands and directories carries along. */
typedef struct walk {
    const gc_options *options;
    gc_task_list *list;
    size_t capacity;
    struct stat output; /* of the output directory, where it exists */
    bool output_exists;
    const char **blamed;
    gconv_error *error;
} walk;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static char *join(const char *directory, const char *name)
{
    size_t length = strlen(directory) + strlen(name) + 2;
    char *path = malloc(length);
    if (path == NULL)
        return NULL;
    bool slash = directory[0] != '\0' && directory[strlen(directory) - 1] != '/';
    snprintf(path, length, "%s%s%s", directory, slash ? "/" : "", name);
    return path;
}

const char *gc_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *gc_output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

bool gc_is_directory(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* ---- Formats and names of outputs ------------------------------------------------------------ */

/* Whether a failure says nothing of the file: it is the machine's. */
static bool is_passing(int failure)
{
    return failure == EIO || failure == EMFILE || failure == ENFILE || failure == ENOMEM;
}

/* The format by content. Where that is unknown because of a passing failure, *unknown is its
 * errno: what is no image at another time must not be passed over. */
static gconv_format sniff(const char *path, int *unknown)
{
    unsigned char bytes[16];
    size_t count = 0;
    struct stat status;
    int descriptor = -1;
    bool known = stat(path, &status) == 0;
    if (known && !S_ISREG(status.st_mode))
        return GCONV_FORMAT_UNKNOWN;
    while (known && descriptor < 0) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        known = descriptor >= 0 || errno == EINTR;
    }
    if (known)
        known = gc_read_all(descriptor, bytes, sizeof bytes, &count);
    if (!known && is_passing(errno))
        *unknown = errno;
    if (descriptor >= 0)
        close(descriptor);
    return known ? gconv_format_from_content(bytes, count) : GCONV_FORMAT_UNKNOWN;
}

/* The format of a batch output: what --format says, png for edges, else the input's own. */
static gconv_format batch_format(const gc_options *options, const char *input, int *unknown)
{
    if (options->format != GCONV_FORMAT_UNKNOWN)
        return options->format;
    if (options->command == GC_COMMAND_EDGES)
        return GCONV_FORMAT_PNG;
    gconv_format format = sniff(input, unknown);
    return format != GCONV_FORMAT_UNKNOWN ? format : gconv_format_from_path(input);
}

static const char *default_extension(gconv_format format)
{
    static const char *const extensions[GCONV_FORMAT_COUNT] = {
        [GCONV_FORMAT_UNKNOWN] = "png", [GCONV_FORMAT_PNG] = "png", [GCONV_FORMAT_JPEG] = "jpg",
        [GCONV_FORMAT_PGM] = "pgm",     [GCONV_FORMAT_PPM] = "ppm", [GCONV_FORMAT_PFM] = "pfm",
    };
    return extensions[format];
}

/* Whether the extension of `path` stands for PGM and PPM alike. */
static bool is_either_pnm(const char *path)
{
    const char *dot = strrchr(base_name(path), '.');
    return dot != NULL && strcasecmp(dot, ".pnm") == 0;
}

/* True where files named `path` may hold `format`: its extension need not change. */
static bool extension_fits(const gc_options *options, const char *path, gconv_format format)
{
    if (options->either_pnm)
        return is_either_pnm(path);
    if (is_either_pnm(path))
        return format == GCONV_FORMAT_PGM || format == GCONV_FORMAT_PPM;
    return gconv_format_from_path(path) == format;
}

/* DIR/relative with the extension that its format wants. */
static char *batch_output(const gc_options *options, const char *relative, gconv_format format)
{
    const char *directory = options->output_directory;
    if (extension_fits(options, relative, format))
        return join(directory, relative);
    const char *name = base_name(relative);
    const char *dot = strrchr(name, '.');
    bool has_extension = dot != NULL && dot != name;
    size_t stem = has_extension ? (size_t)(dot - relative) : strlen(relative);
    size_t length = stem + 8;
    char *renamed = malloc(length);
    if (renamed == NULL)
        return NULL;
    snprintf(renamed, length, "%.*s.%s", (int)stem, relative,
             options->either_pnm ? "pnm" : default_extension(format));
    char *path = join(directory, renamed);
    free(renamed);
    return path;
}

/* ---- Collecting ------------------------------------------------------------------------------ */

/* Takes over the task's strings, which may be NULL for lack of memory. */
static gconv_status add_task(walk *w, gc_task task)
{
    gc_task_list *list = w->list;
    if (list->count == w->capacity) {
        size_t capacity = w->capacity > 0 ? 2 * w->capacity : 16;
        gc_task *longer = realloc(list->tasks, capacity * sizeof *longer);
        if (longer != NULL) {
            list->tasks = longer;
            w->capacity = capacity;
        }
    }
    if (task.input == NULL || task.output == NULL || list->count == w->capacity) {
        free(task.input);
        free(task.output);
        return gc_fail_memory(w->error, sizeof *list->tasks);
    }
    list->tasks[list->count++] = task;
    return GCONV_OK;
}

static gconv_status add_batch_file(walk *w, const char *path, const char *relative, int unknown)
{
    const char *directory = w->options->output_directory;
    if (directory == NULL) /* in place: under its own name, in its own format */
        return add_task(w, (gc_task){.input = gc_copy_string(path),
                                     .output = gc_copy_string(path),
                                     .unknown = unknown});
    gconv_format format = batch_format(w->options, path, &unknown);
    return add_task(w, (gc_task){.input = gc_copy_string(path),
                                 .output = batch_output(w->options, relative, format),
                                 .either_pnm = w->options->either_pnm,
                                 .format = format,
                                 .unknown = unknown});
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory; hidden ones are left out. */
typedef struct name_list {
    char **names;
    size_t count, capacity;
} name_list;

static bool add_name(name_list *list, const char *name)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        char **longer = realloc(list->names, capacity * sizeof *longer);
        if (longer == NULL)
            return false;
        list->names = longer;
        list->capacity = capacity;
    }
    list->names[list->count] = gc_copy_string(name);
    return list->names[list->count] != NULL && ++list->count > 0;
}

static void free_names(name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
}

/* Lists a directory, sorted; false with errno set where that fails. */
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
            listed = add_name(list, entry->d_name);
        errno = listed ? 0 : ENOMEM;
    }
    int failure = errno;
    closedir(directory);
    if (list->count > 0)
        qsort(list->names, list->count, sizeof list->names[0], compare_names);
    errno = failure;
    return failure == 0;
}

/* Whether a file met in a directory is an image to process: by content, or by a name that says so
 * (a broken image is an error to report, not a file to pass over). */
static bool looks_like_image(const char *path, int *unknown)
{
    gconv_format named = gconv_format_from_path(path);
    return (named != GCONV_FORMAT_UNKNOWN && named != GCONV_FORMAT_PFM) ||
           sniff(path, unknown) != GCONV_FORMAT_UNKNOWN || *unknown != 0;
}

static gconv_status add_directory(walk *w, const char *path, const char *relative);

static gconv_status add_entry(walk *w, const char *directory, const char *relative,
                              const char *name)
{
    struct stat status;
    struct stat link;
    char *path = join(directory, name);
    char *below = join(relative, name);
    bool known = path != NULL && stat(path, &status) == 0 && lstat(path, &link) == 0;
    int unknown = path == NULL || known || !is_passing(errno) ? 0 : errno;
    bool is_file = !known || S_ISREG(status.st_mode);
    gconv_status result = GCONV_OK;
    if (path == NULL || below == NULL)
        result = gc_fail_memory(w->error, strlen(directory) + strlen(name));
    else if (unknown != 0 || (is_file && looks_like_image(path, &unknown)))
        result = add_batch_file(w, path, below, unknown);
    /* A linked directory may lead back here; the output directory holds results, not inputs. */
    else if (!is_file && S_ISDIR(link.st_mode) && w->options->recursive &&
             !(w->output_exists && gc_same_file(&status, &w->output)))
        result = add_directory(w, path, below);
    free(below);
    free(path);
    return result;
}

/* A directory that cannot be listed is an input that fails, like a file that cannot be read. */
static gconv_status add_unlisted(walk *w, const char *path, int error_number)
{
    return add_task(w, (gc_task){.input = gc_copy_string(path),
                                 .output = gc_copy_string(path),
                                 .unlisted = error_number});
}

static gconv_status add_directory(walk *w, const char *path, const char *relative)
{
    name_list list = {.names = NULL};
    gconv_status status = GCONV_OK;
    if (!list_directory(path, &list))
        status = add_unlisted(w, path, errno);
    for (size_t i = 0; status == GCONV_OK && i < list.count; i++)
        status = add_entry(w, path, relative, list.names[i]);
    free_names(&list);
    return status;
}

static gconv_status add_operand(walk *w, const char *operand)
{
    *w->blamed = operand;
    if (strcmp(operand, "-") == 0)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "standard input has no name to write under in a directory");
    struct stat status;
    bool found = stat(operand, &status) == 0;
    int failure = errno;
    if (found && S_ISDIR(status.st_mode))
        return add_directory(w, operand, "");
    const char *name = base_name(operand);
    bool means_directory = name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (means_directory)
        return add_unlisted(w, operand, failure);
    return add_batch_file(w, operand, name, !found && is_passing(failure) ? failure : 0);
}

/* ---- Batches ---------------------------------------------------------------------------------- */

/* Outputs go into a directory: what looks like the name of one image is refused. */
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

/* In place an image keeps its name, and so its format. */
static gconv_status check_in_place(const gc_options *options, gconv_error *error)
{
    if (options->in_place && options->no_clobber)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place replaces images, --no-clobber leaves them alone; give one");
    if (options->output_directory == NULL && options->format != GCONV_FORMAT_UNKNOWN)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--in-place keeps the format of every image; --format needs -o DIR");
    return GCONV_OK;
}

static gconv_status collect_batch(walk *w)
{
    const gc_options *options = w->options;
    w->list->batch = true;
    gconv_status status = check_in_place(options, w->error);
    if (status == GCONV_OK)
        status = check_output_directory(w);
    if (status == GCONV_OK && options->operand_count == 0)
        status = gc_fail(w->error, GCONV_ERROR_ARGUMENT, "no input is named");
    if (status == GCONV_OK && options->depth != 0 && options->format != GCONV_FORMAT_UNKNOWN)
        status = gc_check_depth(options->format, options->depth, w->error);
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = add_operand(w, options->operands[i]);
    if (status != GCONV_OK)
        return status;
    *w->blamed = NULL;
    if (w->list->count == 0)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT, "no image among the inputs%s",
                       options->recursive ? "" : " (--recursive looks below directories)");
    return gc_refuse_collisions(options, w->list, w->error);
}

gconv_status gc_check_depth(gconv_format format, int depth, gconv_error *error)
{
    if (format == GCONV_FORMAT_JPEG && depth != 8)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "JPEG holds 8 bits a sample, not %d", depth);
    if (format == GCONV_FORMAT_PFM && depth != 32)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "PFM holds floats; it takes no --depth");
    return GCONV_OK;
}

/* ---- One input, one output ------------------------------------------------------------------- */

/* Standard output takes the format of --format, png for edges, else the input's own. */
static gconv_status single_format(walk *w, const char *output, gconv_format *format,
                                  bool *either_pnm)
{
    const gc_options *options = w->options;
    *format = options->format;
    *either_pnm = options->either_pnm;
    if (strcmp(output, "-") == 0) {
        if (*format == GCONV_FORMAT_UNKNOWN && options->command == GC_COMMAND_EDGES)
            *format = GCONV_FORMAT_PNG;
        return GCONV_OK;
    }
    gconv_format named = gconv_format_from_path(output);
    if (named == GCONV_FORMAT_UNKNOWN && *format == GCONV_FORMAT_UNKNOWN)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "its extension names no known format; give --format png, jpeg, pnm, pgm, "
                       "ppm or pfm");
    bool named_pnm = named == GCONV_FORMAT_PGM || named == GCONV_FORMAT_PPM;
    if (options->either_pnm && named_pnm && !is_either_pnm(output)) { /* the name says which */
        *format = named;
        *either_pnm = false;
        return GCONV_OK;
    }
    if (*format == GCONV_FORMAT_UNKNOWN) {
        *format = named;
        *either_pnm = is_either_pnm(output);
    }
    if (named != GCONV_FORMAT_UNKNOWN && !extension_fits(options, output, *format))
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT, "--format %s contradicts the extension",
                       options->either_pnm ? "pnm" : gconv_format_name(*format));
    return GCONV_OK;
}

gconv_status gc_check_input(const char *path, gconv_error *error)
{
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO) == 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "standard input is a terminal; redirect it or name an input");
    return GCONV_OK;
}

/* Whether what is written to `path` would appear on a terminal. */
static bool is_terminal(const char *path)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO) == 1;
    if (stat(path, &status) != 0 || !S_ISCHR(status.st_mode))
        return false;
    int descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool terminal = descriptor >= 0 && isatty(descriptor) == 1;
    if (descriptor >= 0)
        close(descriptor);
    return terminal;
}

static gconv_status check_standard_streams(walk *w, const char *input, const char *output)
{
    if (is_terminal(output))
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "%s is a terminal; redirect it or name an output", gc_output_name(output));
    if (strcmp(output, "-") == 0 && w->options->json)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "--json and the image cannot both go to standard output");
    return gc_check_input(input, w->error);
}

static bool is_same_pipe(const char *input, const char *output)
{
    struct stat from, to;
    return stat(input, &from) == 0 && stat(output, &to) == 0 && S_ISFIFO(from.st_mode) &&
           gc_same_file(&from, &to);
}

static gconv_status check_single(walk *w, const char *input, const char *output,
                                 gconv_format *format, bool *either_pnm)
{
    gconv_status status = check_standard_streams(w, input, output);
    if (status != GCONV_OK)
        return status;
    *w->blamed = input;
    if (gc_is_directory(input))
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "a directory; -o DIR writes the results of those in it");
    *w->blamed = output;
    if (gc_is_directory(output))
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT, "a directory; -o DIR writes into one");
    if (output[strlen(output) - 1] == '/')
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "no such directory; -o DIR makes one and writes into it");
    if (is_same_pipe(input, output))
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "input and output are the same pipe: the result would be read again");
    status = single_format(w, output, format, either_pnm);
    if (status == GCONV_OK && w->options->depth != 0)
        status = gc_check_depth(*format, w->options->depth, w->error);
    return status;
}

static gconv_status collect_single(walk *w)
{
    const gc_options *options = w->options;
    if (options->operand_count == 1)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT,
                       "one operand alone; give IN and OUT, or -o DIR and inputs");
    if (options->operand_count > 2)
        return gc_fail(w->error, GCONV_ERROR_ARGUMENT, "%d operands; several inputs need -o DIR",
                       options->operand_count);
    bool pipe = options->operand_count == 0;
    const char *input = pipe ? "-" : options->operands[0];
    const char *output = pipe ? "-" : options->operands[1];
    gconv_format format = GCONV_FORMAT_UNKNOWN;
    bool either_pnm = false;
    gconv_status status = check_single(w, input, output, &format, &either_pnm);
    if (status != GCONV_OK)
        return status;
    *w->blamed = NULL;
    return add_task(w, (gc_task){.input = gc_copy_string(input),
                                 .output = gc_copy_string(output),
                                 .format = format,
                                 .either_pnm = either_pnm});
}

gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list, const char **blamed,
                                 gconv_error *error)
{
    *list = (gc_task_list){.tasks = NULL};
    *blamed = NULL;
    walk w = {.options = options, .list = list, .blamed = blamed, .error = error};
    bool batch = options->output_directory != NULL || options->in_place;
    if (options->recursive && !batch)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--recursive needs -o DIR or --in-place");
    return batch ? collect_batch(&w) : collect_single(&w);
}

void gc_task_list_destroy(gc_task_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->tasks[i].input);
        free(list->tasks[i].output);
    }
    free(list->tasks);
    *list = (gc_task_list){.tasks = NULL};
}
