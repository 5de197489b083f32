#define _GNU_SOURCE /* memmem */
#include "cli/journal/journal.h"

#include "base/file.h"
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
    FIRST_ROOM = 1024,
    HEADER_BYTES_MAX = 160, /* of the first line */
    LINE_BYTES_MAX = 1 << 20,
    WINDOW_BYTES = 2 * LINE_BYTES_MAX /* a line is in memory as a whole */
};

/* Where the last line of an image begins. */
typedef struct index_entry {
    uint64_t id;
    uint64_t place; /* its offset plus 1; 0: the entry is free */
} index_entry;

/* Where the line of a recipe begins. */
typedef struct recipe_entry {
    char name[GC_RECIPE_BYTES];
    uint64_t offset;
} recipe_entry;

struct gc_journal {
    char *path;
    char host[256];
    int descriptor;         /* -1: there is no file, and nothing is written */
    gc_journal_relay relay; /* in the place of a file; else its functions are NULL */
    bool sync;
    atomic_bool failed;
    pthread_mutex_t lock;
    uint64_t end; /* of the whole lines */
    index_entry *entries;
    size_t count, room; /* room: a power of two, or 0 */
    recipe_entry *recipes;
    size_t recipe_count, recipe_room;
};

/* ---- The index ------------------------------------------------------------------------------- */

static index_entry *find_entry(const gc_journal *journal, uint64_t id)
{
    size_t mask = journal->room - 1;
    size_t place = (size_t)((id * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & mask;
    while (journal->entries[place].place != 0 && journal->entries[place].id != id)
        place = (place + 1) & mask;
    return &journal->entries[place];
}

static bool grow_index(gc_journal *journal)
{
    gc_journal larger = {.room = journal->room > 0 ? 2 * journal->room : FIRST_ROOM};
    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < journal->room; i++)
        if (journal->entries[i].place != 0)
            *find_entry(&larger, journal->entries[i].id) = journal->entries[i];
    free(journal->entries);
    journal->entries = larger.entries;
    journal->room = larger.room;
    return true;
}

/* A later line of an image takes the place of an earlier one. */
static gconv_status index_image(gc_journal *journal, uint64_t id, uint64_t offset,
                                gconv_error *error)
{
    if (4 * (journal->count + 1) > 3 * journal->room && !grow_index(journal))
        return gc_fail_memory(error, 2 * journal->room * sizeof *journal->entries);
    index_entry *entry = find_entry(journal, id);
    journal->count += entry->place == 0;
    *entry = (index_entry){id, offset + 1};
    return GCONV_OK;
}

static gconv_status index_recipe(gc_journal *journal, const char *name, uint64_t offset,
                                 gconv_error *error)
{
    recipe_entry *recipes = gc_make_room(journal->recipes, journal->recipe_count,
                                         &journal->recipe_room, sizeof *recipes);
    if (recipes == NULL)
        return gc_fail_memory(error, sizeof *recipes);
    journal->recipes = recipes;
    recipe_entry *entry = &recipes[journal->recipe_count++];
    memcpy(entry->name, name, GC_RECIPE_BYTES - 1);
    entry->name[GC_RECIPE_BYTES - 1] = '\0';
    entry->offset = offset;
    return GCONV_OK;
}

static const recipe_entry *find_recipe(const gc_journal *journal, const char *name)
{
    for (size_t i = 0; i < journal->recipe_count; i++)
        if (strcmp(journal->recipes[i].name, name) == 0)
            return &journal->recipes[i];
    return NULL;
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

/* Checks a header of this length. */
static gconv_status check_header(const char *line, size_t length, gconv_error *error)
{
    size_t size = sizeof header_begin - 1;
    if (length <= size || memcmp(line, header_begin, size) != 0)
        return gc_fail(error, GCONV_ERROR_FORMAT, "not a journal of gconv; name another file");
    char *end;
    long version = strtol(line + size, &end, 10);
    if (version != VERSION || *end != ',')
        return gc_fail(error, GCONV_ERROR_FORMAT,
                       "a journal of version %ld, and this gconv knows version %d; name another "
                       "file",
                       version, VERSION);
    return GCONV_OK;
}

/* The header in a line, NULL where there is none. Where journals were joined, it may stand behind
 * what a killed program left of a line. No line of ours holds it otherwise: in a text its quotes
 * have backslashes. */
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
        return index_recipe(journal, line + sizeof recipe_begin - 1, offset, error);
    if (begins(line, length, id_begin, ID_DIGITS)) {
        memcpy(id, line + sizeof id_begin - 1, ID_DIGITS);
        unsigned long long value = strtoull(id, &end, 16);
        if (*end == '\0')
            return index_image(journal, value, offset, error);
    }
    return gc_fail(error, GCONV_ERROR_FORMAT, "%s", not_ours);
}

/* Lines that are being read, one after the other. */
typedef struct reading {
    char *text; /* WINDOW_BYTES */
    size_t filled;
    uint64_t offset; /* in the file, of the first byte of `text` */
    size_t lines;    /* that were indexed */
} reading;

/* Indexes the whole lines of the text, and leaves what is behind them. */
static gconv_status index_lines(gc_journal *journal, reading *r, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    const char *line = r->text, *text_end = r->text + r->filled, *end;
    while (status == GCONV_OK && (end = memchr(line, '\n', (size_t)(text_end - line))) != NULL) {
        size_t length = (size_t)(end - line);
        gconv_error reason;
        if (++r->lines == 1)
            status = check_header(line, length, error);
        else if (index_line(journal, line, length, r->offset, &reason) != GCONV_OK)
            status = gc_fail(error, reason.status, "line %zu: %.400s", r->lines, reason.message);
        r->offset += length + 1;
        line = end + 1;
    }
    r->filled = (size_t)(text_end - line);
    memmove(r->text, line, r->filled);
    return status;
}

/* Whether a text may be what a killed program left of a first line. */
static bool is_torn_header(const char *text, size_t size)
{
    size_t length = sizeof header_begin - 1;
    return memcmp(text, header_begin, size < length ? size : length) == 0;
}

/* Reads more into the text. Sets *ended at the end of the file. */
static gconv_status read_more(const gc_journal *journal, reading *r, bool *ended,
                              gconv_error *error)
{
    ssize_t count;
    if (r->filled == WINDOW_BYTES)
        return gc_fail(error, GCONV_ERROR_FORMAT, "line %zu: %s", r->lines + 1, not_ours);
    do
        count = pread(journal->descriptor, r->text + r->filled, WINDOW_BYTES - r->filled,
                      (off_t)(r->offset + r->filled));
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    r->filled += (size_t)count;
    *ended = count == 0;
    return GCONV_OK;
}

/* Indexes the lines of the file, and sets `end`. */
static gconv_status read_lines(gc_journal *journal, reading *r, gconv_error *error)
{
    bool ended = false;
    while (!ended) {
        gconv_status status = read_more(journal, r, &ended, error);
        if (status == GCONV_OK && r->lines == 0 && !is_torn_header(r->text, r->filled))
            status =
                gc_fail(error, GCONV_ERROR_FORMAT, "not a journal of gconv; name another file");
        if (status == GCONV_OK)
            status = index_lines(journal, r, error);
        if (status != GCONV_OK)
            return status;
    }
    journal->end = r->offset;
    return GCONV_OK;
}

static gconv_status read_file(gc_journal *journal, gconv_error *error)
{
    struct stat about;
    if (fstat(journal->descriptor, &about) != 0)
        return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    if (!S_ISREG(about.st_mode))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "not a regular file");
    reading r = {.text = malloc(WINDOW_BYTES)};
    if (r.text == NULL)
        return gc_fail_memory(error, WINDOW_BYTES);
    gconv_status status = read_lines(journal, &r, error);
    free(r.text);
    return status;
}

