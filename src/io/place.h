/* Where an output goes: a name in a directory that is held open, symbolic links followed. What is
 * done by descriptor and name stays in that directory, whatever becomes of its path meanwhile. */
#ifndef GC_IO_PLACE_H
#define GC_IO_PLACE_H

#include "gconv.h"

#include <limits.h>
#include <sys/stat.h>

typedef struct gc_place {
    int directory;           /* for openat(2) and its like alone; -1 where there is none */
    char name[NAME_MAX + 1]; /* in that directory */
    bool exists;             /* whether there was something of that name */
    struct stat about;       /* and what; never a symbolic link */
    /* The name is a link of /proc, which leads by itself to what `about` describes: an open file,
     * perhaps without a name. Only such a link is to be followed. */
    bool is_proc_link;
} gc_place;

/* Finds the place of an output. Links in its last part are followed by their text, dangling ones
 * too. On failure nothing is open. */
gconv_status gc_place_find(const char *path, gc_place *place, gconv_error *error);

/* Closes the directory. */
void gc_place_close(gc_place *place);

/* Whether an output is written to what is there, a pipe, a device or an open file of /proc, so that each
 * byte is out at once. A file is written beside its place instead, and appears whole. */
bool gc_place_is_direct(const gc_place *place);

/* Whether two descriptions are of one file. */
bool gc_same_file(const struct stat *a, const struct stat *b);

#endif
