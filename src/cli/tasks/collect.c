#include "cli/tasks/collect.h"

#include "base/status.h"
#include "cli/tasks/batch.h"
#include "cli/tasks/single.h"

gconv_status gc_task_list_create(const gc_options *options, gc_task_list *list, const char **blamed,
                                 gconv_error *error)
{
    *list = (gc_task_list){.batch = options->output_directory != NULL || options->in_place};
    *blamed = NULL;
    if (options->recursive && !list->batch)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "--recursive needs -o DIR or --in-place");
    return list->batch ? gc_collect_batch(options, list, blamed, error)
                       : gc_collect_single(options, list, blamed, error);
}
