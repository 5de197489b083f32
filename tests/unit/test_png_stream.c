/* Image data of PNGs inflated by ISA-L and by zlib: rows, verdicts and messages are the same,
 * whatever is done to the file, and whether another thread inflates. GCONV_PNG_MUTANTS sets the
 * number of damaged files. In a build without ISA-L both readings are zlib's. */
#include "container_support.h"

#include "io/fast.h"

static uint64_t state = 7;

static unsigned int random_below(unsigned int bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned int)(state >> 33) % bound;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A PNG of any kind, its rows noise or nearly repetitive. */
static void make_file(const char *path)
{
    static const int depths[][5] = {[0] = {1, 2, 4, 8, 16},
                                    [2] = {8, 8, 8, 8, 16},
                                    [3] = {1, 2, 4, 8, 8},
                                    [4] = {8, 8, 8, 8, 16},
                                    [6] = {8, 8, 8, 8, 16}};
    static const int colours[] = {0, 2, 4, 6};
    const int colour = colours[random_below(4)];
    png_header header = {.width = 1 + random_below(random_below(3) == 0 ? 900 : 60),
                         .height = 1 + random_below(random_below(3) == 0 ? 300 : 40),
                         .colour = colour,
                         .depth = depths[colour][random_below(5)],
                         .interlaced = random_below(4) == 0,
                         .idat_bytes = random_below(2) == 0 ? 0 : 6 + random_below(3000)};
    size_t row_bytes = (size_t)header.width * 8;
    OWNED unsigned char *samples = malloc(row_bytes * header.height);
    png_bytepp rows = malloc(header.height * sizeof *rows);
    assert_non_null(samples);
    assert_non_null(rows);
    unsigned int spread = 1 + random_below(256);
    for (size_t i = 0; i < row_bytes * header.height; i++)
        samples[i] = (unsigned char)(i / 97 + random_below(spread));
    for (uint32_t y = 0; y < header.height; y++)
        rows[y] = samples + y * row_bytes;
    write_plain_png(path, &header, rows, NULL, NULL);
    free(rows);
}

/* The length of the data of the chunk at `at`. */
static size_t chunk_length(const blob *png, size_t at)
{
    return (size_t)png->bytes[at] << 24 | (size_t)png->bytes[at + 1] << 16 |
           (size_t)png->bytes[at + 2] << 8 | png->bytes[at + 3];
}

static void mend_check(blob *png, size_t at)
{
    size_t length = chunk_length(png, at);
    store_u32(png->bytes + at + 8 + length,
              (uint32_t)crc32(0, png->bytes + at + 4, (uInt)(4 + length)));
}

