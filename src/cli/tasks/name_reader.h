/* Names from a file, one after the other, each ended by a newline or by a NUL byte. */
#ifndef GC_CLI_TASKS_NAME_READER_H
#define GC_CLI_TASKS_NAME_READER_H

#include "gconv.h"

#include <stdatomic.h>

enum { GC_LISTED_NAME_BYTES = 1 << 16 }; /* a name with its end has at most this many bytes */

typedef struct gc_name_reader {
    int descriptor;
    char end;         /* '\n' or '\0' */
    bool at_end;      /* nothing is left to read from the file */
    uint64_t entries; /* that were taken, empty ones among them */
    size_t first, filled;
    atomic_bool stopped; /* somebody called gc_name_reader_stop */
    char buffer[GC_LISTED_NAME_BYTES];
} gc_name_reader;

/* Opens a list. "-" is standard input. */
gconv_status gc_name_reader_open(const char *path, char end, gc_name_reader **reader,
                                 gconv_error *error);

/* Takes the next name. It stays until the next call. NULL at the end. Empty lines are passed over.
 * After a failure about one name the next call takes the next name; after others it ends. */
gconv_status gc_name_reader_next(gc_name_reader *reader, const char **name, gconv_error *error);

/* Makes gc_name_reader_next end soon, also where it waits for a pipe. Any thread. */
void gc_name_reader_stop(gc_name_reader *reader);

/* NULL is allowed. */
void gc_name_reader_free(gc_name_reader *reader);

#endif
