#include "io/output.h"

#include "core/file.h"
#include "core/memory.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 128 * 1024,
    PENDING_COUNT = 1024,   /* outputs that may be unfinished at one time */
    NAME_BYTES_KEPT = 120,  /* of the final name: the whole stays under every NAME_MAX in use */
    SYMLINK_DEPTH_MAX = 40, /* as in Linux */
    NAME_ATTEMPTS = 100,
    ABANDON_WAIT_MILLISECONDS = 200
};

/* ---- Temporary files that a signal handler must find ----------------------------------------- */

/* FREE -> CLAIMED -> (the path is written) -> CREATING -> ACTIVE -> FREE, all by the owner; the
 * signal handler takes CREATING and ACTIVE to ABANDONED, where a slot stays. */
enum pending_state { FREE, CLAIMED, CREATING, ACTIVE, ABANDONED };

typedef struct pending_file {
    atomic_int state;
    char path[PATH_MAX];
} pending_file;

/* Anything else is not allowed in a signal handler. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
               "atomics must be lock-free");

static pending_file pending_files[PENDING_COUNT];
static atomic_bool abandoned;

static pending_file *claim_pending(void)
{
    for (size_t i = 0; i < PENDING_COUNT; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&pending_files[i].state, &expected, CLAIMED))
            return &pending_files[i];
    }
    return NULL;
}

static void release_pending(pending_file *file)
{
    int expected = ACTIVE;
    if (!atomic_compare_exchange_strong(&file->state, &expected, FREE) && expected == CLAIMED)
        atomic_store(&file->state, FREE);
}

/* open(2) with O_EXCL, recorded beforehand. A handler that finds the file in CREATING waits: the
 * signals are blocked here, so it runs in another thread. */
static int create_pending(pending_file *file, mode_t mode)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    atomic_store(&file->state, CREATING);
    int descriptor = -1;
    int failure = EINTR;
    if (!atomic_load(&abandoned)) {
        descriptor = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        failure = errno;
    }
    int expected = CREATING;
    int next = descriptor >= 0 ? ACTIVE : CLAIMED;
    if (!atomic_compare_exchange_strong(&file->state, &expected, next) && descriptor >= 0)
        unlink(file->path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return descriptor;
}

static void abandon(pending_file *file)
{
    for (int i = 0; atomic_load(&file->state) == CREATING && i < ABANDON_WAIT_MILLISECONDS; i++)
        poll(NULL, 0, 1);
    int state = atomic_load(&file->state);
    if ((state == ACTIVE || state == CREATING) &&
        atomic_compare_exchange_strong(&file->state, &state, ABANDONED))
        unlink(file->path);
}

void gconv_abandon_outputs(void)
{
    int saved = errno;
    atomic_store(&abandoned, true);
    for (size_t i = 0; i < PENDING_COUNT; i++)
        abandon(&pending_files[i]);
    errno = saved;
}

/* ---- Opening --------------------------------------------------------------------------------- */

struct gc_output {
    int descriptor; /* -1 where it is closed */
    bool standard;  /* standard output: stays open */
    bool no_clobber;
    bool sync;
    char *path;            /* the final one, links resolved; NULL where written to directly */
    pending_file *pending; /* the temporary one; NULL where written to directly or committed */
    unsigned char *buffer; /* BUFFER_BYTES */
    size_t buffered;
};

/* Length of the directory part of a path, the slash included. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Follows symbolic links in the last part of `path`, dangling ones too. NULL with errno set where
 * that fails. Freed with free. */
static char *resolve_links(const char *path)
{
    char *current = gc_copy_string(path);
    for (int depth = 0; current != NULL; depth++) {
        char target[PATH_MAX];
        ssize_t length = readlink(current, target, sizeof target);
        if (length < 0)
            return current;
        if (depth == SYMLINK_DEPTH_MAX || (size_t)length == sizeof target) {
            free(current);
            errno = depth == SYMLINK_DEPTH_MAX ? ELOOP : ENAMETOOLONG;
            return NULL;
        }
        size_t kept = target[0] == '/' ? 0 : directory_length(current);
        char *next = malloc(kept + (size_t)length + 1);
        if (next != NULL) {
            memcpy(next, current, kept);
            memcpy(next + kept, target, (size_t)length);
            next[kept + (size_t)length] = '\0';
        }
        free(current);
        current = next;
    }
    return NULL;
}

