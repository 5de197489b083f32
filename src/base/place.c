#define _GNU_SOURCE /* O_PATH */
#include "base/place.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SYMLINK_DEPTH_MAX = 40 }; /* as in Linux */

/* A directory need not be readable to hold an output. */
#if defined(O_PATH)
#define SEARCH_FLAG O_PATH
#elif defined(O_SEARCH)
#define SEARCH_FLAG O_SEARCH
#else
#define SEARCH_FLAG O_RDONLY
#endif

bool gc_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool gc_place_is_direct(const gc_place *place)
{
    return place->exists && (place->is_proc_link || !S_ISREG(place->about.st_mode));
}

void gc_place_close(gc_place *place)
{
    if (place->directory >= 0)
        close(place->directory);
    place->directory = -1;
}

/* Opens the directory part of `path`, and keeps the last part as the name. A relative path starts
 * at the place's directory if that is open, else at the current directory. Returns 0 or an
 * errno. */
static int enter(gc_place *place, const char *path)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof directory || strlen(path + length) >= sizeof place->name)
        return ENAMETOOLONG;
    memcpy(directory, path, length);
    directory[length] = '\0';
    int start = place->directory >= 0 ? place->directory : AT_FDCWD;
    int opened = openat(start, length > 0 ? directory : ".", SEARCH_FLAG | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0)
        return errno;
    gc_place_close(place);
    place->directory = opened;
    strcpy(place->name, path + length);
    return place->name[0] != '\0' ? 0 : EISDIR;
}

/* In a directory like /tmp anybody may plant a link: there only one's own links are followed and
 * those of the directory's owner, as in Linux with fs.protected_symlinks. */
static bool may_follow(const struct stat *directory, const struct stat *link)
{
    bool shared = (directory->st_mode & S_ISVTX) != 0 && (directory->st_mode & S_IWOTH) != 0;
    return !shared || link->st_uid == geteuid() || link->st_uid == directory->st_uid;
}

/* Sets place->is_proc_link if the link lies in /proc and leads elsewhere than its text says.
 * Such a link leads to a pipe, for example, or to a file that has lost its name. Returns 0 or an
 * errno. */
static int look_for_proc(gc_place *place, const struct stat *directory, const char *text)
{
    struct stat proc, meant, named;
    if (stat("/proc", &proc) != 0 || directory->st_dev != proc.st_dev)
        return 0;
    if (fstatat(place->directory, place->name, &meant, 0) != 0)
        return errno;
    place->is_proc_link = fstatat(place->directory, text, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
                          !gc_same_file(&meant, &named);
    place->about = meant;
    return 0;
}

/* Goes from a link to the place that its text names. Returns 0 or an errno. */
static int follow(gc_place *place)
{
    char text[PATH_MAX];
    struct stat directory;
    if (fstat(place->directory, &directory) != 0)
        return errno;
    if (!may_follow(&directory, &place->about))
        return EACCES;
    ssize_t length = readlinkat(place->directory, place->name, text, sizeof text);
    if (length < 0)
        return errno;
    if ((size_t)length == sizeof text)
        return ENAMETOOLONG;
    text[length] = '\0';
    int failure = look_for_proc(place, &directory, text);
    return failure != 0 || place->is_proc_link ? failure : enter(place, text);
}

static int find(const char *path, gc_place *place)
{
    int failure = enter(place, path);
    for (int depth = 0; failure == 0; depth++) {
        place->exists =
            fstatat(place->directory, place->name, &place->about, AT_SYMLINK_NOFOLLOW) == 0;
        if (!place->exists)
            return errno == ENOENT ? 0 : errno;
        if (!S_ISLNK(place->about.st_mode))
            return 0;
        if (depth == SYMLINK_DEPTH_MAX)
            return ELOOP;
        failure = follow(place);
        if (place->is_proc_link)
            return failure;
    }
    return failure;
}

gconv_status gc_place_find(const char *path, gc_place *place, gconv_error *error)
{
    *place = (gc_place){.directory = -1};
    int failure = find(path, place);
    if (failure == 0)
        return GCONV_OK;
    gc_place_close(place);
    if (failure == ENOENT)
        return gc_fail(error, GCONV_ERROR_OPEN, "cannot create: its directory does not exist");
    return gc_fail_errno(error, GCONV_ERROR_OPEN, failure, "cannot create");
}
