/* The words that --format takes. */
#ifndef GC_CLI_OPTIONS_FORMATS_H
#define GC_CLI_OPTIONS_FORMATS_H

#include "gconv.h"

enum {
    GC_FORMAT_WORDS = GCONV_FORMAT_COUNT - 1 + 1, /* less GCONV_FORMAT_UNKNOWN, and "pnm" */
    GC_FORMAT_LIST_BYTES = 16 * GC_FORMAT_WORDS,
};

/* The names of the formats that can be written, and "pnm" before "pgm". Returns how many there
 * are. */
size_t gc_format_words(const char *words[GC_FORMAT_WORDS]);

/* "png, jpeg, pnm, pgm, ppm or pfm". Returns `list`. */
const char *gc_list_formats(char list[GC_FORMAT_LIST_BYTES]);

#endif
