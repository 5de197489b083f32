/* JPEG decoded by gconv's own code gives what libjpeg alone gives: the same rows, messages and
 * statuses, for files of every kind, sound and damaged. */
#define _GNU_SOURCE /* memmem */
#include "io_support.h"

#include "io/fast.h"
#include "io/jpeg/fast/islow.h"
#include "io/jpeg/fast/traces.h"
#include "jpeg/damage.h"

#include <stdatomic.h>

/* All that a caller sees of a file. */
typedef struct outcome {
    gconv_status status;
    gconv_shape shape;
    uint32_t rows; /* read without a failure */
    unsigned char *samples;
    bool own; /* gconv's own code decoded it */
    char messages[1024];
} outcome;

/* How a file is read. */
typedef struct manner {
    gconv_decoder decoder;
    bool colour, tolerant;
    uint32_t band;
    int threads;
    gconv_bytes_function *shown;
} manner;

static void note(void *user, const char *message)
{
    outcome *o = user;
    size_t length = strlen(o->messages);
    snprintf(o->messages + length, sizeof o->messages - length, "%s\n", message);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Threads that help while another one reads. */
typedef struct team {
    gconv_source source;
    helpers others;
} team;

static atomic_int worked; /* calls of `help` that did something */

static bool help(void *user)
{
    const team *of = user;
    bool did = of->source.help(of->source.user);
    worked += did;
    return did;
}

static void begin_work(team *of, gconv_reader *reader, int threads)
{
    of->source = *gconv_reader_source(reader);
    if (threads < 2 || of->source.spread == NULL)
        return;
    of->source.spread(of->source.user, threads);
    helpers_wanted = threads - 1;
    start_helpers(&of->others, help, of);
    assert_int_equal(of->others.count, threads - 1);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* On a busy machine the others may not get to work before the image is read. */
static void help_too(team *of)
{
    while (of->others.count > 0 && help(of))
        ;
}

static gconv_status read_rows(gconv_reader *reader, team *readers, const manner *how, outcome *o,
                              gconv_error *error)
{
    o->shape = *gconv_reader_shape(reader);
    size_t row_bytes = gconv_shape_row_bytes(&o->shape);
    o->samples = calloc(o->shape.height, row_bytes);
    assert_non_null(o->samples);
    while (o->rows < o->shape.height) {
        uint32_t left = o->shape.height - o->rows, count = left < how->band ? left : how->band;
        if (how->shown == NULL)
            help_too(readers);
        gconv_status status =
            gconv_reader_read(reader, count, o->samples + o->rows * row_bytes, row_bytes, error);
        if (status != GCONV_OK)
            return status;
        o->rows += count;
    }
    return GCONV_OK;
}

static gconv_status read_all(gconv_reader *reader, const manner *how, outcome *o,
                             gconv_error *error)
{
    team readers = {.others = {.count = 0}};
    begin_work(&readers, reader, how->threads);
    gconv_status status = read_rows(reader, &readers, how, o, error);
    if (status == GCONV_OK)
        status = gconv_reader_finish(reader, error);
    stop_helpers(&readers.others);
    return status;
}

static outcome read_file(const char *path, const manner *how)
{
    outcome o = {.rows = 0};
    gconv_error error = {.status = GCONV_OK};
    gconv_reader *reader;
    gconv_reader_options options = gconv_reader_options_default();
    options.decoder = how->decoder;
    options.grey = !how->colour;
    options.tolerant = how->tolerant;
    options.read = how->shown;
    options.warn = note;
    options.warn_user = &o;
    o.status = gconv_reader_open(path, &options, &reader, &error);
    if (o.status == GCONV_OK) {
        o.status = read_all(reader, how, &o, &error);
        o.own = strcmp(gconv_reader_decoder(reader), "gconv") == 0;
        gconv_reader_free(reader);
    }
    if (o.status != GCONV_OK)
        note(&o, error.message);
    return o;
}

/* Reads a file in both ways. True if gconv's own code decoded it to the end. */
static bool compare(const char *path, const manner *how, const char *name, size_t index)
{
    manner alone = *how;
    alone.decoder = GCONV_DECODER_CPU;
    alone.threads = 1;
    outcome got = read_file(path, how), wanted = read_file(path, &alone);
    bool own = got.own;
    assert_false(wanted.own);
    if (got.status != wanted.status || strcmp(got.messages, wanted.messages) != 0)
        fail_msg("%s %zu: %d, not %d: %s, not %s", name, index, got.status, wanted.status,
                 got.messages, wanted.messages);
    /* libjpeg reads ahead of the rows that it gives, and may fail earlier. */
    assert_true(got.status == GCONV_OK ? got.rows == wanted.rows : got.rows >= wanted.rows);
    size_t row_bytes = gconv_shape_row_bytes(&wanted.shape);
    for (uint32_t y = 0; y < wanted.rows; y++)
        if (memcmp(got.samples + y * row_bytes, wanted.samples + y * row_bytes, row_bytes) != 0)
            fail_msg("%s %zu: row %u differs", name, index, (unsigned)y);
    free(got.samples);
    free(wanted.samples);
    return own;
}

static bool compare_bytes(const jpeg_file *file, const manner *how, const char *name, size_t index)
{
    save_file("file.jpg", file->bytes, file->size);
    return compare("file.jpg", how, name, index);
}

static const manner plainly = {.band = 5};

/* In 1 to 5 threads, in turn, and with spans of many sizes. */
static manner in_turn(size_t index)
{
    static const size_t spans[] = {16384, 2, 700, 37, 4096, 150, 3};
    gc_jpeg_trace_bytes = spans[index % 7];
    return (manner){.colour = index / 5 % 2 == 1,
                    .band = 1 + (uint32_t)(index % 40),
                    .threads = 1 + (int)(index % 5)};
}

static bool compare_recipe(const jpeg_recipe *recipe, const manner *how)
{
    OWNED_JPEG file = jpeg_sample(recipe);
    char name[160];
    snprintf(name, sizeof name, "%ux%u quality %d sampling %dx%d restart %d pattern %d",
             (unsigned)recipe->width, (unsigned)recipe->height, recipe->quality, recipe->across,
             recipe->down, recipe->restart, (int)recipe->pattern);
    bool own = compare_bytes(&file, how, name, 0);
    return own;
}

/* ---- Sound files ----------------------------------------------------------------------------- */

static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}, {1, 4}};

