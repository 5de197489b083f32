#include "cli/tasks/tasks.h"

#include "base/status.h"

#include <stdlib.h>

gconv_status gc_task_list_add(gc_task_list *list, gc_task task, gconv_error *error)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        gc_task *longer = realloc(list->tasks, capacity * sizeof *longer);
        if (longer != NULL) {
            list->tasks = longer;
            list->capacity = capacity;
        }
    }
    if (task.input == NULL || task.output == NULL || list->count == list->capacity) {
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
