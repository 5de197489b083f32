#include "cli/tasks/identity.h"

#include "cli/tasks/names.h"
#include "cli/tasks/naming.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the last part off a path. */
static size_t cut_part(char *path, size_t length)
{
    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    path[length] = '\0';
    return length;
}

/* Appends what does not exist yet to what was resolved. False where the path is too long. */
static bool append(char resolved[PATH_MAX], const char *rest)
{
    char *clean = gc_clean_path(rest);
    size_t used = strcmp(resolved, "/") == 0 ? 0 : strlen(resolved);
    bool fits = clean != NULL && used + strlen(clean) + 2 <= PATH_MAX;
    if (fits && clean[0] != '\0') {
        resolved[used] = '/';
        memcpy(resolved + used + 1, clean, strlen(clean) + 1);
    }
    free(clean);
    return fits;
}

/* Resolves the links of a directory; of one that does not exist, those of the part that does. False
 * where the path is too long. */
static bool resolve(const char *directory, char resolved[PATH_MAX])
{
    char existing[PATH_MAX];
    size_t length = strlen(directory);
    memcpy(existing, directory, length + 1);
    while (realpath(length > 0 ? existing : ".", resolved) == NULL) {
        if (length == 0)
            return false;
        length = cut_part(existing, length);
    }
    return append(resolved, directory + length);
}

/* The directory of a path without links. NULL where it is too long. */
static const char *resolve_cached(gc_identity_cache *cache, const char *path, size_t length)
{
    if (length + 1 >= sizeof cache->asked)
        return NULL;
    if (cache->asked[0] != '\0' && strncmp(cache->asked, path, length) == 0 &&
        cache->asked[length] == '.' && cache->asked[length + 1] == '\0')
        return cache->resolved;
    memcpy(cache->asked, path, length);
    memcpy(cache->asked + length, ".", 2); /* never empty */
    if (resolve(cache->asked, cache->resolved))
        return cache->resolved;
    cache->asked[0] = '\0';
    return NULL;
}

/* Follows a link that leads to nothing yet, as an output does. False where the links have no end or
 * a path is too long. */
static bool follow(const char *path, char target[PATH_MAX])
{
    enum { LINKS_MAX = 40 }; /* as in Linux */
    char link[PATH_MAX];
    if (strlen(path) >= PATH_MAX)
        return false;
    strcpy(target, path);
    for (int links = 0; links < LINKS_MAX; links++) {
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0)
            return true;
        link[length] = '\0';
        size_t directory = link[0] == '/' ? 0 : (size_t)(gc_base_name(target) - target);
        if (directory + (size_t)length >= PATH_MAX)
            return false;
        memcpy(target + directory, link, (size_t)length + 1);
    }
    return false;
}

static gc_hash hash_path(gc_identity_cache *cache, const char *path)
{
    const char *name = gc_base_name(path);
    const char *directory = resolve_cached(cache, path, (size_t)(name - path));
    if (directory == NULL)
        return gc_hash_string(gc_hash_start(), path);
    gc_hash hash = gc_hash_bytes(gc_hash_start(), directory, strlen(directory));
    if (strcmp(directory, "/") != 0)
        hash = gc_hash_bytes(hash, "/", 1);
    return gc_hash_string(hash, name);
}

gc_identity gc_identify_plain(gc_identity_cache *cache, const char *path)
{
    gc_hash hash = hash_path(cache, path);
    return (gc_identity){.path = hash, .file = hash};
}

gc_identity gc_identify(gc_identity_cache *cache, const char *path)
{
    char target[PATH_MAX];
    struct stat about;
    bool found = lstat(path, &about) == 0, is_link = found && S_ISLNK(about.st_mode);
    gc_identity identity;
    if (is_link)
        found = stat(path, &about) == 0;
    if (is_link && realpath(path, target) != NULL)
        identity.path = gc_hash_string(gc_hash_start(), target);
    else
        identity.path = hash_path(cache, is_link && follow(path, target) ? target : path);
    identity.file = identity.path;
    identity.mode = found ? about.st_mode : 0;
    if (found && S_ISREG(about.st_mode) && about.st_nlink > 1) {
        gc_hash device = gc_hash_bytes(gc_hash_start(), &about.st_dev, sizeof about.st_dev);
        identity.file = gc_hash_bytes(device, &about.st_ino, sizeof about.st_ino);
    }
    return identity;
}

bool gc_is_one_path(const char *a, const char *b)
{
    gc_identity_cache cache = {.asked = ""};
    if (a == NULL || b == NULL || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    gc_hash first = gc_identify(&cache, a).path, second = gc_identify(&cache, b).path;
    return first.high == second.high && first.low == second.low;
}

bool gc_lies_below(const char *path, const char *directory)
{
    gc_identity_cache cache = {.asked = ""};
    char *inside = gc_join_path(directory, "."), *prefix = malloc(strlen(path) + 2);
    bool below = false;
    if (inside != NULL && prefix != NULL) {
        gc_hash wanted = gc_identify(&cache, inside).path;
        for (const char *end = strchr(path, '/'); end != NULL && !below;
             end = strchr(end + 1, '/')) {
            size_t length = (size_t)(end - path) + 1;
            memcpy(prefix, path, length);
            memcpy(prefix + length, ".", 2);
            gc_hash found = gc_identify(&cache, prefix).path;
            below = found.high == wanted.high && found.low == wanted.low;
        }
    }
    free(inside);
    free(prefix);
    return below;
}
