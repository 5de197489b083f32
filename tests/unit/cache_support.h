/* What the tests of the cache share: a cache of their own. */
#pragma once

#include "io_support.h"

#include "base/cache.h"

#include <fcntl.h>

/* A scratch directory for each test, which is XDG_CACHE_HOME; `cache_path` is gconv's in it. */
static char cache_path[128];

static inline int make_cache(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    snprintf(cache_path, sizeof cache_path, "%s/gconv", scratch);
    return setenv("XDG_CACHE_HOME", scratch, 1);
}

static inline int remove_cache(void **state)
{
    char base[sizeof scratch];
    strcpy(base, scratch);
    strcpy(scratch, cache_path);
    if (access(scratch, F_OK) == 0)
        remove_scratch(state);
    strcpy(scratch, base);
    return remove_scratch(state);
}

/* Names in the cache that contain `text`, temporary ones too; the last is copied to `name`, which
 * may be NULL and holds 256 bytes. */
static inline int count_cached(const char *text, char *name)
{
    int count = 0;
    DIR *listing = opendir(cache_path);
    if (listing == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strstr(entry->d_name, text) == NULL)
            continue;
        count++;
        if (name != NULL)
            snprintf(name, 256, "%s", entry->d_name);
    }
    closedir(listing);
    return count;
}

/* The path of the only entry; valid until the next call. */
static inline const char *only_entry(void)
{
    static char path[512];
    char name[256];
    assert_int_equal(count_cached(".bin", name), 1);
    snprintf(path, sizeof path, "%s/%s", cache_path, name);
    return path;
}

/* Turns one byte of a file over; a negative offset counts from the end. */
static inline void damage_byte(const char *path, long offset)
{
    OWNED_BLOB whole = load_file(path);
    whole.bytes[offset < 0 ? (long)whole.size + offset : offset] ^= 0x10;
    save_file(path, whole.bytes, whole.size);
}
