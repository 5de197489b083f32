#include "gconv.h"

#include <string.h>

typedef struct format_word {
    const char *word; /* a name, and an extension */
    gconv_format format;
} format_word;

/* The first word of each format is its name. ".pnm" stands for PGM and PPM: the wider one. */
static const format_word words[] = {
    {"png", GCONV_FORMAT_PNG},  {"jpeg", GCONV_FORMAT_JPEG}, {"jpg", GCONV_FORMAT_JPEG},
    {"jpe", GCONV_FORMAT_JPEG}, {"jfif", GCONV_FORMAT_JPEG}, {"pgm", GCONV_FORMAT_PGM},
    {"ppm", GCONV_FORMAT_PPM},  {"pnm", GCONV_FORMAT_PPM},   {"pfm", GCONV_FORMAT_PFM},
};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* strcasecmp follows the locale, where an I may not be the capital of i. */
static bool same_word(const char *text, const char *word)
{
    while (*word != '\0' && ascii_lower(*text) == *word) {
        text++;
        word++;
    }
    return *text == *word;
}

const char *gconv_format_name(gconv_format format)
{
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (words[i].format == format)
            return words[i].word;
    return "unknown";
}

gconv_format gconv_format_from_name(const char *name)
{
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (same_word(name, words[i].word))
            return words[i].format;
    return GCONV_FORMAT_UNKNOWN;
}

gconv_format gconv_format_from_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? gconv_format_from_name(dot + 1) : GCONV_FORMAT_UNKNOWN;
}

gconv_format gconv_format_from_content(const void *bytes, size_t count)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const unsigned char jpeg[] = {0xff, 0xd8, 0xff};
    const unsigned char *first = bytes;
    if (count >= sizeof png && memcmp(first, png, sizeof png) == 0)
        return GCONV_FORMAT_PNG;
    if (count >= sizeof jpeg && memcmp(first, jpeg, sizeof jpeg) == 0)
        return GCONV_FORMAT_JPEG;
    bool pnm = count >= 3 && first[0] == 'P' && strchr(" \t\n\v\f\r#", first[2]) != NULL;
    if (pnm && first[2] != '\0' && (first[1] == '5' || first[1] == '6'))
        return first[1] == '5' ? GCONV_FORMAT_PGM : GCONV_FORMAT_PPM;
    return GCONV_FORMAT_UNKNOWN;
}
