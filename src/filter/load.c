/* Finds the filter that a --kernel names (contract.md, rule 16). */
#include "filter/filter.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end, or one byte more than a filter text may have. */
static gconv_status read_text(int descriptor, char *buffer, size_t *length, gconv_error *error)
{
    if (!gc_read_all(descriptor, buffer, GC_FILTER_TEXT_MAX + 1, length))
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read the filter");
    return GCONV_OK;
}

static gconv_status load_descriptor(int descriptor, const char *path, gconv_filter **filter,
                                    gconv_error *error)
{
    size_t length = 0;
    char stem[NAME_MAX + 1]; /* the last part of the path, without ".txt" */
    const char *slash = strrchr(path, '/');
    int end = snprintf(stem, sizeof stem, "%s", slash == NULL ? path : slash + 1);
    if (end > 4 && end < (int)sizeof stem && strcmp(stem + end - 4, ".txt") == 0)
        stem[end - 4] = '\0';
    char *text = malloc(GC_FILTER_TEXT_MAX + 1);
    gconv_status status = text == NULL ? gc_fail_memory(error, GC_FILTER_TEXT_MAX)
                                       : read_text(descriptor, text, &length, error);
    GC_THEN(status, gconv_filter_parse(text, length, stem, filter, error));
    free(text);
    return status;
}

static gconv_status load_file(const char *path, gconv_filter **filter, gconv_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the filter");
    gconv_status status = load_descriptor(descriptor, path, filter, error);
    close(descriptor);
    return status;
}

/* The built-in filter of this name, with or without ".txt"; NULL if there is none. */
static const gconv_builtin_filter *find_builtin(const char *name)
{
    for (size_t i = 0; i < gconv_builtin_filter_count(); i++) {
        const gconv_builtin_filter *builtin = gconv_builtin_filter_at(i);
        size_t length = strlen(builtin->name);
        if (strncmp(name, builtin->name, length) == 0 &&
            (name[length] == '\0' || strcmp(name + length, ".txt") == 0))
            return builtin;
    }
    return NULL;
}

static gconv_status load_builtin(const gconv_builtin_filter *builtin, gconv_filter **filter,
                                 gconv_error *error)
{
    gconv_status status =
        gconv_filter_parse(builtin->text, strlen(builtin->text), builtin->name, filter, error);
    if (status == GCONV_OK)
        (*filter)->dialect = NULL;
    return status;
}

/* A built-in filter or one of a generator. *filter stays as it is if none has this name. */
static gconv_status load_named(const char *name, gconv_filter **filter, gconv_error *error)
{
    const gconv_builtin_filter *builtin = find_builtin(name);
    const gc_generator *generator = gc_find_generator(name);
    if (builtin != NULL)
        return load_builtin(builtin, filter, error);
    return generator != NULL ? gc_filter_generate(generator, name, filter, error) : GCONV_OK;
}

/* True for a text that can only be an inline filter, WxH: and weights. */
static bool looks_inline(const char *specification)
{
    specification += strspn(specification, " \t\r\n");
    return *specification >= '0' && *specification <= '9' && strchr(specification, ':') != NULL;
}

static gconv_status load_inline(const char *text, gconv_filter **filter, gconv_error *error)
{
    gconv_status status = gconv_filter_parse(text, strlen(text), text, filter, error);
    if (status == GCONV_ERROR_FILTER && error != NULL && strchr(text, '\n') == NULL)
        error->line = 0; /* a single line needs no number */
    return status;
}

