#include "cli/journal/record.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const status_names[GC_RECORD_STATUSES] = {[GC_RECORD_DONE] = "done",
                                                             [GC_RECORD_MISMATCH] = "mismatch",
                                                             [GC_RECORD_FAILED] = "failed",
                                                             [GC_RECORD_INTENT] = "intent"};

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

bool gc_file_has_digest(const char *path, const gc_file_state *recorded)
{
    gc_digest_kind kind;
    char digest[GC_DIGEST_BYTES];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    bool same = gc_digest_kind_of(recorded->digest, &kind) &&
                gc_digest_file(kind, descriptor, recorded->size, digest, NULL) == GCONV_OK &&
                strcmp(digest, recorded->digest) == 0;
    close(descriptor);
    return same;
}

void gc_record_destroy(gc_record *record)
{
    free(record->input);
    free(record->output);
    free(record->error);
    record->input = record->output = record->error = NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_state(const char *name, const gc_file_state *state)
{
    char key[32], time[48];
    if (state->size >= 0) {
        snprintf(key, sizeof key, "%s_size", name);
        gc_json_integer(key, state->size);
        snprintf(key, sizeof key, "%s_time", name);
        snprintf(time, sizeof time, "%" PRId64 ".%09" PRId64, state->seconds, state->nanoseconds);
        gc_json_string(key, time);
    }
    snprintf(key, sizeof key, "%s_hash", name);
    if (state->digest[0] != '\0')
        gc_json_string(key, state->digest);
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

/* The result, as far as there is one. */
static void put_result(const gc_record *record)
{
    if (record->implementation[0] != '\0') {
        gc_json_string("implementation", record->implementation);
        gc_json_bool("exact", record->exact);
        gc_json_string("promise", gconv_promise_name(record->promise));
    }
    if (record->error != NULL) {
        gc_json_string("error", record->error);
        gc_json_bool("final", record->final);
    }
    gc_json_number("seconds", floor(record->seconds * 1e6 + 0.5) / 1e6);
}

char *gc_record_line(const gc_record *record, const char *host)
{
    char id[17];
    snprintf(id, sizeof id, "%016" PRIx64, gc_record_id(record->input, record->output));
    gc_json_begin_apart();
    gc_json_open(NULL, '{');
    gc_json_string("id", id);
    gc_json_name("input", record->input);
    gc_json_name("output", record->output);
    gc_json_string("status", status_names[record->status]);
    gc_json_string("recipe", record->recipe);
    if (record->in_place)
        gc_json_bool("in_place", true);
    put_state("input", &record->in);
    put_state("output", &record->out);
    put_result(record);
    gc_json_string("finished", time_of_day());
    gc_json_string("host", host);
    gc_json_string("version", gconv_version());
    gc_json_close('}');
    return gc_json_end_apart(NULL);
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
    const char *point = strchr(text, '.');
    long long whole, part;
    if (point == NULL ||
        !gc_parse_integer_part(text, (size_t)(point - text), INT64_MIN, INT64_MAX, &whole) ||
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

static bool keep_promise(gc_record *record, const char *text)
{
    for (gconv_promise one = GCONV_PROMISE_BOUNDED; one <= GCONV_PROMISE_EXACT; one++)
        if (strcmp(text, gconv_promise_name(one)) == 0) {
            record->promise = one;
            return true;
        }
    return false;
}

static bool take_text(gc_record *record, const char *key, const char *text)
{
#define IS(name) (strcmp(key, name) == 0)
#define KEEP_SHORT(kept) keep_short(record->kept, sizeof record->kept, text)
    return IS("input")            ? keep(&record->input, text)
           : IS("output")         ? keep(&record->output, text)
           : IS("input_bytes")    ? keep_bytes(&record->input, text)
           : IS("output_bytes")   ? keep_bytes(&record->output, text)
           : IS("error")          ? keep(&record->error, text)
           : IS("status")         ? keep_status(record, text)
           : IS("promise")        ? keep_promise(record, text)
           : IS("recipe")         ? KEEP_SHORT(recipe)
           : IS("implementation") ? KEEP_SHORT(implementation)
           : IS("input_hash")     ? KEEP_SHORT(in.digest)
           : IS("output_hash")    ? KEEP_SHORT(out.digest)
           : IS("input_time")     ? keep_time(&record->in, text)
           : IS("output_time")    ? keep_time(&record->out, text)
                                  : true;
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

gconv_status gc_record_read(const char *line, gc_record *record, gconv_error *error)
{
    *record = (gc_record){.status = GC_RECORD_STATUSES, .in = {.size = -1}, .out = {.size = -1}};
    const gc_json_events events = {.value = take_value, .user = record};
    gconv_status status = gc_json_read(line, strlen(line), &events, error);
    if (status == GCONV_OK &&
        (record->input == NULL || record->output == NULL || record->status == GC_RECORD_STATUSES))
        status = gc_fail(error, GCONV_ERROR_FORMAT, "no record of an image");
    if (status != GCONV_OK)
        gc_record_destroy(record);
    return status;
}
