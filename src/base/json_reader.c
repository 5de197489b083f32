#include "base/json_reader.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

typedef struct reader {
    const char *at, *end;
    const gc_json_events *events;
    char *key, *text; /* unescaped; each has room for the whole text */
    gconv_error *error;
} reader;

static gconv_status refuse(const reader *r)
{
    return gc_fail(r->error, GCONV_ERROR_FORMAT, "not JSON");
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')))
        r->at++;
}

/* Takes `c` with the blanks before it, if it comes next. */
static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* Four hexadecimal digits. */
static bool read_unit(reader *r, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = r->at < r->end ? gc_hex_digit(*r->at) : -1;
        if (digit < 0)
            return false;
        *unit = *unit * 16 + (unsigned)digit;
    }
    return true;
}

static char *put_character(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(leads[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* The rest of an escape of four digits, a pair of which stands for a character beyond 16 bits. */
static char *read_code(reader *r, char *to)
{
    unsigned code, second;
    if (!read_unit(r, &code) || code == 0 || (code >= 0xdc00 && code < 0xe000))
        return NULL;
    if (code < 0xd800 || code >= 0xe000)
        return put_character(to, code);
    if (!take_word(r, "\\u") || !read_unit(r, &second) || second < 0xdc00 || second >= 0xe000)
        return NULL;
    return put_character(to, 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00));
}

/* What stands behind a backslash. Returns the rest of the text; NULL if it is no escape. */
static char *read_escape(reader *r, char *to)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end)
        return NULL;
    char c = *r->at++;
    if (c == 'u')
        return read_code(r, to);
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    if (name == NULL)
        return NULL;
    *to++ = meant[name - names];
    return to;
}

/* A string behind its first quotation mark. */
static bool read_string(reader *r, char *to)
{
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return false;
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        to = read_escape(r, to);
        if (to == NULL)
            return false;
    }
    *to = '\0';
    return take(r, '"');
}

/* ---- Values ---------------------------------------------------------------------------------- */

static gconv_status tell(reader *r, const char *key, const char *text, double number)
{
    return r->events->value(r->events->user, &(gc_json_value){key, text, number}, r->error);
}

static bool read_number(reader *r, double *number)
{
    bool begins = r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'));
    size_t used = begins ? gc_read_number(r->at, (size_t)(r->end - r->at), number) : 0;
    r->at += used;
    return used > 0;
}

static gconv_status read_scalar(reader *r, const char *key)
{
    double number;
    if (take(r, '"'))
        return read_string(r, r->text) ? tell(r, key, r->text, 0) : refuse(r);
    if (take_word(r, "null"))
        return GCONV_OK;
    if (take_word(r, "true"))
        return tell(r, key, NULL, 1);
    if (take_word(r, "false"))
        return tell(r, key, NULL, 0);
    return read_number(r, &number) ? tell(r, key, NULL, number) : refuse(r);
}

static gconv_status read_value(reader *r, const char *key, int depth);

static gconv_status read_array(reader *r, int depth)
{
    if (take(r, ']'))
        return GCONV_OK;
    gconv_status status;
    do
        status = read_value(r, "", depth);
    while (status == GCONV_OK && take(r, ','));
    return status != GCONV_OK || take(r, ']') ? status : refuse(r);
}

static gconv_status read_member(reader *r, int depth)
{
    if (!take(r, '"') || !read_string(r, r->key) || !take(r, ':'))
        return refuse(r);
    return read_value(r, r->key, depth);
}

static gconv_status read_object(reader *r, int depth)
{
    const gc_json_events *events = r->events;
    if (events->open != NULL)
        events->open(events->user);
    gconv_status status = GCONV_OK;
    if (!take(r, '}')) {
        do
            status = read_member(r, depth);
        while (status == GCONV_OK && take(r, ','));
        if (status == GCONV_OK && !take(r, '}'))
            status = refuse(r);
    }
    if (status == GCONV_OK && events->close != NULL)
        status = events->close(events->user, r->error);
    return status;
}

static gconv_status read_value(reader *r, const char *key, int depth)
{
    if (depth == DEPTH_MAX)
        return refuse(r);
    if (take(r, '{'))
        return read_object(r, depth + 1);
    if (take(r, '['))
        return read_array(r, depth + 1);
    return read_scalar(r, key);
}

gconv_status gc_json_read(const char *text, size_t size, const gc_json_events *events,
                          gconv_error *error)
{
    reader r = {.at = text, .end = text + size, .events = events, .error = error};
    r.key = gc_allocate_array(size + 1, 1);
    r.text = gc_allocate_array(size + 1, 1);
    gconv_status status = GCONV_OK;
    if (r.key == NULL || r.text == NULL)
        status = gc_fail_memory(error, 2 * (size + 1));
    while (status == GCONV_OK) {
        skip_blanks(&r);
        if (r.at == r.end)
            break;
        status = read_value(&r, "", 0);
    }
    free(r.key);
    free(r.text);
    return status;
}

bool gc_json_read_bytes(char *digits)
{
    char *to = digits;
    for (const char *next = digits; *next != '\0'; next += 2) {
        int high = gc_hex_digit(next[0]), low = gc_hex_digit(next[1]);
        if (high < 0 || low < 0)
            return false;
        *to++ = (char)(high * 16 + low);
    }
    *to = '\0';
    return true;
}
