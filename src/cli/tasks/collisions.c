#include "cli/tasks/collisions.h"

#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "cli/options/words.h"
#include "cli/tasks/names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- What the names of a task lead to -------------------------------------------------------- */

typedef struct identities {
    gc_identity input, output;
} identities;

/* Does not look for links if there are none to follow: --no-clobber replaces no link, an empty
 * directory has none, and some inputs are known to be none. A look into the output directory would
 * wait for the threads that create files there, and they for it. */
static identities identify(const gc_taken_names *names, gc_identity_cache *sources,
                           gc_identity_cache *outputs, const gc_task *task)
{
    bool is_plain = names->no_linked_outputs || names->options->writer.no_clobber;
    bool has_one_name = task->is_plain && (is_plain || names->tasks == NULL);
    identities found = {
        has_one_name ? gc_identify_plain(sources, task->input) : gc_identify(sources, task->input),
        is_plain ? gc_identify_plain(outputs, task->output) : gc_identify(outputs, task->output)};
    if (names->tasks == NULL) { /* a link may have gone before the next name comes */
        found.input.file = found.input.path;
        found.output.file = found.output.path;
    }
    return found;
}

/* ---- Refusing -------------------------------------------------------------------------------- */

static const char *input_of(const gc_taken_names *names, uint64_t number)
{
    return names->tasks != NULL ? names->tasks[number - 1].input : names->names.bytes + number - 1;
}

/* What keeps the outputs of two inputs apart. */
static const char *advise(const gc_options *options, const char *a, const char *b)
{
    size_t length = (size_t)(gc_base_name(a) - a);
    bool neighbours = length == (size_t)(gc_base_name(b) - b) && memcmp(a, b, length) == 0;
    if (options->batch.name_template != NULL)
        return "--name has to keep them apart";
    if (neighbours)
        return "--name '{dir}/{name}.{ext}' keeps them apart";
    return options->batch.parents ? "rename one" : "--parents keeps their directories apart";
}

static gconv_status refuse_twice(const char *earlier, const char *input, gconv_error *error)
{
    if (strcmp(earlier, input) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.400s' is named twice", input);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%.150s' and '%.150s' are the same file, named twice", earlier, input);
}

/* Refuses what --in-place does not allow of a task that replaces its own input. */
static gconv_status check_own(const gc_taken_names *names, const gc_task *task, mode_t mode,
                              gconv_error *error)
{
    if (!names->options->batch.in_place)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the output '%.150s' would replace its input '%.150s'; name another "
                       "directory, or give --in-place",
                       task->output, task->input);
    if (mode != 0 && !S_ISREG(mode))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.400s' is not a regular file; --in-place replaces nothing else",
                       task->input);
    return GCONV_OK;
}

/* Refuses a task whose output was or would replace an earlier name. */
static gconv_status compare(const gc_taken_names *names, gc_task *task, const identities *own,
                            gconv_error *error)
{
    const gc_options *options = names->options;
    bool replaces = !options->writer.no_clobber;
    bool replaces_own = replaces && gc_hash_is_same(own->input.file, own->output.file);
    uint64_t same = gc_map_find(&names->outputs, own->output.path);
    uint64_t twice = gc_map_find(&names->inputs, own->input.file);
    uint64_t source = gc_map_find(&names->inputs, own->output.file);
    uint64_t result = gc_map_find(&names->outputs, own->input.file);
    /* Its record in a journal would take the place of the other one's. */
    task->repeated = same != 0 && twice == same;
    if (task->repeated || (replaces_own && options->batch.in_place && twice != 0))
        return refuse_twice(input_of(names, twice), task->input, error);
    if (same != 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.110s' and '%.110s' would both be written to '%.110s'; %s",
                       input_of(names, same), task->input, task->output,
                       advise(options, input_of(names, same), task->input));
    if (replaces_own)
        return check_own(names, task, own->output.mode, error);
    if (replaces && (source != 0 || result != 0))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the output of '%.150s' would replace another input, '%.150s'",
                       source != 0 ? task->input : input_of(names, result),
                       source != 0 ? input_of(names, source) : task->input);
    return GCONV_OK;
}

