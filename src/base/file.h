/* Reading, writing and syncing files by their descriptors. A function that fails sets errno; the
 * caller writes the message. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Six characters and NUL. */
enum { GC_SUFFIX_BYTES = 7 };

/* Fills in characters that nearly always differ between calls, threads and processes. A caller
 * opens its file with O_EXCL, and tries again if the name is taken. */
void gc_random_suffix(char suffix[GC_SUFFIX_BYTES]);

/* Reads to the end or until `capacity` bytes are there. */
bool gc_read_all(int descriptor, void *buffer, size_t capacity, size_t *length);

bool gc_write_all(int descriptor, const void *bytes, size_t size);

/* How many files more the process may open, up to `wanted`. */
int gc_files_left(int wanted);

/* fsync(2), however often signals interrupt it. */
bool gc_sync(int descriptor);
