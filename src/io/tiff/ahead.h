/* Strips and tiles that other threads decode before their rows are wanted. Units are counted in the
 * order in which they are wanted. */
#pragma once

#include "io/tiff/libtiff.h"

typedef struct gc_tiff_ahead gc_tiff_ahead;

/* The number of a unit in the file; *size becomes its bytes. */
typedef uint32_t gc_tiff_number(const void *user, uint64_t unit, size_t *size);

/* For units of up to `unit_bytes` of the current directory. NULL if it is of no use. While it lives
 * `file` reads under its guard. */
gc_tiff_ahead *gc_tiff_ahead_create(gc_tiff_file *file, int threads, uint64_t units,
                                    size_t unit_bytes, gc_tiff_number *number, const void *user);

/* Decodes a unit, on any thread; false: there is none to decode now. What fails is left to the
 * thread that wants it: nobody is told here. */
bool gc_tiff_ahead_help(gc_tiff_ahead *ahead);

/* Copies a unit, one behind the last one that was asked for; false: the caller has to decode it. */
bool gc_tiff_ahead_take(gc_tiff_ahead *ahead, uint64_t unit, unsigned char *bytes);

/* NULL is allowed. */
void gc_tiff_ahead_free(gc_tiff_ahead *ahead);
