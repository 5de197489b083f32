/* Small questions about names: nearest match for "did you mean". */
#ifndef GC_BASE_NEAREST_H
#define GC_BASE_NEAREST_H

#include <stddef.h>

/* The entry of names[0..count) nearest to `text` by edit distance (insert, delete, replace, swap
 * of neighbours), NULL where none is within a third of its length, at least 1;
 * then the first one that begins with `text`. A number is near nothing. */
const char *gc_nearest_name(const char *text, const char *const *names, size_t count);

#endif
