#include "cli/tasks/collisions.h"

#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether two names lead to one file. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && gc_same_file(&first, &second);
}

/* ---- Two inputs for one output --------------------------------------------------------------- */

static int compare_outputs(const void *a, const void *b)
{
    const gc_task *x = *(const gc_task *const *)a, *y = *(const gc_task *const *)b;
    int order = strcmp(x->output, y->output);
    return order != 0 ? order : (x > y) - (x < y);
}

static gconv_status fail_same_file(const gc_task *a, const gc_task *b, gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%.150s' and '%.150s' are the same file, named twice", a->input, b->input);
}

static gconv_status refuse_pair(const gc_options *options, const gc_task *a, const gc_task *b,
                                gconv_error *error)
{
    if (strcmp(a->input, b->input) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.400s' is named twice", a->input);
    if (is_same_file(a->input, b->input))
        return fail_same_file(a, b, error);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%.110s' and '%.110s' would both be written to '%.110s'; rename one%s, or "
                   "write them to different directories",
                   a->input, b->input, a->output,
                   options->writer.format != GCONV_FORMAT_UNKNOWN ? ", leave --format out" : "");
}

static gconv_status refuse_same_outputs(const gc_options *options, const gc_task_list *list,
                                        const gc_task **sorted, gconv_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->tasks[i];
    qsort(sorted, list->count, sizeof *sorted, compare_outputs);
    for (size_t i = 0; i + 1 < list->count; i++)
        if (strcmp(sorted[i]->output, sorted[i + 1]->output) == 0)
            return refuse_pair(options, sorted[i], sorted[i + 1], error);
    return GCONV_OK;
}

/* ---- Outputs over inputs --------------------------------------------------------------------- */

typedef struct file_identity {
    dev_t device;
    ino_t inode;
    const gc_task *task;
} file_identity;

/* Compares the files alone: entries of one file are equal, whatever their tasks. */
static int compare_identities(const void *a, const void *b)
{
    const file_identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* `kind` is the st_mode of the output. */
static gconv_status refuse_replacement(const gc_options *options, const gc_task *task,
                                       const gc_task *replaced, mode_t kind, gconv_error *error)
{
    if (task == replaced && options->in_place && !S_ISREG(kind))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.400s' is not a regular file; --in-place replaces nothing else",
                       task->input);
    if (task == replaced && options->in_place)
        return GCONV_OK;
    if (task == replaced)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the output '%.150s' would replace its input '%.150s'; name another "
                       "directory, or give --in-place",
                       task->output, task->input);
    if (is_same_file(task->input, replaced->input))
        return fail_same_file(task, replaced, error);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "the output of '%.110s', '%.110s', would replace another input, '%.110s'",
                   task->input, task->output, replaced->input);
}

/* Refuses a task whose output is among the `count` sorted inputs. */
static gconv_status check_output(const gc_options *options, const gc_task *task,
                                 const file_identity *inputs, size_t count, gconv_error *error)
{
    struct stat about;
    if (task->unlisted != 0 || stat(task->output, &about) != 0)
        return GCONV_OK;
    const file_identity key = {about.st_dev, about.st_ino, task};
    const file_identity *found =
        count > 0 ? bsearch(&key, inputs, count, sizeof *inputs, compare_identities) : NULL;
    if (found == NULL)
        return GCONV_OK;
    while (found > inputs && compare_identities(found - 1, &key) == 0)
        found--;
    gconv_status status = GCONV_OK;
    for (; status == GCONV_OK && found < inputs + count && compare_identities(found, &key) == 0;
         found++)
        status = refuse_replacement(options, task, found->task, about.st_mode, error);
    return status;
}

static gconv_status refuse_outputs_over_inputs(const gc_options *options, const gc_task_list *list,
                                               file_identity *inputs, gconv_error *error)
{
    size_t count = 0;
    struct stat about;
    for (size_t i = 0; i < list->count; i++)
        if (list->tasks[i].unlisted == 0 && stat(list->tasks[i].input, &about) == 0)
            inputs[count++] = (file_identity){about.st_dev, about.st_ino, &list->tasks[i]};
    qsort(inputs, count, sizeof *inputs, compare_identities);
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < list->count; i++)
        status = check_output(options, &list->tasks[i], inputs, count, error);
    return status;
}

/* ---- Two outputs in one place through links -------------------------------------------------- */

/* Where an output will be: a name in a directory. */
typedef struct output_place {
    dev_t device; /* of the directory */
    ino_t inode;
    char *name; /* owned */
    const gc_task *task;
} output_place;

static int compare_places(const void *a, const void *b)
{
    const output_place *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->task > y->task) - (x->task < y->task);
}

/* Fills `place`; without memory its name is NULL. False where the output cannot replace another
 * one: its directory does not exist yet, --no-clobber keeps what exists, or the output is written
 * directly, as a pipe is. */
static bool find_place(const gc_options *options, const gc_task *task, output_place *place)
{
    struct stat about, directory;
    gc_place found;
    bool stays = options->writer.no_clobber && lstat(task->output, &about) == 0;
    if (task->unlisted != 0 || stays || gc_place_find(task->output, &found, NULL) != GCONV_OK)
        return false;
    bool known = fstat(found.directory, &directory) == 0 && !gc_place_is_direct(&found);
    gc_place_close(&found);
    if (known)
        *place =
            (output_place){directory.st_dev, directory.st_ino, gc_copy_string(found.name), task};
    return known;
}

static gconv_status refuse_same_places(const gc_options *options, const gc_task_list *list,
                                       output_place *places, gconv_error *error)
{
    size_t count = 0;
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < list->count; i++)
        if (find_place(options, &list->tasks[i], &places[count]) && places[count++].name == NULL)
            status = gc_fail_memory(error, NAME_MAX);
    if (status == GCONV_OK)
        qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; status == GCONV_OK && i + 1 < count; i++) {
        const gc_task *a = places[i].task, *b = places[i + 1].task;
        if (places[i].device == places[i + 1].device && places[i].inode == places[i + 1].inode &&
            strcmp(places[i].name, places[i + 1].name) == 0)
            status = gc_fail(error, GCONV_ERROR_ARGUMENT,
                             "'%.90s' and '%.90s' would both be written to one file: links make "
                             "'%.90s' and '%.90s' the same",
                             a->input, b->input, a->output, b->output);
    }
    while (count > 0)
        free(places[--count].name);
    return status;
}

gconv_status gc_refuse_collisions(const gc_options *options, const gc_task_list *list,
                                  gconv_error *error)
{
    const gc_task **sorted = gc_allocate_array(list->count, sizeof *sorted);
    file_identity *inputs = gc_allocate_array(list->count, sizeof *inputs);
    gconv_status status = GCONV_OK;
    output_place *places = gc_allocate_array(list->count, sizeof *places);
    if (sorted == NULL || inputs == NULL || places == NULL)
        status = gc_fail_memory(error, list->count * sizeof *inputs);
    if (status == GCONV_OK)
        status = refuse_same_outputs(options, list, sorted, error);
    /* With --no-clobber nothing is replaced. */
    if (status == GCONV_OK && !options->writer.no_clobber)
        status = refuse_outputs_over_inputs(options, list, inputs, error);
    if (status == GCONV_OK)
        status = refuse_same_places(options, list, places, error);
    free(places);
    free(inputs);
    free(sorted);
    return status;
}
