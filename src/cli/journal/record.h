/* A line of a journal: what became of one image. */
#pragma once

#include "base/digest.h"
#include "gconv.h"

#include <sys/stat.h>

typedef enum gc_record_status {
    GC_RECORD_DONE,
    GC_RECORD_MISMATCH, /* written, but --verify found a difference */
    GC_RECORD_FAILED,
    GC_RECORD_INTENT, /* the result is complete and about to replace its input */
    GC_RECORD_STATUSES
} gc_record_status;

/* A file as it was. */
typedef struct gc_file_state {
    int64_t size; /* bytes; -1: there was none */
    int64_t seconds, nanoseconds;
    char digest[GC_DIGEST_BYTES]; /* "": not known */
} gc_file_state;

/* The hash of a recipe as digits, and a NUL. */
enum { GC_RECIPE_BYTES = 33 };

typedef struct gc_record {
    char *input, *output; /* paths, owned */
    char *error;          /* of GC_RECORD_FAILED, owned; else NULL */
    bool final;           /* of GC_RECORD_FAILED: the input itself is at fault */
    gc_record_status status;
    char recipe[GC_RECIPE_BYTES];
    gc_file_state in, out;
    char implementation[32];
    bool exact; /* the chain is */
    gconv_promise promise;
    bool in_place; /* the output replaced its input, is about to, or may have before it failed */
    double seconds;
} gc_record;

/* What names a record: a hash of the paths. */
uint64_t gc_record_id(const char *input, const char *output);

/* Fills size and time; the digest becomes "". */
gc_file_state gc_file_state_of(const struct stat *about);

/* Whether size and time are equal. */
bool gc_file_state_is_same(const gc_file_state *a, const gc_file_state *b);

/* Whether a file that has the recorded size has the recorded hash. */
bool gc_file_has_digest(const char *path, const gc_file_state *recorded);

/* The line of a record with its newline. `host` is the machine that computed it; free releases it.
 * NULL if memory is out. */
char *gc_record_line(const gc_record *record, const char *host);

/* Reads a line. GCONV_ERROR_FORMAT if it is not that of a record. */
gconv_status gc_record_read(const char *line, gc_record *record, gconv_error *error);

void gc_record_destroy(gc_record *record);
