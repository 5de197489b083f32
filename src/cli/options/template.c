#include "cli/options/template.h"

#include "base/status.h"

#include <string.h>

static const struct {
    const char *word;
    gc_placeholder placeholder;
} placeholders[] = {{"{dir}", GC_PLACEHOLDER_DIR},
                    {"{stem}", GC_PLACEHOLDER_STEM},
                    {"{name}", GC_PLACEHOLDER_NAME},
                    {"{ext}", GC_PLACEHOLDER_EXT}};

bool gc_template_next(const char **rest, gc_text *piece, gc_placeholder *placeholder)
{
    const char *text = *rest;
    *placeholder = GC_PLACEHOLDER_NONE;
    *piece = (gc_text){text, strcspn(text, "{}")};
    *rest = text + piece->length;
    if (text[0] == '\0' || piece->length > 0)
        return text[0] != '\0';
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++) {
        size_t length = strlen(placeholders[i].word);
        if (strncmp(text, placeholders[i].word, length) != 0)
            continue;
        *placeholder = placeholders[i].placeholder;
        *rest = text + length;
        return true;
    }
    piece->length = 1;
    *rest = text + (text[0] == text[1] ? 2 : 1);
    return true;
}

/* The length of what a brace begins: "{foo}", or the brace alone if no other one closes it. */
static int braced_length(const char *text)
{
    size_t length = 1 + strcspn(text + 1, "{}");
    return text[0] == '{' && text[length] == '}' ? (int)length + 1 : 1;
}

/* Whether a part between slashes is "..". */
static bool leads_upwards(const char *text)
{
    for (;;) {
        size_t length = strcspn(text, "/");
        if (length == 2 && memcmp(text, "..", 2) == 0)
            return true;
        if (text[length] == '\0')
            return false;
        text += length + 1;
    }
}

gconv_status gc_template_check(const char *text, gconv_error *error)
{
    const char *rest = text, *at = text;
    gc_text piece;
    gc_placeholder placeholder;
    bool differs = false;
    for (; gc_template_next(&rest, &piece, &placeholder); at = rest) {
        differs =
            differs || placeholder == GC_PLACEHOLDER_STEM || placeholder == GC_PLACEHOLDER_NAME;
        bool brace = placeholder == GC_PLACEHOLDER_NONE && (at[0] == '{' || at[0] == '}');
        if (brace && rest - at == 1)
            return gc_fail(error, GCONV_ERROR_ARGUMENT,
                           "'%.200s': '%.*s' is not {dir}, {stem}, {name} or {ext}; {{ and }} are "
                           "braces",
                           text, braced_length(at) < 40 ? braced_length(at) : 40, at);
    }
    if (!differs)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.200s' needs {stem} or {name}, so that outputs differ", text);
    if (leads_upwards(text))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.200s' leads upwards; outputs lie below -o DIR", text);
    if (text[0] == '/')
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "'%.200s' begins with a slash; outputs lie below -o DIR", text);
    if (text[strlen(text) - 1] == '/')
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "'%.200s' ends in a slash; it names files",
                       text);
    return GCONV_OK;
}
