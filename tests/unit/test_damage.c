/* Damaged and hostile image files: an error or the same picture, never a crash. */
#include "damage_support.h"

#include "io/fast.h"
#include "io/metadata.h"

#include <sys/resource.h>

typedef struct sample {
    const char *name;
    blob file;
    bool checked; /* the format has checksums: damage is found or harmless */
} sample;

enum { SAMPLE_COUNT = 14 };

static void make_samples(sample samples[SAMPLE_COUNT])
{
    sample made[SAMPLE_COUNT] = {
        {"PNG", sample_file(GCONV_FORMAT_PNG, 3, 8), true},
        {"PNG of 16 bits", sample_file(GCONV_FORMAT_PNG, 2, 16), true},
        {"PNG of 1 bit", sample_file(GCONV_FORMAT_PNG, 1, 1), true},
        {"interlaced PNG", interlaced_png(), true},
        {"JPEG", sample_jpeg(21, 3, false, 0, NULL, 0), false},
        {"grey JPEG", sample_jpeg(21, 1, false, 0, NULL, 0), false},
        {"JPEG with restarts", sample_jpeg(21, 3, false, 1, NULL, 0), false},
        {"progressive JPEG", sample_jpeg(21, 3, true, 0, NULL, 0), false},
        {"PGM", sample_file(GCONV_FORMAT_PGM, 1, 8), false},
        {"PPM of 16 bits", sample_file(GCONV_FORMAT_PPM, 3, 16), false},
        {"PBM", sample_file(GCONV_FORMAT_PBM, 1, 1), false},
        {"PAM", sample_file(GCONV_FORMAT_PAM, 2, 8), false},
        {"NPY", sample_file(GCONV_FORMAT_NPY, 1, 16), false},
        {"BMP", sample_file(GCONV_FORMAT_BMP, 1, 8), false},
    };
    memcpy(samples, made, sizeof made);
}

static void free_samples(sample samples[SAMPLE_COUNT])
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        free(samples[i].file.bytes);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

TEST(every_truncation_is_an_error)
{
    sample samples[SAMPLE_COUNT];
    make_samples(samples);
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        for (size_t size = 0; size < samples[i].file.size; size++) {
            picture result;
            gconv_status status = read_bytes(samples[i].file.bytes, size, false, &result, &error);
            if (status != GCONV_ERROR_FORMAT || error.message[0] == '\0')
                fail_msg("%s cut to %zu of %zu bytes: status %d, '%s'", samples[i].name, size,
                         samples[i].file.size, (int)status, error.message);
        }
    free_samples(samples);
}

/* Once the header is whole, a tolerant reader delivers a picture, and warns that a part is
 * missing. */
TEST(tolerant_readers_go_on)
{
    sample samples[SAMPLE_COUNT];
    make_samples(samples);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        OWNED_PICTURE whole;
        bool delivered = false;
        assert_ok(read_bytes(samples[i].file.bytes, samples[i].file.size, true, &whole, &error));
        for (size_t size = 0; size < samples[i].file.size; size++) {
            picture part;
            gconv_status status = read_bytes(samples[i].file.bytes, size, true, &part, &error);
            if (status != GCONV_OK && delivered)
                fail_msg("%s cut to %zu bytes: '%s'", samples[i].name, size, error.message);
            if (status != GCONV_OK)
                continue;
            delivered = true;
            assert_true(seen.count > 0);
            /* Rows that the file still holds are delivered: the first row, at the least. */
            if (!samples[i].checked || size < samples[i].file.size * 9 / 10) {
                free_picture(&part);
                continue;
            }
            assert_memory_equal(part.rows, whole.rows, whole.row_bytes);
            free_picture(&part);
        }
        assert_true(delivered);
    }
    free_samples(samples);
}

