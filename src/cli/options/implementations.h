/* Names of implementations, and lists of them: what --impl takes. */
#pragma once

#include "gconv.h"

enum { GC_NAME_BYTES = 64 };

/* The next name of a list with commas; moves *list behind it. False at the end, when *list is
 * NULL. */
bool gc_next_name(const char **list, char name[GC_NAME_BYTES]);

/* Refuses a list in which a name is neither an implementation, as gconv_implementation_find knows
 * it, nor "auto" nor "all". */
gconv_status gc_check_names(const char *list, gconv_error *error);

/* Whether a list stands for several implementations. */
bool gc_names_several(const char *list);

/* Whether a list names each implementation itself, without "all". Then each must be usable. False
 * for NULL. */
bool gc_names_each(const char *list);

/* The names that a list stands for, each once: the reference first, which others are compared with,
 * then the list's order; "all" has the registry's. An array of *count names, freed with free; NULL
 * if there is no memory. */
const char **gc_expand_names(const char *list, int *count);

/* Describes the implementation of this name; false if there is none. */
bool gc_describe_name(const char *name, gconv_implementation_info *info);

/* Whether an implementation runs on GPUs; false for "auto". */
bool gc_is_cuda(const char *name);