/* Reads the line at an offset; free releases it. */
static gconv_status read_line(const gc_journal *journal, uint64_t offset, char **line,
                              size_t *length, gconv_error *error)
{
    size_t room = 1024;
    *line = NULL;
    for (;;) {
        char *larger = realloc(*line, room);
        if (larger == NULL)
            break;
        *line = larger;
        ssize_t count;
        do
            count = pread(journal->descriptor, *line, room, (off_t)offset);
        while (count < 0 && errno == EINTR);
        const char *end = count > 0 ? memchr(*line, '\n', (size_t)count) : NULL;
        if (end != NULL) {
            *length = (size_t)(end - *line) + 1;
            return GCONV_OK;
        }
        if (count < (ssize_t)room || room > LINE_BYTES_MAX) {
            free(*line);
            return gc_fail_errno(error, GCONV_ERROR_READ, count < 0 ? errno : EIO, "cannot read");
        }
        room *= 4;
    }
    free(*line);
    return gc_fail_memory(error, room);
}

/* The number of the line that begins at an offset; 0 where the file cannot be read. */
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
    size_t length;
    gconv_status status = read_line(journal, offset, &line, &length, error);
    if (status != GCONV_OK)
        return status;
    status = gc_record_read(line, length, record, error);
    free(line);
    if (status == GCONV_ERROR_FORMAT)
        return gc_fail(error, status, "line %zu: %s", count_lines(journal, offset), not_ours);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Writes whole lines, or nothing of them, and flushes them with `sync`. The caller has the lock. */