TEST(flipped_bits_do_no_harm)
{
    sample samples[SAMPLE_COUNT];
    make_samples(samples);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        OWNED_PICTURE whole;
        blob *file = &samples[i].file;
        assert_ok(read_bytes(file->bytes, file->size, false, &whole, &error));
        for (size_t at = 0; at < file->size; at++)
            for (int bit = 0; bit < 8; bit += 3) {
                OWNED_PICTURE result;
                file->bytes[at] ^= (unsigned char)(1 << bit);
                gconv_status status =
                    read_bytes(file->bytes, file->size, bit == 6, &result, &error);
                file->bytes[at] ^= (unsigned char)(1 << bit);
                if (status != GCONV_OK) {
                    assert_true(error.message[0] != '\0');
                    continue;
                }
                if (samples[i].checked && seen.count == 0)
                    assert_same_picture(&result, &whole);
            }
    }
    free_samples(samples);
}

/* ---- Chunks by hand -------------------------------------------------------------------------- */

static void assert_warned(const blob *file, const char *message)
{
    OWNED_PICTURE result;
    assert_succeeds(read_bytes(file->bytes, file->size, false, &result, &why));
    if (message == NULL)
        assert_int_equal(seen.count, 0);
    else if (strstr(seen.first, message) == NULL && strstr(seen.last, message) == NULL)
        fail_msg("warned '%s' and '%s', not '%s'", seen.first, seen.last, message);
}

static void assert_refused(const blob *file, bool tolerant, const char *name)
{
    picture result;
    gconv_error error;
    assert_int_equal(read_bytes(file->bytes, file->size, tolerant, &result, &error),
                     GCONV_ERROR_LIMIT);
    if (strstr(error.message, "8 MiB") == NULL || strstr(error.message, name) == NULL)
        fail_msg("refused as '%s'", error.message);
}

TEST(broken_chunks_are_warnings)
{
    blob file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, AFTER_IHDR, "gAMA", "\0\0\xb1\x8f", 4, 1);
    assert_warned(&file, "CRC");
    free(file.bytes);
    file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, AFTER_IHDR, "eXIf", "II*\0\xff\xff\xff\xff", 8, 0);
    assert_warned(&file, "EXIF");
    free(file.bytes);
    file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, AFTER_IHDR, "iCCP", "name\0\0junk", 10, 0);
    assert_warned(&file, "iCCP");
    free(file.bytes);
    file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, file.size - IEND_BYTES, "eXIf", "II*\0\x08\0\0\0\0\0", 10, 0);
    assert_warned(&file, "the eXIf chunk lies behind the image data: dropped");
    free(file.bytes);
    file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, AFTER_IHDR, "acTL", "\0\0\0\1\0\0\0\0", 8, 0);
    assert_warned(&file, NULL);
    insert_chunk(&file, file.size - IEND_BYTES, "fdAT", "\0\0\0\1", 4, 0);
    assert_warned(&file, "images of an animation follow the first one: dropped");
    free(file.bytes);
    file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, AFTER_IHDR, "tEXt", "Comment\0hello", 13, 0);
    insert_chunk(&file, file.size - IEND_BYTES, "tIME", "\7\xe8\1\1\1\1\1", 7, 0);
    insert_chunk(&file, file.size - IEND_BYTES, "prVt", "private", 7, 0);
    assert_warned(&file, NULL);
    free(file.bytes);
}

/* A chunk that is small in the file and large in memory. */
static void insert_bomb(blob *png, const char *type, const char *head, size_t head_bytes,
                        const unsigned char *start, size_t start_bytes)
{
    enum { BOMB_BYTES = 64 << 20 };
    OWNED unsigned char *large = calloc(1, BOMB_BYTES);
    uLongf size = compressBound(BOMB_BYTES);
    OWNED unsigned char *small = malloc(head_bytes + size);
    assert_non_null(large);
    assert_non_null(small);
    memcpy(large, start, start_bytes);
    memcpy(small, head, head_bytes);
    assert_int_equal(compress2(small + head_bytes, &size, large, BOMB_BYTES, 9), Z_OK);
    insert_chunk(png, AFTER_IHDR, type, small, head_bytes + size, 0);
}

