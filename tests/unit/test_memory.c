/* If memory is out, copying an image fails. It never succeeds without a part of the metadata. */
#define _GNU_SOURCE /* memmem */
#include "container_support.h"
#include "exif_support.h"

#include "io/metadata.h"

/* ---- Allocations that fail ------------------------------------------------------------------- */

static long allocations; /* since the count began */
static long failing;     /* the one that fails, from 1; 0 is none */

static bool fails(void)
{
    return ++allocations == failing;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

/* libjpeg allocates the profile itself. That counts as an allocation; if it fails, libjpeg
 * answers as if there were no profile. */
boolean __real_jpeg_read_icc_profile(j_decompress_ptr jpeg, JOCTET **profile, unsigned int *size);
boolean __wrap_jpeg_read_icc_profile(j_decompress_ptr jpeg, JOCTET **profile, unsigned int *size);

boolean __wrap_jpeg_read_icc_profile(j_decompress_ptr jpeg, JOCTET **profile, unsigned int *size)
{
    return fails() ? FALSE : __real_jpeg_read_icc_profile(jpeg, profile, size);
}

/* ---- A file with all that belongs to one ----------------------------------------------------- */

static void make_file(const char *path, gconv_format format)
{
    static const exif_kind kind = {.orientation = 6,
                                   .side_types = {4, 4},
                                   .resolution = {72, 1, 36, 1},
                                   .unit = 2,
                                   .inside = true};
    unsigned char exif[FULL_EXIF_BYTES];
    unsigned char icc[ICC_BYTES];
    OWNED_PICTURE source = make_picture(21, 17, 3, 8);
    make_full_exif(exif, &kind);
    make_icc(icc, "RGB ");
    gconv_metadata metadata = {.blobs = {{icc, ICC_BYTES}, {exif, FULL_EXIF_BYTES}},
                               .resolution = {GC_RESOLUTION_PER_METRE, 2835, 2835},
                               .has_gamma = true,
                               .gamma = 45455};
    gconv_writer_options options = writing_as(format);
    options.metadata = &metadata;
    assert_ok(write_picture(path, &options, 17, &source, NULL));
}

/* Copies an image with all that belongs to it, as `gconv filter -k identity` does. */
static gconv_status copy_image(const char *from, const char *to, gconv_format format,
                               int compression, gconv_error *error)
{
    gconv_reader *reader;
    OWNED_WRITER writer = NULL;
    gconv_status status = gconv_reader_open(from, NULL, &reader, error);
    if (status != GCONV_OK)
        return status;
    gconv_writer_options options = writing_as(format);
    options.shape = *gconv_reader_shape(reader);
    options.metadata = gconv_reader_metadata(reader);
    options.compression = compression;
    unsigned char rows[21 * 21 * 3];
    size_t stride = gconv_shape_row_bytes(&options.shape);
    status = gconv_reader_read(reader, options.shape.height, rows, stride, error);
    if (status == GCONV_OK)
        status = gconv_reader_finish(reader, error);
    if (status == GCONV_OK)
        status = gconv_writer_open(to, &options, &writer, error);
    if (status == GCONV_OK)
        status = gconv_writer_write(writer, options.shape.height, rows, stride, error);
    if (status == GCONV_OK)
        status = gconv_writer_finish(writer, error);
    gconv_reader_free(reader);
    return status;
}

static void assert_same_files(const char *a, const char *b, long allocation)
{
    OWNED_BLOB first = load_file(a);
    OWNED_BLOB second = load_file(b);
    if (first.size != second.size || memcmp(first.bytes, second.bytes, first.size) != 0)
        fail_msg("without allocation %ld the file is another one", allocation);
}

/* The file has a profile and EXIF, under the names of either format. */
static void assert_has_all(const char *path)
{
    static const char *const names[][2] = {{"iCCP", "ICC_PROFILE"}, {"eXIf", "Exif"}};
    OWNED_BLOB whole = load_file(path);
    for (size_t i = 0; i < 2; i++)
        assert_true(memmem(whole.bytes, whole.size, names[i][0], 4) != NULL ||
                    memmem(whole.bytes, whole.size, names[i][1], strlen(names[i][1])) != NULL);
}

/* Makes each allocation of a copy fail, one after the other. */
static void sweep(gconv_format from, gconv_format to, int compression, bool has_metadata)
{
    char source[128], whole[128], part[128];
    snprintf(source, sizeof source, "%s/source", scratch);
    snprintf(whole, sizeof whole, "%s/whole", scratch);
    snprintf(part, sizeof part, "%s/part", scratch);
    make_file(source, from);
    assert_ok(copy_image(source, whole, to, compression, NULL));
    if (has_metadata)
        assert_has_all(whole);
    bool done = false;
    for (long n = 1; !done; n++) {
        gconv_error error = {0};
        allocations = 0;
        failing = n;
        gconv_status status = copy_image(source, part, to, compression, &error);
        failing = 0;
        done = allocations < n;
        assert_true(n < 2000);
        if (status == GCONV_OK) {
            assert_same_files(whole, part, n);
            unlink(part);
            continue;
        }
        if (status != GCONV_ERROR_MEMORY)
            fail_msg("without allocation %ld: status %d, '%s'", n, (int)status, error.message);
        assert_contains(error.message, "memory");
        assert_int_equal(count_entries("part"), 0);
    }
}

TEST(png_without_memory)
{
    sweep(GCONV_FORMAT_PNG, GCONV_FORMAT_PNG, -1, true);
    sweep(GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG, -1, true);
    sweep(GCONV_FORMAT_PNG, GCONV_FORMAT_PNG, 9, true);
}

TEST(jpeg_without_memory)
{
    sweep(GCONV_FORMAT_JPEG, GCONV_FORMAT_JPEG, -1, true);
    sweep(GCONV_FORMAT_JPEG, GCONV_FORMAT_PNG, -1, true);
}

/* Puts comments behind SOI, more than a reader buffers. */
static void lengthen_header(const char *path)
{
    enum { COMMENTS = 8 };
    static unsigned char image[1 << 16],
        comment[2 + 60000] = {0xff, 0xfe, 60000 >> 8, 60000 & 0xff};
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    size_t size = fread(image, 1, sizeof image, file);
    assert_int_equal(fseek(file, 2, SEEK_SET), 0);
    for (int i = 0; i < COMMENTS; i++)
        assert_int_equal(fwrite(comment, 1, sizeof comment, file), sizeof comment);
    assert_int_equal(fwrite(image + 2, 1, size - 2, file), size - 2);
    assert_int_equal(fclose(file), 0);
}

/* A device is then not offered the file, and libjpeg decodes it. */
TEST(offer_without_memory)
{
    char path[128];
    gconv_encoded encoded;
    unsigned char rows[21 * 21 * 3];
    snprintf(path, sizeof path, "%s/source", scratch);
    make_file(path, GCONV_FORMAT_JPEG);
    lengthen_header(path);
    OWNED_READER reader = opened_reader(path, NULL);
    const gconv_source *source = gconv_reader_source(reader);
    uint32_t height = gconv_reader_shape(reader)->height;
    allocations = 0;
    failing = 1;
    assert_false(source->offer(source->user, &encoded));
    failing = 0;
    assert_string_equal(gconv_reader_fallback(reader), "too little memory for the file");
    assert_ok(source->read(source->user, height, rows, sizeof rows / height, &error));
    assert_ok(gconv_reader_finish(reader, &error));
}

TEST(pnm_without_memory)
{
    sweep(GCONV_FORMAT_PPM, GCONV_FORMAT_PPM, -1, false);
    sweep(GCONV_FORMAT_PPM, GCONV_FORMAT_PGM, -1, false);
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
