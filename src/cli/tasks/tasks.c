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
        gc_task_destroy(&task);
        return gc_fail_memory(error, sizeof *list->tasks);
    }
    list->tasks[list->count++] = task;
    return GCONV_OK;
}

void gc_task_destroy(gc_task *task)
{
    free(task->input);
    free(task->output);
    free(task->refused);
    *task = (gc_task){.input = NULL};
}

bool gc_task_is_doomed(const gc_task *task)
{
    return task->unlisted != 0 || task->unknown != 0 || task->refused != NULL;
}

void gc_task_list_clear(gc_task_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        gc_task_destroy(&list->tasks[i]);
    free(list->tasks);
    list->tasks = NULL;
    list->count = list->capacity = 0;
}