static long peak_kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

TEST(bombs_take_no_memory)
{
    unsigned char icc[132] = {0};
    blob files[3];
    for (int i = 0; i < 3; i++)
        files[i] = sample_file(GCONV_FORMAT_PNG, 3, 8);
    store_u32(icc, 64 << 20);
    icc[8] = 4;
    memcpy(icc + 12, "mntrRGB XYZ ", 12);
    memcpy(icc + 36, "acsp", 4);
    insert_bomb(&files[0], "iCCP", "name\0\0", 6, icc, sizeof icc);
    insert_bomb(&files[1], "zTXt", "Comment\0\0", 9, icc, 0);
    insert_bomb(&files[2], "iTXt", "Comment\0\1\0\0\0", 12, icc, 0);
    long before = peak_kilobytes();
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            assert_refused(&files[i], false, "iCCP");
        else
            assert_warned(&files[i], NULL);
        free(files[i].bytes);
    }
    /* The peak of making the bombs is behind us and hides up to as much again; so it is the
     * message that is checked above, and here that nothing has grown beyond. */
    assert_true(peak_kilobytes() - before < 40 << 10);
}

/* Chunks of more than 8 MiB, right behind the header and behind the image data. */
TEST(large_chunks)
{
    enum { LIMIT = 8 << 20 };
    static const struct {
        const char *type;
        bool held[2];        /* by place */
        const char *warning; /* of a chunk that is not held */
    } chunks[] = {{"tEXt", {false, false}, NULL},  {"prVt", {false, false}, NULL},
                  {"sPLT", {false, false}, NULL},  {"gAMA", {false, false}, "gAMA"},
                  {"eXIf", {true, false}, "eXIf"}, {"iCCP", {true, false}, "iCCP"},
                  {"PLTE", {true, true}, NULL},    {"PRVt", {true, true}, NULL}};
    OWNED unsigned char *bytes = calloc(1, LIMIT + 1);
    assert_non_null(bytes);
    memcpy(bytes, "Comment", 7);
    for (size_t i = 0; i < 2 * COUNT(chunks); i++) {
        const char *type = chunks[i / 2].type;
        OWNED_BLOB file = sample_file(GCONV_FORMAT_PNG, 3, 8);
        size_t at = i % 2 ? file.size - IEND_BYTES : AFTER_IHDR;
        insert_chunk(&file, at, type, bytes, LIMIT + 1, 0);
        if (chunks[i / 2].held[i % 2]) {
            assert_refused(&file, false, type);
            assert_refused(&file, true, type);
            file.size = at + 8; /* no byte of the chunk is there: the head is enough */
            assert_refused(&file, true, type);
        } else {
            assert_warned(&file, chunks[i / 2].warning);
        }
    }
    OWNED_BLOB file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    insert_chunk(&file, AFTER_IHDR, "tEXt", bytes, LIMIT, 0);
    assert_warned(&file, NULL);
}

/* A large chunk that is passed over changes no pixel. Damage of it and a place between image data
 * have the verdict that a small one gets. */
