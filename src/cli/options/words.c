#include "cli/options/words.h"

#include "base/nearest.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void gc_suggest(const char *text, const char *const *names, size_t count, char *buffer, size_t size)
{
    const char *nearest = gc_nearest_name(text, names, count);
    buffer[0] = '\0';
    if (nearest != NULL)
        snprintf(buffer, size, "; did you mean '%s'?", nearest);
}

void gc_list_name(char *list, size_t size, const char *name, size_t rest)
{
    size_t used = strlen(list);
    const char *separator = used == 0 ? "" : rest == 0 ? " or " : ", ";
    snprintf(list + used, size - used, "%s%s", separator, name);
}

enum { WORDS_MAX = 16 };

gconv_status gc_read_word(const gc_word *words, const char *text, int *value, gconv_error *error)
{
    const char *names[WORDS_MAX];
    char legal[256] = "", nearest[64];
    size_t count = 0;
    for (; words[count].name != NULL; count++) {
        names[count] = words[count].name;
        if (strcmp(words[count].name, text) == 0) {
            *value = words[count].value;
            return GCONV_OK;
        }
        gc_list_name(legal, sizeof legal, names[count], words[count + 1].name != NULL);
    }
    /* By spelling "gpu" is nearest to "cpu", its opposite. */
    gc_suggest(strcmp(text, "gpu") == 0 ? "cuda" : text, names, count, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", text, legal, nearest);
}

gc_named_format gc_format_named(const char *path)
{
    const char *dot = strrchr(path, '.');
    return (gc_named_format){.format = gconv_format_from_path(path),
                             .either_pnm = dot != NULL && strcasecmp(dot, ".pnm") == 0,
                             .foreign = gconv_foreign_from_path(path)};
}

size_t gc_format_words(const char *words[GC_FORMAT_WORDS])
{
    size_t count = 0;
    for (int i = GCONV_FORMAT_UNKNOWN + 1; i < GCONV_FORMAT_COUNT; i++) {
        const gconv_format_info *info = gconv_format_describe((gconv_format)i);
        if (i == GCONV_FORMAT_PGM)
            words[count++] = "pnm";
        if (info->writes)
            words[count++] = info->name;
    }
    return count;
}

const char *gc_list_formats(char list[GC_FORMAT_LIST_BYTES])
{
    const char *words[GC_FORMAT_WORDS];
    size_t count = gc_format_words(words);
    list[0] = '\0';
    for (size_t i = 0; i < count; i++)
        gc_list_name(list, GC_FORMAT_LIST_BYTES, words[i], count - i - 1);
    return list;
}
