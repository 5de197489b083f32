/* Names of temporary files: .NAME.gconv-HHHHHHHHRRRRRRCCCC. H names the machine and its start, R is
 * random, and C is computed from the rest, so that no name of a user's is taken for one. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Eight hexadecimal digits and NUL. */
enum { GC_HOST_TAG_BYTES = 9 };

/* The tag of this machine since it was started. False, with the tag "00000000", if the machine
 * cannot be told from others. */
bool gc_host_tag(char tag[GC_HOST_TAG_BYTES]);

/* Writes a temporary name for NAME, which is cut if it is long. */
void gc_temporary_name(const char *tag, const char *name, char buffer[NAME_MAX + 1]);

/* Whether gc_temporary_name made a name with this tag. */
bool gc_temporary_is_of(const char *tag, const char *name);