/* Writes DIR/.NAME.gconv-XXXXXX for DIR/NAME; false where it does not fit. */
static bool temporary_path(const char *path, char *buffer, size_t size)
{
    size_t directory = directory_length(path);
    const char *name = path + directory;
    size_t kept = strlen(name);
    if (kept > NAME_BYTES_KEPT) {
        kept = NAME_BYTES_KEPT;
        while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) /* no half of a character */
            kept--;
    }
    char suffix[GC_SUFFIX_BYTES];
    gc_random_suffix(suffix);
    int length =
        snprintf(buffer, size, "%.*s.%.*s.gconv-%s", (int)directory, path, (int)kept, name, suffix);
    return length >= 0 && (size_t)length < size;
}

static gconv_status create_temporary(gc_output *output, mode_t mode, gconv_error *error)
{
    output->pending = claim_pending();
    if (output->pending == NULL)
        return gc_fail(error, GCONV_ERROR_WRITE, "more than %d unfinished outputs", PENDING_COUNT);
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        if (!temporary_path(output->path, output->pending->path, sizeof output->pending->path))
            return gc_fail_errno(error, GCONV_ERROR_OPEN, ENAMETOOLONG, "cannot create");
        output->descriptor = create_pending(output->pending, mode);
        if (output->descriptor >= 0)
            return GCONV_OK;
        if (atomic_load(&abandoned))
            return gc_fail(error, GCONV_ERROR_WRITE, "stopped");
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    if (errno == ENOENT)
        return gc_fail(error, GCONV_ERROR_OPEN, "cannot create: its directory does not exist");
    return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot create");
}

/* Owner and mode of the file that will be replaced. Where the group cannot be kept, its members
 * get no more than others. Set-id bits are not kept: the content is new. */
