#include "cli/report/json_text.h"

#include "base/status.h"

#include <string.h>

/* The length of the UTF-8 sequence of a printable character beyond ASCII at `text`; 0 where there
 * is none. */
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

bool gc_json_is_plain(const char *text)
{
    return text[plain_length((const unsigned char *)text)] == '\0';
}

bool gc_json_write_text(FILE *stream, const char *text)
{
    bool whole = true;
    fputc('"', stream);
    for (const unsigned char *next = (const unsigned char *)text; *next != '\0';) {
        size_t length = plain_length(next);
        length = length > 0 ? length : sequence_length(next);
        if (*next == '"' || *next == '\\') {
            fprintf(stream, "\\%c", *next++);
        } else if (*next < 0x20 || *next == 0x7f) {
            fprintf(stream, "\\u%04x", *next++);
        } else if (length == 0) {
            fputs("\\ufffd", stream);
            whole = false;
            next++;
        } else {
            fwrite(next, 1, length, stream);
            next += length;
        }
    }
    fputc('"', stream);
    return whole;
}

void gc_json_write_name(FILE *stream, const char *key, const char *name)
{
    fprintf(stream, "\"%s\": ", key);
    if (gc_json_write_text(stream, name))
        return;
    fprintf(stream, ", \"%s_bytes\": \"", key);
    for (const unsigned char *next = (const unsigned char *)name; *next != '\0'; next++)
        fprintf(stream, "%02x", *next);
    fputc('"', stream);
}

bool gc_json_read_bytes(char *digits)
{
    static const char known[] = "0123456789abcdef";
    char *to = digits;
    for (const char *next = digits; *next != '\0'; next += 2) {
        const char *high = strchr(known, next[0]);
        const char *low = next[1] != '\0' ? strchr(known, next[1]) : NULL;
        if (high == NULL || low == NULL)
            return false;
        *to++ = (char)((high - known) * 16 + (low - known));
    }
    *to = '\0';
    return true;
}
