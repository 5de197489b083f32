#include "io/pnm/text.h"

#include "base/status.h"
#include "io/pnm/header.h"

typedef struct text {
    gc_input *input;
    const unsigned char *begin, *at, *end; /* bytes that gc_input_peek has shown */
    gconv_status status;
    gconv_error *error;
} text;

/* The next byte, or -1 at the end of the input and after a failure. */
static int next_byte(text *t)
{
    if (t->at == t->end) {
        size_t size = 0;
        gc_input_skip(t->input, (size_t)(t->end - t->begin));
        t->begin = t->at = t->end = NULL;
        t->status = gc_input_peek(t->input, 1, &t->begin, &size, t->error);
        if (t->status != GCONV_OK || size == 0) {
            t->begin = NULL;
            return -1;
        }
        t->at = t->begin;
        t->end = t->begin + size;
    }
    return *t->at++;
}

/* The next byte that is neither blank nor of a comment. */
static int next_mark(text *t)
{
    for (;;) {
        int c = next_byte(t);
        if (c == '#')
            do
                c = next_byte(t);
            while (c >= 0 && c != '\n' && c != '\r');
        if (c < 0 || !gc_pnm_is_blank((unsigned char)c))
            return c;
    }
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* The number that begins with the digit c; all above UINT16_MAX are the same. */
static uint32_t finish_number(text *t, int c)
{
    uint32_t value = 0;
    for (; is_digit(c); c = next_byte(t)) {
        value = 10 * value + (uint32_t)(c - '0');
        value = value > UINT16_MAX ? UINT16_MAX + 1 : value;
    }
    if (c >= 0)
        t->at--;
    return value;
}

gconv_status gc_pnm_fail_above(uint32_t sample, uint32_t maxval, gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_FORMAT, "corrupt: a sample of %lu is above the maximum %lu",
                   (unsigned long)sample, (unsigned long)maxval);
}

/* The next sample, or -1 as next_byte. */
static int32_t read_sample(text *t, uint32_t maxval, bool bits)
{
    int c = next_mark(t);
    if (c < 0)
        return -1;
    if (!is_digit(c)) {
        t->status = gc_fail(t->error, GCONV_ERROR_FORMAT,
                            "corrupt: the image data have a byte that is no part of a number");
        return -1;
    }
    uint32_t sample = bits ? (uint32_t)(c - '0') : finish_number(t, c);
    if (t->status == GCONV_OK && sample > maxval)
        t->status = gc_pnm_fail_above(sample, maxval, t->error);
    return t->status == GCONV_OK ? (int32_t)sample : -1;
}

gconv_status gc_pnm_read_text(gc_input *input, uint32_t maxval, bool bits, unsigned char *bytes,
                              size_t count, size_t *got, gconv_error *error)
{
    text t = {.input = input, .error = error};
    int32_t sample;
    for (*got = 0; *got < count && (sample = read_sample(&t, maxval, bits)) >= 0; ++*got) {
        if (bytes == NULL)
            continue;
        if (maxval > UINT8_MAX)
            *bytes++ = (unsigned char)(sample >> 8);
        *bytes++ = (unsigned char)sample;
    }
    gc_input_skip(input, (size_t)(t.at - t.begin));
    return t.status;
}
