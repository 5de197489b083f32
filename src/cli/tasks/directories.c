#include "cli/tasks/directories.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/tasks/names.h"
#include "cli/terminal/messages.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without memory for its name a directory is not recorded, and so it is never removed. */
static void record(gc_directories *made, const char *path)
{
    char **names = gc_make_room(made->names, made->count, &made->capacity, sizeof *names);
    if (names == NULL)
        return;
    made->names = names;
    char *copy = gc_copy_string(path);
    if (copy != NULL)
        made->names[made->count++] = copy;
}

/* Makes a directory and records it. A name that exists is no failure. */
static bool make(gc_directories *made, const char *path)
{
    pthread_mutex_lock(&made->lock);
    bool is_new = mkdir(path, 0777) == 0;
    int failure = errno;
    if (is_new)
        record(made, path);
    pthread_mutex_unlock(&made->lock);
    errno = failure;
    return is_new || failure == EEXIST;
}

gconv_status gc_make_parents(gc_directories *made, const char *path, gconv_error *error)
{
    char copy[PATH_MAX];
    gconv_status status = GCONV_OK;
    if (strlen(path) >= sizeof copy)
        return gc_fail_errno(error, GCONV_ERROR_WRITE, ENAMETOOLONG, "cannot make its directory");
    strcpy(copy, path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == GCONV_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make(made, copy))
            status = gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot make its directory");
        *slash = '/';
    }
    return status;
}

gconv_status gc_make_directory(gc_directories *made, const char *path, gconv_error *error)
{
    struct stat about;
    gconv_status status = gc_make_parents(made, path, error);
    if (status == GCONV_OK && (!make(made, path) || stat(path, &about) != 0))
        status = gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot make the directory");
    return status;
}

/* Removes temporary files that killed processes left. What cannot be removed stays. How many were
 * removed is noted as by gc_note_into. */
static void remove_leftovers(const char *path, size_t length, FILE *notes)
{
    char message[80];
    size_t removed = 0;
    char directory[PATH_MAX] = ".";
    if (length >= sizeof directory)
        return;
    if (length > 0) {
        memcpy(directory, path, length);
        directory[length] = '\0';
    }
    gconv_remove_leftovers(directory, &removed, NULL);
    snprintf(message, sizeof message, "temporary files of killed processes removed: %zu", removed);
    if (removed > 0)
        gc_note_into(notes, directory, message);
}

/* Cleans the directory, whose name has this length, once. The caller has the lock `visiting`. */
static void clean_once(gc_directories *made, const char *path, size_t length, FILE *notes)
{
    gc_hash directory = gc_hash_bytes(gc_hash_start(), path, length);
    if (gc_map_find(&made->clean, directory) == 0 && gc_map_set(&made->clean, directory, 1))
        remove_leftovers(path, length, notes);
}

void gc_clean_parent(gc_directories *made, const char *path, FILE *notes)
{
    size_t length = (size_t)(gc_base_name(path) - path);
    pthread_mutex_lock(&made->visiting);
    clean_once(made, path, length, notes);
    pthread_mutex_unlock(&made->visiting);
}

/* Other threads wait until the leftovers are gone: a file that they create would be taken for one
 * until it is locked. */
gconv_status gc_prepare_parent(gc_directories *made, const char *path, FILE *notes,
                               gconv_error *error)
{
    size_t length = (size_t)(gc_base_name(path) - path);
    gc_hash directory = gc_hash_bytes(gc_hash_start(), path, length);
    gconv_status status = GCONV_OK;
    pthread_mutex_lock(&made->visiting);
    if (gc_map_find(&made->there, directory) == 0) {
        status = gc_make_parents(made, path, error);
        if (status == GCONV_OK && gc_map_set(&made->there, directory, 1))
            clean_once(made, path, length, notes);
    }
    pthread_mutex_unlock(&made->visiting);
    return status;
}

void gc_remove_empty_directories(gc_directories *made)
{
    while (made->count > 0) {
        rmdir(made->names[--made->count]);
        free(made->names[made->count]);
    }
    gc_map_free(&made->there);
    gc_map_free(&made->clean);
    free(made->names);
    made->names = NULL;
    made->capacity = 0;
}
