/* The nearest match for "did you mean". */
#pragma once

#include <stddef.h>

/* The entry of names[0..count) nearest to `text` by edit distance (insert, delete, replace, swap of
 * neighbours), up to a third of its length but at least 1. If no entry is so near, the first that
 * begins with `text`; else NULL. A number is near nothing. */
const char *gc_nearest_name(const char *text, const char *const *names, size_t count);
