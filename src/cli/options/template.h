/* Templates for names of outputs, such as "{dir}/{stem}-edges.{ext}". */
#pragma once

#include "gconv.h"

typedef enum gc_placeholder {
    GC_PLACEHOLDER_NONE, /* text that stands for itself */
    GC_PLACEHOLDER_DIR,  /* the input's directory below its root */
    GC_PLACEHOLDER_STEM, /* the input's name without its extension */
    GC_PLACEHOLDER_NAME, /* the input's name */
    GC_PLACEHOLDER_EXT   /* an extension that fits the output's format */
} gc_placeholder;

/* Bytes without a NUL at their end. */
typedef struct gc_text {
    const char *text;
    size_t length;
} gc_text;

/* Takes the next piece from a template that gc_template_check accepts: a placeholder, or text that
 * stands for itself. "{{" and "}}" are braces. False at the end. */
bool gc_template_next(const char **rest, gc_text *piece, gc_placeholder *placeholder);

/* Refuses a template with another word in braces, with a brace alone, with "..", with a slash at
 * its end, or with nothing in it that differs between inputs. */
gconv_status gc_template_check(const char *text, gconv_error *error);
