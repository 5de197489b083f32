#include "cli/tasks/directories.h"

#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
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

gconv_status gc_make_parent_directories(gc_directories *made, const char *path, gconv_error *error)
{
    char *copy = gc_copy_string(path);
    if (copy == NULL)
        return gc_fail_memory(error, strlen(path));
    gconv_status status = GCONV_OK;
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && status == GCONV_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make(made, copy))
            status = gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot make its directory");
        *slash = '/';
    }
    free(copy);
    return status;
}

gconv_status gc_make_directory(gc_directories *made, const char *path, gconv_error *error)
{
    struct stat about;
    gconv_status status = gc_make_parent_directories(made, path, error);
    if (status == GCONV_OK && (!make(made, path) || stat(path, &about) != 0))
        status = gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot make the directory");
    return status;
}

void gc_remove_empty_directories(gc_directories *made)
{
    while (made->count > 0) {
        rmdir(made->names[--made->count]);
        free(made->names[made->count]);
    }
    free(made->names);
    made->names = NULL;
    made->capacity = 0;
}