TEST(large_chunks_are_judged_as_small_ones)
{
    OWNED unsigned char *bytes = calloc(9, 1 << 20);
    assert_non_null(bytes);
    for (int i = 0; i < 16; i++) {
        gconv_status status[2];
        gconv_error errors[2];
        picture whole, results[2];
        int warnings[2];
        const bool broken = i % 2 != 0, cut = i / 2 % 2 != 0, behind = i / 4 % 2 != 0;
        const bool tolerant = i / 8 != 0;
        for (int large = 0; large < 2; large++) {
            OWNED_BLOB file = sample_file(GCONV_FORMAT_PNG, 3, 8);
            assert_ok(read_bytes(file.bytes, file.size, false, &whole, &errors[large]));
            size_t at = behind ? file.size - IEND_BYTES : AFTER_IHDR;
            size_t size = large ? (size_t)9 << 20 : 9;
            insert_chunk(&file, at, "prVt", bytes, size, broken);
            if (cut)
                file.size = at + 8 + size + 2;
            status[large] =
                read_bytes(file.bytes, file.size, tolerant, &results[large], &errors[large]);
            warnings[large] = seen.count;
            assert_int_equal(status[large],
                             cut && !(behind && tolerant) ? GCONV_ERROR_FORMAT : GCONV_OK);
            if (status[large] == GCONV_OK) {
                assert_same_picture(&whole, &results[large]);
                free_picture(&results[large]);
            }
            free_picture(&whole);
        }
        assert_int_equal(warnings[0], warnings[1]);
        assert_int_equal(warnings[1], status[1] == GCONV_OK && (broken || cut));
        if (status[0] != GCONV_OK)
            assert_string_equal(errors[0].message, errors[1].message);
    }
}