TEST(every_sampling_and_size)
{
    static const uint32_t sides[] = {1,  2,  3,  7,  8,   9,   15,  16,  17,  31,
                                     33, 63, 64, 65, 127, 129, 200, 257, 299, 300};
    const size_t count = COUNT(sides);
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < COUNT(samplings); s++)
            for (size_t j = 0; j < 3; j++) {
                jpeg_recipe recipe =
                    jpeg_recipe_of(sides[i], sides[(i * 7 + j * 5) % count],
                                   s == 0 && j == 1 ? JCS_GRAYSCALE : JCS_YCbCr,
                                   30 + (int)(10 * j + 5 * s), samplings[s][0], samplings[s][1]);
                recipe.restart = j == 2 ? (int)(1 + i % 9) : 0;
                recipe.optimised = (i + s) % 2 == 0;
                recipe.pattern = (jpeg_pattern)((i + j + s) % JPEG_PATTERNS);
                manner grey = in_turn(i + s + j), colour = grey;
                grey.colour = false;
                colour.colour = true;
                assert_true(compare_recipe(&recipe, &grey));
                bool own = compare_recipe(&recipe, &colour);
                /* Of other samplings, and of images with few columns, libjpeg makes colours. */
                bool usual = s < 3 && recipe.width >= 5;
                assert_true(own == (usual || recipe.stored == JCS_GRAYSCALE));
            }
    assert_true(worked > 1000);
}

TEST(every_quality_and_pattern)
{
    for (int quality = 1; quality <= 100; quality += 9)
        for (int pattern = 0; pattern < JPEG_PATTERNS; pattern++) {
            jpeg_recipe recipe = jpeg_recipe_of(90, 70, JCS_YCbCr, quality, 2, 2);
            recipe.optimised = pattern % 2 == 0;
            recipe.pattern = (jpeg_pattern)pattern;
            manner how = in_turn((size_t)(quality + pattern));
            compare_recipe(&recipe, &how); /* some noise has too much energy */
        }
}

/* A sampling factor counts for nothing if there is one component. */
TEST(grey_with_factors)
{
    jpeg_recipe recipe = jpeg_recipe_of(100, 75, JCS_GRAYSCALE, 80, 2, 2);
    recipe.restart = 5;
    assert_true(compare_recipe(&recipe, &plainly));
}

/* The data of a row of MCUs are larger than a buffer of the file. */
TEST(wide_and_noisy)
{
    jpeg_recipe recipe = jpeg_recipe_of(20000, 40, JCS_YCbCr, 97, 1, 1);
    recipe.pattern = JPEG_SLOPES;
    for (size_t i = 0; i < 5; i++) {
        manner how = in_turn(i);
        assert_true(compare_recipe(&recipe, &how));
    }
    recipe.restart = 7;
    recipe.quality = 99;
    recipe.pattern = JPEG_NOISE;
    for (size_t i = 0; i < 5; i++) {
        manner how = in_turn(i);
        assert_true(compare_recipe(&recipe, &how));
    }
}

