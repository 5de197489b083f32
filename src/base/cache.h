/* Files that gconv keeps between runs, in $XDG_CACHE_HOME/gconv, else in $HOME/.cache/gconv (XDG
 * Base Directory Specification 0.8). Whatever is there may be lost at any time: who asks must be
 * able to do without. Processes and threads may read and write at the same time; a reader sees the
 * whole of one version or nothing.
 *
 * The directory is used only where it belongs to this user and nobody else may write to it: what is
 * kept here is executed. The same holds for each file in it. */
#ifndef GC_BASE_CACHE_H
#define GC_BASE_CACHE_H

#include "base/hash.h"
#include "gconv.h"

/* ---- Entries: bytes under a key -------------------------------------------------------------- */

/* All entries together; a store removes those that were not used for longest. */
enum { GC_CACHE_BYTES_MAX = 64 << 20 };

/* What gc_cache_store kept of this kind under this key, freed with free. GCONV_ERROR_OPEN where
 * there is none; a damaged one is removed and counts as none. A kind is a word of small letters. */
gconv_status gc_cache_load(const char *kind, gc_hash key, void **bytes, size_t *size,
                           gconv_error *error);

gconv_status gc_cache_store(const char *kind, gc_hash key, const void *bytes, size_t size,
                            gconv_error *error);

/* Removes what is kept of this kind under this key. What cannot be removed stays. */
void gc_cache_remove(const char *kind, gc_hash key);

/* ---- Files that people may read -------------------------------------------------------------- */

/* A name is made of ASCII letters, digits, '-', '_' and '.', begins with no '.' and has at most 120
 * bytes; else GCONV_ERROR_ARGUMENT. */

/* Where the file of this name is or would be, freed with free. */
gconv_status gc_cache_path(const char *name, char **path, gconv_error *error);

/* Its bytes, with a NUL behind them that `size` does not count, freed with free. GCONV_ERROR_OPEN
 * where there is none. */
gconv_status gc_cache_read(const char *name, char **text, size_t *size, gconv_error *error);

/* Replaces it as a whole, on the disk when this returns. */
gconv_status gc_cache_write(const char *name, const char *text, size_t size, gconv_error *error);

/* What is read between these and then written is not changed by another process or thread that locks
 * too. Waits for that one up to `seconds`, then gives up with GCONV_ERROR_LIMIT: it may have been stopped.
 * The end of a process, however it comes, unlocks. */
gconv_status gc_cache_lock(double seconds, int *lock, gconv_error *error);
void gc_cache_unlock(int lock);

#endif
