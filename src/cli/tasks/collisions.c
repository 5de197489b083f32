#include "cli/tasks/collisions.h"

#include "base/memory.h"
#include "base/place.h"
#include "base/processors.h"
#include "base/status.h"
#include "cli/tasks/identity.h"
#include "cli/tasks/names.h"
#include "cli/tasks/share_out.h"

#include <limits.h>
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

/* What keeps the outputs of two inputs apart. */
static const char *advise(const gc_options *options, const char *a, const char *b)
{
    size_t length = (size_t)(gc_base_name(a) - a);
    bool neighbours = length == (size_t)(gc_base_name(b) - b) && memcmp(a, b, length) == 0;
    if (options->name_template != NULL)
        return "--name has to keep them apart";
    if (neighbours)
        return "--name '{dir}/{name}.{ext}' keeps them apart";
    return options->parents ? "rename one" : "--parents keeps their directories apart";
}

static gconv_status refuse_pair(const gc_options *options, const gc_task *a, const gc_task *b,
                                gconv_error *error)
{
    if (strcmp(a->input, b->input) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.400s' is named twice", a->input);
    if (is_same_file(a->input, b->input))
        return fail_same_file(a, b, error);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%.110s' and '%.110s' would both be written to '%.110s'; %s", a->input,
                   b->input, a->output, advise(options, a->input, b->input));
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

/* ---- What there is before work starts -------------------------------------------------------- */

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

/* The name of an output, and what has it. */
typedef struct output_state {
    dev_t directory_device, device;
    ino_t directory_inode, inode; /* of its directory; of the file, behind links */
    mode_t kind;                  /* st_mode of the file */
    bool is_lost;                 /* its directory does not exist: nor does the output */
    bool has_directory;           /* the directory is known */
    bool is_link;
    bool exists; /* links lead to a file; then `device`, `inode` and `kind` are filled */
} output_state;

/* The directory that was looked at last: outputs in one directory follow each other. */
typedef struct last_directory {
    char path[PATH_MAX]; /* with its slash; "" before the first one */
    struct stat about;
    bool exists;
} last_directory;

/* Looks at the directory of a path. False where the path names none. */
static bool look_at_directory(last_directory *last, const char *path)
{
    size_t length = (size_t)(gc_base_name(path) - path);
    if (length == 0 || length >= sizeof last->path)
        return false;
    if (strncmp(last->path, path, length) != 0 || last->path[length] != '\0') {
        memcpy(last->path, path, length);
        last->path[length] = '\0';
        last->exists = stat(last->path, &last->about) == 0;
    }
    return true;
}

static output_state look_at_output(last_directory *last, const gc_task *task)
{
    struct stat about;
    output_state state = {.is_link = false};
    bool named = look_at_directory(last, task->output);
    state.is_lost = named && !last->exists;
    state.has_directory = named && last->exists;
    if (state.is_lost)
        return state;
    if (state.has_directory) {
        state.directory_device = last->about.st_dev;
        state.directory_inode = last->about.st_ino;
    }
    state.exists = lstat(task->output, &about) == 0;
    state.is_link = state.exists && S_ISLNK(about.st_mode);
    if (state.is_link)
        state.exists = stat(task->output, &about) == 0;
    if (state.exists) {
        state.device = about.st_dev;
        state.inode = about.st_ino;
        state.kind = about.st_mode;
    }
    return state;
}

/* The outputs of a list. */
typedef struct outputs {
    const gc_task_list *list;
    output_state *states;
} outputs;

/* A gc_range_function. */
static void look_at_outputs(void *user, size_t first, size_t end)
{
    const outputs *o = user;
    last_directory last = {.path = ""};
    for (size_t i = first; i < end; i++)
        o->states[i] = look_at_output(&last, &o->list->tasks[i]);
}

/* ---- Outputs over inputs --------------------------------------------------------------------- */

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
                                 const output_state *output, const file_identity *inputs,
                                 size_t count, gconv_error *error)
{
    const file_identity key = {output->device, output->inode, task};
    const file_identity *found = bsearch(&key, inputs, count, sizeof *inputs, compare_identities);
    if (found == NULL)
        return GCONV_OK;
    while (found > inputs && compare_identities(found - 1, &key) == 0)
        found--;
    gconv_status status = GCONV_OK;
    for (; status == GCONV_OK && found < inputs + count && compare_identities(found, &key) == 0;
         found++)
        status = refuse_replacement(options, task, found->task, output->kind, error);
    return status;
}

/* Whether any output exists: only such a one can be an input. */
static bool any_exists(const outputs *o)
{
    for (size_t i = 0; i < o->list->count; i++)
        if (o->states[i].exists)
            return true;
    return false;
}

typedef struct input_files {
    const gc_task_list *list;
    file_identity *identities; /* of tasks that have no file, that of no file: 0 and 0 */
} input_files;

/* A gc_range_function. */
static void look_at_inputs(void *user, size_t first, size_t end)
{
    const input_files *in = user;
    struct stat about;
    for (size_t i = first; i < end; i++) {
        const gc_task *task = &in->list->tasks[i];
        in->identities[i] = (file_identity){.task = task};
        if (task->unlisted == 0 && stat(task->input, &about) == 0)
            in->identities[i] = (file_identity){about.st_dev, about.st_ino, task};
    }
}

