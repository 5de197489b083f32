/* A place: where an output goes, after symbolic links are followed. It is an open directory and a
 * name in it. Calls by descriptor and name reach that directory even if its path changes
 * meanwhile. */
#pragma once

#include "gconv.h"

#include <limits.h>
#include <sys/stat.h>

typedef struct gc_place {
    int directory;           /* a descriptor for openat(2) and the like; -1 if it is closed */
    char name[NAME_MAX + 1]; /* in that directory */
    bool exists;             /* whether the name was taken when it was looked up */
    struct stat about;       /* what has the name; never a symbolic link */
    /* The name is a link in /proc to an open file, which the text of the link does not lead to. The
     * file may have no name. `about` describes that file. Such a link has to be opened as it is. */
    bool is_proc_link;
} gc_place;

/* Finds the place of an output. Symbolic links in the last part of the path are followed, even if
 * they lead to nothing. On failure nothing is open. */
gconv_status gc_place_find(const char *path, gc_place *place, gconv_error *error);

/* Closes the directory. */
void gc_place_close(gc_place *place);

/* Whether an output is written directly to what is there: a pipe, a device or an open file of
 * /proc. Other outputs are written under a temporary name and renamed. */
bool gc_place_is_direct(const gc_place *place);

/* Whether two results of stat(2) describe the same file. */
bool gc_same_file(const struct stat *a, const struct stat *b);
