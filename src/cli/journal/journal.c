#define _GNU_SOURCE /* memmem */
#include "cli/journal/journal.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    VERSION = 1,
    HEADER_BYTES_MAX = 160, /* of the first line */
    LINE_BYTES_MAX = 1 << 20
};

struct gc_journal {
    char host[256];
    int descriptor;         /* -1: there is no file, and nothing is written */
    gc_journal_relay relay; /* replaces the file; its functions are NULL if there is a file */
    gc_journal_opening how;
    atomic_bool failed;
    pthread_mutex_t lock;
    uint64_t end;           /* of the whole lines */
    gc_map images, recipes; /* the offset of the last line of each, plus 1 */
    gc_map results;
};

/* ---- The index ------------------------------------------------------------------------------- */

static gc_hash key_of(uint64_t id)
{
    return (gc_hash){.low = id};
}

/* A recipe's name is a hash as digits. */
static gc_hash key_of_recipe(const char *name)
{
    gc_hash key = {.low = 0};
    sscanf(name, "%16" SCNx64 "%16" SCNx64, &key.high, &key.low);
    return key;
}

/* Notes where a line lies. It takes the place of an earlier one. */
static gconv_status index_place(gc_map *map, gc_hash key, uint64_t offset, gconv_error *error)
{
    return gc_map_set(map, key, offset + 1)
               ? GCONV_OK
               : gc_fail_memory(error, 2 * map->room * sizeof(gc_map_entry));
}

/* ---- Results that replaced their inputs ------------------------------------------------------ */

static gc_hash hash_size(int64_t size)
{
    return gc_hash_bytes(gc_hash_start(), &size, sizeof size);
}

static gc_hash hash_digest(const char *digest)
{
    return gc_hash_string(gc_hash_start(), digest);
}

/* Notes the result of a line if it counts, also one that a later line of the same image
 * replaces. */
static gconv_status note_result(gc_journal *journal, const char *line, gconv_error *error)
{
    gc_record record;
    gconv_status status = gc_record_read(line, &record, error);
    if (status == GCONV_ERROR_FORMAT) /* a later line takes the place of a damaged one */
        return GCONV_OK;
    GC_TRY(status);
    bool counts = record.in_place && record.out.digest[0] != '\0' &&
                  journal->how.counts(journal->how.user, record.recipe);
    if (counts && !(gc_map_set(&journal->results, hash_size(record.out.size), 1) &&
                    gc_map_set(&journal->results, hash_digest(record.out.digest), 1)))
        status = gc_fail_memory(error, sizeof(gc_map_entry));
    gc_record_destroy(&record);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char header_begin[] = "{\"gconv_journal\": ";
static const char id_begin[] = "{\"id\": \"";
enum { ID_DIGITS = 16 };
static const char recipe_begin[] = "{\"recipe\": \"";

/* What is said of a line, behind its number. */
static const char not_ours[] =
    "not a line of gconv's; delete it, and the image is computed again, or name another file";

/* Whether a line begins with a text that is followed by `digits` characters and a quote. */
static bool begins(const char *line, size_t length, const char *text, size_t digits)
{
    size_t size = strlen(text);
    return length > size + digits && memcmp(line, text, size) == 0 && line[size + digits] == '"';
}

static gconv_status refuse(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_FORMAT, "not a journal of gconv; name another file");
}

/* Checks a header of this length. */
static gconv_status check_header(const char *line, size_t length, gconv_error *error)
{
    size_t size = sizeof header_begin - 1;
    if (length <= size || memcmp(line, header_begin, size) != 0)
        return refuse(error);
    char *end;
    long version = strtol(line + size, &end, 10);
    if (version != VERSION || *end != ',')
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a journal of version %ld, and this gconv knows version %d; name another "
                       "file",
                       version, VERSION);
    return GCONV_OK;
}

/* The header in a line, NULL if there is none. If journals were joined, it may stand behind what a
 * killed program left of a line. No line of ours holds it otherwise: in a text its quotes have
 * backslashes. */
static const char *find_header(const char *line, size_t length)
{
    size_t end = length < HEADER_BYTES_MAX ? length : (size_t)HEADER_BYTES_MAX;
    return memmem(line + length - end, end, header_begin, sizeof header_begin - 1);
}

