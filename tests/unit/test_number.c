/* Numbers: the same value as strtod in the C locale, whatever the locale. */
#include "unit.h"

#include "base/number.h"

#include <float.h>
#include <locale.h>

typedef struct reading {
    const char *text;
    size_t used;
    double value;
} reading;

static const reading readings[] = {
    {"0", 1, 0.0},
    {"-0", 2, -0.0},
    {"+7", 2, 7},
    {"12 13", 2, 12},
    {"1,5", 1, 1},
    {"1.5", 3, 1.5},
    {".5", 2, 0.5},
    {"5.", 2, 5},
    {"1.2.3", 3, 1.2},
    {"1e3", 3, 1000},
    {"1E+3", 4, 1000},
    {"1e-3", 4, 0.001},
    {"1e", 1, 1},
    {"1e+", 1, 1},
    {"1e5x", 3, 1e5},
    {"0x10", 4, 16},
    {"0X1.8p1", 7, 3},
    {"0x.8", 4, 0.5},
    {"0x1p-1074", 9, 0x1p-1074},
    {"-0x1.fffffffffffffp+1023", 24, -DBL_MAX},
    {"0x", 1, 0},
    {"0x.", 1, 0},
    {"0xp1", 1, 0},
    {"0x1p", 3, 1},
    {"1p3", 1, 1},
    {"", 0, 0},
    {"-", 0, 0},
    {"+-1", 0, 0},
    {".", 0, 0},
    {"e5", 0, 0},
    {" 1", 0, 0},
    {"inf", 0, 0},
    {"-Infinity", 0, 0},
    {"nan", 0, 0},
    {"1e400", 5, HUGE_VAL},
    {"-1e400", 6, -HUGE_VAL},
    {"1e-400", 6, 0},
    {"1e99999999999999999999999999", 28, HUGE_VAL},
    {"1e-99999999999999999999999999", 29, 0},
    {"0e99999999999999999999999999", 28, 0},
    {"0x1p99999999999999999999", 24, HUGE_VAL},
    {"0x1p-99999999999999999999", 25, 0},
    {"1.7976931348623157e308", 22, DBL_MAX},
    {"1.7976931348623159e308", 22, HUGE_VAL},
    {"4.9406564584124654e-324", 23, 0x1p-1074},
    {"2.4703282292062327e-324", 23, 0},
    {"2.4703282292062328e-324", 23, 0x1p-1074},
    {"2.2250738585072011e-308", 23, 0x0.fffffffffffffp-1022},
    {"9007199254740993", 16, 9007199254740992.0},
    {"9007199254740993.0000000000000000000000000000001", 48, 9007199254740994.0},
    {"0x1.00000000000008p0", 20, 1},
    {"0x1.000000000000080000000000000000000000001p0", 45, 0x1.0000000000001p0},
};

TEST(reads_what_strtod_reads)
{
    for (size_t i = 0; i < COUNT(readings); i++) {
        const reading *expected = &readings[i];
        double value = 0;
        size_t used = gc_read_number(expected->text, strlen(expected->text), &value);
        if (used != expected->used)
            fail_msg("'%s' used %zu bytes, not %zu", expected->text, used, expected->used);
        if (used > 0 && memcmp(&value, &expected->value, sizeof value) != 0)
            fail_msg("'%s' is %a, not %a", expected->text, value, expected->value);
    }
}

TEST(stays_within_its_length)
{
    static const char text[] = "0x1.8p12";
    static const size_t used[] = {0, 1, 1, 3, 4, 5, 5, 7, 8};
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = malloc(length + 1); /* the sanitizer watches the byte after the last */
        assert_non_null(copy);
        OWNED char *exact = realloc(copy, length > 0 ? length : 1);
        assert_non_null(exact);
        memcpy(exact, text, length);
        double value;
        assert_int_equal(gc_read_number(exact, length, &value), used[length]);
    }
}

/* A number of `zeros` zeros between a 1 and what decides the rounding. */
TEST(counts_digits_far_behind)
{
    enum { ZEROS = 5000 };
    static char text[ZEROS + 64];
    int head = sprintf(text, "9007199254740993.");
    memset(text + head, '0', ZEROS);
    strcpy(text + head + ZEROS, "1");
    double value;
    assert_int_equal(gc_read_number(text, strlen(text), &value), strlen(text));
    assert_true(value == 9007199254740994.0);

    memset(text, '0', ZEROS);
    text[1] = '.';
    strcpy(text + ZEROS, "25e5000");
    assert_int_equal(gc_read_number(text, strlen(text), &value), strlen(text));
    assert_true(value == 25);

    memset(text, '7', ZEROS);
    sprintf(text + ZEROS, "e-%d", ZEROS);
    assert_int_equal(gc_read_number(text, strlen(text), &value), strlen(text));
    assert_true(value == 0.7777777777777777777777);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

TEST(round_trips_every_double)
{
    static const char *const formats[] = {"%.17g", "%a", "%.30e", "%.800f"};
    uint64_t random = 20141;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&random);
        double expected, value;
        memcpy(&expected, &bits, sizeof expected);
        if (!isfinite(expected))
            continue;
        char text[1200];
        const char *format = formats[i % 4];
        if (i % 4 == 3)
            expected = ldexp(frexp(expected, &(int){0}), (int)(bits % 600) - 300);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, format, expected);