/* The built-in name or generator nearest to the specification; NULL if none is near. */
static const char *nearest_filter(const char *specification)
{
    size_t builtins = gconv_builtin_filter_count(), generators = gconv_generator_count();
    const char **names = gc_allocate_array(builtins + generators, sizeof *names);
    char word[64]; /* no name is nearly as long */
    snprintf(word, sizeof word, "%.*s", (int)strcspn(specification, ":"), specification);
    for (size_t i = 0; names != NULL && i < builtins; i++)
        names[i] = gconv_builtin_filter_at(i)->name;
    for (size_t i = 0; names != NULL && i < generators; i++)
        names[builtins + i] = gconv_generator_at(i)->name;
    const char *nearest =
        names != NULL ? gc_nearest_name(word, names, builtins + generators) : NULL;
    free(names);
    const gc_generator *generator = nearest == NULL ? NULL : gc_find_generator(nearest);
    return generator == NULL ? nearest : generator->about.usage;
}

/* The generator that makes other sizes of the filter named (gauss7, box9); NULL if there is
 * none. */
static const gconv_generator *related_generator(const char *specification)
{
    for (size_t i = 0; i < gconv_generator_count(); i++)
        if (strncmp(specification, gconv_generator_at(i)->name, 3) == 0)
            return gconv_generator_at(i);
    return NULL;
}

/* Counts the numbers of a text that consists of numbers, blanks and commas; 0 for any other
 * text. */
static int count_numbers(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text += strspn(text, " \t,")) {
        double value;
        size_t length = strcspn(text, " \t,");
        if (gc_read_number(text, length, &value) != length)
            return 0;
        count += length > 0;
        text += length;
    }
    return count;
}

/* Refuses a text that has weights and no size, and shows how a row of them is written. */
static gconv_status refuse_bare_weights(const char *text, gconv_error *error)
{
    char weights[64] = "v,v,...";
    size_t used = 0;
    int count = count_numbers(text);
    if (count < 2)
        return GCONV_OK;
    for (const char *next = text + strspn(text, " \t,"); *next != '\0' && strlen(text) < 50;
         next += strspn(next, " \t,")) {
        int length = (int)strcspn(next, " \t,");
        used += (size_t)snprintf(weights + used, sizeof weights - used, "%s%.*s",
                                 used > 0 ? "," : "", length, next);
        next += length;
    }
    return gc_fail(error, GCONV_ERROR_FILTER,
                   "no such file; weights need their size before them, as in '%dx1: %s'", count,
                   weights);
}

static gconv_status fail_unknown(const char *specification, gconv_error *error)
{
    const char *nearest = nearest_filter(specification);
    const gconv_generator *related = related_generator(specification);
    bool hints = related != NULL && nearest != related->usage;
    if (refuse_bare_weights(specification, error) != GCONV_OK)
        return GCONV_ERROR_FILTER;
    return gc_fail(error, GCONV_ERROR_FILTER,
                   "no such file, built-in filter or generator%s%s%s (%s%s'gconv info' lists them)",
                   nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                   nearest == NULL ? "" : "'?", hints ? related->usage : "",
                   hints ? " makes any size; " : "");
}

gconv_status gconv_filter_load(const char *specification, gconv_filter **filter, gconv_error *error)
{
    *filter = NULL;
    struct stat about;
    if (specification == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no filter is named: a null pointer");
    if (*specification == '\0')
        return gc_fail(error, GCONV_ERROR_FILTER, "the name of the filter is empty");
    if (strcmp(specification, "-") == 0)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "a filter is not read from '-'; /dev/stdin is a path");
    bool exists = stat(specification, &about) == 0;
    /* It may exist, and cannot be reached. */
    if (!exists && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the filter");
    if (exists && !S_ISDIR(about.st_mode))
        return load_file(specification, filter, error);

    gconv_status status = load_named(specification, filter, error);
    if (status != GCONV_OK || *filter != NULL)
        return status;
    if (looks_inline(specification))
        return load_inline(specification, filter, error);
    if (exists)
        return gc_fail(error, GCONV_ERROR_FILTER, "a directory, not a filter file");
    return fail_unknown(specification, error);
}

gconv_status gconv_filter_load_builtin(const char *name, gconv_filter **filter, gconv_error *error)
{
    *filter = NULL;
    gconv_status status = load_named(name, filter, error);
    return status == GCONV_OK && *filter == NULL ? fail_unknown(name, error) : status;
}