static gconv_status index_line(gc_journal *journal, const char *line, size_t length,
                               uint64_t offset, gconv_error *error)
{
    const char *header = find_header(line, length);
    if (header != NULL)
        return check_header(header, length - (size_t)(header - line), error);
    char id[ID_DIGITS + 1] = "", *end = NULL;
    if (begins(line, length, recipe_begin, GC_RECIPE_BYTES - 1))
        return index_place(&journal->recipes, key_of_recipe(line + sizeof recipe_begin - 1), offset,
                           error);
    if (begins(line, length, id_begin, ID_DIGITS)) {
        memcpy(id, line + sizeof id_begin - 1, ID_DIGITS);
        unsigned long long value = strtoull(id, &end, 16);
        gconv_status status = GCONV_OK;
        if (*end == '\0' && journal->how.counts != NULL)
            status = note_result(journal, line, error);
        if (*end == '\0')
            return status == GCONV_OK ? index_place(&journal->images, key_of(value), offset, error)
                                      : status;
    }
    return gc_fail(error, GCONV_ERROR_FORMAT, "%s", not_ours);
}

/* Whether a text may be what a killed program left of a first line. */
static bool is_torn_header(const char *text, size_t size)
{
    size_t length = sizeof header_begin - 1;
    return memcmp(text, header_begin, size < length ? size : length) == 0;
}

/* pread(2), however often signals interrupt it. */
static ssize_t read_at(const gc_journal *journal, void *bytes, size_t size, uint64_t offset)
{
    ssize_t count;
    do
        count = pread(journal->descriptor, bytes, size, (off_t)offset);
    while (count < 0 && errno == EINTR);
    return count;
}

/* Indexes a line of this length, with its newline. `number` counts from 1. */
static gconv_status take_numbered(gc_journal *journal, const char *line, size_t length,
                                  size_t number, gconv_error *error)
{
    gconv_error reason;
    if (number == 1)
        return check_header(line, length - 1, error);
    gconv_status status = index_line(journal, line, length - 1, journal->end, &reason);
    return status == GCONV_OK ? status
                              : gc_fail(error, status, "line %zu: %.400s", number, reason.message);
}

/* Indexes the whole lines, and sets `end` behind them. */
static gconv_status read_lines(gc_journal *journal, FILE *file, gconv_error *error)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    gconv_status status = GCONV_OK;
    while (status == GCONV_OK && (length = getline(&line, &room, file)) > 0) {
        number++;
        if (length > 2 * LINE_BYTES_MAX)
            status = gc_fail(error, GCONV_ERROR_FORMAT, "line %zu: %s", number, not_ours);
        else if (line[length - 1] == '\n')
            status = take_numbered(journal, line, (size_t)length, number, error);
        else
            break; /* what a killed program left */
        journal->end += (uint64_t)length;
    }
    if (status == GCONV_OK && !feof(file))
        status = gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    free(line);
    return status;
}