/* Rows of RGB depend on the stretches above and below. */
TEST(tall_and_in_colour)
{
    for (size_t i = 0; i < 40; i++) {
        jpeg_recipe recipe = jpeg_recipe_of(40 + (uint32_t)i, 900 + 7 * (uint32_t)i, JCS_YCbCr, 90,
                                            1 + (i % 4 > 0), 1 + (i % 4 > 1));
        recipe.restart = (int)(i % 3);
        recipe.pattern = i % 2 == 0 ? JPEG_SLOPES : JPEG_NOISE;
        manner how = in_turn(i);
        how.colour = true;
        assert_true(compare_recipe(&recipe, &how));
    }
}

/* Stretches of many rows of MCUs, whose pieces begin and end inside of rows. */
TEST(many_rows_a_stretch)
{
    for (int threads = 1; threads <= 5; threads++) {
        jpeg_recipe recipe = jpeg_recipe_of(420, 3000, JCS_GRAYSCALE, 85, 1, 1);
        manner how = {.band = 50, .threads = threads};
        assert_true(compare_recipe(&recipe, &how));
    }
}

/* Several threads look for markers, also for those in the middle of a row. */
TEST(restart_intervals)
{
    static const int intervals[] = {1, 5, 56, 57, 58, 100, 171, 1000, 5000};
    for (size_t i = 0; i < 9 * 6; i++) {
        jpeg_recipe recipe = jpeg_recipe_of(900, 300 + 40 * (uint32_t)(i % 6), JCS_YCbCr,
                                            60 + (int)(i % 40), 1 + (i % 3 > 0), 1 + (i % 3 > 1));
        recipe.restart = intervals[i % 9];
        recipe.pattern = i % 2 == 0 ? JPEG_SLOPES : JPEG_NOISE;
        const manner how = {.colour = i % 4 == 0, .band = 16, .threads = 2 + (int)(i % 4)};
        assert_true(compare_recipe(&recipe, &how));
    }
}

TEST(what_is_left_to_libjpeg)
{
    const jpeg_recipe usual = jpeg_recipe_of(60, 50, JCS_YCbCr, 80, 2, 2);
    jpeg_recipe recipe = usual;
    assert_true(compare_recipe(&recipe, &plainly));
    recipe.progressive = true;
    assert_false(compare_recipe(&recipe, &plainly));
    recipe = usual;
    recipe.arithmetic = true;
    assert_false(compare_recipe(&recipe, &plainly));
    recipe = usual;
    recipe.stored = JCS_RGB;
    assert_false(compare_recipe(&recipe, &plainly));
    recipe.stored = JCS_CMYK;
    assert_false(compare_recipe(&recipe, &plainly));
    gc_jpeg_rows_pixels_min = 3001;
    assert_false(compare_recipe(&usual, &plainly));
    gc_jpeg_rows_pixels_min = 0;
}

/* ---- Damaged files --------------------------------------------------------------------------- */

TEST(crafted_files)
{
    enum { COUNT = 300 };
    size_t own = 0;
    for (size_t i = 0; i < COUNT; i++) {
        jpeg_random random = {i};
        OWNED_JPEG file = jpeg_craft(&random);
        manner how = in_turn(i);
        own += compare_bytes(&file, &how, "crafted", i);
    }
    assert_in_range(own, COUNT / 6, COUNT);
}

/* `usual` files, or the number that a campaign wants. */
static size_t file_count(size_t usual)
{
    const char *wanted = getenv("GCONV_JPEG_FILES");
    return wanted != NULL ? strtoul(wanted, NULL, 10) : usual;
}

static void compare_damaged(uint64_t seed, size_t count, const jpeg_file *files, size_t of)
{
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
        manner how = in_turn(i);
        how.tolerant = i % 3 == 0;
        OWNED_JPEG file = jpeg_damaged(seed, i, files, of);
        own += compare_bytes(&file, &how, "damaged", i);
    }
    print_message("gconv's own code decoded %zu of %zu files\n", own, count);
    assert_in_range(own, count / 20, count - count / 3);
}

TEST(damaged_files)
{
    compare_damaged(19, file_count(700), NULL, 0);
}

/* Files that are long enough for two lanes (io/jpeg/fast/lanes.h). */
TEST(damaged_larger_files)
{
    enum { FILES = 4 };
    jpeg_file files[FILES];
    for (int i = 0; i < FILES; i++) {
        jpeg_recipe recipe = jpeg_recipe_of(400, 300, i == 3 ? JCS_GRAYSCALE : JCS_YCbCr,
                                            70 + 7 * i, 1 + (i < 2), 1 + (i < 1));
        recipe.optimised = i == 1;
        recipe.pattern = i == 2 ? JPEG_NOISE : JPEG_SLOPES;
        files[i] = jpeg_sample(&recipe);
    }
    compare_damaged(23, file_count(500), files, FILES);
    for (int i = 0; i < FILES; i++)
        free(files[i].bytes);
}

