/* Texts that are printed to memory, and files of them. */
#ifndef GC_CLI_REPORT_TEXT_H
#define GC_CLI_REPORT_TEXT_H

#include "gconv.h"

#include <stdio.h>

typedef void gc_text_function(FILE *stream, const void *content);

/* What `print` prints, as a string that free releases. */
gconv_status gc_text_print(gc_text_function *print, const void *content, char **text,
                           gconv_error *error);

/* Writes a text to a file, which appears whole or not at all. */
gconv_status gc_text_write(const char *path, const char *text, gconv_error *error);

#endif
