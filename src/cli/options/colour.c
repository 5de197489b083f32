/* A colour: --background. */
#include "base/number.h"
#include "base/status.h"
#include "cli/options/values.h"
#include "cli/options/words.h"

#include <string.h>

/* Names of greys. */
static const struct {
    const char *name;
    uint8_t level;
} greys[] = {{"white", 255}, {"black", 0}, {"grey", 128}, {"gray", 128}};
enum { GREY_COUNT = sizeof greys / sizeof greys[0] };

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads RGB or RRGGBB, in hexadecimal digits. */
static bool read_digits(const char *text, uint8_t colour[3])
{
    size_t digits = strlen(text) / 3;
    if (strlen(text) != 3 && strlen(text) != 6)
        return false;
    for (size_t i = 0; i < 3; i++) {
        int high = digit_of(text[i * digits]), low = digit_of(text[i * digits + digits - 1]);
        if (high < 0 || low < 0)
            return false;
        colour[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

/* Reads the name or the number of a grey. */
static bool read_grey(const char *text, uint8_t colour[3])
{
    long long level = -1;
    for (int i = 0; i < GREY_COUNT; i++)
        if (strcmp(text, greys[i].name) == 0)
            level = greys[i].level;
    if (level < 0 && !gc_parse_integer(text, 0, UINT8_MAX, &level))
        return false;
    memset(colour, (int)level, 3);
    return true;
}

gconv_status gc_set_background(gc_options *options, const char *value, gconv_error *error)
{
    uint8_t *colour = options->reader.background;
    if (value[0] == '#' ? read_digits(value + 1, colour) : read_grey(value, colour))
        return GCONV_OK;
    const char *names[GREY_COUNT];
    char nearest[64];
    for (int i = 0; i < GREY_COUNT; i++)
        names[i] = greys[i].name;
    gc_suggest(value, names, GREY_COUNT, nearest, sizeof nearest);
    return gc_fail(error, GCONV_ERROR_ARGUMENT,
                   "'%.64s' is not white, black, grey, a grey from 0 to 255, #RGB or #RRGGBB (in "
                   "quotes)%s",
                   value, nearest);
}
