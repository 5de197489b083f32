#include "cli/json.h"

#include "cli/messages.h"
#include "core/status.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The line that is being made: it goes out whole. */
static FILE *line;
static char *line_text;
static size_t line_size;

/* Whether a value stands before the next one at the same level. */
static bool follows;

/* Where there is no memory for the line, it goes out as it is made. */
static FILE *target(void)
{
    if (line == NULL)
        line = open_memstream(&line_text, &line_size);
    return line != NULL ? line : stdout;
}

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
    FILE *to = target();
    putc('"', to);
    for (const unsigned char *next = (const unsigned char *)text; *next != '\0';) {
        size_t length = sequence_length(next);
        if (*next == '"' || *next == '\\') {
            fprintf(to, "\\%c", *next++);
        } else if (*next < 0x20 || *next == 0x7f) {
            fprintf(to, "\\u%04x", *next++);
        } else if (length == 0) {
            fputs("\\ufffd", to);
            next++;
        } else {
            fwrite(next, 1, length, to);
            next += length;
        }
    }
    putc('"', to);
}

static void begin(const char *key)
{
    if (follows)
        fputs(", ", target());
    follows = true;
    if (key == NULL)
        return;
    write_string(key);
    fputs(": ", target());
}

void gc_json_open(const char *key, char bracket)
{
    begin(key);
    putc(bracket, target());
    follows = false;
}

void gc_json_close(char bracket)
{
    putc(bracket, target());
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
    fprintf(target(), "%" PRId64, value);
}

void gc_json_number(const char *key, double value)
{
    begin(key);
    if (isfinite(value))
        fprintf(target(), "%.9g", value);
    else
        fputs("null", target());
}

void gc_json_bool(const char *key, bool value)
{
    begin(key);
    fputs(value ? "true" : "false", target());
}

void gc_json_end(void)
{
    putc('\n', target());
    follows = false;
    if (line == NULL)
        return;
    bool whole = ferror(line) == 0;
    whole = fclose(line) == 0 && whole;
    line = NULL;
    if (whole)
        gc_write_line(line_text, line_size);
    else
        gc_fail_output(ENOMEM);
    free(line_text);
    line_text = NULL;
}