TEST(huge_images_are_refused)
{
    static const uint32_t sides[][2] = {
        {100000, 100000}, {0x7fffffff, 0x7fffffff}, {1 << 15, (1 << 15) + 1}, {0x7fffffff, 1}};
    picture result;
    for (size_t i = 0; i < COUNT(sides); i++) {
        OWNED_BLOB file = sample_file(GCONV_FORMAT_PNG, 3, 8);
        store_u32(file.bytes + 16, sides[i][0]);
        store_u32(file.bytes + 20, sides[i][1]);
        store_u32(file.bytes + 29, (uint32_t)crc32(0, file.bytes + 12, 17));
        assert_fails(read_bytes(file.bytes, file.size, false, &result, &error), GCONV_ERROR_LIMIT,
                     &error, "--max-pixels");
        assert_contains(error.message, "1073741824");
    }
    OWNED_BLOB file = sample_file(GCONV_FORMAT_PNG, 3, 8);
    OWNED_READER reader;
    gconv_reader_options options = reading(false);
    save_file("damaged", file.bytes, file.size);
    options.max_pixels = 21 * 17 - 1;
    assert_int_equal(gconv_reader_open("damaged", &options, &reader, &error), GCONV_ERROR_LIMIT);
    options.max_pixels++;
    assert_ok(gconv_reader_open("damaged", &options, &reader, &error));
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

/* One DC scan, and each AC coefficient by itself, `bits` times. */
static int many_scans(jpeg_scan_info *scans, int bits)
{
    int count = 0;
    scans[count++] = (jpeg_scan_info){.comps_in_scan = 1};
    for (int bit = bits - 1; bit >= 0; bit--)
        for (int k = 1; k < 64; k++)
            scans[count++] = (jpeg_scan_info){.comps_in_scan = 1,
                                              .Ss = k,
                                              .Se = k,
                                              .Ah = bit == bits - 1 ? 0 : bit + 1,
                                              .Al = bit};
    return count;
}

TEST(many_scans_are_refused)
{
    jpeg_scan_info scans[200];
    picture result;
    int count = many_scans(scans, 1);
    blob file = sample_jpeg(21, 1, false, 0, scans, count);
    assert_ok(read_bytes(file.bytes, file.size, false, &result, &error));
    free_picture(&result);
    free(file.bytes);
    count = many_scans(scans, 2);
    file = sample_jpeg(21, 1, false, 0, scans, count);
    assert_fails(read_bytes(file.bytes, file.size, true, &result, &error), GCONV_ERROR_LIMIT,
                 &error, "100 scans");
    free(file.bytes);
}

TEST(endless_headers_are_refused)
{
    enum { SEGMENT = 65535, SEGMENTS = 1100 };
    static unsigned char segment[SEGMENT + 2] = {0xff, 0xe1, 0xff, 0xff, 'E'};
    OWNED_BLOB jpeg = sample_jpeg(21, 3, false, 0, NULL, 0);
    picture result;
    FILE *file = fopen("endless", "wb");
    assert_non_null(file);
    fwrite(jpeg.bytes, 1, 2, file);
    for (int i = 0; i < SEGMENTS; i++)
        fwrite(segment, 1, sizeof segment, file);
    fwrite(jpeg.bytes + 2, 1, jpeg.size - 2, file);
    fclose(file);
    gconv_reader_options options = reading(false);
    assert_int_equal(read_picture("endless", &options, 1, &result, &error), GCONV_ERROR_LIMIT);
}

TEST(broken_jpeg_metadata_are_warnings)
{
    blob file = sample_jpeg(21, 3, false, 0, NULL, 0);
    add_exif_to_jpeg(&file, (const unsigned char *)"MM\0*junk", 8);
    assert_warned(&file, "EXIF");
    free(file.bytes);
    file = sample_jpeg(21, 3, false, 0, NULL, 0);
    splice(&file, 2, "\xff\xe2\0\x14ICC_PROFILE\0\2\5junk", 22); /* the second of five */
    assert_warned(&file, "ICC");
    free(file.bytes);
}

/* Complete images without EOI, with what programs write behind them: every pixel is there. */
TEST(a_trailer_for_the_end_is_let_pass)
{
#define TRAILER(text)                                                                              \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
    static const struct {
        const char *bytes;
        size_t size;
    } trailers[] = {
        /* of a phone's panorama */
        TRAILER("\0\0\1\n\16\0\0\0Image_UTC_Data\xff\xd8trailer"),
        /* another image */
        TRAILER("\xff\xd8\xff\xe0\0\20JFIF\0\1\1\0\0\1\0\1\0\0\xff\xd8"),
        /* a frame of 255 components */
        TRAILER("x\xff\xc0\0\x11\x8\0\1\0\1\xff\1\x11\0\2\x11\1\3\x11\1"),
        /* the same at once */
        TRAILER("\xff\xc0\0\x11\x8\0\1\0\1\xff\1\x11\0\2\x11\1\3\x11\1"),
        /* a broken table */
        TRAILER("\xff\xfe\0\4ok\xff\xc4\0\5\0\xff\xff"),
    };
    static const jpeg_scan_info apart[] = {{1, {0}, 0, 63, 0, 0}, {2, {1, 2}, 0, 63, 0, 0}};
    gc_jpeg_rows_pixels_min = 0;
    for (int kind = 0; kind < 5; kind++)
        for (size_t i = 0; i < COUNT(trailers); i++)
            for (int cpu = 0; cpu < 2; cpu++) {
                OWNED_BLOB file = sample_jpeg(40, kind == 1 ? 1 : 3, kind == 3, kind == 2,
                                              kind == 4 ? apart : NULL, kind == 4 ? 2 : 0);
                gconv_reader_options options = reading(true);
                picture whole, result;
                options.decoder = cpu ? GCONV_DECODER_CPU : GCONV_DECODER_AUTO;
                save_file("trailer", file.bytes, file.size);
                whole = must_read("trailer", &options);
                file.size -= 2;
                splice(&file, file.size, trailers[i].bytes, trailers[i].size);
                save_file("trailer", file.bytes, file.size);
                damage_seen = 0;
                if (read_picture("trailer", &options, 4, &result, &error) != GCONV_OK)
                    fail_msg("file %d, trailer %zu: %s", kind, i, error.message);
                assert_int_equal(damage_seen, 1);
                assert_same_picture(&result, &whole);
                options.tolerant = false;
                free_picture(&result);
                assert_int_equal(read_picture("trailer", &options, 4, &result, &error),
                                 GCONV_ERROR_FORMAT);
                free_picture(&whole);
            }
}

/* ---- Metadata that damage costs -------------------------------------------------------------- */

/* Each caller keeps some metadata: damage to others is a usual warning. */
static void assert_lost(const blob *file, gconv_keep part, const char *what)
{
    save_file("lost", file->bytes, file->size);
    for (int keep = GCONV_KEEP_NOTHING; keep <= GCONV_KEEP_ALL; keep++)
        for (int whole = 0; whole < 2; whole++) {
            gconv_reader_options options = reading(false);
            gconv_error error = {0};
            OWNED_READER reader;
            bool wanted = keep >= (int)part;
            options.keep = (gconv_keep)keep;
            options.whole = whole != 0;
            gconv_status status = gconv_reader_open("lost", &options, &reader, &error);
            assert_int_equal(status, wanted && whole ? GCONV_ERROR_FORMAT : GCONV_OK);
            assert_int_equal(damage_seen, wanted && !whole);
            const char *said = status == GCONV_OK ? seen.last : error.message;
            if (strstr(said, what) == NULL || strstr(said, "is damaged") == NULL)
                fail_msg("'%s' does not tell of %s", said, what);
            assert_int_equal(strstr(said, "--tolerant") != NULL, status != GCONV_OK);
        }
}

TEST(lost_chunks_are_told)
{
    static const struct {
        const char *type, *bytes;
        size_t size;
        gconv_keep part;
    } chunks[] = {
        {"tRNS", "\0\1\0\2\0\3", 6, GCONV_KEEP_NOTHING},
        {"pHYs", "\0\0\x0b\x13\0\0\x0b\x13\1", 9, GCONV_KEEP_RESOLUTION},
        {"eXIf", "II*\0\10\0\0\0\0\0\0\0\0\0", 14, GCONV_KEEP_ALL},
        {"iCCP", "name\0\0junk", 10, GCONV_KEEP_ALL},
        {"sRGB", "\1", 1, GCONV_KEEP_ALL},
        {"gAMA", "\0\0\xb1\x8f", 4, GCONV_KEEP_ALL},
        {"cHRM", "", 0, GCONV_KEEP_ALL},
    };
    for (size_t i = 0; i < COUNT(chunks); i++) {
        OWNED_BLOB file = sample_file(GCONV_FORMAT_PNG, 3, 8);
        insert_chunk(&file, AFTER_IHDR, chunks[i].type, chunks[i].bytes, chunks[i].size, 1);
        assert_lost(&file, chunks[i].part, chunks[i].type);
    }
}

/* A blob that cannot be read, and one whose directory is cut, in both formats that hold EXIF. */
TEST(lost_exif_is_told)
{
    static const struct {
        const char *bytes, *told;
    } blobs[] = {{"MM\0*\0\0\0\10\0\3\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0", "a part of EXIF"},
                 {"MM\0*\0\0\0\177\0\3\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0", "EXIF is"}};
    for (size_t i = 0; i < 2; i++) {
        blob file = sample_file(GCONV_FORMAT_PNG, 3, 8);
        insert_chunk(&file, AFTER_IHDR, "eXIf", blobs[i].bytes, 26, 0);
        assert_lost(&file, GCONV_KEEP_ALL, blobs[i].told);
        free(file.bytes);
        file = sample_jpeg(21, 3, false, 0, NULL, 0);
        add_exif_to_jpeg(&file, (const unsigned char *)blobs[i].bytes, 26);
        assert_lost(&file, GCONV_KEEP_ALL, blobs[i].told);
        free(file.bytes);
    }
}

TEST(lost_profiles_are_told)
{
    static const char *const segments[] = {"ICC_PROFILE\0\2\5junk", "ICC_PROFILE\0\1\0junk",
                                           "ICC_PROFILE\0\1\1junk", "ICC_PROFILE\0\0\1junk"};
    for (size_t i = 0; i < COUNT(segments); i++) {
        OWNED_BLOB file = sample_jpeg(21, 3, false, 0, NULL, 0);
        add_segment(&file, 0xe2, segments[i], 18);
        assert_lost(&file, GCONV_KEEP_ALL, "ICC profile");
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
