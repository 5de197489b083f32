/* Which file a path will lead to, also where it does not exist yet. */
#ifndef GC_CLI_TASKS_IDENTITY_H
#define GC_CLI_TASKS_IDENTITY_H

#include "base/hash.h"
#include "gconv.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The directory that was looked up last, so that names in one directory cost little. */
typedef struct gc_identity_cache {
    char asked[PATH_MAX];    /* "": none yet */
    char resolved[PATH_MAX]; /* without links as far as it exists */
} gc_identity_cache;

/* What a path leads to. */
typedef struct gc_identity {
    /* The hash of the path without links. Two paths to one name have equal hashes, whether the file
     * exists or not. */
    gc_hash path;
    gc_hash file; /* the same, but one for all names (hard links) of a file */
    mode_t mode;  /* st_mode of what is there; 0: nothing is */
} gc_identity;

gc_identity gc_identify(gc_identity_cache *cache, const char *path);

/* The same without a look at the last part of the path: its links are not followed, it has one
 * name, and its mode is 0. */
gc_identity gc_identify_plain(gc_identity_cache *cache, const char *path);

/* Whether two paths lead to one file: hard links count as different files. False where one is NULL
 * or "-". */
bool gc_is_one_path(const char *a, const char *b);

/* Whether `path` names something in a directory or below it. Neither needs to exist. */
bool gc_lies_below(const char *path, const char *directory);

#endif
