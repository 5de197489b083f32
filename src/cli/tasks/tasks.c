#include "cli/tasks/tasks.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

gconv_status gc_task_list_add(gc_task_list *list, gc_task task, gconv_error *error)
{
    gc_task *tasks = gc_make_room(list->tasks, list->count, &list->capacity, sizeof *tasks);
    if (tasks != NULL)
        list->tasks = tasks;
    if (task.input == NULL || task.output == NULL || tasks == NULL) {
        free(task.input);
        free(task.output);
        return gc_fail_memory(error, sizeof *list->tasks);
    }
    list->tasks[list->count++] = task;
    return GCONV_OK;
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
