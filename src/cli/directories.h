/* Directories made for outputs. */
#ifndef GC_CLI_DIRECTORIES_H
#define GC_CLI_DIRECTORIES_H

#include "gconv.h"

#include <pthread.h>

/* Those that were made, in this order. Any thread. */
typedef struct gc_directories {
    pthread_mutex_t lock;
    char **names;
    size_t count, capacity;
} gc_directories;

#define GC_DIRECTORIES_NONE                                                                        \
    (gc_directories)                                                                               \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Makes `path`, a directory, with its parents. */
gconv_status gc_make_directory(gc_directories *made, const char *path, gconv_error *error);

/* Makes the directories above `path` that are not there yet. */
gconv_status gc_make_parent_directories(gc_directories *made, const char *path, gconv_error *error);

/* Removes those that were made and are empty, and forgets all of them. */
void gc_remove_empty_directories(gc_directories *made);

#endif
