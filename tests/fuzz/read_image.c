#include "read_image.h"

#include "fuzz.h"
#include "streams.h"

#include "io/metadata.h"

#include <string.h>

/* What a byte of choices says. */
enum { GREY = 1, AS_STORED = 2, TOLERANT = 4, TWICE = 8, BAND_SHIFT = 4 };

typedef struct picture {
    gconv_status status;
    gconv_shape shape;
    size_t row_bytes;
    unsigned char *rows; /* NULL where the header was refused */
} picture;

static void take_warning(void *user, const char *message)
{
    int *count = user;
    ++*count;
    FUZZ_REQUIRE(message[0] != '\0' && strpbrk(message, "\n\r\033") == NULL, "'%s'", message);
}

static void check_shape(const gconv_shape *shape, const gconv_reader_options *options)
{
    FUZZ_REQUIRE((uint64_t)shape->width * shape->height <= options->max_pixels, "%u x %u",
                 shape->width, shape->height);
    FUZZ_REQUIRE(shape->depth == 8 || shape->depth == 16, "depth %d", shape->depth);
    FUZZ_REQUIRE(!options->grey || shape->channels == 1, "grey of %d channels", shape->channels);
    FUZZ_REQUIRE(gconv_shape_row_bytes(shape) > 0, "rows of 0 bytes");
}

/* Once more after the end, and once more after a failure. */
static void check_settled(gconv_reader *reader, gconv_status status)
{
    unsigned char byte;
    gconv_error error = {.status = GCONV_OK};
    gconv_status again = gconv_reader_read(reader, 1, &byte, 1, &error);
    FUZZ_REQUIRE(again == (status == GCONV_OK ? GCONV_ERROR_ARGUMENT : status),
                 "%d after %d: a failure is not repeated", (int)again, (int)status);
    fuzz_require_message(again, &error);
}

/* What metadata says must be fit to be written. */
static void check_metadata(const gconv_metadata *metadata)
{
    FUZZ_REQUIRE((metadata->icc != NULL) == (metadata->icc_bytes > 0), "an ICC profile of 0 bytes");
    FUZZ_REQUIRE((metadata->exif != NULL) == (metadata->exif_bytes > 0), "EXIF of 0 bytes");
    const gc_resolution *resolution = &metadata->resolution;
    FUZZ_REQUIRE(resolution->unit == GC_RESOLUTION_NONE || (resolution->x > 0 && resolution->y > 0),
                 "resolution %u x %u", resolution->x, resolution->y);
}

static gconv_status read_rows(gconv_reader *reader, uint32_t band, picture *into,
                              gconv_error *error)
{
    gconv_status status = GCONV_OK;
    uint32_t height = into->shape.height;
    for (uint32_t y = 0; status == GCONV_OK && y < height; y += band) {
        uint32_t count = height - y < band ? height - y : band;
        status = gconv_reader_read(reader, count, into->rows + y * into->row_bytes, into->row_bytes,
                                   error);
    }
    return status;
}

static picture read_picture(const gconv_reader_options *options, uint32_t band)
{
    picture made = {.rows = NULL};
    gconv_reader *reader;
    gconv_error error = {.status = GCONV_OK};
    made.status = gconv_reader_open("-", options, &reader, &error);
    if (made.status != GCONV_OK) {
        fuzz_require_message(made.status, &error);
        FUZZ_REQUIRE(reader == NULL, "a reader after a failure");
        return made;
    }
    made.shape = *gconv_reader_shape(reader);
    check_shape(&made.shape, options);
    check_metadata(gconv_reader_metadata(reader));
    made.row_bytes = gconv_shape_row_bytes(&made.shape);
    made.rows = fuzz_allocate(made.row_bytes * made.shape.height);
    memset(made.rows, 0xa5, made.row_bytes * made.shape.height);
    made.status = read_rows(reader, band, &made, &error);
    if (made.status == GCONV_OK)
        made.status = gconv_reader_finish(reader, &error);
    if (made.status != GCONV_OK)
        fuzz_require_message(made.status, &error);
    check_settled(reader, made.status);
    gconv_reader_free(reader);
    return made;
}

static uint32_t band_of(uint8_t choices)
{
    static const uint32_t bands[] = {FUZZ_PIXELS_MAX, 1, 3, 16};
    return bands[choices >> BAND_SHIFT & 3];
}

/* The same file in other bands gives the same image and the same verdict; a tolerant reader gives
 * what a strict one gives where that succeeds. */
static void check_again(const picture *first, gconv_reader_options options, uint8_t choices,
                        const uint8_t *bytes, size_t size)
{
    if (first->status == GCONV_OK)
        options.tolerant = true;
    fuzz_set_input(bytes, size);
    picture second = read_picture(&options, band_of((uint8_t)(choices + (1 << BAND_SHIFT))));
    FUZZ_REQUIRE(second.status == first->status, "%d, then %d", (int)first->status,
                 (int)second.status);
    FUZZ_REQUIRE((first->rows == NULL) == (second.rows == NULL), "a header read once of twice");
    if (first->status == GCONV_OK)
        FUZZ_REQUIRE(memcmp(&first->shape, &second.shape, sizeof first->shape) == 0 &&
                         memcmp(first->rows, second.rows, first->row_bytes * first->shape.height) ==
                             0,
                     "two readings differ");
    free(second.rows);
}

void fuzz_read_image(const uint8_t *data, size_t size)
{
    if (size == 0)
        return;
    uint8_t choices = data[size - 1];
    int warnings = 0;
    gconv_reader_options options = gconv_reader_options_default();
    options.grey = (choices & GREY) != 0;
    options.auto_orient = (choices & AS_STORED) == 0;
    options.tolerant = (choices & TOLERANT) != 0;
    options.max_pixels = FUZZ_PIXELS_MAX;
    options.warn = take_warning;
    options.warn_user = &warnings;
    fuzz_set_input(data, size - 1);
    picture first = read_picture(&options, band_of(choices));
    if ((choices & TWICE) != 0)
        check_again(&first, options, choices, data, size - 1);
    free(first.rows);
}
