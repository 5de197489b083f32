/* Directories that the program makes for outputs. */
#pragma once

#include "base/map.h"
#include "gconv.h"

#include <pthread.h>
#include <stdio.h>

/* The directories that were made, in this order. Any thread may call the functions below. */
typedef struct gc_directories {
    pthread_mutex_t lock; /* of what was made */
    char **names;
    size_t count, capacity;
    pthread_mutex_t visiting; /* held before `lock` */
    gc_map there, clean;      /* directories that exist; that are free of leftovers */
} gc_directories;

#define GC_DIRECTORIES_NONE                                                                        \
    (gc_directories)                                                                               \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .visiting = PTHREAD_MUTEX_INITIALIZER                   \
    }

/* Makes the directory `path` and its parents. */
gconv_status gc_make_directory(gc_directories *made, const char *path, gconv_error *error);

/* Makes the directories above `path` that do not exist yet. */
gconv_status gc_make_parents(gc_directories *made, const char *path, gconv_error *error);

/* Removes temporary files that killed processes left in the directory above `path`, once for each
 * directory. Notes how many, as gc_note_into does. */
void gc_clean_parent(gc_directories *made, const char *path, FILE *notes);

/* Makes the directory above `path` and its parents, and cleans it as gc_clean_parent does. */
gconv_status gc_prepare_parent(gc_directories *made, const char *path, FILE *notes,
                               gconv_error *error);

/* Removes the recorded directories that are empty, and frees the record. */
void gc_remove_empty_directories(gc_directories *made);
