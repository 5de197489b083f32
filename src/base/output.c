#define _GNU_SOURCE /* renameat2 */
#include "base/output.h"

#include "base/file.h"
#include "base/place.h"
#include "base/status.h"
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 128 * 1024,
    DIRECT_BYTES = 16 * 1024, /* so many in one piece are written as they are */
    PENDING_COUNT = 1024,     /* outputs that may be unfinished at one time */
    NAME_ATTEMPTS = 100,
    ABANDON_WAIT_MILLISECONDS = 200
};

/* ---- Temporary files that a signal handler must find ----------------------------------------- */

/* The owner of an entry takes it through FREE -> CLAIMED -> (directory and name are written) ->
 * CREATING -> ACTIVE -> FREE. The signal handler turns CREATING and ACTIVE into ABANDONED. An
 * abandoned entry never changes again. */
enum pending_state { FREE, CLAIMED, CREATING, ACTIVE, ABANDONED };

typedef struct pending_file {
    atomic_int state;
    int directory; /* stays open as long as the entry is not FREE */
    char name[NAME_MAX + 1];
} pending_file;

/* A signal handler may use lock-free atomics alone (C17, 7.14.1.1). */
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

/* False if the signal handler has taken the entry. The handler uses the directory, so the directory
 * must stay open. */
static bool release_pending(pending_file *file)
{
    int expected = ACTIVE;
    if (atomic_compare_exchange_strong(&file->state, &expected, FREE))
        return true;
    if (expected == CLAIMED)
        atomic_store(&file->state, FREE);
    return expected == CLAIMED;
}

/* Locks a new temporary file, so that gconv_remove_leftovers sees that its writer lives. The lock
 * ends with the process. False if gconv_remove_leftovers has removed the file before it was
 * locked. */
static bool lock_temporary(int descriptor)
{
    struct stat about;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK; /* a file system without locks */
    return fstat(descriptor, &about) != 0 || about.st_nlink > 0;
}

/* Creates the temporary file with O_EXCL. The entry becomes CREATING first, so that the signal
 * handler finds the file. A handler that finds CREATING waits. It never waits for its own thread,
 * because signals are blocked here. */
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
        descriptor =
            openat(file->directory, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        failure = errno;
    }
    if (descriptor >= 0 && !lock_temporary(descriptor)) {
        unlinkat(file->directory, file->name, 0);
        close(descriptor);
        descriptor = -1;
        failure = EEXIST;
    }
    int expected = CREATING;
    int next = descriptor >= 0 ? ACTIVE : CLAIMED;
    if (!atomic_compare_exchange_strong(&file->state, &expected, next) && descriptor >= 0)
        unlinkat(file->directory, file->name, 0);
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
        unlinkat(file->directory, file->name, 0);
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
    int descriptor; /* -1 if it is closed */
    bool standard;  /* standard output: stays open */
    bool no_clobber;
    bool sync;
    gconv_complete_function *complete;
    gconv_bytes_function *written;
    void *complete_user;
    int lock;              /* keeps the temporary file locked until it has its name; -1: closed */
    gc_place place;        /* of a file or device */
    pending_file *pending; /* the temporary file; NULL if the output is direct or committed */
    unsigned char *buffer; /* BUFFER_BYTES */
    size_t buffered;
    uint64_t position; /* bytes written and passed over */
};

