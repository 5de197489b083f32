#include "base/json.h"

#include "base/buffer.h"

#include <inttypes.h>
#include <math.h>

/* A line that is being built. */
typedef struct line {
    gc_buffer text;
    bool follows; /* the next value needs a comma before it */
} line;

/* The lines of this thread: one for standard output, and one apart. */
static _Thread_local line lines[2];
static _Thread_local bool is_apart;

static line *current(void)
{
    return &lines[is_apart];
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* The length of the UTF-8 sequence of a printable character beyond ASCII at `text`; 0 if there is
 * none. */
static size_t sequence_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    char sequence[5] = "", escaped[32];
    for (size_t i = 0; i < length && text[i] != '\0'; i++)
        sequence[i] = (char)text[i];
    gc_escape(sequence, escaped, sizeof escaped);
    return escaped[0] == (char)text[0] && escaped[0] != '\\' ? length : 0;
}

/* The length of the beginning of a text that JSON shows as it is. */
static size_t plain_length(const unsigned char *text)
{
    size_t length = 0;
    while (text[length] >= 0x20 && text[length] < 0x7f && text[length] != '"' &&
           text[length] != '\\')
        length++;
    return length;
}

/* Writes a string with its quotes. False if some of its bytes are not UTF-8. */
static bool put_string(gc_buffer *to, const char *text)
{
    bool whole = true;
    gc_buffer_put(to, "\"");
    for (const unsigned char *next = (const unsigned char *)text; *next != '\0';) {
        size_t length = plain_length(next);
        length = length > 0 ? length : sequence_length(next);
        if (*next == '"' || *next == '\\') {
            gc_buffer_print(to, "\\%c", *next++);
        } else if (*next < 0x20 || *next == 0x7f) {
            gc_buffer_print(to, "\\u%04x", *next++);
        } else if (length == 0) {
            gc_buffer_put(to, "\\ufffd");
            whole = false;
            next++;
        } else {
            gc_buffer_add(to, next, length);
            next += length;
        }
    }
    gc_buffer_put(to, "\"");
    return whole;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Writes what stands before a value. */
static gc_buffer *begin(const char *key)
{
    line *l = current();
    if (l->follows)
        gc_buffer_put(&l->text, ", ");
    l->follows = true;
    if (key != NULL) {
        put_string(&l->text, key);
        gc_buffer_put(&l->text, ": ");
    }
    return &l->text;
}

void gc_json_open(const char *key, char bracket)
{
    gc_buffer_add(begin(key), &bracket, 1);
    current()->follows = false;
}

void gc_json_begin(const char *command)
{
    const int schema = 1; /* rises when a key changes its meaning */
    gc_json_open(NULL, '{');
    gc_json_integer("schema", schema);
    gc_json_string("command", command);
}

void gc_json_close(char bracket)
{
    gc_buffer_add(&current()->text, &bracket, 1);
    current()->follows = true;
}

void gc_json_string(const char *key, const char *value)
{
    put_string(begin(key), value);
}

void gc_json_name(const char *key, const char *name)
{
    gc_buffer *to = begin(key);
    if (put_string(to, name))
        return;
    gc_buffer_print(to, ", \"%s_bytes\": \"", key);
    for (const unsigned char *next = (const unsigned char *)name; *next != '\0'; next++)
        gc_buffer_print(to, "%02x", *next);
    gc_buffer_put(to, "\"");
}

void gc_json_integer(const char *key, int64_t value)
{
    gc_buffer_print(begin(key), "%" PRId64, value);
}

void gc_json_number(const char *key, double value)
{
    gc_buffer *to = begin(key);
    if (isfinite(value))
        gc_buffer_print(to, "%.9g", value);
    else
        gc_buffer_put(to, "null");
}

void gc_json_bool(const char *key, bool value)
{
    gc_buffer_put(begin(key), value ? "true" : "false");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

bool gc_json_end_line(gc_buffer *text)
{
    line *l = current();
    gc_buffer_put(&l->text, "\n");
    l->follows = false;
    if (is_apart)
        return false;
    *text = l->text;
    l->text = (gc_buffer){.bytes = NULL};
    return true;
}

void gc_json_begin_apart(void)
{
    is_apart = true;
}

char *gc_json_end_apart(size_t *size)
{
    if (current()->follows)
        gc_json_end_line(NULL);
    char *text = gc_buffer_take(&current()->text, size);
    current()->follows = false;
    is_apart = false;
    return text;
}
