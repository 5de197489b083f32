/* Files that gconv keeps between runs, in $XDG_CACHE_HOME/gconv, else in $HOME/.cache/gconv (XDG
 * Base Directory Specification 0.8). They may be lost at any time, so callers must be able to do
 * without. Processes and threads may read and write at the same time; a reader sees the whole of
 * one version or nothing.
 *
 * Compiled kernels are kept here and executed. So the directory is used only if it belongs to this
 * user and no other user may write to it. The same holds for each file in it. */
#pragma once

#include "base/hash.h"
#include "gconv.h"

/* ---- Entries: bytes under a key -------------------------------------------------------------- */

/* Bytes of all entries together. A store removes the entries that were not used for longest. */
enum { GC_CACHE_BYTES_MAX = 64 << 20 };

/* Loads what gc_cache_store kept of this kind under this key; free releases it. GCONV_ERROR_OPEN if
 * there is no entry. A damaged entry is removed and counts as none. A kind is a word of up to 20
 * small letters. */
gconv_status gc_cache_load(const char *kind, gc_hash key, void **bytes, size_t *size,
                           gconv_error *error);

gconv_status gc_cache_store(const char *kind, gc_hash key, const void *bytes, size_t size,
                            gconv_error *error);

/* Removes the entry of this kind under this key. A failure leaves the entry. */
void gc_cache_remove(const char *kind, gc_hash key);

/* ---- The lock -------------------------------------------------------------------------------- */

/* Locks the cache, so that an entry can be loaded and then stored before gc_cache_unlock. Other
 * processes and threads that lock too wait meanwhile. The lock of a process ends with the process,
 * however that ends. */
gconv_status gc_cache_lock(int *lock, gconv_error *error);
void gc_cache_unlock(int lock);
