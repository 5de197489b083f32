#include "cli/journal/record.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "cli/report/json_reader.h"
#include "cli/report/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const status_names[GC_RECORD_STATUSES] = {[GC_RECORD_DONE] = "done",
                                                             [GC_RECORD_MISMATCH] = "mismatch",
                                                             [GC_RECORD_FAILED] = "failed",
                                                             [GC_RECORD_INTENT] = "intent"};

const char *gc_record_status_name(gc_record_status status)
{
    return status_names[status];
}

uint64_t gc_record_id(const char *input, const char *output)
{
    gc_hash hash = gc_hash_string(gc_hash_string(gc_hash_start(), input), output);
    return hash.high ^ hash.low;
}

gc_file_state gc_file_state_of(const struct stat *about)
{
    return (gc_file_state){about->st_size, about->st_mtim.tv_sec, about->st_mtim.tv_nsec, ""};
}

bool gc_file_state_is_same(const gc_file_state *a, const gc_file_state *b)
{
    return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

void gc_record_destroy(gc_record *record)
{
    free(record->input);
    free(record->output);
    free(record->error);
    record->input = record->output = record->error = NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

enum { FIRST_ROOM = 1024 };

/* A line that grows. */
typedef struct record_line {
    char *bytes;
    size_t used, room;
    bool failed; /* memory was out */
} record_line;

static void put_bytes(record_line *line, const char *bytes, size_t size)
{
    if (line->room - line->used < size) {
        size_t room = 2 * (line->used + size) + FIRST_ROOM;
        char *larger = line->failed ? NULL : realloc(line->bytes, room);
        line->failed = larger == NULL;
        if (line->failed)
            return;
        line->bytes = larger;
        line->room = room;
    }
    memcpy(line->bytes + line->used, bytes, size);
    line->used += size;
}

static void put(record_line *line, const char *text)
{
    put_bytes(line, text, strlen(text));
}

/* A number with at least `digits` digits. */
static void put_number(record_line *line, int64_t number, int digits)
{
    char text[32];
    size_t first = sizeof text;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    for (int i = 0; i < digits || left > 0; i++, left /= 10)
        text[--first] = (char)('0' + left % 10);
    if (number < 0)
        text[--first] = '-';
    put_bytes(line, text + first, sizeof text - first);
}

/* What a function writes that writes to a stream. */
static void put_written(record_line *line, const char *key, const char *text)
{
    char *written = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&written, &size);
    if (stream == NULL) {
        line->failed = true;
        return;
    }
    if (key != NULL)
        gc_json_write_name(stream, key, text);
    else
        gc_json_write_text(stream, text);
    /* A memory stream that cannot grow drops text without setting its error flag. */
    if (fclose(stream) != 0 || size == 0 || written[size - 1] != '"')
        line->failed = true;
    else
        put_bytes(line, written, size);
    free(written);
}

static void put_string(record_line *line, const char *text)
{
    if (!gc_json_is_plain(text)) {
        put_written(line, NULL, text);
        return;
    }
    put(line, "\"");
    put(line, text);
    put(line, "\"");
}

static void put_name(record_line *line, const char *key, const char *name)
{
    if (!gc_json_is_plain(name)) {
        put_written(line, key, name);
        return;
    }
    put(line, "\"");
    put(line, key);
    put(line, "\": ");
    put_string(line, name);
}

static void put_state(record_line *line, const char *name, const gc_file_state *state)
{
    if (state->size >= 0) {
        put(line, ", \"");
        put(line, name);
        put(line, "_size\": ");
        put_number(line, state->size, 1);
        put(line, ", \"");
        put(line, name);
        put(line, "_time\": \"");
        put_number(line, state->seconds, 1);
        put(line, ".");
        put_number(line, state->nanoseconds, 9);
        put(line, "\"");
    }
    if (state->digest[0] == '\0')
        return;
    put(line, ", \"");
    put(line, name);
    put(line, "_hash\": \"");
    put(line, state->digest);
    put(line, "\"");
}

/* The time of day, which is written once a second. */
static const char *time_of_day(void)
{
    static _Thread_local struct {
        time_t when;
        char text[32];
    } last;
    struct tm parts;
    time_t now = time(NULL);
    if (now != last.when || last.text[0] == '\0') {
        last.when = now;
        last.text[0] = '\0';
        if (gmtime_r(&now, &parts) != NULL)
            strftime(last.text, sizeof last.text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    return last.text;
}

static void put_id(record_line *line, uint64_t id)
{
    char digits[16];
    for (int i = 15; i >= 0; i--, id >>= 4)
        digits[i] = "0123456789abcdef"[id & 15];
    put_bytes(line, digits, sizeof digits);
}

/* The result, as far as there is one. */
static void put_result(record_line *line, const gc_record *record)
{
    /* Seconds with a point whatever the locale, in microseconds. */
    long long microseconds = (long long)(record->seconds * 1e6 + 0.5);
    if (record->implementation[0] != '\0') {
        put(line, ", \"implementation\": \"");
        put(line, record->implementation);
        put(line, record->exact ? "\", \"exact\": true" : "\", \"exact\": false");
    }
    if (record->error != NULL) {
        put(line, ", \"error\": ");
        put_string(line, record->error);
        put(line, record->final ? ", \"final\": true" : ", \"final\": false");
    }
    put(line, ", \"seconds\": ");
    put_number(line, microseconds / 1000000, 1);
    put(line, ".");
    put_number(line, microseconds % 1000000, 6);
}

char *gc_record_line(const gc_record *record, const char *host, size_t *size)
{
    record_line line = {.bytes = NULL};
    put(&line, "{\"id\": \"");
    put_id(&line, gc_record_id(record->input, record->output));
    put(&line, "\", ");
    put_name(&line, "input", record->input);
    put(&line, ", ");
    put_name(&line, "output", record->output);
    put(&line, ", \"status\": \"");
    put(&line, status_names[record->status]);
    put(&line, "\", \"recipe\": \"");
    put(&line, record->recipe);
    put(&line, record->in_place ? "\", \"in_place\": true" : "\"");
    put_state(&line, "input", &record->in);
    put_state(&line, "output", &record->out);
    put_result(&line, record);
    put(&line, ", \"finished\": \"");
    put(&line, time_of_day());
    put(&line, "\", \"host\": ");
    put_string(&line, host);
    put(&line, ", \"version\": \"");
    put(&line, gconv_version());
    put(&line, "\"}\n");
    *size = line.used;
    if (!line.failed)
        return line.bytes;
    free(line.bytes);
    return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Replaces an owned string. */
static bool keep(char **kept, const char *text)
{
    free(*kept);
    *kept = gc_copy_string(text);
    return *kept != NULL;
}

static bool keep_bytes(char **kept, const char *digits)
{
    return keep(kept, digits) && gc_json_read_bytes(*kept);
}

static bool keep_short(char *kept, size_t room, const char *text)
{
    size_t length = strlen(text);
    if (length < room)
        memcpy(kept, text, length + 1);
    return length < room;
}

/* Reads "SECONDS.NANOSECONDS". */
static bool keep_time(gc_file_state *state, const char *text)
{
    char seconds[32];
    const char *point = strchr(text, '.');
    long long whole, part;
    if (point == NULL || (size_t)(point - text) >= sizeof seconds)
        return false;
    memcpy(seconds, text, (size_t)(point - text));
    seconds[point - text] = '\0';
    if (!gc_parse_integer(seconds, INT64_MIN, INT64_MAX, &whole) ||
        !gc_parse_integer(point + 1, 0, 999999999, &part))
        return false;
    state->seconds = whole;
    state->nanoseconds = part;
    return true;
}

static bool keep_status(gc_record *record, const char *text)
{
    for (int i = 0; i < GC_RECORD_STATUSES; i++)
        if (strcmp(text, status_names[i]) == 0) {
            record->status = (gc_record_status)i;
            return true;
        }
    return false;
}

static bool take_text(gc_record *record, const char *key, const char *text)
{
    if (strcmp(key, "input") == 0)
        return keep(&record->input, text);
    if (strcmp(key, "output") == 0)
        return keep(&record->output, text);
    if (strcmp(key, "input_bytes") == 0)
        return keep_bytes(&record->input, text);
    if (strcmp(key, "output_bytes") == 0)
        return keep_bytes(&record->output, text);
    if (strcmp(key, "error") == 0)
        return keep(&record->error, text);
    if (strcmp(key, "status") == 0)
        return keep_status(record, text);
    if (strcmp(key, "recipe") == 0)
        return keep_short(record->recipe, sizeof record->recipe, text);
    if (strcmp(key, "implementation") == 0)
        return keep_short(record->implementation, sizeof record->implementation, text);
    if (strcmp(key, "input_hash") == 0)
        return keep_short(record->in.digest, sizeof record->in.digest, text);
    if (strcmp(key, "output_hash") == 0)
        return keep_short(record->out.digest, sizeof record->out.digest, text);
    if (strcmp(key, "input_time") == 0)
        return keep_time(&record->in, text);
    if (strcmp(key, "output_time") == 0)
        return keep_time(&record->out, text);
    return true;
}

static gconv_status take_value(void *user, const gc_json_value *value, gconv_error *error)
{
    gc_record *record = user;
    if (value->text != NULL)
        return take_text(record, value->key, value->text)
                   ? GCONV_OK
                   : gc_fail(error, GCONV_ERROR_FORMAT, "'%.40s' has no value that it can have",
                             value->key);
    if (strcmp(value->key, "input_size") == 0)
        record->in.size = (int64_t)value->number;
    else if (strcmp(value->key, "output_size") == 0)
        record->out.size = (int64_t)value->number;
    else if (strcmp(value->key, "exact") == 0)
        record->exact = value->number != 0;
    else if (strcmp(value->key, "final") == 0)
        record->final = value->number != 0;
    else if (strcmp(value->key, "in_place") == 0)
        record->in_place = value->number != 0;
    else if (strcmp(value->key, "seconds") == 0)
        record->seconds = value->number;
    return GCONV_OK;
}

gconv_status gc_record_read(const char *line, size_t size, gc_record *record, gconv_error *error)
{
    *record = (gc_record){.status = GC_RECORD_STATUSES, .in = {.size = -1}, .out = {.size = -1}};
    const gc_json_events events = {.value = take_value, .user = record};
    gconv_status status = gc_json_read(line, size, &events, error);
    if (status == GCONV_OK &&
        (record->input == NULL || record->output == NULL || record->status == GC_RECORD_STATUSES))
        status = gc_fail(error, GCONV_ERROR_FORMAT, "no record of an image");
    if (status != GCONV_OK)
        gc_record_destroy(record);
    return status;
}
