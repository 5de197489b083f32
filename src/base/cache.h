/* Files that gconv keeps between runs, in $XDG_CACHE_HOME/gconv, else in $HOME/.cache/gconv (XDG
 * Base Directory Specification 0.8). They may be lost at any time, so callers must be able to do
 * without. Processes and threads may read and write at the same time; a reader sees the whole of
 * one version or nothing.
 *
 * Compiled kernels are kept here and executed. So the directory is used only if it belongs to this
 * user and no other user may write to it. The same holds for each file in it. */
#ifndef GC_BASE_CACHE_H
#define GC_BASE_CACHE_H

#include "base/hash.h"
#include "gconv.h"

/* ---- Entries: bytes under a key -------------------------------------------------------------- */

/* Bytes of all entries together. A store removes the entries that were not used for longest. */
enum { GC_CACHE_BYTES_MAX = 64 << 20 };

/* Loads what gc_cache_store kept of this kind under this key; free releases it. GCONV_ERROR_OPEN if
 * there is no entry. A damaged entry is removed and counts as none. A kind is a word of small
 * letters. */
gconv_status gc_cache_load(const char *kind, gc_hash key, void **bytes, size_t *size,
                           gconv_error *error);

gconv_status gc_cache_store(const char *kind, gc_hash key, const void *bytes, size_t size,
                            gconv_error *error);

/* Removes the entry of this kind under this key. A failure leaves the entry. */
void gc_cache_remove(const char *kind, gc_hash key);

/* ---- Files that people may read -------------------------------------------------------------- */

/* A name consists of ASCII letters, digits, '-', '_' and '.', does not begin with '.', and has at
 * most 120 bytes; else GCONV_ERROR_ARGUMENT. */

/* The path of the file of this name, whether it exists or not; free releases it. */
gconv_status gc_cache_path(const char *name, char **path, gconv_error *error);

/* The file's bytes and a NUL, which `size` does not count; free releases them. GCONV_ERROR_OPEN if
 * there is no such file. */
gconv_status gc_cache_read(const char *name, char **text, size_t *size, gconv_error *error);

/* Replaces the file as a whole. It is on the disk when this returns. */
gconv_status gc_cache_write(const char *name, const char *text, size_t size, gconv_error *error);

/* Locks the cache, so that a file can be read and then written before gc_cache_unlock. Other
 * processes and threads that lock too wait meanwhile. The lock of a process ends with the process,
 * however that ends. */
gconv_status gc_cache_lock(int *lock, gconv_error *error);
void gc_cache_unlock(int lock);

#endif