#pragma GCC diagnostic pop
        assert_int_equal(gc_read_number(text, strlen(text), &value), strlen(text));
        if (i % 4 == 3)
            expected = strtod(text, NULL); /* %.800f may round a tiny number */
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("'%s' is %a, not %a", text, value, expected);
    }
}

TEST(ignores_the_locale)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    size_t i = 0;
    while (i < COUNT(locales) && setlocale(LC_ALL, locales[i]) == NULL)
        i++;
    if (i == COUNT(locales))
        skip();
    double value = 0;
    assert_string_equal(localeconv()->decimal_point, ",");
    assert_true(gc_parse_number("1234.5", &value));
    assert_true(value == 1234.5);
    assert_true(gc_parse_number("0x1.8p0", &value));
    assert_true(value == 1.5);
    assert_false(gc_parse_number("1234,5", &value));
    setlocale(LC_ALL, "C");
}

TEST(parses_whole_numbers)
{
    double number = 3;
    assert_true(gc_parse_number("-2.5e-1", &number));
    assert_true(number == -0.25);
    static const char *const bad[] = {"", " 1", "1 ", "1x", "inf", "nan", "1e999", "--1", "1/2"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(gc_parse_number(bad[i], &number));
    assert_true(number == -0.25);

    long long integer = 7;
    assert_true(gc_parse_integer("-9223372036854775808", INT64_MIN, INT64_MAX, &integer));
    assert_true(integer == INT64_MIN);
    assert_true(gc_parse_integer("+9223372036854775807", INT64_MIN, INT64_MAX, &integer));
    assert_true(integer == INT64_MAX);
    assert_true(gc_parse_integer("007", 7, 7, &integer));
    assert_int_equal(integer, 7);
    static const char *const wrong[] = {"",
                                        "-",
                                        "1.0",
                                        "0x1",
                                        "1e1",
                                        " 1",
                                        "1 ",
                                        "101",
                                        "-1",
                                        "9223372036854775808",
                                        "-9223372036854775809"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(gc_parse_integer(wrong[i], 0, 100, &integer));
    assert_int_equal(integer, 7);
}

TEST(finds_the_float_below)
{
    assert_true(gc_float_at_most(0.1) < 0.1);
    assert_true((double)nextafterf(gc_float_at_most(0.1), 1) > 0.1);
    assert_true(gc_float_at_most(2) == 2);
    assert_true(gc_float_at_most(-0.1) < -0.1);
    assert_true(gc_float_at_most(FLT_MAX) == FLT_MAX);
    assert_true(gc_float_at_most(1e300) == FLT_MAX);
    assert_true(gc_float_at_most(-1e300) == -INFINITY);
    assert_true(gc_float_at_most(INFINITY) == INFINITY);
}

TEST(reads_quotients)
{
    static const struct {
        const char *text;
        double value, denominator;
    } quotients[] = {{"0.1", 0.1, 10},      {"-1/9", -1.0 / 9, 9}, {"0.1/0.3", 1.0 / 3, 3},
                     {"6/-4", -1.5, 2},     {"0x1p-3", 0.125, 8},  {"7", 7, 1},
                     {"1e-300", 1e-300, 0}, {"1/1e300", 1e-300, 0}};
    static const char *const wrong[] = {"",      "/",    "1/",    "/1",  "1/0",  "0/0",
                                        "1/2/3", "1 /2", "1e999", "1/x", "1/2 ", "1e999/1e999"};
    double value, denominator;
    for (size_t i = 0; i < COUNT(quotients); i++) {
        assert_true(gc_parse_quotient(quotients[i].text, &value, &denominator));
        if (value != quotients[i].value || denominator != quotients[i].denominator)
            fail_msg("%s: %a over %g", quotients[i].text, value, denominator);
    }
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(gc_parse_quotient(wrong[i], &value, &denominator));
}

/* Every fraction of the range comes back from its nearest double, and no other double has one. */
TEST(finds_the_fraction_of_a_double)
{
    static const double denominators[] = {3, 10, 289, 1e9, 9007199254740991};
    for (size_t d = 0; d < COUNT(denominators); d++)
        for (int i = 0; i < 51; i++) {
            double over = trunc(ldexp(0.7, i)) + 1, under = denominators[d], value = over / under;
            gc_ratio r = gc_ratio_of(-value, under);
            assert_true(r.over * under == -over * r.under && fmod(r.under, 2) == 1);
            r = gc_ratio_of(nextafter(value, 2 * value), under);
            assert_true(r.under == 1 || r.over * under != over * r.under);
        }
    static const double none[] = {0, -3, 0.5, 0x1p54, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(none); i++) {
        gc_ratio r = gc_ratio_of(0.1, none[i]);
        assert_true(r.over == 0.1 && r.under == 1);
    }
    gc_ratio half = gc_ratio_of(1.0 / 6, 6), whole = gc_ratio_of(20, 10), zero = gc_ratio_of(0, 10);
    assert_true(half.over == 0.5 && half.under == 3);
    assert_true(whole.over == 20 && whole.under == 1 && zero.over == 0 && zero.under == 1);
}