/* Whether the image `name` beside the input of a task would be written to its output. */
static bool shares_output(gc_taken_names *names, const gc_task *task, const char *name,
                          bool *is_output)
{
    const gc_named_format named = gc_format_named(name);
    int directory = (int)(gc_base_name(task->input) - task->input), unknown = 0;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%.*s%s", directory, task->input, name);
    if (length >= (int)sizeof path)
        return false;
    gconv_format format = gc_batch_format(names->options, path, &named, true, &unknown);
    char *output = gc_batch_output(names->options, name, &named, format);
    bool same = output != NULL && strcmp(gc_base_name(output), gc_base_name(task->output)) == 0;
    free(output);
    if (!same)
        return false;
    gc_identity beside = gc_identify(&names->of_inputs, path);
    gc_hash source = gc_identify(&names->of_inputs, task->input).file;
    gc_hash result = gc_identify(&names->of_outputs, task->output).file;
    *is_output = gc_hash_is_same(beside.file, result);
    return S_ISREG(beside.mode) && !gc_hash_is_same(beside.file, source);
}

/* Refuses a named input that changes its extension if an image beside it, of which nothing else is
 * known, would have the same output: commands in a loop do not know of each other. Such an image
 * may be the output itself. Then it may be replaced where an option or a journal speaks of earlier
 * outputs. --name says that this name is meant. */
static gconv_status check_beside(gc_taken_names *names, const gc_task *task, gconv_error *error)
{
    const gc_options *options = names->options;
    const char *own = gc_base_name(task->input);
    bool expects_outputs =
        options->writer.no_clobber || options->batch.update || options->journal.file != NULL;
    bool is_output = false;
    uint64_t place;
    if (options->batch.directory == NULL || options->batch.name_template != NULL ||
        !task->is_alone || strcmp(own, gc_base_name(task->output)) == 0)
        return GCONV_OK;
    if (!gc_neighbours_find(&names->neighbours, task->input, &place))
        return gc_fail_memory(error, sizeof(gc_map_entry));
    while (place != 0) {
        const char *name = gc_neighbours_next(&names->neighbours, &place);
        if (strcmp(name, own) != 0 && shares_output(names, task, name, &is_output) &&
            !(is_output && expects_outputs))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "'%.110s' and '%.70s' beside it would both be written to '%.110s'; "
                           "--name '{dir}/{name}.{ext}' keeps them apart, and --name "
                           "'{dir}/{stem}.{ext}' %s",
                           task->input, name, task->output,
                           is_output ? "replaces the latter" : "writes this one");
    }
    return GCONV_OK;
}

/* The number of the next name; 0 if memory is out. */
static uint64_t next_number(gc_taken_names *names, const gc_task *task)
{
    size_t number = names->names.size + 1;
    if (names->tasks != NULL)
        return (uint64_t)(task - names->tasks) + 1;
    gc_buffer_add(&names->names, task->input, strlen(task->input) + 1);
    return names->names.failed ? 0 : number;
}

/* Notes a name unless an earlier task has it. */
static bool note(gc_map *map, gc_hash name, uint64_t number)
{
    return gc_map_find(map, name) != 0 || gc_map_set(map, name, number);
}

/* Compares a task with those before it, and notes its names. */
static gconv_status add(gc_taken_names *names, gc_task *task, const identities *own,
                        gconv_error *error)
{
    if (names->options->journal.file != NULL && gc_hash_is_same(own->output.path, names->journal))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "the output of '%.200s' would replace the journal '%.200s'; name another "
                       "file",
                       task->input, names->options->journal.file);
    if (task->is_alone && gc_is_foreign(task->input)) /* it is said when its turn comes */
        return GCONV_OK;
    GC_TRY(compare(names, task, own, error));
    GC_TRY(check_beside(names, task, error));
    uint64_t number = next_number(names, task);
    bool is_direct = own->output.mode != 0 && !S_ISREG(own->output.mode); /* takes any number */
    if (number == 0 || !note(&names->inputs, own->input.file, number) ||
        (!is_direct && !(note(&names->outputs, own->output.path, number) &&
                         note(&names->outputs, own->output.file, number))))
        return gc_fail_memory(error, sizeof(gc_map_entry));
    return GCONV_OK;
}