static gconv_status refuse_outputs_over_inputs(const gc_options *options, const outputs *o,
                                               file_identity *identities, gconv_error *error)
{
    size_t count = o->list->count;
    if (!any_exists(o))
        return GCONV_OK;
    input_files in = {o->list, identities};
    gc_share_out(count, gc_thread_count(options->job.threads), look_at_inputs, &in);
    qsort(identities, count, sizeof *identities, compare_identities);
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < count; i++)
        if (o->states[i].exists && o->list->tasks[i].unlisted == 0)
            status =
                check_output(options, &o->list->tasks[i], &o->states[i], identities, count, error);
    return status;
}

/* ---- Two outputs in one place through links -------------------------------------------------- */

/* Where an output will be: a name in a directory. */
typedef struct output_place {
    dev_t device; /* of the directory */
    ino_t inode;
    const char *name;
    char *owned; /* `name`, where links led to it; else NULL */
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

/* Follows an output to its place; without memory the name is NULL. False where the output is
 * written directly, as a pipe is, or where it cannot be written. */
static bool follow_to_place(const gc_task *task, output_place *place)
{
    struct stat directory;
    gc_place found;
    if (gc_place_find(task->output, &found, NULL) != GCONV_OK)
        return false;
    bool known = fstat(found.directory, &directory) == 0 && !gc_place_is_direct(&found);
    gc_place_close(&found);
    if (!known)
        return false;
    char *name = gc_copy_string(found.name);
    *place = (output_place){directory.st_dev, directory.st_ino, name, name, task};
    return true;
}

/* Fills `place`; without memory its name is NULL. False where the output cannot replace another
 * one: its directory does not exist yet, or --no-clobber keeps what exists. */
static bool find_place(const gc_options *options, const gc_task *task, const output_state *state,
                       output_place *place)
{
    bool is_taken = state->exists || state->is_link;
    if (task->unlisted != 0 || state->is_lost || (options->writer.no_clobber && is_taken))
        return false;
    if (!state->has_directory || state->is_link || (state->exists && !S_ISREG(state->kind)))
        return follow_to_place(task, place);
    *place = (output_place){state->directory_device, state->directory_inode,
                            gc_base_name(task->output), NULL, task};
    return true;
}

static gconv_status refuse_same_places(const gc_options *options, const outputs *o,
                                       output_place *places, gconv_error *error)
{
    size_t count = 0;
    gconv_status status = GCONV_OK;
    for (size_t i = 0; status == GCONV_OK && i < o->list->count; i++)
        if (find_place(options, &o->list->tasks[i], &o->states[i], &places[count]) &&
            places[count++].name == NULL)
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
        free(places[--count].owned);
    return status;
}

/* ---- The journal ----------------------------------------------------------------------------- */

/* Refuses an output that would replace the journal. */
static gconv_status refuse_journal(const gc_options *options, const outputs *o, gconv_error *error)
{
    gc_identity_cache cache = {.asked = ""};
    struct stat about;
    if (options->journal == NULL)
        return GCONV_OK;
    gc_hash journal = gc_identify(&cache, options->journal);
    const char *name = gc_base_name(options->journal);
    bool is_link = lstat(options->journal, &about) == 0 && S_ISLNK(about.st_mode);
    for (size_t i = 0; i < o->list->count; i++) {
        const gc_task *task = &o->list->tasks[i];
        /* Without links, files of different names are different. */
        if (!is_link && !o->states[i].is_link && strcmp(gc_base_name(task->output), name) != 0)
            continue;
        gc_hash output = gc_identify(&cache, task->output);
        if (output.high == journal.high && output.low == journal.low)
            return gc_fail(
                error, GCONV_ERROR_ARGUMENT,
                "the output of '%.200s' would replace the journal '%.200s'; name another "
                "file",
                task->input, options->journal);
    }
    return GCONV_OK;
}

/* Makes all checks. The arrays have room for an entry of each task. */
static gconv_status refuse(const gc_options *options, outputs *o, const gc_task **sorted,
                           file_identity *inputs, output_place *places, gconv_error *error)
{
    gconv_status status = refuse_same_outputs(options, o->list, sorted, error);
    if (status != GCONV_OK)
        return status;
    gc_share_out(o->list->count, gc_thread_count(options->job.threads), look_at_outputs, o);
    /* With --no-clobber nothing is replaced. */
    if (!options->writer.no_clobber)
        status = refuse_outputs_over_inputs(options, o, inputs, error);
    if (status == GCONV_OK)
        status = refuse_same_places(options, o, places, error);
    return status == GCONV_OK ? refuse_journal(options, o, error) : status;
}

gconv_status gc_refuse_collisions(const gc_options *options, const gc_task_list *list,
                                  gconv_error *error)
{
    const gc_task **sorted = gc_allocate_array(list->count, sizeof *sorted);
    file_identity *inputs = gc_allocate_array(list->count, sizeof *inputs);
    output_place *places = gc_allocate_array(list->count, sizeof *places);
    outputs o = {list, gc_allocate_array(list->count, sizeof *o.states)};
    gconv_status status = GCONV_OK;
    if (sorted == NULL || inputs == NULL || places == NULL || o.states == NULL)
        status = gc_fail_memory(error, list->count * sizeof *o.states);
    else
        status = refuse(options, &o, sorted, inputs, places, error);
    free(o.states);
    free(places);
    free(inputs);
    free(sorted);
    return status;
}
