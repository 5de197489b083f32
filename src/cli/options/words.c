#include "cli/options/words.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

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

gconv_status gc_read_word(const gc_word *words, size_t count, const char *text, int *value,
                          gconv_error *error)
{
    const char *names[WORDS_MAX];
    char legal[256] = "";
    for (size_t i = 0; i < count; i++) {
        names[i] = words[i].name;
        if (strcmp(words[i].name, text) == 0) {
            *value = words[i].value;
            return GCONV_OK;
        }
        gc_list_name(legal, sizeof legal, names[i], count - i - 1);
    }
    char nearest[64];
    gc_suggest(text, names, count, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not %s%s", text, legal, nearest);
}

gconv_status gc_read_whole(const char *text, int low, int high, int *value, gconv_error *error)
{
    long long number;
    if (!gc_parse_integer(text, low, high, &number))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a whole number from %d to %d",
                       text, low, high);
    *value = (int)number;
    return GCONV_OK;
}

gconv_status gc_read_finite(const char *text, double *value, gconv_error *error)
{
    if (!gc_parse_number(text, value))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%s' is not a finite number", text);
    return GCONV_OK;
}
