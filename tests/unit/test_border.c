/* Borders: the index mapping against the table of contract.md, rule 13, and the names. */
#include "core/border.h"

#include "core_support.h"

/* "... | a b c d | ..." under the modes of rules 13 and 14, for 1 to 5 letters, 20 to each side:
 * written out by hand as one period, the first letter of which stands at index 0. */
typedef struct pattern {
    gconv_border border;
    int size;
    const char *period;
} pattern;

static const pattern patterns[] = {
    {GCONV_BORDER_MIRROR, 1, "aa"},
    {GCONV_BORDER_MIRROR, 2, "abba"},
    {GCONV_BORDER_MIRROR, 3, "abccba"},
    {GCONV_BORDER_MIRROR, 4, "abcddcba"},
    {GCONV_BORDER_MIRROR, 5, "abcdeedcba"},
    {GCONV_BORDER_MIRROR101, 1, "a"},
    {GCONV_BORDER_MIRROR101, 2, "ab"},
    {GCONV_BORDER_MIRROR101, 3, "abcb"},
    {GCONV_BORDER_MIRROR101, 4, "abcdcb"},
    {GCONV_BORDER_MIRROR101, 5, "abcdedcb"},
    {GCONV_BORDER_WRAP, 1, "a"},
    {GCONV_BORDER_WRAP, 2, "ab"},
    {GCONV_BORDER_WRAP, 3, "abc"},
    {GCONV_BORDER_WRAP, 4, "abcd"},
    {GCONV_BORDER_WRAP, 5, "abcde"},
};

TEST(periodic_modes)
{
    for (size_t i = 0; i < COUNT(patterns); i++) {
        const pattern *p = &patterns[i];
        int period = (int)strlen(p->period);
        for (int index = -20; index <= 20; index++) {
            int64_t found = gc_border_index(p->border, index, p->size);
            assert_int_equal('a' + found, p->period[(index + 20 * period) % period]);
        }
    }
}

/* The rows of the table of rule 13, as printed there: what stands left of "a b c d". */
TEST(table_of_the_contract)
{
    static const char *const left[GCONV_BORDER_COUNT] = {
        [GCONV_BORDER_MIRROR] = "ba",
        [GCONV_BORDER_MIRROR101] = "cb",
        [GCONV_BORDER_REPLICATE] = "aa",
        [GCONV_BORDER_WRAP] = "cd",
    };
    for (int border = 0; border < GCONV_BORDER_CONSTANT; border++)
        for (int index = -2; index < 0; index++)
            assert_int_equal('a' + gc_border_index((gconv_border)border, index, 4),
                             left[border][index + 2]);
    assert_int_equal(gc_border_index(GCONV_BORDER_CONSTANT, -1, 4), -1);
}

TEST(replicate_and_constant)
{
    for (int size = 1; size <= 5; size++)
        for (int index = -20; index <= 20; index++) {
            bool inside = index >= 0 && index < size;
            int nearest = index < 0 ? 0 : index >= size ? size - 1 : index;
            assert_int_equal(gc_border_index(GCONV_BORDER_REPLICATE, index, size), nearest);
            assert_int_equal(gc_border_index(GCONV_BORDER_CONSTANT, index, size),
                             inside ? index : -1);
        }
}

TEST(huge_indices)
{
    int64_t size = INT32_MAX;
    assert_int_equal(gc_border_index(GCONV_BORDER_MIRROR, -1, size), 0);
    assert_int_equal(gc_border_index(GCONV_BORDER_MIRROR, size + 9, size), size - 10);
    assert_int_equal(gc_border_index(GCONV_BORDER_WRAP, -3 * size - 1, size), size - 1);
    assert_int_equal(gc_border_index(GCONV_BORDER_MIRROR101, 2 * size - 2, size), 0);
}

typedef struct spelling {
    const char *text;
    gconv_border border;
    double value, denominator;
} spelling;

static const spelling spellings[] = {
    {"mirror", GCONV_BORDER_MIRROR, 0, 0},
    {"reflect", GCONV_BORDER_MIRROR, 0, 0},
    {"symmetric", GCONV_BORDER_MIRROR, 0, 0},
    {"mirror101", GCONV_BORDER_MIRROR101, 0, 0},
    {"reflect101", GCONV_BORDER_MIRROR101, 0, 0},
    {"replicate", GCONV_BORDER_REPLICATE, 0, 0},
    {"clamp", GCONV_BORDER_REPLICATE, 0, 0},
    {"edge", GCONV_BORDER_REPLICATE, 0, 0},
    {"nearest", GCONV_BORDER_REPLICATE, 0, 0},
    {"wrap", GCONV_BORDER_WRAP, 0, 0},
    {"periodic", GCONV_BORDER_WRAP, 0, 0},
    {"constant", GCONV_BORDER_CONSTANT, 0, 0},
    {"zero", GCONV_BORDER_CONSTANT, 0, 0},
    {"constant:0", GCONV_BORDER_CONSTANT, 0, 1},
    {"constant:127.5", GCONV_BORDER_CONSTANT, 127.5, 2},
    {"constant:-3e2", GCONV_BORDER_CONSTANT, -300, 1},
    {"constant:0.1", GCONV_BORDER_CONSTANT, 0.1, 10},
    {"constant:-2/6", GCONV_BORDER_CONSTANT, -1.0 / 3, 3},
    {"constant:1e-300", GCONV_BORDER_CONSTANT, 1e-300, 0},
};

TEST(names_and_aliases)
{
    for (size_t i = 0; i < COUNT(spellings); i++) {
        gconv_border border = GCONV_BORDER_COUNT;
        double value = 99, denominator = 99;
        assert_ok(gconv_border_parse(spellings[i].text, &border, &value, &denominator, NULL));
        assert_int_equal(border, spellings[i].border);
        assert_true(value == spellings[i].value && denominator == spellings[i].denominator);
    }
}

TEST(names_read_back)
{
    for (int i = 0; i < GCONV_BORDER_COUNT; i++) {
        gconv_border border;
        double value, denominator;
        const char *name = gconv_border_name((gconv_border)i);
        assert_ok(gconv_border_parse(name, &border, &value, &denominator, NULL));
        assert_int_equal(border, i);
    }
    assert_string_equal(gconv_border_name(GCONV_BORDER_COUNT), "unknown");
}

static void refuse(const char *text, const char *says)
{
    gconv_border border;
    double value, denominator;
    gconv_error error;
    assert_invalid(gconv_border_parse(text, &border, &value, &denominator, &error));
    assert_invalid(error.status);
    assert_contains(error.message, says);
    assert_invalid(gconv_border_parse(text, &border, &value, &denominator, NULL));
}

TEST(errors)
{
    refuse("miror", "did you mean 'mirror'?");
    refuse("", "mirror101");
    refuse("Mirror", "mirror");
    refuse("mirror ", "mirror");
    refuse("zero:3", "constant");
    refuse("constant:", "finite");
    refuse("constant:x", "'x'");
    refuse("constant:1 ", "finite");
    refuse("constant:nan", "finite");
    refuse("constant:inf", "finite");
    refuse("constant:1e999", "finite");
}
