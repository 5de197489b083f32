#include "core/border.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/status.h"

#include <string.h>

typedef struct border_word {
    const char *word;
    gconv_border border;
} border_word;

/* The first word of each mode is its name. The others are the names that other programs use. */
static const border_word words[] = {
    {"mirror", GCONV_BORDER_MIRROR},        {"reflect", GCONV_BORDER_MIRROR},
    {"symmetric", GCONV_BORDER_MIRROR},     {"mirror101", GCONV_BORDER_MIRROR101},
    {"reflect101", GCONV_BORDER_MIRROR101}, {"replicate", GCONV_BORDER_REPLICATE},
    {"clamp", GCONV_BORDER_REPLICATE},      {"edge", GCONV_BORDER_REPLICATE},
    {"nearest", GCONV_BORDER_REPLICATE},    {"wrap", GCONV_BORDER_WRAP},
    {"periodic", GCONV_BORDER_WRAP},        {"constant", GCONV_BORDER_CONSTANT},
    {"zero", GCONV_BORDER_CONSTANT},
};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

const char *gconv_border_name(gconv_border border)
{
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (words[i].border == border)
            return words[i].word;
    return "unknown";
}

gconv_status gconv_border_parse(const char *text, gconv_border *border, double *value,
                                double *denominator, gconv_error *error)
{
    *value = *denominator = 0;
    if (text == NULL)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "no border is named: a null pointer");
    if (strncmp(text, "constant:", strlen("constant:")) == 0) {
        *border = GCONV_BORDER_CONSTANT;
        const char *number = text + strlen("constant:");
        if (!gc_parse_quotient(number, value, denominator))
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "'%s' is not a finite number (constant:V, V in 8-bit levels)", number);
        return GCONV_OK;
    }
    const char *names[WORD_COUNT];
    for (size_t i = 0; i < WORD_COUNT; i++) {
        names[i] = words[i].word;
        if (strcmp(text, names[i]) == 0) {
            *border = words[i].border;
            return GCONV_OK;
        }
    }
    const char *nearest = gc_nearest_name(text, names, WORD_COUNT);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "unknown border '%s'%s%s%s (mirror, mirror101, replicate, wrap, constant[:V] or "
                   "zero)",
                   text, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "");
}