/* Cut anywhere, with a byte changed anywhere. */
TEST(every_place)
{
    jpeg_recipe recipe = jpeg_recipe_of(50, 40, JCS_YCbCr, 60, 2, 2);
    recipe.restart = 4;
    OWNED_JPEG file = jpeg_sample(&recipe);
    for (size_t at = 2; at < file.size; at += 3) {
        manner how = in_turn(at);
        how.tolerant = at % 2 == 0;
        jpeg_file cut = {file.bytes, at};
        compare_bytes(&cut, &how, "cut", at);
        file.bytes[at] ^= (unsigned char)(1 << at % 8);
        compare_bytes(&file, &how, "flipped", at);
        file.bytes[at] ^= (unsigned char)(1 << at % 8);
    }
}

/* Bytes are left before a marker: libjpeg warns of them. Several threads look for markers. */
TEST(bytes_before_markers)
{
    enum { MORE = 20, EOI = 0xd9, RST0 = 0xd0 };
    jpeg_recipe recipe = jpeg_recipe_of(400, 320, JCS_YCbCr, 80, 2, 2);
    recipe.restart = 25; /* a row */
    OWNED_JPEG file = jpeg_sample(&recipe);
    OWNED_JPEG more = {.size = file.size + MORE};
    size_t markers = 0;
    more.bytes = malloc(more.size);
    assert_non_null(more.bytes);
    for (size_t at = 600; at + 1 < file.size; at++) {
        int marker = file.bytes[at] == 0xff ? file.bytes[at + 1] : 0;
        if (marker != EOI && (marker & ~7) != RST0)
            continue;
        memcpy(more.bytes, file.bytes, at);
        memset(more.bytes + at, 0x55, MORE);
        memcpy(more.bytes + at + MORE, file.bytes + at, file.size - at);
        for (int threads = 1; threads <= 5; threads++) {
            const manner how = {.band = 16, .threads = threads};
            assert_false(compare_bytes(&more, &how, "bytes before marker", markers));
        }
        markers++;
    }
    assert_int_equal(markers, 20);
}

TEST(bytes_behind)
{
    const jpeg_recipe recipe = jpeg_recipe_of(50, 40, JCS_GRAYSCALE, 60, 1, 1);
    OWNED_JPEG file = jpeg_sample(&recipe);
    file.bytes = realloc(file.bytes, file.size + 9);
    memset(file.bytes + file.size, 'x', 9);
    for (size_t more = 0; more < 10; more++) {
        jpeg_file longer = {file.bytes, file.size + more};
        manner how = in_turn(more);
        assert_true(compare_bytes(&longer, &how, "behind", more));
    }
}

static atomic_int showing, together; /* threads in show_slowly; calls while another one ran */

/* A gconv_bytes_function. */
static void show_slowly(void *user, uint64_t offset, const void *bytes, size_t size)
{
    (void)user;
    (void)offset;
    (void)bytes;
    (void)size;
    together += ++showing > 1;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    showing--;
}

/* One thread at a time is shown bytes, also if libjpeg takes over while others read ahead. */
TEST(shown_by_one_thread)
{
    jpeg_recipe recipe = jpeg_recipe_of(4000, 1000, JCS_GRAYSCALE, 100, 1, 1);
    recipe.pattern = JPEG_NOISE;
    jpeg_file file = jpeg_sample(&recipe);
    memset((char *)memmem(file.bytes, file.size, "\xff\xdb", 2) + 5, 255, GC_JPEG_COEFFICIENTS);
    save_file("file.jpg", file.bytes, file.size);
    free(file.bytes);
    for (int threads = 1; threads <= 4; threads++) {
        const manner how = {.band = 8, .threads = threads, .shown = show_slowly};
        outcome o = read_file("file.jpg", &how);
        assert_int_equal(o.status, GCONV_OK);
        assert_false(o.own);
        assert_int_equal(together, 0);
        free(o.samples);
    }
}

static int use_small_images(void **state)
{
    gc_jpeg_rows_pixels_min = gc_jpeg_rows_spread_min = 0;
    return enter_scratch(state);
}

static const char *missing(void)
{
    return gc_jpeg_can_decode() ? NULL : "libjpeg decodes everything on this processor";
}

const test_suite suite = {
    .setup = use_small_images, .teardown = remove_scratch, .missing = missing};
