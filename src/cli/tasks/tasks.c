#include "cli/tasks/tasks.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

gc_task gc_task_make(const char *input, const char *output)
{
    return (gc_task){.input = gc_copy_string(input),
                     .output = output != NULL ? gc_copy_string(output) : NULL};
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

void gc_images_count(gc_images *images, const char *name)
{
    if (images->count < GC_IMAGES_NAMED)
        images->names[images->count] = gc_copy_string(name);
    images->count++;
}

void gc_images_free(gc_images *images)
{
    for (int i = 0; i < GC_IMAGES_NAMED; i++)
        free(images->names[i]);
}

const char *gc_images_list(const char *before, const gc_images *images, size_t most,
                           char text[GC_IMAGES_BYTES])
{
    enum { SHOWN = 120 };
    size_t named = images->count < most ? images->count : most;
    size_t used = (size_t)snprintf(text, GC_IMAGES_BYTES, "%s", before);
    for (size_t i = 0; i < named; i++) {
        const char *name = images->names[i] != NULL ? images->names[i] : "?";
        size_t length = strlen(name), hidden = length > SHOWN ? length - SHOWN : 0;
        used += (size_t)snprintf(text + used, GC_IMAGES_BYTES - used, "%s%s%s", i > 0 ? ", " : "",
                                 hidden > 0 ? "..." : "", name + hidden);
    }
    if (images->count > named)
        snprintf(text + used, GC_IMAGES_BYTES - used, " and %zu more", images->count - named);
    return text;
}