void gc_taken_begin(gc_taken_names *names, const gc_options *options, const gc_task *tasks)
{
    const char *directory = options->batch.directory;
    *names = (gc_taken_names){.options = options, .tasks = tasks};
    if (options->journal.file != NULL)
        names->journal = gc_identify(&names->of_outputs, options->journal.file).path;
    names->no_linked_outputs = directory != NULL && gc_is_empty_directory(directory);
}

void gc_taken_add(gc_taken_names *names, gc_task *task)
{
    gconv_error error;
    if (gc_task_is_doomed(task))
        return;
    const identities own = identify(names, &names->of_inputs, &names->of_outputs, task);
    gconv_status status = add(names, task, &own, &error);
    task->collides = status == GCONV_ERROR_ARGUMENT;
    task->refused = task->collides ? gc_copy_string(error.message) : NULL;
    if (status != GCONV_OK && task->refused == NULL)
        task->unknown = ENOMEM;
}

void gc_taken_free(gc_taken_names *names)
{
    gc_map_free(&names->inputs);
    gc_map_free(&names->outputs);
    gc_buffer_free(&names->names);
    gc_neighbours_free(&names->neighbours);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* The tasks of a list at which several threads look. */
typedef struct look {
    const gc_taken_names *names;
    identities *found;
} look;

/* A gc_range_function. */
static void look_at_range(void *user, size_t first, size_t end)
{
    const look *l = user;
    gc_identity_cache sources = {.asked = ""}, outputs = {.asked = ""};
    for (size_t i = first; i < end; i++)
        l->found[i] = identify(l->names, &sources, &outputs, &l->names->tasks[i]);
}

gconv_status gc_refuse_collisions(const gc_options *options, const gc_task_list *list,
                                  gconv_error *error)
{
    gc_taken_names names;
    gc_collisions collisions = {.count = 0};
    gconv_status status = GCONV_OK;
    look l = {&names, gc_allocate_array(list->count, sizeof *l.found)};
    GC_TRY_MEMORY(l.found != NULL, error, list->count * sizeof *l.found);
    gc_taken_begin(&names, options, list->tasks);
    gc_share_out(list->count, gc_thread_count(options->job.threads), look_at_range, &l);
    for (size_t i = 0; i < list->count && status != GCONV_ERROR_MEMORY; i++) {
        if (gc_task_is_doomed(&list->tasks[i]))
            continue;
        status = add(&names, &list->tasks[i], &l.found[i], error);
        if (status == GCONV_ERROR_ARGUMENT)
            gc_collisions_add(&collisions, error->message);
    }
    gc_taken_free(&names);
    free(l.found);
    return status == GCONV_ERROR_MEMORY ? status : gc_collisions_tell(&collisions, error);
}

/* ---- Telling --------------------------------------------------------------------------------- */

void gc_collisions_add(gc_collisions *collisions, const char *message)
{
    if (collisions->count < 2)
        gc_fail(&collisions->examples[collisions->count], GCONV_ERROR_ARGUMENT, "%s", message);
    collisions->count++;
}

gconv_status gc_collisions_tell(const gc_collisions *collisions, gconv_error *error)
{
    const char *first = collisions->examples[0].message, *second = collisions->examples[1].message;
    if (collisions->count == 0)
        return GCONV_OK;
    if (collisions->count == 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s", first);
    const char *advice = strstr(first, "; "); /* the second has it, too */
    bool is_told = advice != NULL && strstr(second, advice) != NULL;
    int length = is_told ? (int)(advice - first) : (int)strlen(first);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "%zu collisions: %.*s; %.240s", collisions->count,
                   length < 220 ? length : 220, first, second);
}
