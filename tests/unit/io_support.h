/* What the tests of image files share: a scratch directory, pictures, whole files. */
#pragma once

#include "unit.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- A scratch directory --------------------------------------------------------------------- */

static char scratch[64];
static int descriptors_before;

/* Descriptors that this process has open; 0 where the system does not list them. */
static inline int count_descriptors(void)
{
    int count = 0;
    DIR *listing = opendir("/proc/self/fd");
    if (listing == NULL)
        return 0;
    while (readdir(listing) != NULL)
        count++;
    closedir(listing);
    return count;
}

/* In memory where the system offers that: thousands of small files would wait for the disk. */
static inline int make_scratch(void **state)
{
    (void)state;
    descriptors_before = count_descriptors();
    strcpy(scratch, "/dev/shm/gconv-test-XXXXXX");
    if (mkdtemp(scratch) != NULL)
        return 0;
    strcpy(scratch, "/tmp/gconv-test-XXXXXX");
    return mkdtemp(scratch) != NULL ? 0 : -1;
}

/* The same, where the tests run. */
static inline int enter_scratch(void **state)
{
    return make_scratch(state) != 0 || chdir(scratch) != 0;
}

/* The path of a file in the scratch directory. The text stays valid for the next three calls. */
static inline const char *scratch_path(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

/* Entries in the scratch directory whose name contains `text`. */
static inline int count_entries(const char *text)
{
    int count = 0;
    DIR *listing = opendir(scratch);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strstr(entry->d_name, text) != NULL;
    closedir(listing);
    return count;
}

/* Fails where the tests left a file open. */
static inline int remove_scratch(void **state)
{
    (void)state;
    int left_open = count_descriptors() - descriptors_before;
    if (left_open != 0) { /* a teardown that fails does not make cmocka's group fail */
        print_error("%d descriptors were left open\n", left_open);
        exit(EXIT_FAILURE);
    }
    DIR *listing = opendir(scratch);
    if (listing == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", scratch, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlink(path) != 0)
            rmdir(path);
    }
    closedir(listing);
    return rmdir(scratch);
}

/* ---- Whole files ----------------------------------------------------------------------------- */

typedef struct blob {
    unsigned char *bytes;
    size_t size;
} blob;

static inline void free_blob(blob *old)
{
    free(old->bytes);
}

#define OWNED_BLOB RELEASED_BY(free_blob) blob

static inline blob load_file(const char *path)
{
    blob whole = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    whole.size = (size_t)ftell(file);
    rewind(file);
    whole.bytes = malloc(whole.size + 1);
    assert_non_null(whole.bytes);
    assert_int_equal(fread(whole.bytes, 1, whole.size, file), whole.size);
    fclose(file);
    return whole;
}

static inline void save_file(const char *path, const void *bytes, size_t size)
{
    unlink(
        path); /* some file systems wait for the disk when a file is truncated and written again */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Inserts bytes at an offset. */
static inline void splice(blob *whole, size_t at, const void *bytes, size_t size)
{
    whole->bytes = realloc(whole->bytes, whole->size + size);
    assert_non_null(whole->bytes);
    memmove(whole->bytes + at + size, whole->bytes + at, whole->size - at);
    memcpy(whole->bytes + at, bytes, size);
    whole->size += size;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

typedef struct picture {
    gconv_shape shape;
    size_t row_bytes;
    unsigned char *rows;
} picture;

static inline picture new_picture(uint32_t width, uint32_t height, int channels, int depth)
{
    picture made = {.shape = {width, height, channels, depth}};
    made.row_bytes = gconv_shape_row_bytes(&made.shape);
    made.rows = calloc(height, made.row_bytes);
    assert_non_null(made.rows);
    return made;
}

/* Slopes with some noise: every byte value occurs, and JPEG keeps most of it. */
static inline picture make_picture(uint32_t width, uint32_t height, int channels, int depth)
{
    picture made = new_picture(width, height, channels, depth);
    uint32_t noise = 12345;
    size_t sample_bytes = depth >= 8 ? (size_t)depth / 8 : 1;
    for (uint32_t y = 0; y < height; y++)
        for (size_t i = 0; i < made.row_bytes; i++) {
            noise = noise * 1664525u + 1013904223u;
            size_t x = i / sample_bytes / (size_t)channels;
            made.rows[y * made.row_bytes + i] =
                (unsigned char)(9 * x + 5 * y + 40 * (i % 4) + (noise >> 28));
        }
    if (depth == 1 && width % 8 != 0)
        for (uint32_t y = 0; y < height; y++)
            made.rows[(y + 1) * made.row_bytes - 1] &= (unsigned char)(0xff00 >> width % 8);
    return made;
}

static inline void free_picture(picture *old)
{
    free(old->rows);
    *old = (picture){0};
}

#define OWNED_PICTURE RELEASED_BY(free_picture) picture

static inline void assert_same_picture(const picture *a, const picture *b)
{
    assert_int_equal(a->shape.width, b->shape.width);
    assert_int_equal(a->shape.height, b->shape.height);
    assert_int_equal(a->shape.channels, b->shape.channels);
    assert_int_equal(a->shape.depth, b->shape.depth);
    assert_memory_equal(a->rows, b->rows, a->row_bytes * a->shape.height);
}

/* The sample as a number, of 8- and 16-bit pictures. */
static inline unsigned int sample_at(const picture *p, uint32_t x, uint32_t y, int channel)
{
    size_t index = (size_t)x * (size_t)p->shape.channels + (size_t)channel;
    const unsigned char *row = p->rows + y * p->row_bytes;
    uint16_t wide;
    if (p->shape.depth == 8)
        return row[index];
    memcpy(&wide, row + 2 * index, 2);
    return wide;
}

/* ---- Threads that help ----------------------------------------------------------------------- */

enum { HELPERS_MAX = 16 };

/* How many threads help while a picture is read or written, where its codec has work for them. */
static int helpers_wanted;

typedef struct helpers {
    bool (*help)(void *user);
    void *user;
    atomic_bool over;
    pthread_t threads[HELPERS_MAX];
    int count;
} helpers;

static inline void *keep_helping(void *user)
{
    helpers *h = user;
    while (!atomic_load(&h->over))
        if (!h->help(h->user))
            sched_yield();
    return NULL;
}

static inline void start_helpers(helpers *h, bool (*help)(void *user), void *user)
{
    h->help = help;
    h->user = user;
    h->count = 0;
    atomic_init(&h->over, false);
    for (int n = 0; help != NULL && n < helpers_wanted; n++)
        h->count += pthread_create(&h->threads[h->count], NULL, keep_helping, h) == 0;
}

static inline void stop_helpers(helpers *h)
{
    atomic_store(&h->over, true);
    while (h->count > 0)
        pthread_join(h->threads[--h->count], NULL);
}

/* ---- Reading and writing --------------------------------------------------------------------- */

typedef struct warnings_seen {
    int count;
    char first[512], last[512];
} warnings_seen;

static inline void remember_warning(void *user, const char *message)
{
    warnings_seen *seen = user;
    seen->count++;
    snprintf(seen->last, sizeof seen->last, "%s", message);
    if (seen->count == 1)
        memcpy(seen->first, seen->last, sizeof seen->first);
}

/* Options of a reader: the samples as the file has them, or grey. */
static inline gconv_reader_options as_stored(void)
{
    return gconv_reader_options_default();
}

static inline gconv_reader_options as_grey(void)
{
    gconv_reader_options options = gconv_reader_options_default();
    options.grey = true;
    return options;
}

/* Options of a writer of this format. */
static inline gconv_writer_options writing_as(gconv_format format)
{
    gconv_writer_options options = gconv_writer_options_default();
    options.format = format;
    return options;
}

/* Open a file, and fail the test if that fails. NULL for options is as_stored(). */
static inline gconv_reader *opened_reader(const char *path, const gconv_reader_options *options)
{
    gconv_reader *reader;
    gconv_error error;
    if (gconv_reader_open(path, options, &reader, &error) != GCONV_OK)
        fail_msg("%s: %s", path, error.message);
    return reader;
}

static inline gconv_writer *opened_writer(const char *path, const gconv_writer_options *options)
{
    gconv_writer *writer;
    gconv_error error;
    if (gconv_writer_open(path, options, &writer, &error) != GCONV_OK)
        fail_msg("%s: %s", path, error.message);
    return writer;
}

/* Reads a file whole, `band` rows at a time. On failure nothing is left to free. */
static inline gconv_status read_picture(const char *path, const gconv_reader_options *options,
                                        uint32_t band, picture *result, gconv_error *error)
{
    gconv_reader *reader;
    *result = (picture){0};
    gconv_status status = gconv_reader_open(path, options, &reader, error);
    if (status != GCONV_OK)
        return status;
    const gconv_shape *shape = gconv_reader_shape(reader);
    *result = new_picture(shape->width, shape->height, shape->channels, shape->depth);
    const gconv_source *source = gconv_reader_source(reader);
    helpers others;
    start_helpers(&others, source->help, source->user);
    for (uint32_t y = 0; status == GCONV_OK && y < shape->height; y += band) {
        uint32_t count = shape->height - y < band ? shape->height - y : band;
        status = gconv_reader_read(reader, count, result->rows + y * result->row_bytes,
                                   result->row_bytes, error);
    }
    stop_helpers(&others);
    if (status == GCONV_OK)
        status = gconv_reader_finish(reader, error);
    gconv_reader_free(reader);
    if (status != GCONV_OK)
        free_picture(result);
    return status;
}

/* Writes a picture, `band` rows at a time. */
static inline gconv_status write_picture(const char *path, const gconv_writer_options *options,
                                         uint32_t band, const picture *source, gconv_error *error)
{
    gconv_writer *writer;
    gconv_writer_options chosen = *options;
    chosen.shape = source->shape;
    gconv_status status = gconv_writer_open(path, &chosen, &writer, error);
    if (status != GCONV_OK)
        return status;
    uint32_t height = source->shape.height;
    const gconv_sink *sink = gconv_writer_sink(writer);
    helpers others;
    if (sink->spread != NULL)
        sink->spread(sink->user, 1 + helpers_wanted);
    start_helpers(&others, sink->help, sink->user);
    for (uint32_t y = 0; status == GCONV_OK && y < height; y += band) {
        uint32_t count = height - y < band ? height - y : band;
        status = gconv_writer_write(writer, count, source->rows + y * source->row_bytes,
                                    source->row_bytes, error);
    }
    stop_helpers(&others);
    if (status == GCONV_OK)
        status = gconv_writer_finish(writer, error);
    gconv_writer_free(writer);
    return status;
}

/* Read or write a picture, and fail the test where that fails. */
static inline picture must_read(const char *path, const gconv_reader_options *options)
{
    gconv_error error = {0};
    picture result;
    gconv_status status = read_picture(path, options, 7, &result, &error);
    if (status != GCONV_OK)
        fail_msg("%s: %s", path, error.message);
    return result;
}

static inline void must_write(const char *path, gconv_format format, const picture *source)
{
    gconv_error error = {0};
    gconv_writer_options options = writing_as(format);
    gconv_status status = write_picture(path, &options, 5, source, &error);
    if (status != GCONV_OK)
        fail_msg("%s: %s", path, error.message);
}