/* The first chunk of this type, or a later one by chance. */
static size_t find_chunk(const blob *png, const char *type)
{
    size_t found = 0;
    for (size_t at = 8; at + 12 <= png->size; at += 12 + chunk_length(png, at))
        if (memcmp(png->bytes + at + 4, type, 4) == 0 && (found == 0 || random_below(2) == 0))
            found = at;
    assert_true(found > 0);
    return found;
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void change_bytes(blob *png)
{
    for (unsigned int n = 1 + random_below(3); n > 0; n--)
        png->bytes[8 + random_below((unsigned int)png->size - 8)] ^=
            (unsigned char)(1u << random_below(8));
}

/* Changes the compressed data and mends the chunk's check. */
static void change_data(blob *png)
{
    size_t at = find_chunk(png, "IDAT"), length = chunk_length(png, at);
    if (length == 0)
        return;
    /* The head, the tail, or anything between. */
    unsigned int part = random_below(3), near = length < 12 ? (unsigned int)length : 12;
    size_t place = part == 0   ? random_below(near)
                   : part == 1 ? length - 1 - random_below(near)
                               : random_below((unsigned int)length);
    png->bytes[at + 8 + place] ^= (unsigned char)(1u << random_below(8));
    mend_check(png, at);
}

static void cut_off(blob *png)
{
    png->size = 8 + random_below((unsigned int)png->size - 8);
}

/* Divides a chunk of image data in two, one of them empty at times. */
static void split_data(blob *png)
{
    for (unsigned int n = 1 + random_below(4); n > 0; n--) {
        size_t at = find_chunk(png, "IDAT"), length = chunk_length(png, at);
        size_t first = random_below((unsigned int)length + 1);
        unsigned char between[12] = {[8] = 'I', [9] = 'D', [10] = 'A', [11] = 'T'};
        store_u32(between + 4, (uint32_t)(length - first));
        store_u32(png->bytes + at, (uint32_t)first);
        splice(png, at + 8 + first, between, sizeof between);
        mend_check(png, at);
        mend_check(png, at + 12 + first);
    }
}

/* Declares another window, of at least 256 bytes. */
static void change_window(blob *png)
{
    size_t at = 8;
    while (memcmp(png->bytes + at + 4, "IDAT", 4) != 0)
        at += 12 + chunk_length(png, at);
    if (chunk_length(png, at) < 2)
        return;
    unsigned int head = (random_below(9) << 12 | 0x0800) + random_below(4) * 64;
    head += 31 - head % 31;
    png->bytes[at + 8] = (unsigned char)(head >> 8);
    png->bytes[at + 9] = (unsigned char)head;
    mend_check(png, at);
}

/* Puts bytes or whole chunks of image data behind the stream or somewhere else. */
static void add_data(blob *png)
{
    unsigned char more[40];
    for (size_t i = 0; i < sizeof more; i++)
        more[i] = (unsigned char)random_below(256);
    size_t at = find_chunk(png, random_below(2) == 0 ? "IEND" : "IDAT");
    insert_chunk(png, at, "IDAT", more, random_below(sizeof more), 0);
}

/* Gives the image another height: the data are too many or too few. */
static void change_height(blob *png)
{
    uint32_t height = (uint32_t)chunk_length(png, 20);
    store_u32(png->bytes + 20, height + random_below(5) - (height > 2 ? 2 : 0));
    mend_check(png, 8);
}

static void damage(blob *png)
{
    static void (*const ways[])(blob *) = {change_bytes,  change_data, cut_off,       split_data,
                                           change_window, add_data,    change_height, change_data};
    enum { WAYS = COUNT(ways) };
    ways[random_below(WAYS)](png);
}

/* ---- Both readings --------------------------------------------------------------------------- */

typedef struct reading {
    gconv_status status;
    gconv_error error;
    warnings_seen warnings;
    picture result;
} reading;

static reading read_by(bool isal, const char *path, bool tolerant, uint32_t band)
{
    reading r = {0};
    gconv_reader_options options = as_stored();
    options.tolerant = tolerant;
    options.warn = remember_warning;
    options.warn_user = &r.warnings;
    gc_png_inflating_wanted = isal;
    r.status = read_picture(path, &options, band, &r.result, &r.error);
    gc_png_inflating_wanted = true;
    return r;
}

static void assert_same_reading(const char *path, bool tolerant)
{
    uint32_t band = 1 + random_below(40);
    reading expected = read_by(false, path, tolerant, band);
    helpers_wanted = (int)random_below(3);
    reading found = read_by(true, path, tolerant, band);
    helpers_wanted = 0;
    if (found.status != expected.status)
        fail_msg("status %d, by zlib %d: %s", (int)found.status, (int)expected.status,
                 expected.error.message);
    assert_string_equal(found.error.message, expected.error.message);
    assert_string_equal(found.warnings.last, expected.warnings.last);
    assert_int_equal(found.warnings.count, expected.warnings.count);
    if (expected.status == GCONV_OK) {
        assert_same_picture(&expected.result, &found.result);
        free_picture(&expected.result);
        free_picture(&found.result);
    }
}

TEST(undamaged_files_are_read_alike)
{
    for (int n = 0; n < 200; n++) {
        make_file("whole");
        reading r = read_by(true, "whole", false, 9);
        assert_int_equal(r.status, GCONV_OK);
        assert_int_equal(r.warnings.count, 0);
        free_picture(&r.result);
        assert_same_reading("whole", false);
    }
}

TEST(damaged_files_are_read_alike)
{
    const char *wanted = getenv("GCONV_PNG_MUTANTS");
    int mutants = wanted != NULL ? atoi(wanted) : 2000;
    blob whole = {0};
    for (int n = 0; n < mutants; n++) {
        if (n % 20 == 0) {
            make_file("seed");
            free(whole.bytes);
            whole = load_file("seed");
        }
        OWNED_BLOB mutant = {malloc(whole.size), whole.size};
        assert_non_null(mutant.bytes);
        memcpy(mutant.bytes, whole.bytes, whole.size);
        damage(&mutant);
        save_file("mutant", mutant.bytes, mutant.size);
        assert_same_reading("mutant", random_below(4) == 0);
    }
    free(whole.bytes);
}

/* A large image goes through the buffers of the stream many times. */
TEST(large_files_are_read_alike)
{
    for (int level = -1; level <= 9; level += 5) {
        OWNED_PICTURE source = make_picture(1500, 1100, 3, 8);
        gconv_writer_options options = writing_as(GCONV_FORMAT_PNG);
        options.compression = level;
        assert_ok(write_picture("large", &options, 64, &source, NULL));
        helpers_wanted = 2;
        reading r = read_by(true, "large", false, 50);
        helpers_wanted = 0;
        assert_int_equal(r.status, GCONV_OK);
        assert_same_picture(&source, &r.result);
        OWNED_BLOB png = load_file("large");
        png.bytes[png.size - 30] ^= 4; /* near the end: nearly all rows are given before */
        save_file("large", png.bytes, png.size);
        assert_same_reading("large", false);
        free_picture(&r.result);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
