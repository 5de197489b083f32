/* Strings of JSON, and names of any bytes in them. Any thread. */
#ifndef GC_CLI_REPORT_JSON_TEXT_H
#define GC_CLI_REPORT_JSON_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a string with its quotes. Bytes that are not UTF-8 become U+FFFD; then the result is
 * false. */
bool gc_json_write_text(FILE *stream, const char *text);

/* Whether a string stands between its quotes as it is. */
bool gc_json_is_plain(const char *text);

/* Writes `"KEY": "NAME"`. Where the name is not UTF-8, `, "KEY_bytes": "HEX"` follows, with the
 * bytes of the name as hexadecimal digits. */
void gc_json_write_name(FILE *stream, const char *key, const char *name);

/* Turns such digits into the bytes of a name, in place. False where they are no digits. */
bool gc_json_read_bytes(char *digits);

#endif
