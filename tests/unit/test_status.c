/* Errors: a phrase for every status, one line in every message. */
#include "base/status.h"

#include "core_support.h"

#include <errno.h>

TEST(every_status_has_a_text)
{
    for (int i = 0; i < GCONV_STATUS_COUNT; i++) {
        const char *text = gconv_status_text((gconv_status)i);
        assert_non_null(text);
        assert_true(strlen(text) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, gconv_status_text((gconv_status)j));
    }
    assert_string_equal(gconv_status_text(GCONV_STATUS_COUNT), "unknown status");
    assert_string_equal(gconv_status_text((gconv_status)-1), "unknown status");
}

TEST(fail_fills_the_error)
{
    error.line = 7;
    assert_int_equal(gc_fail(&error, GCONV_ERROR_LIMIT, "%d of %s", 3, "a\nb"), GCONV_ERROR_LIMIT);
    assert_int_equal(error.status, GCONV_ERROR_LIMIT);
    assert_int_equal(error.line, 0);
    assert_string_equal(error.message, "3 of a\\nb");
    assert_int_equal(gc_fail(NULL, GCONV_ERROR_LIMIT, "%d", 3), GCONV_ERROR_LIMIT);
}

TEST(fail_line_keeps_the_line)
{
    assert_int_equal(gc_fail_line(&error, 12, "ragged"), GCONV_ERROR_FILTER);
    assert_int_equal(error.line, 12);
    assert_string_equal(error.message, "ragged");
}

TEST(fail_errno_says_why)
{
    assert_int_equal(gc_fail_errno(&error, GCONV_ERROR_OPEN, ENOENT, "cannot open"),
                     GCONV_ERROR_OPEN);
    assert_string_equal(error.message, "cannot open: No such file or directory");
}

TEST(fail_memory_says_how_much)
{
    assert_fails(gc_fail_memory(&error, 12345), GCONV_ERROR_MEMORY, &error, "12345");
}

TEST(long_messages_are_cut)
{
    char text[2000];
    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    gc_fail(&error, GCONV_ERROR_READ, "%s", text);
    size_t length = strlen(error.message);
    assert_true(length < sizeof error.message && length > sizeof error.message - 8);
    assert_null(strchr(error.message, '\n'));
    assert_memory_equal(error.message + length - 2, "\\n", 2); /* whole escapes only */
}

static void escapes(const char *text, const char *wanted)
{
    char buffer[64];
    assert_ptr_equal(gc_escape(text, buffer, sizeof buffer), buffer);
    assert_string_equal(buffer, wanted);
}

TEST(escape_control_characters)
{
    escapes("", "");
    escapes("plain ~", "plain ~");
    escapes("a\tb\nc\r", "a\\tb\\nc\\r");
    escapes("\x1b[31m\x7f\x01", "\\x1b[31m\\x7f\\x01");
    escapes("back\\slash", "back\\slash");
}

TEST(escape_keeps_valid_utf8)
{
    escapes("gr\xc3\xa4u", "gr\xc3\xa4u");
    escapes("\xe2\x82\xac", "\xe2\x82\xac");
    escapes("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
}

TEST(escape_invalid_utf8)
{
    escapes("\xff\xc3", "\\xff\\xc3");                   /* no lead byte; cut short */
    escapes("\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
    escapes("\xe0\x80\xaf", "\\xe0\\x80\\xaf");          /* overlong */
    escapes("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* surrogate */
    escapes("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
    escapes("\xc2\x9b", "\\xc2\\x9b");                   /* C1 control */
    escapes("\x80x", "\\x80x");
}

TEST(escape_cuts_between_characters)
{
    char buffer[6];
    assert_string_equal(gc_escape("abcdefgh", buffer, sizeof buffer), "abcde");
    assert_string_equal(gc_escape("abcd\xc3\xa4", buffer, sizeof buffer), "abcd");
    assert_string_equal(gc_escape("ab\x01", buffer, sizeof buffer), "ab");
    assert_string_equal(gc_escape("abc", buffer, 1), "");
}
