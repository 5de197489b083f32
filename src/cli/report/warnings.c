#include "cli/report/warnings.h"

#include "base/memory.h"
#include "cli/report/json.h"
#include "cli/report/messages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXTS_MAX = 100, MARKED_BYTES = 640 /* a message of the library, and a word */ };

/* The reader and the writer of an image warn from different threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(gc_warning_list *list, const char *message)
{
    if (list == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (list->texts == NULL)
        list->texts = calloc(TEXTS_MAX, sizeof *list->texts);
    char *text = list->texts != NULL && list->count < TEXTS_MAX ? gc_copy_string(message) : NULL;
    if (text != NULL)
        list->texts[list->count++] = text;
    else
        list->left_out++;
    pthread_mutex_unlock(&lock);
}

void gc_take_warning(void *target, const char *message)
{
    const gc_warning_target *to = target;
    char marked[MARKED_BYTES];
    keep(to->list, message);
    snprintf(marked, sizeof marked, "warning: %s", message);
    gc_note_into(to->notes, to->name, marked);
}

void gc_take_damage(void *target, const char *message)
{
    const gc_warning_target *to = target;
    keep(to->list, message);
    gc_warn_into(to->notes, to->name, message);
}

void gc_warning_list_json(const gc_warning_list *list)
{
    char more[64];
    gc_json_open("warnings", '[');
    for (size_t i = 0; i < list->count; i++)
        gc_json_string(NULL, list->texts[i]);
    snprintf(more, sizeof more, "%zu more warnings", list->left_out);
    if (list->left_out > 0)
        gc_json_string(NULL, more);
    gc_json_close(']');
}

void gc_warning_list_destroy(gc_warning_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->texts[i]);
    free(list->texts);
    *list = (gc_warning_list){.texts = NULL};
}