static gconv_status read_file(gc_journal *journal, gconv_error *error)
{
    struct stat about;
    char begin[sizeof header_begin - 1];
    if (fstat(journal->descriptor, &about) != 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    if (!S_ISREG(about.st_mode))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "not a regular file");
    ssize_t count = read_at(journal, begin, sizeof begin, 0);
    if (count < 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    if (!is_torn_header(begin, (size_t)count))
        return refuse(error);
    int copy = dup(journal->descriptor);
    FILE *file = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (file == NULL) {
        gconv_status status = gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
        if (copy >= 0)
            close(copy);
        return status;
    }
    gconv_status status = read_lines(journal, file, error);
    fclose(file);
    return status;
}

/* Reads the line at an offset, with its newline; free releases it. */
static gconv_status read_line(const gc_journal *journal, uint64_t offset, char **line,
                              gconv_error *error)
{
    char bytes[1024];
    const char *end = NULL;
    gc_buffer text = {.bytes = NULL};
    *line = NULL;
    while (end == NULL) {
        ssize_t count = read_at(journal, bytes, sizeof bytes, offset + text.size);
        if (count <= 0 || text.size > LINE_BYTES_MAX) {
            gc_buffer_free(&text);
            return gc_fail_errno(error, GCONV_ERROR_READ, count < 0 ? errno : EIO, "cannot read");
        }
        end = memchr(bytes, '\n', (size_t)count);
        gc_buffer_add(&text, bytes, end != NULL ? (size_t)(end - bytes) + 1 : (size_t)count);
    }
    *line = gc_buffer_take(&text, NULL);
    return *line != NULL ? GCONV_OK : gc_fail_memory(error, sizeof bytes);
}

/* The number of the line that begins at an offset; 0 if the file cannot be read. */
static size_t count_lines(const gc_journal *journal, uint64_t offset)
{
    char bytes[4096];
    size_t lines = 1;
    for (uint64_t at = 0; at < offset;) {
        size_t wanted = offset - at < sizeof bytes ? (size_t)(offset - at) : sizeof bytes;
        ssize_t count = pread(journal->descriptor, bytes, wanted, (off_t)at);
        if (count <= 0)
            return 0;
        for (ssize_t i = 0; i < count; i++)
            lines += bytes[i] == '\n';
        at += (uint64_t)count;
    }
    return lines;
}

static gconv_status read_record(const gc_journal *journal, uint64_t offset, gc_record *record,
                                gconv_error *error)
{
    char *line;
    GC_TRY(read_line(journal, offset, &line, error));
    gconv_status status = gc_record_read(line, record, error);
    free(line);
    if (status == GCONV_ERROR_FORMAT)
        return gc_fail(error, status, "line %zu: %s", count_lines(journal, offset), not_ours);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Writes whole lines, or nothing of them, and flushes them with `sync`. The caller has the lock. */
static gconv_status write_lines(gc_journal *journal, const char *text, bool sync,
                                gconv_error *error)
{
    size_t size = strlen(text);
    if (atomic_load(&journal->failed))
        return gc_fail(error, GCONV_ERROR_WRITE, "an earlier line could not be written");
    if (gc_write_all(journal->descriptor, text, size) && (!sync || gc_sync(journal->descriptor))) {
        journal->end += size;
        return GCONV_OK;
    }
    gconv_status status = gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    atomic_store(&journal->failed, true);
    if (ftruncate(journal->descriptor, (off_t)journal->end) != 0)
        return status; /* the next program cuts the line off */
    return status;
}

static gconv_status write_header(gc_journal *journal, gconv_error *error)
{
    char line[HEADER_BYTES_MAX];
    snprintf(line, sizeof line, "%s%d, \"version\": \"%s\", \"hash\": \"%s\"}\n", header_begin,
             VERSION, gconv_version(), gc_digest_name(journal->how.digest));
    return write_lines(journal, line, journal->how.sync, error);
}

/* Cuts off what is left of a last line, and begins a new file. */
static gconv_status make_sound(gc_journal *journal, gconv_error *error)
{
    struct stat about;
    if (fstat(journal->descriptor, &about) != 0 ||
        ((uint64_t)about.st_size > journal->end &&
         ftruncate(journal->descriptor, (off_t)journal->end) != 0))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    return journal->end == 0 ? write_header(journal, error) : GCONV_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status open_file(gc_journal *journal, const char *path, gconv_error *error)
{
    /* O_NONBLOCK: a pipe does not hold up the program before it is refused. */
    int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    flags |= journal->how.writes ? O_RDWR | O_CREAT | O_APPEND : O_RDONLY;
    journal->descriptor = open(path, flags, 0666);
    if (journal->descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the journal");
    if (!journal->how.writes || flock(journal->descriptor, LOCK_EX | LOCK_NB) == 0)
        return GCONV_OK;
    if (errno == EWOULDBLOCK)
        return gc_fail(error, GCONV_ERROR_OPEN, "another gconv writes to this journal");
    return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot lock the journal");
}

/* A journal without a file. NULL if memory is out. */
static gc_journal *create(void)
{
    gc_journal *created = calloc(1, sizeof *created);
    if (created == NULL)
        return NULL;
    pthread_mutex_init(&created->lock, NULL);
    created->descriptor = -1;
    if (gethostname(created->host, sizeof created->host - 1) != 0)
        created->host[0] = '\0';
    return created;
}

gconv_status gc_journal_open_relay(gc_journal_relay relay, gc_journal **journal, gconv_error *error)
{
    *journal = create();
    GC_TRY_MEMORY(*journal != NULL, error, sizeof **journal);
    (*journal)->relay = relay;
    return GCONV_OK;
}

gconv_status gc_journal_open(const char *path, const gc_journal_opening *how, gc_journal **journal,
                             gconv_error *error)
{
    gc_journal *opened = create();
    *journal = NULL;
    GC_TRY_MEMORY(opened != NULL, error, sizeof *opened);
    opened->how = *how;
    gconv_status status = open_file(opened, path, error);
    GC_THEN(status, read_file(opened, error));
    if (status == GCONV_OK && how->writes)
        status = make_sound(opened, error);
    if (status == GCONV_OK)
        *journal = opened;
    else
        gc_journal_close(opened);
    return status;
}

void gc_journal_close(gc_journal *journal)
{
    if (journal == NULL)
        return;
    if (journal->descriptor >= 0)
        close(journal->descriptor);
    pthread_mutex_destroy(&journal->lock);
    gc_map_free(&journal->images);
    gc_map_free(&journal->results);
    gc_map_free(&journal->recipes);
    free(journal);
}

/* ---- Records --------------------------------------------------------------------------------- */

gconv_status gc_journal_find_line(const gc_journal *journal, const char *input, const char *output,
                                  char **line, gconv_error *error)
{
    uint64_t place = gc_map_find(&journal->images, key_of(gc_record_id(input, output)));
    *line = NULL;
    return place == 0 ? GCONV_OK : read_line(journal, place - 1, line, error);
}

gconv_status gc_journal_find(const gc_journal *journal, const char *input, const char *output,
                             gc_record *record, bool *found, gconv_error *error)
{
    char *own = NULL;
    gconv_status status = GCONV_OK;
    *found = false;
    if (journal->relay.find == NULL)
        status = gc_journal_find_line(journal, input, output, &own, error);
    const char *line =
        journal->relay.find != NULL ? journal->relay.find(journal->relay.user, input) : own;
    if (status != GCONV_OK || line == NULL)
        return status;
    status = gc_record_read(line, record, error);
    free(own);
    if (status == GCONV_ERROR_FORMAT) /* a later line takes the place of a damaged one */
        return GCONV_OK;
    GC_TRY(status);
    *found = strcmp(record->input, input) == 0 && strcmp(record->output, output) == 0;
    if (!*found)
        gc_record_destroy(record);
    return GCONV_OK;
}

gconv_status gc_journal_append_line(gc_journal *journal, const char *line, bool sync,
                                    gconv_error *error)
{
    pthread_mutex_lock(&journal->lock);
    gconv_status status = write_lines(journal, line, sync || journal->how.sync, error);
    pthread_mutex_unlock(&journal->lock);
    return status;
}

gconv_status gc_journal_append(gc_journal *journal, const gc_record *record, gconv_error *error)
{
    char *line = gc_record_line(record, journal->host);
    /* If the machine stops, the line has to be on the disk before the result is. */
    bool sync = record->status == GC_RECORD_INTENT;
    const gc_journal_relay *relay = &journal->relay;
    if (line == NULL) {
        atomic_store(&journal->failed, true);
        return gc_fail_memory(error, sizeof *record);
    }
    gconv_status status = relay->append != NULL
                              ? relay->append(relay->user, record, line, sync, error)
                              : gc_journal_append_line(journal, line, sync, error);
    free(line);
    return status;
}

gconv_status gc_journal_note_recipe(gc_journal *journal, const char *recipe, const char *line,
                                    gconv_error *error)
{
    return gc_map_find(&journal->recipes, key_of_recipe(recipe)) != 0
               ? GCONV_OK
               : write_lines(journal, line, journal->how.sync, error);
}

bool gc_journal_has_failed(gc_journal *journal)
{
    return atomic_load(&journal->failed);
}

size_t gc_journal_count(const gc_journal *journal)
{
    return journal->images.count;
}

static int compare_offsets(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

gconv_status gc_journal_each(const gc_journal *journal, gc_journal_function *take, void *user,
                             gconv_error *error)
{
    const gc_map *images = &journal->images;
    uint64_t *offsets = gc_allocate_array(images->count + 1, sizeof *offsets);
    size_t count = 0;
    gconv_status status = GCONV_OK;
    GC_TRY_MEMORY(offsets != NULL, error, images->count * sizeof *offsets);
    for (size_t i = 0; i < images->room; i++)
        if (gc_map_number_at(images, i) != 0)
            offsets[count++] = gc_map_number_at(images, i) - 1;
    qsort(offsets, count, sizeof *offsets, compare_offsets);
    for (size_t i = 0; status == GCONV_OK && i < count; i++) {
        gc_record record;
        status = read_record(journal, offsets[i], &record, error);
        if (status != GCONV_OK)
            break;
        status = take(user, &record, error);
        gc_record_destroy(&record);
    }
    free(offsets);
    return status;
}

gconv_status gc_journal_recipe(const gc_journal *journal, const char *recipe, char **line,
                               gconv_error *error)
{
    uint64_t place = gc_map_find(&journal->recipes, key_of_recipe(recipe));
    *line = NULL;
    if (place == 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the journal lacks the recipe %.32s", recipe);
    return read_line(journal, place - 1, line, error);
}

/* ---- Results that replaced their inputs ------------------------------------------------------ */

gc_map *gc_journal_results(gc_journal *journal)
{
    return &journal->results;
}

/* Whether an open file of this size has the hash of a result, of any kind of hash. */
static bool has_content(const gc_map *results, int descriptor, int64_t size)
{
    char digest[GC_DIGEST_BYTES];
    bool found = false;
    for (int kind = 0; !found && kind < GC_DIGEST_KINDS; kind++)
        found = gc_digest_file((gc_digest_kind)kind, descriptor, size, digest, NULL) == GCONV_OK &&
                gc_map_find(results, hash_digest(digest)) != 0;
    return found;
}

bool gc_journal_has_result(const gc_journal *journal, const char *path)
{
    const gc_map *results = &journal->results;
    struct stat about;
    if (results->count == 0)
        return false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    bool found = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                 gc_map_find(results, hash_size(about.st_size)) != 0 &&
                 has_content(results, descriptor, about.st_size);
    close(descriptor);
    return found;
}
