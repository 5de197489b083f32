#include "cli/tasks/collect.h"

#include "base/status.h"
#include "cli/options/table.h"
#include "cli/options/values.h"
#include "cli/tasks/collisions.h"
#include "cli/tasks/single.h"
#include "cli/tasks/stream.h"
#include "cli/tasks/walk.h"

/* Refuses options of batches where one image is named. */
static gconv_status refuse_alone(const gc_options *options, gconv_error *error)
{
    static const char *const names[] = {"recursive",   "parents", "name",   "files-from",
                                        "files0-from", "shard",   "update", "dry-run",
                                        "on-error",    "journal", "hash",   "retry-failed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (gc_option_given(options, names[i]))
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "--%s needs -o DIR or --in-place",
                           names[i]);
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
                                  const char **blamed, gconv_error *error)
{
    if (options->batch.files_from != NULL)
        return gc_task_stream_create(options, &list->stream, blamed, error);
    gc_walk w;
    gconv_status status = gc_walk_begin(&w, options, list, blamed, error);
    for (int i = 0; status == GCONV_OK && i < options->operand_count; i++)
        status = gc_walk_add(&w, options->operands[i]);
    if (status != GCONV_OK)
        return status;
    *blamed = NULL;
    if (list->count == 0 && list->foreign > 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "no image among the inputs; %zu image file%s of other formats ignored",
                       list->foreign, list->foreign == 1 ? "" : "s");
    if (list->count == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no image among the inputs%s",
                       options->batch.recursive ? "" : " (--recursive looks below directories)");
    status = gc_refuse_collisions(options, list, error);
    keep_shard(options, list);
    return status;
}

gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list, const char **blamed,
                                 gconv_error *error)
{
    *list = (gc_task_list){.batch = gc_is_batch(options)};
    *blamed = NULL;
    if (!list->batch && refuse_alone(options, error) != GCONV_OK)
        return GCONV_ERROR_ARGUMENT;
    return list->batch ? collect_batch(options, list, blamed, error)
                       : gc_collect_single(options, list, blamed, error);
}

void gc_task_list_destroy(gc_task_list *list)
{
    gc_task_list_clear(list);
    gc_task_stream_free(list->stream);
    list->stream = NULL;
}