static gconv_status copy_ownership(int descriptor, const struct stat *old, gconv_error *error)
{
    mode_t mode = old->st_mode & 0777;
    struct stat now;
    if (fstat(descriptor, &now) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot create");
    bool differs = now.st_uid != old->st_uid || now.st_gid != old->st_gid;
    if (differs && fchown(descriptor, old->st_uid, old->st_gid) != 0 && now.st_gid != old->st_gid &&
        fchown(descriptor, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & ~(mode_t)0070) | (mode & 0007) << 3;
    if (fchmod(descriptor, mode) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot set the mode");
    return GCONV_OK;
}

/* A file that is written beside its final place. `old` is the file there, NULL if there is none. */
static gconv_status open_beside(gc_output *output, const struct stat *old, gconv_error *error)
{
    if (old == NULL)
        return create_temporary(output, 0666, error);
    if (faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS) != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot replace");
    output->sync = true;
    gconv_status status = create_temporary(output, 0600, error);
    return status == GCONV_OK ? copy_ownership(output->descriptor, old, error) : status;
}

static gconv_status open_direct(gc_output *output, const char *path, gconv_error *error)
{
    free(output->path);
    output->path = NULL;
    do
        output->descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    while (output->descriptor < 0 && errno == EINTR);
    if (output->descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open for writing");
    return GCONV_OK;
}

static gconv_status open_path(gc_output *output, const char *path, gconv_error *error)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot create");
    if (exists && S_ISDIR(old.st_mode))
        return gc_fail_errno(error, GCONV_ERROR_OPEN, EISDIR, "cannot create");
    if (exists && output->no_clobber)
        return gc_fail(error, GCONV_ERROR_EXISTS, "exists already");
    if (exists && !S_ISREG(old.st_mode))
        return open_direct(output, path, error);
    output->path = resolve_links(path);
    if (output->path == NULL)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot create");
    /* Links in /proc/self/fd of files without a name lead elsewhere by text. */
    struct stat resolved;
    if (exists && (stat(output->path, &resolved) != 0 || resolved.st_ino != old.st_ino ||
                   resolved.st_dev != old.st_dev))
        return open_direct(output, path, error);
    return open_beside(output, exists ? &old : NULL, error);
}

gconv_status gc_output_open(const char *path, const gc_output_options *options, gc_output **output,
                            gconv_error *error)
{
    *output = NULL;
    if (path[0] == '\0')
        return gc_fail_errno(error, GCONV_ERROR_OPEN, ENOENT, "cannot create");
    if (atomic_load(&abandoned))
        return gc_fail(error, GCONV_ERROR_WRITE, "stopped");
    gc_output *opened = calloc(1, sizeof *opened);
    unsigned char *buffer = malloc(BUFFER_BYTES);
    if (opened == NULL || buffer == NULL) {
        free(opened);
        free(buffer);
        return gc_fail_memory(error, BUFFER_BYTES);
    }
    *opened = (gc_output){.descriptor = -1,
                          .no_clobber = options->no_clobber,
                          .sync = options->sync,
                          .buffer = buffer};
    gconv_status status = GCONV_OK;
    if (strcmp(path, "-") == 0) {
        opened->standard = true;
        opened->descriptor = STDOUT_FILENO;
    } else {
        status = open_path(opened, path, error);
    }
    if (status != GCONV_OK) {
        gc_output_free(opened);
        return status;
    }
    *output = opened;
    return GCONV_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static gconv_status write_all(const gc_output *output, const void *bytes, size_t size,
                              gconv_error *error)
{
    if (!gc_write_all(output->descriptor, bytes, size))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    return GCONV_OK;
}

static gconv_status flush(gc_output *output, gconv_error *error)
{
    size_t size = output->buffered;
    output->buffered = 0;
    return write_all(output, output->buffer, size, error);
}

gconv_status gc_output_write(gc_output *output, const void *bytes, size_t size, gconv_error *error)
{
    if (size > BUFFER_BYTES - output->buffered) {
        gconv_status status = flush(output, error);
        if (status != GCONV_OK)
            return status;
    }
    if (size >= BUFFER_BYTES)
        return write_all(output, bytes, size, error);
    memcpy(output->buffer + output->buffered, bytes, size);
    output->buffered += size;
    return GCONV_OK;
}

bool gc_output_seeks(const gc_output *output)
{
    return output->pending != NULL;
}

gconv_status gc_output_write_at(gc_output *output, uint64_t offset, const void *bytes, size_t size,
                                gconv_error *error)
{
    const unsigned char *next = bytes;
    while (size > 0) {
        ssize_t count = pwrite(output->descriptor, next, size, (off_t)offset);
        if (count < 0 && errno != EINTR)
            return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
        if (count > 0) {
            next += count;
            offset += (uint64_t)count;
            size -= (size_t)count;
        }
    }
    return GCONV_OK;
}

/* ---- Committing ------------------------------------------------------------------------------ */

/* Only files and disks can be synced: pipes and terminals have nothing to flush. */
static gconv_status sync_to_disk(const gc_output *output, gconv_error *error)
{
    struct stat status;
    if (!output->sync || fstat(output->descriptor, &status) != 0 ||
        (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode)))
        return GCONV_OK;
    if (!gc_sync(output->descriptor))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot flush to the disk");
    return GCONV_OK;
}

/* Standard output stays open for others; closing a copy of it brings the errors that network file
 * systems keep for close(2). Linux closes on EINTR too. */
static gconv_status close_descriptor(gc_output *output, gconv_error *error)
{
    int closing = output->standard ? dup(output->descriptor) : output->descriptor;
    output->descriptor = -1;
    if (closing < 0 || (close(closing) != 0 && errno != EINTR))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot close");
    return GCONV_OK;
}

/* A hard link fails where the name is taken, without a moment between the check and the act. */
static gconv_status name_new(const char *temporary, const char *path, gconv_error *error)
{
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return GCONV_OK;
    }
    struct stat status;
    if (errno == EEXIST || lstat(path, &status) == 0)
        return gc_fail(error, GCONV_ERROR_EXISTS, "exists already");
    /* File systems without hard links (FAT, many network ones) say so in various ways. */
    if (rename(temporary, path) != 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot name the output");
    return GCONV_OK;
}

static gconv_status name_output(gc_output *output, gconv_error *error)
{
    const char *temporary = output->pending->path;
    gconv_status status = GCONV_OK;
    if (output->no_clobber)
        status = name_new(temporary, output->path, error);
    else if (rename(temporary, output->path) != 0)
        status = gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot name the output");
    if (status == GCONV_OK) {
        release_pending(output->pending);
        output->pending = NULL;
    }
    return status;
}

gconv_status gc_output_commit(gc_output *output, gconv_error *error)
{
    gconv_status status = flush(output, error);
    if (status == GCONV_OK)
        status = sync_to_disk(output, error);
    if (status == GCONV_OK)
        status = close_descriptor(output, error);
    if (status == GCONV_OK && output->pending != NULL)
        status = name_output(output, error);
    return status;
}

void gc_output_free(gc_output *output)
{
    if (output == NULL)
        return;
    if (output->descriptor >= 0 && !output->standard)
        close(output->descriptor);
    if (output->pending != NULL) {
        if (atomic_load(&output->pending->state) == ACTIVE)
            unlink(output->pending->path);
        release_pending(output->pending);
    }
    free(output->path);
    free(output->buffer);
    free(output);
}
