#include "cli/tasks/names.h"

#include "base/file.h"
#include "base/status.h"
#include "cli/options/formats.h"
#include "cli/options/words.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

const char *gc_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
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

bool gc_is_either_pnm(const char *path)
{
    const char *dot = strrchr(gc_base_name(path), '.');
    return dot != NULL && strcasecmp(dot, ".pnm") == 0;
}

bool gc_extension_fits(const gc_options *options, const char *path, gconv_format format)
{
    if (options->form.either_pnm)
        return gc_is_either_pnm(path);
    if (gc_is_either_pnm(path))
        return format == GCONV_FORMAT_PGM || format == GCONV_FORMAT_PPM;
    return gconv_format_from_path(path) == format;
}

gconv_status gc_check_extension(const char *path, gconv_error *error)
{
    const gconv_foreign_format *foreign = gconv_foreign_from_path(path);
    char list[GC_FORMAT_LIST_BYTES];
    if (foreign == NULL)
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "its extension is that of %s, which gconv does not write; it writes %s",
                   foreign->name, gc_list_formats(list));
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

gconv_status gc_check_depth(gconv_format format, int depth, gconv_error *error)
{
    const gconv_format_info *info = gconv_format_describe(format);
    char name[16] = "", list[32];
    if (info == NULL || (info->depths & depth) != 0)
        return GCONV_OK;
    for (size_t i = 0; i + 1 < sizeof name && info->name[i] != '\0'; i++)
        name[i] = (char)toupper((unsigned char)info->name[i]);
    if (info->depths == 32)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s holds floats; it takes no --depth", name);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s holds %s bits a sample, not %d", name,
                   list_depths(info->depths, list), depth);
}
