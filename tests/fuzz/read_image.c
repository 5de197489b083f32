#include "read_image.h"

#include "fuzz.h"
#include "streams.h"

#include "io/metadata.h"

#include <string.h>

/* What a byte of choices says. */
enum {
    GREY = 1,
    AS_STORED = 2,
    TOLERANT = 4,
    TWICE = 8,
    BAND_SHIFT = 4,
    ALL_PLANES = 64,
    IGNORE_NAN = 128
};

typedef struct picture {
    gconv_shape shape;
    size_t row_bytes;
    unsigned char *rows;
} picture;

enum { PICTURES_MAX = 6 }; /* of a stream; more are not read */

/* All that a file gave, and how reading it ended. */
typedef struct pictures {
    gconv_status status;
    int count;
    picture list[PICTURES_MAX];
} pictures;

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
    FUZZ_REQUIRE(shape->depth == 8 || shape->depth == 16 || shape->depth == 32, "depth %d",
                 shape->depth);
    bool masked = options->nan == GCONV_NAN_IGNORE && shape->depth == 32;
    FUZZ_REQUIRE(!options->grey || shape->channels == 1 + masked, "grey of %d channels",
                 shape->channels);
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
    FUZZ_REQUIRE((metadata->blobs[GC_ICC].bytes != NULL) == (metadata->blobs[GC_ICC].size > 0),
                 "an ICC profile of 0 bytes");
    FUZZ_REQUIRE((metadata->blobs[GC_EXIF].bytes != NULL) == (metadata->blobs[GC_EXIF].size > 0),
                 "EXIF of 0 bytes");
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

/* The image that the reader is at, to its end. */
static gconv_status read_picture(gconv_reader *reader, const gconv_reader_options *options,
                                 uint32_t band, picture *into, gconv_error *error)
{
    into->shape = *gconv_reader_shape(reader);
    check_shape(&into->shape, options);
    check_metadata(gconv_reader_metadata(reader));
    into->row_bytes = gconv_shape_row_bytes(&into->shape);
    into->rows = fuzz_allocate(into->row_bytes * into->shape.height);
    memset(into->rows, 0xa5, into->row_bytes * into->shape.height);
    gconv_status status = read_rows(reader, band, into, error);
    if (status == GCONV_OK)
        status = gconv_reader_finish(reader, error);
    check_settled(reader, status);
    return status;
}

static void read_pictures(const gconv_reader_options *options, uint32_t band, pictures *all)
{
    OWNED_READER reader;
    gconv_error error = {.status = GCONV_OK};
    all->count = 0;
    all->status = gconv_reader_open("-", options, &reader, &error);
    FUZZ_REQUIRE((reader == NULL) == (all->status != GCONV_OK), "a reader after a failure");
    bool more = all->status == GCONV_OK;
    while (more && all->status == GCONV_OK && all->count < PICTURES_MAX) {
        all->status = read_picture(reader, options, band, &all->list[all->count++], &error);
        if (all->status == GCONV_OK)
            all->status = gconv_reader_next(reader, &more, &error);
    }
    if (all->status != GCONV_OK)
        fuzz_require_message(all->status, &error);
}

static void free_pictures(pictures *all)
{
    for (int i = 0; i < all->count; i++)
        free(all->list[i].rows);
}

static uint32_t band_of(uint8_t choices)
{
    static const uint32_t bands[] = {FUZZ_PIXELS_MAX, 1, 3, 16};
    return bands[choices >> BAND_SHIFT & 3];
}

/* The same file in other bands gives the same images and the same verdict; a tolerant reader gives
 * what a strict one gives where that succeeds. Pixels that a damaged HEIC lacks are whatever lies
 * in memory that libde265 allocates (SECURITY.md), so they are not compared. */
static void check_again(const pictures *first, gconv_reader_options options, uint8_t choices,
                        const uint8_t *bytes, size_t size)
{
    pictures second;
    if (first->status == GCONV_OK)
        options.tolerant = true;
    fuzz_set_input(bytes, size);
    read_pictures(&options, band_of((uint8_t)(choices + (1 << BAND_SHIFT))), &second);
    FUZZ_REQUIRE(second.status == first->status, "%d, then %d", (int)first->status,
                 (int)second.status);
    FUZZ_REQUIRE(first->count == second.count, "%d images, then %d", first->count, second.count);
    int whole = first->status == GCONV_OK ? first->count : first->count - 1;
    bool heic = gconv_format_from_content(bytes, size) == GCONV_FORMAT_HEIC;
    for (int i = 0; i < whole; i++) {
        const picture *one = &first->list[i], *other = &second.list[i];
        size_t compared = heic ? 0 : one->row_bytes * one->shape.height;
        FUZZ_REQUIRE(memcmp(&one->shape, &other->shape, sizeof one->shape) == 0 &&
                         memcmp(one->rows, other->rows, compared) == 0,
                     "two readings of image %d differ", i);
    }
    free_pictures(&second);
}

/* What is offered to a device must have the size that libjpeg reads. Standard input is not offered:
 * it is opened once more as a file. Only JPEG is offered. */
static void check_offer(gconv_reader_options options)
{
    gconv_reader *reader;
    gconv_encoded offered;
    int warned = 0;
    options.warn_user = &warned;
    if (gconv_reader_open("/proc/self/fd/0", &options, &reader, NULL) != GCONV_OK)
        return;
    const gconv_source *source = gconv_reader_source(reader);
    if (source->offer != NULL && source->offer(source->user, &offered)) {
        const gconv_shape *shape = gconv_reader_shape(reader);
        bool turned = offered.orientation > 4;
        FUZZ_REQUIRE(offered.width == (turned ? shape->height : shape->width) &&
                         offered.height == (turned ? shape->width : shape->height),
                     "%u x %u offered", offered.width, offered.height);
        source->accept(source->user, offered.size);
        FUZZ_REQUIRE(gconv_reader_finish(reader, NULL) == GCONV_OK, "no end after an offer");
    }
    gconv_reader_free(reader);
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
    options.planes = (choices & ALL_PLANES) != 0 ? GCONV_PLANES_ALL : GCONV_PLANES_LUMA;
    options.nan = (choices & IGNORE_NAN) != 0 ? GCONV_NAN_IGNORE : GCONV_NAN_REFUSE;
    options.max_pixels = FUZZ_PIXELS_MAX;
    options.warn = take_warning;
    options.warn_user = &warnings;
    fuzz_set_input(data, size - 1);
    pictures first;
    read_pictures(&options, band_of(choices), &first);
    if (gconv_format_from_content(data, size) == GCONV_FORMAT_JPEG)
        check_offer(options);
    if ((choices & TWICE) != 0)
        check_again(&first, options, choices, data, size - 1);
    free_pictures(&first);
}
