/* Numbers, held against the C library in the C locale. */
#include "../fuzz.h"

#include "base/number.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* What strtod takes and gconv does not: blanks before a number, and names. */
static bool begins_numeral(const char *text)
{
    text += *text == '-' || *text == '+';
    return (*text >= '0' && *text <= '9') || *text == '.';
}

static void check_number(const char *text, size_t length)
{
    double value = -1;
    size_t used = gc_read_number(text, length, &value);
    char *end = (char *)text;
    double expected = begins_numeral(text) ? strtod(text, &end) : 0;
    FUZZ_REQUIRE(used == (size_t)(end - text), "'%s': %zu bytes, not %zu", text, used,
                 (size_t)(end - text));
    if (used > 0)
        FUZZ_REQUIRE(memcmp(&value, &expected, sizeof value) == 0, "'%s': %a, not %a", text, value,
                     expected);
    double whole = -1;
    bool parsed = gc_parse_number(text, &whole);
    FUZZ_REQUIRE(parsed == (used > 0 && text[used] == '\0' && isfinite(expected)), "'%s'", text);
    FUZZ_REQUIRE(parsed ? memcmp(&whole, &expected, sizeof whole) == 0 : whole == -1, "'%s'", text);
}

static void check_integer(const char *text)
{
    long long value = -7, low = LLONG_MIN, high = LLONG_MAX;
    char *end = (char *)text;
    errno = 0;
    long long expected = begins_numeral(text) ? strtoll(text, &end, 10) : 0;
    bool valid = end != text && *end == '\0' && errno == 0;
    FUZZ_REQUIRE(gc_parse_integer(text, low, high, &value) == valid, "'%s'", text);
    FUZZ_REQUIRE(value == (valid ? expected : -7), "'%s': %lld, not %lld", text, value, expected);
    bool between = valid && expected >= -5 && expected <= 1000;
    FUZZ_REQUIRE(gc_parse_integer(text, -5, 1000, &value) == between, "'%s'", text);
}

/* The largest float that is not above a number. */
static void check_float(double value)
{
    if (isnan(value))
        return;
    float below = gc_float_at_most(value);
    FUZZ_REQUIRE((double)below <= value, "%a above %a", (double)below, value);
    if (below < INFINITY)
        FUZZ_REQUIRE((double)nextafterf(below, INFINITY) > value, "%a is not next to %a",
                     (double)below, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double value;
    char *text = fuzz_copy_text(data, size);
    size_t length = strlen(text);
    check_number(text, length);
    check_integer(text);
    /* Without a NUL behind it. */
    char *bare = fuzz_copy(text, length);
    if (gc_read_number(bare, length, &value) > 0)
        check_float(value);
    free(bare);
    free(text);
    if (size >= sizeof value) {
        memcpy(&value, data, sizeof value);
        check_float(value);
    }
    return 0;
}
