/* Words and names: escaping, suggestions, borders, formats. */
#include "../fuzz.h"

#include "base/nearest.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static void check_escape(const char *text, size_t room)
{
    char *escaped = fuzz_allocate(room), *again = fuzz_allocate(room);
    FUZZ_REQUIRE(gc_escape(text, escaped, room) == escaped, "another buffer");
    FUZZ_REQUIRE(strlen(escaped) < room, "no end");
    for (const char *next = escaped; *next != '\0'; next++)
        FUZZ_REQUIRE((unsigned char)*next >= 0x20 && *next != 0x7f, "'%s'", escaped);
    FUZZ_REQUIRE(strcmp(gc_escape(escaped, again, room), escaped) == 0, "'%s' escaped again",
                 escaped);
    free(again);
    free(escaped);
}

static void check_border(const char *text)
{
    gconv_border border = GCONV_BORDER_COUNT;
    double value = 0, denominator = 0;
    gconv_error error = {.status = GCONV_OK};
    gconv_status status = gconv_border_parse(text, &border, &value, &denominator, &error);
    if (status != GCONV_OK) {
        fuzz_require_message(status, &error);
        return;
    }
    FUZZ_REQUIRE((unsigned)border < GCONV_BORDER_COUNT && isfinite(value), "'%s'", text);
    FUZZ_REQUIRE(border == GCONV_BORDER_CONSTANT || value == 0, "'%s' has a value", text);
}

static void check_nearest(const char *text)
{
    static const char *const names[] = {"gauss3", "gauss5", "gaussian", "box",    "log",
                                        "mirror", "wrap",   "direct",   "tensor", "x"};
    enum { COUNT = sizeof names / sizeof names[0] };
    const char *nearest = gc_nearest_name(text, names, COUNT);
    bool is_one = nearest == NULL;
    for (int i = 0; i < COUNT; i++) {
        is_one |= nearest == names[i];
        FUZZ_REQUIRE(strcmp(text, names[i]) != 0 || nearest == names[i], "'%s'", text);
    }
    FUZZ_REQUIRE(is_one, "'%s': a name that is none", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = fuzz_copy_text(data + 1, size - 1);
    check_escape(text, 1 + data[0]);
    check_border(text);
    check_nearest(text);
    gconv_format format = gconv_format_from_name(text);
    if (format != GCONV_FORMAT_UNKNOWN)
        FUZZ_REQUIRE(gconv_format_from_name(gconv_format_name(format)) == format, "'%s'", text);
    FUZZ_REQUIRE((unsigned)gconv_format_from_path(text) < GCONV_FORMAT_COUNT, "'%s'", text);
    free(text);
    return 0;
}
