/* Structures of gconv.h that may grow. Their first member is `size`, a size_t: the bytes that the
 * caller's header gives them. A program with an older header gives a shorter structure, whose
 * members begin like those of the library's.
 *
 * A new member of such a structure goes to its end, and not into padding there: the size must
 * change with it. */
#pragma once

#include "gconv.h"

/* Makes the caller's structure of `size` bytes one of `defaults`, which has `bytes` bytes. */
void gc_sized_init(void *given, size_t size, const void *defaults, size_t bytes);

/* Copies the caller's structure over `known`, which has `bytes` bytes and holds defaults: a member
 * that the caller's header lacks keeps its default. `type` is the name of the structure.
 * GCONV_ERROR_ARGUMENT for a size that no header gives, and if a member that this library does not
 * know is not 0. */
gconv_status gc_sized_read(const void *given, const char *type, void *known, size_t bytes,
                           gconv_error *error);

/* Copies `known` to the caller's structure, as many members as that has, and leaves its size.
 * GCONV_ERROR_ARGUMENT for a size that no header gives. */
gconv_status gc_sized_fill(void *given, const char *type, const void *known, size_t bytes,
                           gconv_error *error);
