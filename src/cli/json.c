#include "cli/json.h"

#include "core/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Whether a value stands before the next one at the same level. */
static bool follows;

/* The length of the valid UTF-8 sequence at `text`, 0 where there is none. */
static size_t sequence_length(const unsigned char *text)
{
    /* gc_escape leaves exactly the valid printable sequences alone. */
    size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    char sequence[5] = "", escaped[32];
    for (size_t i = 0; i < length && text[i] != '\0'; i++)
        sequence[i] = (char)text[i];
    gc_escape(sequence, escaped, sizeof escaped);
    return escaped[0] == (char)text[0] && escaped[0] != '\\' ? length : 0;
}

static void write_string(const char *text)
{
    putchar('"');
    for (const unsigned char *next = (const unsigned char *)text; *next != '\0';) {
        size_t length = sequence_length(next);
        if (*next == '"' || *next == '\\') {
            printf("\\%c", *next++);
        } else if (*next < 0x20 || *next == 0x7f) {
            printf("\\u%04x", *next++);
        } else if (length == 0) {
            fputs("\\ufffd", stdout);
            next++;
        } else {
            fwrite(next, 1, length, stdout);
            next += length;
        }
    }
    putchar('"');
}

static void begin(const char *key)
{
    if (follows)
        fputs(", ", stdout);
    follows = true;
    if (key == NULL)
        return;
    write_string(key);
    fputs(": ", stdout);
}

void gc_json_open(const char *key, char bracket)
{
    begin(key);
    putchar(bracket);
    follows = false;
}

void gc_json_close(char bracket)
{
    putchar(bracket);
    follows = true;
}

void gc_json_string(const char *key, const char *value)
{
    begin(key);
    write_string(value);
}

void gc_json_integer(const char *key, int64_t value)
{
    begin(key);
    printf("%" PRId64, value);
}

void gc_json_number(const char *key, double value)
{
    begin(key);
    if (isfinite(value))
        printf("%.9g", value);
    else
        fputs("null", stdout);
}

void gc_json_bool(const char *key, bool value)
{
    begin(key);
    fputs(value ? "true" : "false", stdout);
}

void gc_json_end(void)
{
    putchar('\n');
    follows = false;
}