static gconv_status write_lines(gc_journal *journal, const char *text, size_t size, bool sync,
                                gconv_error *error)
{
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

static gconv_status write_header(gc_journal *journal, gc_digest_kind digest, gconv_error *error)
{
    char line[HEADER_BYTES_MAX];
    int size = snprintf(line, sizeof line, "%s%d, \"version\": \"%s\", \"hash\": \"%s\"}\n",
                        header_begin, VERSION, gconv_version(), gc_digest_name(digest));
    return write_lines(journal, line, (size_t)size, journal->sync, error);
}

/* Cuts off what is left of a last line, and begins a new file. */
static gconv_status make_sound(gc_journal *journal, gc_digest_kind digest, gconv_error *error)
{
    struct stat about;
    if (fstat(journal->descriptor, &about) != 0 ||
        ((uint64_t)about.st_size > journal->end &&
         ftruncate(journal->descriptor, (off_t)journal->end) != 0))
        return gc_fail_errno(error, GCONV_ERROR_WRITE, errno, "cannot write");
    return journal->end == 0 ? write_header(journal, digest, error) : GCONV_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static gconv_status open_file(gc_journal *journal, gc_journal_use use, gconv_error *error)
{
    /* O_NONBLOCK: a pipe does not hold up the program before it is refused. */
    int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    flags |= use == GC_JOURNAL_WRITE ? O_RDWR | O_CREAT | O_APPEND : O_RDONLY;
    journal->descriptor = open(journal->path, flags, 0666);
    if (journal->descriptor < 0)
        return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot open the journal");
    if (use == GC_JOURNAL_READ || flock(journal->descriptor, LOCK_EX | LOCK_NB) == 0)
        return GCONV_OK;
    if (errno == EWOULDBLOCK)
        return gc_fail(error, GCONV_ERROR_OPEN, "another gconv writes to this journal");
    return gc_fail_errno(error, GCONV_ERROR_OPEN, errno, "cannot lock the journal");
}

/* A journal without a file. NULL where memory is out. */
static gc_journal *create(const char *path)
{
    gc_journal *created = calloc(1, sizeof *created);
    if (created == NULL)
        return NULL;
    pthread_mutex_init(&created->lock, NULL);
    created->descriptor = -1;
    created->path = gc_copy_string(path);
    if (gethostname(created->host, sizeof created->host - 1) != 0)
        created->host[0] = '\0';
    if (created->path != NULL)
        return created;
    gc_journal_close(created);
    return NULL;
}

gconv_status gc_journal_open_relay(const char *path, gc_journal_relay relay, gc_journal **journal,
                                   gconv_error *error)
{
    *journal = create(path);
    if (*journal == NULL)
        return gc_fail_memory(error, sizeof **journal);
    (*journal)->relay = relay;
    return GCONV_OK;
}

gconv_status gc_journal_open(const char *path, gc_journal_use use, gc_digest_kind digest, bool sync,
                             gc_journal **journal, gconv_error *error)
{
    gc_journal *opened = create(path);
    *journal = NULL;
    if (opened == NULL)
        return gc_fail_memory(error, sizeof *opened);
    opened->sync = sync;
    gconv_status status = open_file(opened, use, error);
    if (status == GCONV_OK)
        status = read_file(opened, error);
    if (status == GCONV_OK && use == GC_JOURNAL_WRITE)
        status = make_sound(opened, digest, error);
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
    free(journal->path);
    free(journal->entries);
    free(journal->recipes);
    free(journal);
}

/* ---- Records --------------------------------------------------------------------------------- */

gconv_status gc_journal_find_line(const gc_journal *journal, const char *input, const char *output,
                                  char **line, size_t *size, gconv_error *error)
{
    *line = NULL;
    if (journal->count == 0)
        return GCONV_OK;
    const index_entry *entry = find_entry(journal, gc_record_id(input, output));
    return entry->place == 0 ? GCONV_OK : read_line(journal, entry->place - 1, line, size, error);
}

/* The same from a relay. */
static gconv_status find_relayed(const gc_journal *journal, const char *input, const char *output,
                                 char **line, size_t *size, gconv_error *error)
{
    const char *found = journal->relay.find(journal->relay.user, input, output, size);
    *line = NULL;
    if (found == NULL)
        return GCONV_OK;
    *line = malloc(*size);
    if (*line == NULL)
        return gc_fail_memory(error, *size);
    memcpy(*line, found, *size);
    return GCONV_OK;
}

gconv_status gc_journal_find(const gc_journal *journal, const char *input, const char *output,
                             gc_record *record, bool *found, gconv_error *error)
{
    char *line;
    size_t size;
    gconv_status status = journal->relay.find != NULL
                              ? find_relayed(journal, input, output, &line, &size, error)
                              : gc_journal_find_line(journal, input, output, &line, &size, error);
    *found = false;
    if (status != GCONV_OK || line == NULL)
        return status;
    status = gc_record_read(line, size, record, error);
    free(line);
    if (status == GCONV_ERROR_FORMAT) /* a later line takes the place of a damaged one */
        return GCONV_OK;
    if (status != GCONV_OK)
        return status;
    *found = strcmp(record->input, input) == 0 && strcmp(record->output, output) == 0;
    if (!*found)
        gc_record_destroy(record);
    return GCONV_OK;
}

gconv_status gc_journal_append_line(gc_journal *journal, const char *line, size_t size, bool sync,
                                    gconv_error *error)
{
    pthread_mutex_lock(&journal->lock);
    gconv_status status = write_lines(journal, line, size, sync || journal->sync, error);
    pthread_mutex_unlock(&journal->lock);
    return status;
}

gconv_status gc_journal_append(gc_journal *journal, const gc_record *record, gconv_error *error)
{
    size_t size;
    char *line = gc_record_line(record, journal->host, &size);
    /* The end of the machine must not leave the result without the line that knows it. */
    bool sync = record->status == GC_RECORD_INTENT;
    const gc_journal_relay *relay = &journal->relay;
    if (line == NULL) {
        atomic_store(&journal->failed, true);
        return gc_fail_memory(error, sizeof *record);
    }
    gconv_status status = relay->append != NULL
                              ? relay->append(relay->user, record, line, size, sync, error)
                              : gc_journal_append_line(journal, line, size, sync, error);
    free(line);
    return status;
}

gconv_status gc_journal_note_recipe(gc_journal *journal, const char *recipe, const char *line,
                                    size_t size, gconv_error *error)
{
    if (find_recipe(journal, recipe) != NULL)
        return GCONV_OK;
    gconv_status status = index_recipe(journal, recipe, journal->end, error);
    return status == GCONV_OK ? write_lines(journal, line, size, journal->sync, error) : status;
}

bool gc_journal_has_failed(gc_journal *journal)
{
    return atomic_load(&journal->failed);
}

size_t gc_journal_count(const gc_journal *journal)
{
    return journal->count;
}

const char *gc_journal_path(const gc_journal *journal)
{
    return journal->path;
}

static int compare_offsets(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

gconv_status gc_journal_each(const gc_journal *journal, gc_journal_function *take, void *user,
                             gconv_error *error)
{
    uint64_t *offsets = gc_allocate_array(journal->count + 1, sizeof *offsets);
    size_t count = 0;
    gconv_status status = GCONV_OK;
    if (offsets == NULL)
        return gc_fail_memory(error, journal->count * sizeof *offsets);
    for (size_t i = 0; i < journal->room; i++)
        if (journal->entries[i].place != 0)
            offsets[count++] = journal->entries[i].place - 1;
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

/* Takes the record of a line; other lines have none. */
static gconv_status take_line(const char *line, size_t length, gc_journal_function *take,
                              void *user, gconv_error *error)
{
    gc_record record;
    if (!begins(line, length, id_begin, ID_DIGITS) || find_header(line, length) != NULL)
        return GCONV_OK;
    gconv_status status = gc_record_read(line, length, &record, error);
    if (status == GCONV_ERROR_FORMAT) /* a later line takes the place of a damaged one */
        return GCONV_OK;
    if (status != GCONV_OK)
        return status;
    status = take(user, &record, error);
    gc_record_destroy(&record);
    return status;
}

gconv_status gc_journal_each_line(const gc_journal *journal, gc_journal_function *take, void *user,
                                  gconv_error *error)
{
    gconv_status status = GCONV_OK;
    for (uint64_t at = 0; status == GCONV_OK && journal->descriptor >= 0 && at < journal->end;) {
        char *line;
        size_t length;
        status = read_line(journal, at, &line, &length, error);
        if (status != GCONV_OK)
            break;
        status = take_line(line, length, take, user, error);
        free(line);
        at += length;
    }
    return status;
}

gconv_status gc_journal_recipe(const gc_journal *journal, const char *recipe, char **line,
                               size_t *size, gconv_error *error)
{
    const recipe_entry *entry = find_recipe(journal, recipe);
    *line = NULL;
    if (entry == NULL)
        return gc_fail(error, GCONV_ERROR_FORMAT, "the journal lacks the recipe %.32s", recipe);
    return read_line(journal, entry->offset, line, size, error);
}