static gconv_status create_temporary(gc_output *output, mode_t mode, gconv_error *error)
{
    output->pending = claim_pending();
    if (output->pending == NULL)
        return gc_fail(error, GCONV_ERROR_WRITE, "more than %d unfinished outputs", PENDING_COUNT);
    output->pending->directory = output->place.directory;
    char tag[GC_HOST_TAG_BYTES];
    gc_host_tag(tag);
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        gc_temporary_name(tag, output->place.name, output->pending->name);
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

/* Owner and mode of the file that will be replaced. If the group cannot be kept, its members get no
 * more than others. Set-id bits are not kept: the content is new. */
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

/* A file that is written beside its final place. */
static gconv_status open_beside(gc_output *output, gconv_error *error)
{
    const gc_place *place = &output->place;
    if (!place->exists)
        return create_temporary(output, 0666, error);
    if (faccessat(place->directory, place->name, W_OK, AT_EACCESS) != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot replace");
    output->sync = true;
    GC_TRY(create_temporary(output, 0600, error));
    return copy_ownership(output->descriptor, &place->about, error);
}

/* Opens what gc_place_find found. Fails if something else has taken its name meanwhile. */
static gconv_status open_direct(gc_output *output, gconv_error *error)
{
    const gc_place *place = &output->place;
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (place->is_proc_link ? 0 : O_NOFOLLOW);
    struct stat opened;
    do
        output->descriptor = openat(place->directory, place->name, flags);
    while (output->descriptor < 0 && errno == EINTR);
    if (output->descriptor < 0 || fstat(output->descriptor, &opened) != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open for writing");
    if (!gc_same_file(&opened, &place->about))
        return gc_fail(error, GCONV_ERROR_OPEN, "exchanged by somebody while it was opened");
    if (S_ISREG(opened.st_mode) && ftruncate(output->descriptor, 0) != 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open for writing");
    return GCONV_OK;
}

static gconv_status open_path(gc_output *output, const char *path, gconv_error *error)
{
    gc_place *place = &output->place;
    GC_TRY(gc_place_find(path, place, error));
    if (place->exists && S_ISDIR(place->about.st_mode))
        return gc_fail_errno(error, GCONV_ERROR_OPEN, EISDIR, "cannot create");
    if (place->exists && output->no_clobber)
        return gc_fail(error, GCONV_ERROR_EXISTS, "exists already");
    if (gc_place_is_direct(place))
        return open_direct(output, error);
    return open_beside(output, error);
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
                          .lock = -1,
                          .complete = options->complete,
                          .written = options->written,
                          .complete_user = options->complete_user,
                          .place = {.directory = -1},
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
    if (status == GCONV_OK)
        *output = opened;
    else
        gc_output_free(opened);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Writes bytes that lie at `offset` of the file. */
static gconv_status write_all(const gc_output *output, uint64_t offset, const void *bytes,
                              size_t size, gconv_error *error)
{
    if (!gc_write_all(output->descriptor, bytes, size))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    if (output->pending != NULL && output->written != NULL && size > 0)
        output->written(output->complete_user, offset, bytes, size);
    return GCONV_OK;
}

gconv_status gc_output_flush(gc_output *output, gconv_error *error)
{
    size_t size = output->buffered;
    output->buffered = 0;
    return write_all(output, output->position - size, output->buffer, size, error);
}

gconv_status gc_output_write(gc_output *output, const void *bytes, size_t size, gconv_error *error)
{
    if (size >= DIRECT_BYTES || size > BUFFER_BYTES - output->buffered) {
        GC_TRY(gc_output_flush(output, error));
    }
    output->position += size;
    if (size >= DIRECT_BYTES)
        return write_all(output, output->position - size, bytes, size, error);
    memcpy(output->buffer + output->buffered, bytes, size);
    output->buffered += size;
    return GCONV_OK;
}

uint64_t gc_output_position(const gc_output *output)
{
    return output->position;
}

gconv_status gc_output_skip(gc_output *output, uint64_t count, gconv_error *error)
{
    gconv_status status = gc_output_flush(output, error);
    output->position += count;
    if (status == GCONV_OK && lseek(output->descriptor, (off_t)output->position, SEEK_SET) < 0)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    return status;
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
    struct stat about;
    if (!output->sync || fstat(output->descriptor, &about) != 0 ||
        (!S_ISREG(about.st_mode) && !S_ISBLK(about.st_mode)))
        return GCONV_OK;
    if (!gc_sync(output->descriptor))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot flush to the disk");
    return GCONV_OK;
}

/* Network file systems report some errors only at close(2). Standard output must stay open for
 * others, so a copy of it is closed. Linux closes a descriptor on EINTR, too. */
static gconv_status close_descriptor(gc_output *output, gconv_error *error)
{
    if (output->pending != NULL)
        output->lock = dup(output->descriptor);
    int closing = output->standard ? dup(output->descriptor) : output->descriptor;
    output->descriptor = -1;
    if (closing < 0 || (close(closing) != 0 && errno != EINTR))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot close");
    return GCONV_OK;
}

/* Renames a file unless the new name is taken. Check and rename are one step if the file system can
 * do that. False with errno set. */
static bool rename_new(int directory, const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST)
        return false;
#endif
    if (linkat(directory, from, directory, to, 0) == 0) {
        unlinkat(directory, from, 0);
        return true;
    }
    if (errno == EEXIST)
        return false;
    /* Some file systems can do neither: FAT, and some network file systems. Their errors differ, so
     * every other error leads here. */
    struct stat about;
    if (fstatat(directory, to, &about, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return renameat(directory, from, directory, to) == 0;
}

/* Whether the output has its name although the call that gave it has failed. On NFS the answer to a
 * rename may be lost: the request is repeated, and finds that it was carried out. */
static bool has_name(const gc_output *output)
{
    const gc_place *place = &output->place;
    struct stat written, named;
    int failure = errno;
    bool same = output->lock >= 0 && fstat(output->lock, &written) == 0 &&
                fstatat(place->directory, place->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                gc_same_file(&written, &named);
    if (same)
        unlinkat(place->directory, output->pending->name, 0); /* a link has left it */
    errno = failure;
    return same;
}

static gconv_status name_output(gc_output *output, gconv_error *error)
{
    const gc_place *place = &output->place;
    const char *temporary = output->pending->name;
    bool named = place->exists
                     ? renameat(place->directory, temporary, place->directory, place->name) == 0
                     : rename_new(place->directory, temporary, place->name);
    named = named || has_name(output);
    if (!named && errno == EEXIST && output->no_clobber)
        return gc_fail(error, GCONV_ERROR_EXISTS, "exists already");
    if (!named && errno == EEXIST)
        return gc_fail(error, GCONV_ERROR_WRITE,
                       "not replaced: somebody made it while the output was written "
                       "(--no-clobber skips it)");
    if (!named)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot name the output");
    if (!release_pending(output->pending))
        output->place.directory = -1; /* the signal handler's, until the process ends */
    output->pending = NULL;
    return GCONV_OK;
}

gconv_status gc_output_commit(gc_output *output, gconv_error *error)
{
    GC_TRY(gc_output_flush(output, error));
    GC_TRY(sync_to_disk(output, error));
    if (output->pending != NULL && output->complete != NULL)
        GC_TRY(output->complete(output->complete_user, output->descriptor, error));
    GC_TRY(close_descriptor(output, error));
    return output->pending != NULL ? name_output(output, error) : GCONV_OK;
}

void gc_output_free(gc_output *output)
{
    if (output == NULL)
        return;
    if (output->descriptor >= 0 && !output->standard)
        close(output->descriptor);
    if (output->pending != NULL) {
        if (atomic_load(&output->pending->state) == ACTIVE)
            unlinkat(output->place.directory, output->pending->name, 0);
        if (!release_pending(output->pending))
            output->place.directory = -1; /* the signal handler's, until the process ends */
    }
    if (output->lock >= 0)
        close(output->lock);
    gc_place_close(&output->place);
    free(output->buffer);
    free(output);
}

/* ---- Leftovers ------------------------------------------------------------------------------- */

/* Whether an open file is one that this user's gconv may have left, still under this name. */
static bool is_leftover(int descriptor, int directory, const char *name)
{
    struct stat opened, named;
    return fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_nlink == 1 &&
           opened.st_uid == geteuid() &&
           fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           gc_same_file(&opened, &named);
}

/* Removes a temporary file whose writer has died: nobody has it locked. */
static bool remove_leftover(int directory, const char *name)
{
    int descriptor = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool removed = flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
                   is_leftover(descriptor, directory, name) && unlinkat(directory, name, 0) == 0;
    close(descriptor);
    return removed;
}

/* The locks of some file systems hold on one machine alone. So files of others stay. */
gconv_status gconv_remove_leftovers(const char *directory, size_t *removed, gconv_error *error)
{
    char tag[GC_HOST_TAG_BYTES];
    bool known = gc_host_tag(tag);
    DIR *listed = opendir(directory);
    if (listed == NULL)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot list the directory");
    const struct dirent *entry;
    while (known && (entry = readdir(listed)) != NULL)
        if (gc_temporary_is_of(tag, entry->d_name) &&
            remove_leftover(dirfd(listed), entry->d_name) && removed != NULL)
            ++*removed;
    closedir(listed);
    return GCONV_OK;
}
