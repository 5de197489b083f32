#include "cli/report/json.h"

#include "base/status.h"
#include "cli/report/json_text.h"
#include "cli/report/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A line that is being built. */
typedef struct line {
    FILE *stream; /* NULL: nothing was written yet, or there is no memory */
    char *text;
    size_t size;
    bool follows;    /* the next value needs a comma before it */
    bool incomplete; /* a part of the line is lost: a memory stream that cannot grow drops text
                        without setting its error flag */
} line;

static line lines[2]; /* that of standard output, and one apart */
static line *current = lines;

/* Without memory for a line of standard output, its parts go there at once. */
static FILE *target(void)
{
    if (current->stream == NULL)
        current->stream = open_memstream(&current->text, &current->size);
    return current->stream != NULL || current != lines ? current->stream : stdout;
}

static void put(const char *format, ...) GC_PRINTF(1, 2);

static void put(const char *format, ...)
{
    FILE *stream = target();
    va_list arguments;
    va_start(arguments, format);
    if (stream == NULL || vfprintf(stream, format, arguments) < 0)
        current->incomplete = true;
    va_end(arguments);
}

static void write_string(const char *text)
{
    FILE *stream = target();
    if (stream == NULL)
        current->incomplete = true;
    else
        gc_json_write_text(stream, text);
}

static void begin(const char *key)
{
    if (current->follows)
        put(", ");
    current->follows = true;
    if (key == NULL)
        return;
    write_string(key);
    put(": ");
}

void gc_json_open(const char *key, char bracket)
{
    begin(key);
    put("%c", bracket);
    current->follows = false;
}

void gc_json_close(char bracket)
{
    put("%c", bracket);
    current->follows = true;
}

void gc_json_string(const char *key, const char *value)
{
    begin(key);
    write_string(value);
}

void gc_json_name(const char *key, const char *name)
{
    FILE *stream = target();
    if (current->follows)
        put(", ");
    current->follows = true;
    if (stream == NULL)
        current->incomplete = true;
    else
        gc_json_write_name(stream, key, name);
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

/* Ends the line. Returns whether `text` and `size` of it are whole. */
static bool finish(void)
{
    put("\n");
    current->follows = false;
    /* fclose may need more memory for the text; where it gets none it reports success and leaves no
     * text. */
    bool whole = current->stream != NULL && fclose(current->stream) == 0 && current->text != NULL &&
                 !current->incomplete;
    current->stream = NULL;
    current->incomplete = false;
    return whole;
}

void gc_json_end(void)
{
    bool at_once = target() == stdout;
    bool whole = finish();
    if (whole)
        gc_write_line(current->text, current->size);
    else if (!at_once)
        gc_fail_output(ENOMEM);
    free(current->text);
    current->text = NULL;
}

void gc_json_begin_apart(void)
{
    current = lines + 1;
}

char *gc_json_end_apart(size_t *size)
{
    bool whole = finish();
    char *text = current->text;
    *size = current->size;
    current->text = NULL;
    current = lines;
    if (whole)
        return text;
    free(text);
    return NULL;
}
