/* Filter texts: what is accepted, what is refused and how, and that nothing crashes the parser. */
#include "unit.h"

#include "filter/filter.h"

#include <locale.h>

/* Parses a copy that ends where the text ends, so that the sanitizer sees any reading beyond. */
static gconv_status parse(const char *text, size_t length, gconv_filter **filter,
                          gconv_error *error)
{
    OWNED char *copy = malloc(length > 0 ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    *error = (gconv_error){.line = -1};
    return gconv_filter_parse(copy, length, "given", filter, error);
}

static gconv_filter *parse_good(const char *text)
{
    gconv_filter *filter;
    gconv_error error;
    if (parse(text, strlen(text), &filter, &error) != GCONV_OK)
        fail_msg("refused: %s\nline %d: %s", text, error.line, error.message);
    return filter;
}

/* ---- What is accepted ------------------------------------------------------------------------ */

typedef struct good {
    const char *text;
    int width, height, anchor_x, anchor_y;
    double divisor;
    float weights[9]; /* the first ones */
} good;

static const good goods[] = {
    {"1", 1, 1, 0, 0, 1, {1}},
    {"1 2 1\n2 4 2\n1 2 1\n", 3, 3, 1, 1, 1, {1, 2, 1, 2, 4, 2, 1, 2, 1}},
    {"\xef\xbb\xbf"
     "\r\n1,2,1\r\n\r\n2 ,4, 2\r\n# a comment\r\n1\t2\t 1\r\n\r\n",
     3,
     3,
     1,
     1,
     1,
     {1, 2, 1, 2, 4, 2, 1, 2, 1}},
    {"# only\n\n   # comments\n 5 # here too\n\n6\n", 1, 2, 0, 1, 1, {5, 6}},
    {"1 2 3 4", 4, 1, 2, 0, 1, {1, 2, 3, 4}},
    {"1 2\n3 4", 2, 2, 1, 1, 1, {1, 2, 3, 4}},
    {"+1 -.5 5. 1e2", 4, 1, 2, 0, 1, {1, -0.5f, 5, 100}},
    {"0x1p-3 0X1.8P1 -0xA", 3, 1, 1, 0, 1, {0.125f, 3, -10}},
    {"1/16 -1/2 3/-4 0/5 1.5/0x2", 5, 1, 2, 0, 1, {0.0625f, -0.5f, -0.75f, 0, 0.75f}},
    {"0.1 1e-50 3.4028235e38", 3, 1, 1, 0, 1, {0.1f, 0, 3.4028235e38f}},
    {"divisor 9\n1 1\n", 2, 1, 1, 0, 9, {1, 1}},
    {"divisor 1/4\n1 1\n", 2, 1, 1, 0, 0.25, {1, 1}},
    {"divisor -2 # negative is fine\n1 1\n", 2, 1, 1, 0, -2, {1, 1}},
    {"divisor sum\n1 2.5\n", 2, 1, 1, 0, 3.5, {1, 2.5f}},
    {"divisor sum\n16777216 -16777215\n", 2, 1, 1, 0, 1, {16777216, -16777215}},
    {"anchor 0 1\n1 2\n3 4\n", 2, 2, 0, 1, 1, {1, 2, 3, 4}},
    {"anchor 0,0\n1 2\n3 4\n", 2, 2, 0, 0, 1, {1, 2, 3, 4}},
    /* Without white space after the colon, over lines, with blanks for commas, with nothing. */
    {"3x1: 1,2,3", 3, 1, 1, 0, 1, {1, 2, 3}},
    {"2x2:1,2,3,4", 2, 2, 0, 0, 1, {1, 2, 3, 4}},
    {"2x2+1+0: 1,2,3,4", 2, 2, 1, 0, 1, {1, 2, 3, 4}},
    {"# a file\n3x3:\n 1,2,3\n ,4,5,6,\n7 8 9 # end\n\n",
     3,
     3,
     1,
     1,
     1,
     {1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {"3x2: -,nan,NaN -1,1/2,-", 3, 2, 1, 0, 1, {0, 0, 0, -1, 0.5f, 0}},
    {"divisor 4\nanchor 1 1\n2x2: 1,1,1,1", 2, 2, 1, 1, 4, {1, 1, 1, 1}},
    /* libvips. */
    {"3 1\n1 2 1\n", 3, 1, 1, 0, 1, {1, 2, 1}},
    {"3 3 9 0\n1 1 1 \n1 1 1 \n1 1 1 \n", 3, 3, 1, 1, 9, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"# saved\n2 2 0.5\n1 2\n3 4\n", 2, 2, 1, 1, 0.5, {1, 2, 3, 4}},
    /* Readable as plain rows, so they are. */
    {"3 1 2\n1 2 1\n", 3, 2, 1, 1, 1, {3, 1, 2, 1, 2, 1}},
    {"2 2\n1 2\n3 4\n", 2, 3, 1, 1, 1, {2, 2, 1, 2, 3, 4}},
};

TEST(accepts)
{
    for (size_t i = 0; i < COUNT(goods); i++) {
        const good *expected = &goods[i];
        OWNED_FILTER filter = parse_good(expected->text);
        bool same = filter->width == expected->width && filter->height == expected->height &&
                    filter->anchor_x == expected->anchor_x &&
                    filter->anchor_y == expected->anchor_y && filter->divisor == expected->divisor;
        for (int k = 0; same && k < filter->width * filter->height; k++)
            same = filter->weights[k] == expected->weights[k];
        if (!same)
            fail_msg("read otherwise: %s", expected->text);
        assert_string_equal(filter->name, "given");
    }
}

static void check_whole(const char *text, double divisor, const float *weights)
{
    OWNED_FILTER filter = parse_good(text);
    const gconv_filter *computed = gc_filter_computed(filter);
    if (weights == NULL) {
        if (computed != filter)
            fail_msg("has a common denominator: %s", text);
        return;
    }
    if (computed == filter || computed->divisor != divisor)
        fail_msg("is not computed over %g: %s", divisor, text);
    for (int i = 0; i < filter->width * filter->height; i++)
        if (computed->weights[i] != weights[i])
            fail_msg("weight %d is %g: %s", i, (double)computed->weights[i], text);
    filter->weights[0] += 1; /* by a caller */
    assert_ptr_equal(gc_filter_computed(filter), filter);
}

/* Rule 20: decimals and fractions are what is written, not the nearest float32. */
TEST(keeps_what_is_written)
{
    static const struct {
        const char *text;
        double divisor;
        float weights[4];
    } wholes[] = {
        {"0.05 0.10\n", 20, {1, 2}},
        {"1/9 1/9 1/9\n", 9, {1, 1, 1}},
        {"1/6 -1/4\n", 12, {2, -3}},
        {"divisor 4\n0.5 1\n", 8, {1, 2}},
        {"divisor 0.1\n1 2\n", 1, {10, 20}},
        {"divisor -1/3\n1 2\n", -1, {3, 6}},
        {"divisor sum\n0.5 0.25\n", 3, {2, 1}},
        {"0x.8p0 0x1p-3\n", 8, {4, 1}},
        {"0.0009765625 1\n", 1024, {1, 1024}},
        {"1e-4 0.20000\n", 10000, {1, 2000}},
        {"2x1: .1,1/2", 10, {1, 5}},
        {"2 1 0.5\n0.25 1\n", 4, {2, 8}},
    };
    static const char *const others[] = {
        "1 2\n",           "0.00001 1\n", "1e-300 1\n",
        "0.333333333 1\n", "1/70000 1\n", "divisor 1e-300\n0.5 1\n",
        "0.5 40000\n",     "1/3 1e-17\n", "12345678901234567890.5 1\n",
    };
    for (size_t i = 0; i < COUNT(wholes); i++)
        check_whole(wholes[i].text, wholes[i].divisor, wholes[i].weights);
    for (size_t i = 0; i < COUNT(others); i++)
        check_whole(others[i], 0, NULL);
    for (int rows = 25; rows <= 26; rows++) { /* of 25 weights each */
        char text[26 * 25 * 4 + 1] = "";
        for (int i = 0; i < rows * 25; i++)
            memcpy(text + 4 * i, i % 25 < 24 ? "0.5 " : "0.5\n", 5);
        OWNED_FILTER filter = parse_good(text);
        assert_true((gc_filter_computed(filter) == filter) == (rows == 26));
    }
    OWNED_FILTER vectors = parse_good("divisor 3\ncolumn 0.5 1 0.5\nrow 1/3 1\n");
    const gconv_filter *computed = gc_filter_computed(vectors);
    assert_true(computed->divisor == 18 && computed->column[1] == 2 && computed->row[1] == 3);
    vectors->row[0] = 0;
    assert_ptr_equal(gc_filter_computed(vectors), vectors);
}

/* Numbers of vectors stay doubles. */
TEST(reads_vectors)
{
    OWNED_FILTER filter = parse_good("divisor 2 # before\ncolumn 1 0.1,-2\nrow 1/3 1e-50\n"
                                     "anchor 0 2\n");
    assert_null(filter->weights);
    assert_true(filter->width == 2 && filter->height == 3 && filter->divisor == 2);
    assert_true(filter->anchor_x == 0 && filter->anchor_y == 2);
    assert_true(filter->column[0] == 1 && filter->column[1] == 0.1 && filter->column[2] == -2);
    assert_true(filter->row[0] == 1 / 3.0 && filter->row[1] == 1e-50);
    assert_string_equal(filter->dialect, "a column and a row");
    assert_int_equal(filter->vips_width, 0);
    OWNED_FILTER other = parse_good("row 1 2 3 4\ndivisor sum\ncolumn 0.5 0.25\n");
    assert_true(other->width == 4 && other->height == 2 && other->divisor == 7.5);
    assert_true(other->anchor_x == 2 && other->anchor_y == 1);
    assert_true(gconv_filter_gain(other) == 1);
}

/* A text of `begin`, then `count` ones in the line. */
static char *ones_in_line(const char *begin, int count, const char *end)
{
    size_t length = strlen(begin), size = length + 2 * (size_t)count + strlen(end) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    strcpy(text, begin);
    for (int i = 0; i < count; i++)
        memcpy(text + length + 2 * (size_t)i, " 1", 2);
    strcpy(text + length + 2 * (size_t)count, end);
    return text;
}

TEST(reads_the_longest_vectors)
{
    OWNED char *text = ones_in_line("column 3\nrow", GCONV_FILTER_VECTOR_MAX, "\n");
    OWNED_FILTER filter = parse_good(text);
    assert_true(filter->width == GCONV_FILTER_VECTOR_MAX && filter->height == 1);
    assert_true(filter->row[GCONV_FILTER_VECTOR_MAX - 1] == 1 && filter->column[0] == 3);
}

TEST(reads_headers)
{
    OWNED_FILTER named = parse_good("\tname  Soft \xc3\xa9"
                                    "dges 2  # not this\noffset -12.5\n1\n");
    assert_string_equal(named->name, "Soft \xc3\xa9"
                                     "dges 2");
    assert_true(named->has_offset && named->offset == -12.5);
    OWNED_FILTER zero = parse_good("offset 0\n1\n");
    assert_true(zero->has_offset && zero->offset == 0);
    OWNED_FILTER vips = parse_good("2 3 4 128\n1 2\n3 4\n5 6\n");
    assert_true(vips->has_offset && vips->offset == 128 && vips->divisor == 4);
    OWNED_FILTER nameless;
    assert_ok(gconv_filter_parse("1", 1, NULL, &nameless, NULL));
    assert_null(nameless->name);
    gconv_filter *none;
    assert_int_equal(gconv_filter_parse("x", 1, NULL, &none, NULL), GCONV_ERROR_FILTER);
}

/* The text of a filter of `width` x `height` ones, after `begin`. */
static char *ones(const char *begin, int width, int height)
{
    char *text = malloc(strlen(begin) + (size_t)(2 * width * height) + 1);
    assert_non_null(text);
    char *next = text + sprintf(text, "%s", begin);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            next += sprintf(next, "1%c", x + 1 < width ? ' ' : '\n');
    return text;
}

TEST(accepts_sides_to_255)
{
    static const char *const begins[] = {"", "255x255: ", "255 255 65025\n"};
    for (size_t i = 0; i < 3; i++) {
        OWNED char *text = ones(begins[i], 255, 255);
        OWNED_FILTER filter = parse_good(text);
        assert_int_equal(filter->width, 255);
        assert_int_equal(filter->height, 255);
        assert_true(gconv_filter_gain(filter) * filter->divisor == 65025);
    }
    OWNED char *text = ones("2 255\n", 2, 255); /* 256 rows of 2 cannot be plain rows */
    OWNED_FILTER filter = parse_good(text);
    assert_int_equal(filter->height, 255);
}

/* A comma separates; if each group has one, a decimal comma may be meant. */
TEST(sees_decimal_commas)
{
    static const struct {
        const char *text;
        bool decimal;
    } texts[] = {
        {"0,5 0,5", true},
        {"divisor 2\n0,25\n-0,5 # middle\n+0,25\n", true},
        {"column 0,5 1,5\nrow 1,0\n", true},
        {"0,5", false},
        {"0,5 1", false},
        {"0,5 1,2,3", false},
        {"1,2,1\n2,4,2", false},
        {"1, 2\n3, 4", false},
        {"1 ,2 3 ,4", false},
        {"0,5 0,-5", false},
        {"0.5,1 2,3", false},
        {"1 2 1", false},
        {"2x2: 1,2 3,4", false}, /* the size says how many weights there are */
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        OWNED_FILTER filter = parse_good(texts[i].text);
        if (filter->decimal_commas != texts[i].decimal)
            fail_msg("seen otherwise: %s", texts[i].text);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

typedef struct bad {
    const char *text;
    int line;
    const char *message; /* a part of it */
} bad;

static const bad bads[] = {
    {"", 1, "no weights"},
    {"\xef\xbb\xbf", 1, "no weights"},
    {"\n\n# nothing\n", 3, "no weights"},
    {"divisor 3\n", 1, "no weights"},
    {"1 2 1\n1 x 1\n", 2, "'x' is not a number"},
    {"1 2 1\n1 2 1 junk\n", 2, "'junk' is not a number"},
    {"1 2 1x\n", 1, "'1x' is not a number"},
    {"0x\n", 1, "'0x' is not a number"},
    {"1 - 1\n", 1, "'-' is not a number"},
    {"1 \xe2\x88\x92"
     "1\n",
     1, "the minus sign is '-'"},
    {"1;2\n", 1, "'1;2' is not a number"},
    {"inf\n", 1, "'inf' is not a finite number"},
    {"1 -Infinity\n", 1, "'-Infinity' is not a finite number"},
    {"1\nNaN\n", 2, "'NaN' is not a finite number"},
    {"1\n1e39\n", 2, "1e+39 is infinite in float32"},
    {"3.4028236e38\n", 1, "infinite in float32"},
    {"1e999\n", 1, "'1e999' is too large"},
    {"1 2 3\n4 5\n", 2, "2 weights where line 1 has 3"},
    {"# c\n1 2 3\n\n4 5 6\n7 8 9 10\n", 5, "4 weights where line 2 has 3"},
    {"3 3\n1 2 1\n1 2 1\n", 2, "nor is it a libvips matrix: 3 x 3 in line 1, then 3 x 2"},
    {"divisor 2\n3 1\n1 2 1\n", 3, "3 weights where line 2 has 2"},
    {"3 1 0\n1 2 1 3\n", 2, "4 weights where line 1 has 3"},
    {"4 1 0\n1 2 1 3\n", 1, "the scale (the divisor) is zero"},
    {"4 1 1\n1 2 1 1e39\n", 2, "infinite in float32"},
    {"1,2,\n", 1, "a trailing comma"},
    {"1,2\n3,4 ,\n", 2, "a trailing comma"},
    {"1,,2\n", 1, "an empty field"},
    {"1, ,2\n", 1, "an empty field"},
    {",1\n", 1, "an empty field"},
    {",\n", 1, "an empty field"},
    {"0,5 1\n1 1\n", 2, "2 weights where line 1 has 3 (a comma separates weights; a decimal"},
    {"3x1: 0,25 0,5 0,25\n", 1, "more than the 3 weights of 3x1 (a comma separates weights"},
    {"1/0\n", 1, "'1/0' divides by zero"},
    {"1/ 2\n", 1, "'1/' is not a number (a fraction is p/q, without blanks)"},
    {"1 /2\n", 1, "'/2' is not a number (a fraction"},
    {"1/2/3\n", 1, "'1/2/3' is not a number"},
    {"1/1e999\n", 1, "too large"},
    {"1/inf\n", 1, "'1/inf' is not a number"},
    {"1e300/1e-300\n", 1, "too large"},
    {"1 2\r3 4\r", 1, "has a CR inside"},
    {"1 \x0b 2\n", 1, "'\\x0b' is not a number"},
    {"1 \xff\n", 1, "'\\xff' is not a number"},
    {"\xff\xfe"
     "1",
     1, "UTF-16"},
    {"divisor 0\n1\n", 1, "the divisor is zero"},
    {"divisor 1e-999\n1\n", 1, "the divisor is zero"},
    {"divisor 1e999\n1\n", 1, "too large"},
    {"divisor\n1\n", 1, "write 'divisor V' or 'divisor sum'"},
    {"divisor 1 2\n1\n", 1, "write 'divisor V' or 'divisor sum'"},
    {"divisor 1,\n1\n", 1, "write 'divisor V' or 'divisor sum'"},
    {"divisor sum 2\n1\n", 1, "'sum' is not a number"},
    {"divisor nan\n1\n", 1, "'nan' is not a finite number"},
    {"divisor sum\n1 -1\n", 1, "the weights sum to 0"},
    {"\ndivisor sum\n0.1 0.2 -0.3\n", 2, "the weights sum to 0"},
    {"divisor 2\ndivisor 3\n1\n", 2, "a second divisor line (the first is line 1)"},
    {"name a\n\nname b\n1\n", 3, "a second name line (the first is line 1)"},
    {"1\ndivisor 2\n", 2, "a divisor line after the rows"},
    {"1 2\nname x\n", 2, "a name line after the rows"},
    {"scale 3\n1\n", 1, "'scale' is neither a number nor a header"},
    {"Divisor 3\n1\n", 1, "'Divisor' is neither a number nor a header"},
    {"divisor: 3\n1\n", 1, "'divisor:' is neither a number nor a header"},
    {"name\n1\n", 1, "the name is missing"},
    {"name # x\n1\n", 1, "the name is missing"},
    {"name a\x1b[2J\n1\n", 1, "control character"},
    {"name \xe9\n1\n", 1, "not valid UTF-8"},
    {"offset inf\n1\n", 1, "'inf' is not a finite number"},
    {"offset\n1\n", 1, "write 'offset V'"},
    {"anchor 1\n1\n", 1, "write 'anchor X Y'"},
    {"anchor 0 0 0\n1\n", 1, "write 'anchor X Y'"},
    {"anchor 0.5 0\n1 2\n", 1, "not two whole numbers"},
    {"anchor 0 x\n1 2\n", 1, "'x' is not a number"},
    {"# c\nanchor 2 0\n1 2\n", 2, "the anchor 2,0 is outside the filter of 2 x 1"},
    {"anchor -1 0\n1 2\n", 1, "the anchor -1,0 is outside"},
    {"anchor 1e300 0\n1 2\n", 1, "is outside"},
    {"3x3: 1,2,3,4,5,6,7,8\n", 1, "8 weights where 3x3 needs 9"},
    {"3x3:\n", 1, "0 weights where 3x3 needs 9"},
    {"2x1:\n1,\n2,\n3\n", 4, "more than the 2 weights of 2x1"},
    {"2x1: 1,2,\n# end\n", 1, "a trailing comma"},
    {"2x1: 1,,2\n", 1, "an empty field"},
    {"2x1: 1,\n,2\n", 2, "an empty field"},
    {"2x1: 1,inf\n", 1, "'inf' is not a finite number"},
    {"2x1: 1,1e39\n", 1, "infinite in float32"},
    {"2x1: 1,2;3\n", 1, "'2;3' is not a number"},
    {"2x1+2+0: 1,2\n", 1, "the anchor 2,0 is outside"},
    {"2x1+0: 1,2\n", 1, "'2x1+0:' is not the beginning of an ImageMagick filter"},
    {"2x1+0+0+0: 1,2\n", 1, "not the beginning"},
    {"3: 1,2,3\n", 1, "'3:' is not the beginning"},
    {"2x1>: 1,2\n", 1, "'2x1>:' is not the beginning"},
    {"0x1: 1\n", 1, "the size 0x1: sides are 1 to 255"},
    {"99999999999999999999x1: 1\n", 1, "sides are 1 to 255"},
    {"anchor 0 0\n2x1+0+0: 1,2\n", 2, "an origin, and an anchor in line 1"},
    {"column 1 2\n", 1, "a column line without a row line: a filter needs both"},
    {"# c\nrow 1 2\ndivisor 2\n", 2, "a row line without a column line"},
    {"column 1\nrow 1\n1 2\n", 3, "a row of weights, and a column in line 1"},
    {"\nrow 1 2 1\n1 2 1\n", 3, "a row of weights, and a row in line 2"},
    {"1 2\ncolumn 1\n", 2, "a column line, and a row of weights in line 1"},
    {"column 1\nrow 1\n2x1: 1,2\n", 3, "an ImageMagick filter, and a column in line 1"},
    {"column\nrow 1\n", 1, "the numbers are missing: write 'column V V ...'"},
    {"column 1\nrow # 1\n", 2, "the numbers are missing: write 'row V V ...'"},
    {"column 1,\nrow 1\n", 1, "a trailing comma"},
    {"column 1,,2\nrow 1\n", 1, "an empty field"},
    {"column 1 x\nrow 1\n", 1, "'x' is not a number"},
    {"column 1 nan\nrow 1\n", 1, "'nan' is not a finite number"},
    {"column 1\nrow 1e39\n", 2, "infinite in float32"},
    {"column 1\ncolumn 1\nrow 1\n", 2, "a second column line (the first is line 1)"},
    {"anchor 0 2\ncolumn 1 1\nrow 1\n", 1, "the anchor 0,2 is outside the filter of 1 x 2"},
    {"divisor sum\ncolumn 0.1 0.2 -0.3\nrow 1\n", 1, "the weights sum to 0"},
    {"divisor sum\ncolumn 1\nrow 1 -1\n", 1, "the weights sum to 0"},
    {"divisor sum\ncolumn 1e-200\nrow 1e-200\n", 1, "the weights sum to 0"},
    {"1 2\n2x1: 1,2\n", 2, "'2x1:' is not a number"},
    {"2x1: 1,2\ndivisor 3\n", 2, "more than the 2 weights"},
};

static void check_refused(const char *text, size_t length, int line, const char *message)
{
    static gconv_filter untouched;
    gconv_filter *filter = &untouched;
    gconv_error error;
    gconv_status status = parse(text, length, &filter, &error);
    if (status != GCONV_ERROR_FILTER || error.status != status)
        fail_msg("status %d: %.80s", (int)status, text);
    assert_null(filter);
    if (error.line != line || strstr(error.message, message) == NULL)
        fail_msg("'%.80s'\n is line %d: %s\n    not %d: %s", text, error.line, error.message, line,
                 message);
}

TEST(refuses)
{
    for (size_t i = 0; i < COUNT(bads); i++)
        check_refused(bads[i].text, strlen(bads[i].text), bads[i].line, bads[i].message);
    check_refused("1 2\n1 \0 2", 9, 2, "a NUL byte");
    check_refused("1\0", 2, 1, "a NUL byte");
}

TEST(refuses_what_is_too_large)
{
    static const struct {
        const char *begin;
        int width, height, line;
        const char *message;
    } cases[] = {
        {"", 256, 1, 1, "more than 255 weights in a row"},
        {"", 1, 256, 256, "more than 255 rows"},
        {"", 1, 300, 257, "more than 255 rows"},
        {"\n", 2, 256, 257, "more than 255 rows"},
        {"256x1: ", 256, 1, 1, "sides are 1 to 255"},
        {"1 256\n", 1, 256, 257, "more than 255 rows"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED char *text = ones(cases[i].begin, cases[i].width, cases[i].height);
        check_refused(text, strlen(text), cases[i].line, cases[i].message);
    }
    char *line = ones_in_line("row 1\ncolumn", GCONV_FILTER_VECTOR_MAX + 1, "\n");
    check_refused(line, strlen(line), 2, "more than 4095 numbers in the column");
    free(line);
    size_t length = GC_FILTER_TEXT_MAX + 1;
    OWNED char *text = malloc(length);
    assert_non_null(text);
    memset(text, '#', length);
    text[0] = '1';
    text[1] = ' ';
    gconv_filter *filter;
    assert_ok(gconv_filter_parse(text, length - 1, NULL, &filter, NULL));
    gconv_filter_free(filter);
    check_refused(text, length, 0, "longer than 4 MiB");
    memset(text, '9', length);
    check_refused(text, length - 1, 1, "too large");
    memset(text, 'n', length);
    memcpy(text, "name ", 5);
    check_refused(text, length - 1, 1, "a name of more than 255 bytes");
}

/* ---- Random edits ---------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static size_t edit(char *text, size_t length, size_t size, uint32_t *random)
{
    static const char palette[] = "0123456789+-.,/xXpPeE:# \t\r\n\0infsum\xef\xbb\xbf\xff";
    size_t at = length > 0 ? next_random(random) % length : 0;
    char byte = palette[next_random(random) % (sizeof palette - 1)];
    switch (next_random(random) % 4) {
    case 0: /* replace */
        if (length > 0)
            text[at] = byte;
        return length;
    case 1: /* insert */
        if (length + 1 >= size)
            return length;
        memmove(text + at + 1, text + at, length - at);
        text[at] = byte;
        return length + 1;
    case 2: /* delete */
        if (length == 0)
            return 0;
        memmove(text + at, text + at + 1, length - at - 1);
        return length - 1;
    default: /* cut short, seldom */
        return next_random(random) % 8 == 0 ? at : length;
    }
}

static void check_valid(const gconv_filter *filter)
{
    bool vectors = filter->weights == NULL;
    int most = vectors ? GCONV_FILTER_VECTOR_MAX : GCONV_FILTER_SIDE_MAX;
    assert_in_range(filter->width, 1, most);
    assert_in_range(filter->height, 1, most);
    assert_true((filter->column != NULL) == vectors && (filter->row != NULL) == vectors);
    assert_true(filter->anchor_x >= 0 && filter->anchor_x < filter->width);
    assert_true(filter->anchor_y >= 0 && filter->anchor_y < filter->height);
    assert_true(isfinite(filter->divisor) && filter->divisor != 0 && isfinite(filter->offset));
    for (int i = 0; !vectors && i < filter->width * filter->height; i++)
        assert_true(isfinite(filter->weights[i]));
    for (int j = 0; vectors && j < filter->height; j++)
        assert_true(isfinite((float)filter->column[j]));
    for (int i = 0; vectors && i < filter->width; i++)
        assert_true(isfinite((float)filter->row[i]));
}

TEST(survives_random_edits)
{
    uint32_t random = 7;
    static const char vectors[] = "divisor sum\ncolumn 1 2,1\nrow 0.5 -3 1/2 # end\n";
    enum { GOODS = COUNT(goods) };
    for (size_t i = 0; i <= GOODS; i++)
        for (int round = 0; round < 400; round++) {
            char text[512];
            const char *good_text = i < GOODS ? goods[i].text : vectors;
            size_t length = strlen(good_text);
            memcpy(text, good_text, length);
            for (uint32_t edits = 1 + next_random(&random) % 6; edits > 0; edits--)
                length = edit(text, length, sizeof text, &random);
            OWNED_FILTER filter;
            gconv_status status = parse(text, length, &filter, &error);
            if (status == GCONV_OK)
                check_valid(filter);
            else {
                assert_int_equal(status, GCONV_ERROR_FILTER);
                assert_null(filter);
                assert_true(error.line >= 1 && error.message[0] != '\0');
            }
        }
}

TEST(ignores_the_locale)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    OWNED_FILTER filter = parse_good("divisor 0.5\n0.25,1.5\n");
    setlocale(LC_ALL, "C");
    assert_int_equal(filter->width, 2);
    assert_true(filter->divisor == 0.5 && filter->weights[0] == 0.25f &&
                filter->weights[1] == 1.5f);
}

/* Loads the examples of man/gconv-filter.5: what stands between .EX and .EE. */
TEST(loads_the_examples_of_the_manual)
{
    char path[1024];
    snprintf(path, sizeof path, "%s", __FILE__);
    char *tests = strstr(path, "tests/unit/");
    FILE *manual = NULL;
    if (tests != NULL) {
        strcpy(tests, "man/gconv-filter.5");
        manual = fopen(path, "r");
    }
    if (manual == NULL)
        skip(); /* built elsewhere than in its source tree */
    char line[512], example[4096];
    size_t used = 0;
    int count = 0;
    bool inside = false;
    while (fgets(line, sizeof line, manual) != NULL) {
        if (strcmp(line, ".EE\n") == 0) {
            example[used] = '\0';
            gconv_filter_free(parse_good(example));
            count++;
            inside = false;
        } else if (strcmp(line, ".EX\n") == 0) {
            used = 0;
            inside = true;
        } else if (inside)
            for (const char *c = line; *c != '\0' && used + 1 < sizeof example; c++)
                if (*c != '\\') /* a minus sign is \- in a manual */
                    example[used++] = *c;
    }
    fclose(manual);
    assert_int_equal(count, 7);
}

TEST(creates_within_limits)
{
    OWNED_FILTER filter;
    static const int sides[][2] = {{0, 1}, {1, 0}, {-1, 1}, {256, 1}, {1, 256}};
    for (size_t i = 0; i < COUNT(sides); i++)
        assert_invalid(gconv_filter_create(sides[i][0], sides[i][1], &filter, &error));
    assert_null(filter);
    assert_ok(gconv_filter_create(4, 3, &filter, &error));
    assert_int_equal(filter->anchor_x, 2);
    assert_int_equal(filter->anchor_y, 1);
    assert_true(filter->divisor == 1 && !filter->has_offset && filter->name == NULL);
    assert_true(gconv_filter_gain(filter) == 0);
    gconv_filter_free(NULL);
}
