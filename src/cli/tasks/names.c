#include "cli/tasks/names.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"
#include "cli/options/template.h"
#include "cli/options/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Paths ----------------------------------------------------------------------------------- */

const char *gc_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *gc_output_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

gconv_status gc_check_input(const char *path, gconv_error *error)
{
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO) == 1)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "standard input is a terminal; redirect it or name an input");
    return GCONV_OK;
}

const char *gc_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

size_t gc_find_extension(const char *path)
{
    const char *name = gc_base_name(path), *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
}

char *gc_join_path(const char *directory, const char *name)
{
    size_t length = strlen(directory) + strlen(name) + 2;
    char *path = malloc(length);
    if (path == NULL)
        return NULL;
    bool slash = directory[0] != '\0' && directory[strlen(directory) - 1] != '/';
    snprintf(path, length, "%s%s%s", directory, slash ? "/" : "", name);
    return path;
}

bool gc_is_directory(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool gc_is_empty_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return errno == ENOENT;
    bool empty = true;
    for (const struct dirent *entry; empty && (entry = readdir(directory)) != NULL;)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(directory);
    return empty;
}

/* ---- Formats --------------------------------------------------------------------------------- */

bool gc_is_passing(int error_number)
{
    return error_number == EIO || error_number == EMFILE || error_number == ENFILE ||
           error_number == ENOMEM;
}

gconv_format gc_sniff(const char *path, int *unknown, const gconv_foreign_format **foreign)
{
    unsigned char bytes[1024];
    size_t count = 0;
    int descriptor;
    do
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (descriptor < 0 && errno == EINTR);
    bool known = descriptor >= 0 && gc_read_all(descriptor, bytes, sizeof bytes, &count);
    if (!known && gc_is_passing(errno))
        *unknown = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (known && foreign != NULL)
        *foreign = gconv_foreign_from_content(bytes, count);
    return known ? gconv_format_from_content(bytes, count) : GCONV_FORMAT_UNKNOWN;
}

bool gc_is_foreign(const char *path)
{
    int unknown;
    const gconv_foreign_format *seen = NULL;
    return gconv_foreign_from_path(path) != NULL &&
           gc_sniff(path, &unknown, &seen) == GCONV_FORMAT_UNKNOWN && seen != NULL;
}

bool gc_extension_fits(const gc_options *options, const gc_named_format *named, gconv_format format)
{
    if (options->form.either_pnm)
        return named->either_pnm;
    if (named->either_pnm)
        return format == GCONV_FORMAT_PGM || format == GCONV_FORMAT_PPM;
    return named->format == format;
}

gconv_status gc_check_extension(const gc_named_format *named, gconv_format wanted,
                                gconv_error *error)
{
    char list[GC_FORMAT_LIST_BYTES];
    if (named->foreign == NULL && named->format == GCONV_FORMAT_UNKNOWN &&
        wanted == GCONV_FORMAT_UNKNOWN)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "its extension names no known format; give --format %s",
                       gc_list_formats(list));
    if (named->foreign == NULL)
        return GCONV_OK;
    if (named->foreign->missing != NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "its extension is that of %s, but %s",
                       named->foreign->name, named->foreign->missing);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "its extension is that of %s, which gconv does not write; it writes %s",
                   named->foreign->name, gc_list_formats(list));
}

/* The depths that a format can hold: "1, 8 or 16". */
static const char *list_depths(int depths, char list[32])
{
    static const struct {
        int depth;
        const char *name;
    } all[] = {{1, "1"}, {8, "8"}, {16, "16"}, {32, "32"}};
    list[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if ((depths & all[i].depth) != 0)
            gc_list_name(list, 32, all[i].name, (size_t)(depths / (2 * all[i].depth)));
    return list;
}

gconv_status gc_check_depth(const gconv_format_info *info, int depth, gconv_error *error)
{
    char list[32];
    if (info == NULL || (info->depths & depth) != 0)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s holds %s bits a sample, not %d", info->title,
                   list_depths(info->depths, list), depth);
}

/* ---- Outputs of a batch ---------------------------------------------------------------------- */

/* Appends one part of a path to `clean` of `used` bytes, and returns the new length. */
static size_t append_part(char *clean, size_t used, const char *part, size_t length)
{
    if (length == 0 || (length == 1 && part[0] == '.'))
        return used;
    if (length == 2 && part[0] == '.' && part[1] == '.') {
        while (used > 0 && clean[--used] != '/')
            continue;
        return used;
    }
    if (used > 0)
        clean[used++] = '/';
    memmove(clean + used, part, length);
    return used + length;
}

char *gc_clean_path(const char *path)
{
    char *clean = malloc(strlen(path) + 1);
    size_t used = 0;
    if (clean == NULL)
        return NULL;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        used = append_part(clean, used, path, length);
        path += length + (path[length] == '/');
    }
    clean[used] = '\0';
    return clean;
}

