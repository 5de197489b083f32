#include "cli/tasks/naming.h"

#include "base/memory.h"
#include "cli/options/template.h"
#include "cli/tasks/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The place of the dot before the extension of a path; the end of the path where it has none. */
static size_t find_extension(const char *path)
{
    const char *name = gc_base_name(path), *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
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
        return (gc_text){name, find_extension(relative) - directory};
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
    size_t stem = find_extension(relative), length = stem + strlen(extension) + 2;
    char *renamed = malloc(length);
    if (renamed != NULL)
        snprintf(renamed, length, "%.*s.%s", (int)stem, relative, extension);
    return renamed;
}

/* The name that --name gives, without what would lead out of the directory. */
static char *fill_template(const gc_options *options, const char *relative, bool fits,
                           gconv_format format)
{
    const char *own = relative + find_extension(relative);
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

char *gc_batch_output(const gc_options *options, const char *relative, gconv_format format)
{
    bool fits = gc_extension_fits(options, relative, format);
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

gconv_format gc_template_format(const gc_options *options)
{
    return options->batch.name_template != NULL
               ? gconv_format_from_path(options->batch.name_template)
               : GCONV_FORMAT_UNKNOWN;
}

gconv_format gc_batch_format(const gc_options *options, const char *input, bool is_file,
                             int *unknown)
{
    gconv_format named = gc_template_format(options);
    if (options->writer.format != GCONV_FORMAT_UNKNOWN)
        return options->writer.format;
    if (named != GCONV_FORMAT_UNKNOWN)
        return named;
    if (options->command == GC_COMMAND_EDGES)
        return GCONV_FORMAT_PNG;
    gconv_format format = is_file ? gc_sniff(input, unknown, NULL) : GCONV_FORMAT_UNKNOWN;
    return format != GCONV_FORMAT_UNKNOWN ? format : gconv_format_from_path(input);
}
