#include "cli/report/json.h"

#include "base/status.h"
#include "cli/report/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The line that is being built. It is written in one piece when it is complete. */
static FILE *line;
static char *line_text;
static size_t line_size;

/* Whether the next value needs a comma before it. */
static bool follows;

/* Without memory for the line, its parts go to standard output at once. */
static FILE *target(void)
{
    if (line == NULL)
        line = open_memstream(&line_text, &line_size);
    return line != NULL ? line : stdout;
}

/* Whether a part of the line is lost: a memory stream that cannot grow drops text without setting
 * its error flag. */
static bool incomplete;

static void put(const char *format, ...) GC_PRINTF(1, 2);

static void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vfprintf(target(), format, arguments) < 0)
        incomplete = true;
    va_end(arguments);
}

/* The length of the UTF-8 sequence of a printable character at `text`; 0 where there is none. */
static size_t sequence_length(const unsigned char *text)
{
    /* gc_escape changes everything else. */
    size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    char sequence[5] = "", escaped[32];
    for (size_t i = 0; i < length && text[i] != '\0'; i++)
        sequence[i] = (char)text[i];
    gc_escape(sequence, escaped, sizeof escaped);
    return escaped[0] == (char)text[0] && escaped[0] != '\\' ? length : 0;
}

static void write_string(const char *text)
{
    put("\"");
    for (const unsigned char *next = (const unsigned char *)text; *next != '\0';) {
        size_t length = sequence_length(next);
        if (*next == '"' || *next == '\\') {
            put("\\%c", *next++);
        } else if (*next < 0x20 || *next == 0x7f) {
            put("\\u%04x", *next++);
        } else if (length == 0) {
            put("\\ufffd");
            next++;
        } else {
            put("%.*s", (int)length, (const char *)next);
            next += length;
        }
    }
    put("\"");
}

static void begin(const char *key)
{
    if (follows)
        put(", ");
    follows = true;
    if (key == NULL)
        return;
    write_string(key);
    put(": ");
}

void gc_json_open(const char *key, char bracket)
{
    begin(key);
    put("%c", bracket);
    follows = false;
}

void gc_json_close(char bracket)
{
    put("%c", bracket);
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
    put("%" PRId64, value);
}

void gc_json_number(const char *key, double value)
{
    begin(key);
    if (isfinite(value))
        put("%.9g", value);
    else
        put("null");
}

void gc_json_bool(const char *key, bool value)
{
    begin(key);
    put("%s", value ? "true" : "false");
}

void gc_json_end(void)
{
    put("\n");
    follows = false;
    if (line == NULL)
        return;
    /* fclose may need more memory for the text; where it gets none it reports success and leaves no
     * text. */
    bool whole = fclose(line) == 0 && line_text != NULL && !incomplete;
    line = NULL;
    incomplete = false;
    if (whole)
        gc_write_line(line_text, line_size);
    else
        gc_fail_output(ENOMEM);
    free(line_text);
    line_text = NULL;
}
