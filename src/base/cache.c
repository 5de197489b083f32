#include "base/cache.h"

#include "base/file.h"
#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_BYTES = 64,
    NAME_ATTEMPTS = 100,
    FILE_BYTES_MAX = GC_CACHE_BYTES_MAX,
    ABANDONED_SECONDS = 3600 /* a temporary file this old was left by a crash */
};

static const char entry_suffix[] = ".bin";
static const char lock_name[] = "lock"; /* of an empty file that stays */

/* ---- The directory --------------------------------------------------------------------------- */

/* Writes the directory's path. `base` is the length of the part that other programs use too. The
 * specification ignores a relative path in the environment. */
static gconv_status directory_path(char path[PATH_MAX], size_t *base, gconv_error *error)
{
    const char *root = getenv("XDG_CACHE_HOME"), *below = "";
    if (root == NULL || root[0] != '/') {
        root = getenv("HOME");
        below = "/.cache";
    }
    if (root == NULL || root[0] != '/')
        return gc_fail(error, GCONV_ERROR_OPEN,
                       "no cache: neither XDG_CACHE_HOME nor HOME is an absolute path");
    int length = snprintf(path, PATH_MAX, "%s%s/gconv", root, below);
    if (length < 0 || length >= PATH_MAX)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, ENAMETOOLONG, "no cache");
    *base = strlen(root) + strlen(below);
    return GCONV_OK;
}

/* The specification wants 0700. If a directory cannot be made, opening the directory fails and says
 * why. */
static void make_directory(char path[PATH_MAX], size_t base)
{
    path[base] = '\0';
    mkdir(path, 0700);
    path[base] = '/';
    mkdir(path, 0700);
}

/* Whether a directory or file belongs to this user and nobody else may write to it. */
static bool is_ours_alone(const struct stat *about)
{
    return about->st_uid == geteuid() && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static gconv_status open_directory(bool make, int *directory, gconv_error *error)
{
    char path[PATH_MAX];
    size_t base = 0;
    GC_TRY(directory_path(path, &base, error));
    if (make)
        make_directory(path, base);
    *directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*directory < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the cache");
    struct stat about;
    if (fstat(*directory, &about) == 0 && is_ours_alone(&about))
        return GCONV_OK;
    close(*directory);
    return gc_fail(error, GCONV_ERROR_OPEN, "the cache %s is not this user's alone to write", path);
}

/* ---- Files in it ----------------------------------------------------------------------------- */

static gconv_status read_descriptor(int descriptor, char **bytes, size_t *size, gconv_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot read the cache");
    if (!S_ISREG(about.st_mode) || about.st_size > FILE_BYTES_MAX)
        return gc_fail(error, GCONV_ERROR_OPEN, "not a file that the cache would hold");
    if (!is_ours_alone(&about))
        return gc_fail(error, GCONV_ERROR_OPEN, "a file that is not this user's alone to write");
    size_t capacity = (size_t)about.st_size;
    *bytes = malloc(capacity + 1);
    GC_TRY_MEMORY(*bytes != NULL, error, capacity + 1);
    if (gc_read_all(descriptor, *bytes, capacity, size)) {
        (*bytes)[*size] = '\0';
        return GCONV_OK;
    }
    free(*bytes);
    *bytes = NULL;
    return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot read the cache");
}

/* Makes the file the one that was used last, too. */
static gconv_status read_file(int directory, const char *name, char **bytes, size_t *size,
                              gconv_error *error)
{
    int descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "not in the cache");
    gconv_status status = read_descriptor(descriptor, bytes, size, error);
    if (status == GCONV_OK)
        futimens(descriptor, NULL);
    close(descriptor);
    return status;
}