static const char *default_extension(const gc_options *options, gconv_format format)
{
    const gconv_format_info *info = gconv_format_describe(format);
    if (options->form.either_pnm)
        return "pnm";
    return info != NULL ? info->extension : "png";
}

/* The text of a placeholder for `relative`, whose extension becomes `extension`. */
static gc_text placeholder_text(gc_placeholder placeholder, const char *relative,
                                const char *extension)
{
    const char *name = gc_base_name(relative);
    size_t directory = (size_t)(name - relative);
    switch (placeholder) {
    case GC_PLACEHOLDER_DIR:
        return (gc_text){relative, directory > 0 ? directory - 1 : 0};
    case GC_PLACEHOLDER_STEM:
        return (gc_text){name, gc_find_extension(relative) - directory};
    case GC_PLACEHOLDER_NAME:
        return (gc_text){name, strlen(name)};
    default:
        return (gc_text){extension, strlen(extension)};
    }
}

/* Writes the filled template to `name` unless that is NULL, and returns its length. */
static size_t expand(char *name, const char *text, const char *relative, const char *extension)
{
    size_t length = 0;
    gc_text piece;
    gc_placeholder placeholder;
    while (gc_template_next(&text, &piece, &placeholder)) {
        if (placeholder != GC_PLACEHOLDER_NONE)
            piece = placeholder_text(placeholder, relative, extension);
        if (name != NULL)
            memcpy(name + length, piece.text, piece.length);
        length += piece.length;
    }
    if (name != NULL)
        name[length] = '\0';
    return length;
}

/* "RELATIVE" with another extension. */
static char *change_extension(const char *relative, const char *extension)
{
    size_t stem = gc_find_extension(relative), length = stem + strlen(extension) + 2;
    char *renamed = malloc(length);
    if (renamed != NULL)
        snprintf(renamed, length, "%.*s.%s", (int)stem, relative, extension);
    return renamed;
}

/* The name that --name gives, without what would lead out of the directory. */
static char *fill_template(const gc_options *options, const char *relative, bool fits,
                           gconv_format format)
{
    const char *own = relative + gc_find_extension(relative);
    const char *extension = fits && *own == '.' ? own + 1 : default_extension(options, format);
    size_t length = expand(NULL, options->batch.name_template, relative, extension);
    char *filled = malloc(length + 1);
    if (filled == NULL)
        return NULL;
    expand(filled, options->batch.name_template, relative, extension);
    char *clean = gc_clean_path(filled);
    free(filled);
    return clean;
}

char *gc_batch_output(const gc_options *options, const char *relative, const gc_named_format *named,
                      gconv_format format)
{
    bool fits = gc_extension_fits(options, named, format);
    char *name;
    if (options->batch.name_template != NULL)
        name = fill_template(options, relative, fits, format);
    else if (fits)
        name = gc_copy_string(relative);
    else
        name = change_extension(relative, default_extension(options, format));
    char *path = name != NULL ? gc_join_path(options->batch.directory, name) : NULL;
    free(name);
    return path;
}

gconv_format gc_batch_format(const gc_options *options, const char *input,
                             const gc_named_format *named, bool is_file, int *unknown)
{
    if (options->writer.format != GCONV_FORMAT_UNKNOWN)
        return options->writer.format;
    if (options->batch.named.format != GCONV_FORMAT_UNKNOWN)
        return options->batch.named.format;
    if (options->command != GC_COMMAND_FILTER)
        return named->format == GCONV_FORMAT_Y4M ? GCONV_FORMAT_Y4M : GCONV_FORMAT_PNG;
    gconv_format format = is_file ? gc_sniff(input, unknown, NULL) : GCONV_FORMAT_UNKNOWN;
    return format != GCONV_FORMAT_UNKNOWN ? format : named->format;
}

/* ---- Which file a path leads to -------------------------------------------------------------- */

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

/* Appends what does not exist yet to what was resolved. False if the path is too long. */
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
 * if the path is too long. */
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

/* The directory of a path without links. NULL if it is too long. */
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

/* Follows a link that leads to nothing yet, as an output does. False if the links have no end or a
 * path is too long. */
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
    return gc_hash_is_same(gc_identify(&cache, a).path, gc_identify(&cache, b).path);
}

bool gc_replaces_input(const char *input, const char *output)
{
    struct stat from;
    gc_place place;
    if (strcmp(input, "-") == 0 || strcmp(output, "-") == 0 || stat(input, &from) != 0 ||
        gc_place_find(output, &place, NULL) != GCONV_OK)
        return false;
    bool same = place.exists && !gc_place_is_direct(&place) && gc_same_file(&from, &place.about);
    gc_place_close(&place);
    return same;
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
            below = gc_hash_is_same(gc_identify(&cache, prefix).path, wanted);
        }
    }
    free(inside);
    free(prefix);
    return below;
}
