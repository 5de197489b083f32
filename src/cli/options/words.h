/* Values of options that are words or numbers, with messages that say what is legal. */
#pragma once

#include "gconv.h"

/* A word and the value that it stands for. A list of words ends with a name that is NULL. */
typedef struct gc_word {
    const char *name;
    int value;
} gc_word;

/* Reads one of the words, of which there are 16 at most. */
gconv_status gc_read_word(const gc_word *words, const char *text, int *value, gconv_error *error);

/* Writes "; did you mean 'NAME'?" to `buffer`, or nothing if no name is near. */
void gc_suggest(const char *text, const char *const *names, size_t count, char *buffer,
                size_t size);

/* Appends a name to the list "a, b or c"; `rest` is how many names still come. */
void gc_list_name(char *list, size_t size, const char *name, size_t rest);

/* What the extension of a path stands for. */
typedef struct gc_named_format {
    gconv_format format;                 /* GCONV_FORMAT_UNKNOWN: none that gconv has */
    bool either_pnm;                     /* PGM and PPM alike; `format` is one of them */
    const gconv_foreign_format *foreign; /* that gconv knows by sight; NULL: none */
} gc_named_format;

gc_named_format gc_format_named(const char *path);

enum {
    GC_FORMAT_WORDS = GCONV_FORMAT_COUNT - 1 + 1, /* less GCONV_FORMAT_UNKNOWN, and "pnm" */
    GC_FORMAT_LIST_BYTES = 16 * GC_FORMAT_WORDS,
};

/* The names of the formats that can be written, and "pnm" before "pgm". Returns how many there
 * are. */
size_t gc_format_words(const char *words[GC_FORMAT_WORDS]);

/* "png, jpeg, pnm, pgm, ppm or pfm". Returns `list`. */
const char *gc_list_formats(char list[GC_FORMAT_LIST_BYTES]);