/* A new file with a name of its own, which begins with a dot. */
static int create_temporary(int directory, const char *name, char *temporary, size_t size)
{
    int descriptor = -1;
    for (int attempt = 0; descriptor < 0 && attempt < NAME_ATTEMPTS; attempt++) {
        char suffix[GC_SUFFIX_BYTES];
        gc_random_suffix(suffix);
        snprintf(temporary, size, ".%s.%s", name, suffix);
        descriptor = openat(directory, temporary,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (descriptor < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    return descriptor;
}

static gconv_status replace_file(int directory, const char *name, const struct iovec pieces[2],
                                 gconv_error *error)
{
    char temporary[NAME_BYTES + GC_SUFFIX_BYTES + 2];
    int descriptor = create_temporary(directory, name, temporary, sizeof temporary);
    if (descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write to the cache");
    bool written = gc_write_all(descriptor, pieces[0].iov_base, pieces[0].iov_len) &&
                   gc_write_all(descriptor, pieces[1].iov_base, pieces[1].iov_len);
    int failure = errno;
    if (close(descriptor) != 0 && written) {
        written = false;
        failure = errno;
    }
    if (written && renameat(directory, temporary, directory, name) != 0) {
        written = false;
        failure = errno;
    }
    if (written)
        return GCONV_OK;
    unlinkat(directory, temporary, 0);
    return gc_fail_errno(error, GCONV_ERROR_WRITE, failure, "cannot write to the cache");
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* Returns the bytes of all entries, and the name of that which was not used for longest. Removes
 * temporary files that no process will complete. */
static int64_t add_up(DIR *listing, char longest_unused[NAME_MAX + 1])
{
    int64_t bytes = 0;
    time_t now = time(NULL);
    struct timespec least = {.tv_sec = 0};
    longest_unused[0] = '\0';
    rewinddir(listing);
    for (struct dirent *item; (item = readdir(listing)) != NULL;) {
        struct stat about;
        if (fstatat(dirfd(listing), item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        if (item->d_name[0] == '.' && now - about.st_mtim.tv_sec > ABANDONED_SECONDS)
            unlinkat(dirfd(listing), item->d_name, 0);
        if (item->d_name[0] == '.' || !gc_ends_with(item->d_name, entry_suffix))
            continue;
        bytes += about.st_size;
        if (longest_unused[0] == '\0' ||
            (about.st_mtim.tv_sec != least.tv_sec ? about.st_mtim.tv_sec < least.tv_sec
                                                  : about.st_mtim.tv_nsec < least.tv_nsec)) {
            least = about.st_mtim;
            strcpy(longest_unused, item->d_name);
        }
    }
    return bytes;
}

/* A failure leaves the cache larger than it should be, until the next store. */
static void make_room(int directory)
{
    char name[NAME_MAX + 1];
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
    if (listing == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while (add_up(listing, name) > GC_CACHE_BYTES_MAX && unlinkat(directory, name, 0) == 0)
        continue;
    closedir(listing);
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* What follows the bytes of an entry. It stands behind them, so that cuobjdump and the like read
 * the file as it is. It is in host order: a machine of the other order takes the entry for
 * damaged. */
typedef struct entry_end {
    char magic[8];
    uint64_t size;    /* of the bytes */
    gc_hash checksum; /* of kind, key and bytes */
} entry_end;

static const char entry_magic[8] = {'g', 'c', 'o', 'n', 'v', ' ', '0', '1'};

static void entry_name(const char *kind, gc_hash key, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s-%016" PRIx64 "%016" PRIx64 "%s", kind, key.high, key.low,
             entry_suffix);
}

static entry_end end_of(const char *kind, gc_hash key, const void *bytes, size_t size)
{
    entry_end end = {.size = size};
    memcpy(end.magic, entry_magic, sizeof end.magic);
    gc_hash hash = gc_hash_string(gc_hash_start(), kind);
    hash = gc_hash_bytes(hash, &key, sizeof key);
    end.checksum = gc_hash_bytes(hash, bytes, size);
    return end;
}

static bool is_whole(const char *kind, gc_hash key, const char *bytes, size_t length)
{
    if (length < sizeof(entry_end))
        return false;
    size_t size = length - sizeof(entry_end);
    entry_end expected = end_of(kind, key, bytes, size);
    return memcmp(bytes + size, &expected, sizeof expected) == 0;
}

gconv_status gc_cache_load(const char *kind, gc_hash key, void **bytes, size_t *size,
                           gconv_error *error)
{
    *bytes = NULL;
    *size = 0;
    char name[NAME_BYTES];
    int directory = -1;
    entry_name(kind, key, name);
    GC_TRY(open_directory(false, &directory, error));
    char *whole = NULL;
    size_t length = 0;
    gconv_status status = read_file(directory, name, &whole, &length, error);
    if (status == GCONV_OK && is_whole(kind, key, whole, length)) {
        *bytes = whole;
        *size = length - sizeof(entry_end);
    } else if (status == GCONV_OK) {
        free(whole);
        unlinkat(directory, name, 0);
        status = gc_fail(error, GCONV_ERROR_OPEN, "%s of the cache was damaged", name);
    }
    close(directory);
    return status;
}

gconv_status gc_cache_store(const char *kind, gc_hash key, const void *bytes, size_t size,
                            gconv_error *error)
{
    char name[NAME_BYTES];
    int directory = -1;
    if (size > FILE_BYTES_MAX - sizeof(entry_end))
        return gc_fail(error, GCONV_ERROR_LIMIT, "%zu bytes are more than the cache holds", size);
    entry_name(kind, key, name);
    GC_TRY(open_directory(true, &directory, error));
    entry_end end = end_of(kind, key, bytes, size);
    const struct iovec pieces[] = {{(void *)bytes, size}, {&end, sizeof end}};
    gconv_status status = replace_file(directory, name, pieces, error);
    if (status == GCONV_OK)
        make_room(directory);
    close(directory);
    return status;
}

void gc_cache_remove(const char *kind, gc_hash key)
{
    char name[NAME_BYTES];
    int directory = -1;
    entry_name(kind, key, name);
    if (open_directory(false, &directory, NULL) != GCONV_OK)
        return;
    unlinkat(directory, name, 0);
    close(directory);
}

/* ---- The lock -------------------------------------------------------------------------------- */

gconv_status gc_cache_lock(int *lock, gconv_error *error)
{
    int directory = -1;
    GC_TRY(open_directory(true, &directory, error));
    *lock = openat(directory, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool locked = *lock >= 0;
    while (locked && flock(*lock, LOCK_EX) != 0)
        locked = errno == EINTR;
    int failure = errno;
    close(directory);
    if (locked)
        return GCONV_OK;
    if (*lock >= 0)
        close(*lock);
    return gc_fail_errno(error, GCONV_ERROR_WRITE, failure, "cannot lock the cache");
}

void gc_cache_unlock(int lock)
{
    close(lock);
}
