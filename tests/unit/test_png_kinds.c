/* PNG of every colour type, depth and order of rows, with and without transparency, sample by
 * sample. */
#include "container_support.h"

typedef struct png_kind {
    int colour;
    int depth;
    bool transparent; /* has a tRNS chunk */
    bool interlaced;
} png_kind;

enum { KIND_WIDTH = 23, KIND_HEIGHT = 18 };

/* The sample of `depth` bits that the file stores at this place. */
static unsigned int stored_sample(uint32_t x, uint32_t y, int channel, int depth)
{
    unsigned int value = x * 7919u + y * 104729u + (unsigned int)channel * 1299709u;
    value ^= value >> 7;
    return value & ((1u << depth) - 1);
}

static int stored_channels(int colour)
{
    return ((colour & PNG_COLOR_MASK_COLOR) && colour != PNG_COLOR_TYPE_PALETTE ? 3 : 1) +
           ((colour & PNG_COLOR_MASK_ALPHA) ? 1 : 0);
}

static void pack_sample(unsigned char *row, size_t index, unsigned int sample, int depth)
{
    if (depth == 16) {
        row[2 * index] = (unsigned char)(sample >> 8);
        row[2 * index + 1] = (unsigned char)sample;
    } else {
        size_t bit = index * (size_t)depth;
        row[bit / 8] |= (unsigned char)(sample << (8 - (size_t)depth - bit % 8));
    }
}

static png_color palette_entry(unsigned int i)
{
    return (png_color){(png_byte)(i * 37), (png_byte)(255 - i), (png_byte)(i * 11)};
}

static unsigned int palette_alpha(unsigned int i)
{
    return i < 3 ? 80 * i : 255;
}

static void set_kind_chunks(png_structp png, png_infop info, const void *user)
{
    const png_kind *kind = user;
    png_color palette[256];
    png_byte alpha[3] = {0, 80, 160};
    png_color_16 clear = {.red = (png_uint_16)stored_sample(1, 1, 0, kind->depth),
                          .green = (png_uint_16)stored_sample(1, 1, 1, kind->depth),
                          .blue = (png_uint_16)stored_sample(1, 1, 2, kind->depth),
                          .gray = (png_uint_16)stored_sample(1, 1, 0, kind->depth)};
    bool indexed = kind->colour == PNG_COLOR_TYPE_PALETTE;
    for (unsigned int i = 0; i < 256; i++)
        palette[i] = palette_entry(i);
    if (indexed)
        png_set_PLTE(png, info, palette, 1 << kind->depth);
    if (kind->transparent)
        png_set_tRNS(png, info, alpha, kind->depth == 1 ? 2 : 3, indexed ? NULL : &clear);
}

static void write_kind(const char *path, const png_kind *kind)
{
    unsigned char rows[KIND_HEIGHT][KIND_WIDTH * 8] = {{0}};
    png_bytep pointers[KIND_HEIGHT];
    int channels = stored_channels(kind->colour);
    for (uint32_t y = 0; y < KIND_HEIGHT; y++) {
        pointers[y] = rows[y];
        for (uint32_t x = 0; x < KIND_WIDTH; x++)
            for (int c = 0; c < channels; c++)
                pack_sample(rows[y], x * (size_t)channels + (size_t)c,
                            stored_sample(x, y, c, kind->depth), kind->depth);
    }
    const png_header header = {.width = KIND_WIDTH,
                               .height = KIND_HEIGHT,
                               .colour = kind->colour,
                               .depth = kind->depth,
                               .interlaced = kind->interlaced};
    write_plain_png(path, &header, pointers, set_kind_chunks, kind);
}

/* What the reader must deliver for one pixel: *channels samples. */
static void expected_pixel(const png_kind *kind, uint32_t x, uint32_t y, unsigned int pixel[4],
                           int *channels)
{
    int stored = stored_channels(kind->colour);
    unsigned int full = kind->depth == 16 ? 65535 : 255;
    unsigned int scale = kind->depth < 8 ? 255 / ((1u << kind->depth) - 1) : 1;
    bool clear = true;
    *channels = stored;
    for (int c = 0; c < stored; c++) {
        pixel[c] = stored_sample(x, y, c, kind->depth) * scale;
        clear = clear && stored_sample(x, y, c, kind->depth) == stored_sample(1, 1, c, kind->depth);
    }
    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        unsigned int index = stored_sample(x, y, 0, kind->depth);
        png_color entry = palette_entry(index);
        pixel[0] = entry.red;
        pixel[1] = entry.green;
        pixel[2] = entry.blue;
        pixel[3] = palette_alpha(index);
        *channels = kind->transparent ? 4 : 3;
    } else if (kind->transparent) {
        pixel[(*channels)++] = clear ? 0 : full;
    }
}

static const uint8_t background[3] = {250, 3, 120};

/* Rules 7 and 34, in wider integers. */
static unsigned int luma_of(const unsigned int *pixel)
{
    return (
        unsigned int)((19595ull * pixel[0] + 38470ull * pixel[1] + 7471ull * pixel[2] + 32768) >>
                      16);
}

/* The colours of a pixel on the background; of grey and alpha the background is grey, too. */
static void put_on_background(unsigned int pixel[4], int channels, unsigned int full)
{
    unsigned int behind[3];
    if (channels % 2 == 1)
        return;
    for (int c = 0; c < 3; c++)
        behind[c] = background[c] * (full / 255);
    if (channels == 2)
        behind[0] = luma_of(behind);
    unsigned long long alpha = pixel[channels - 1];
    for (int c = 0; c < channels - 1; c++)
        pixel[c] =
            (unsigned int)((alpha * pixel[c] + (full - alpha) * behind[c] + full / 2) / full);
}

static void check_kind(const png_kind *kind)
{
    write_kind("kind.png", kind);
    gconv_reader_options grey = as_grey(), opaque = as_stored();
    opaque.opaque = true;
    memcpy(grey.background, background, sizeof background);
    memcpy(opaque.background, background, sizeof background);
    OWNED_PICTURE result = must_read("kind.png", NULL);
    OWNED_PICTURE flat = must_read("kind.png", &opaque);
    OWNED_PICTURE luma = must_read("kind.png", &grey);
    assert_int_equal(luma.shape.channels, 1);
    assert_int_equal(result.shape.depth, kind->depth == 16 ? 16 : 8);
    for (uint32_t y = 0; y < KIND_HEIGHT; y++)
        for (uint32_t x = 0; x < KIND_WIDTH; x++) {
            unsigned int pixel[4];
            int channels;
            expected_pixel(kind, x, y, pixel, &channels);
            assert_int_equal(result.shape.channels, channels);
            for (int c = 0; c < channels; c++)
                assert_int_equal(sample_at(&result, x, y, c), pixel[c]);
            put_on_background(pixel, channels, kind->depth == 16 ? 65535 : 255);
            assert_int_equal(flat.shape.channels, channels - (channels % 2 == 0));
            for (int c = 0; c < flat.shape.channels; c++)
                assert_int_equal(sample_at(&flat, x, y, c), pixel[c]);
            assert_int_equal(sample_at(&luma, x, y, 0), channels < 3 ? pixel[0] : luma_of(pixel));
        }
}

TEST(png_of_every_kind)
{
    static const struct {
        int colour;
        int first_depth;
        int last_depth;
        bool may_be_transparent;
    } colours[] = {
        {PNG_COLOR_TYPE_GRAY, 1, 16, true},       {PNG_COLOR_TYPE_PALETTE, 1, 8, true},
        {PNG_COLOR_TYPE_RGB, 8, 16, true},        {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 16, false},
        {PNG_COLOR_TYPE_RGB_ALPHA, 8, 16, false},
    };
    for (size_t i = 0; i < COUNT(colours); i++)
        for (int depth = colours[i].first_depth; depth <= colours[i].last_depth; depth *= 2)
            for (int variant = 0; variant < 4; variant++) {
                png_kind kind = {colours[i].colour, depth, variant & 1, variant & 2};
                if (!kind.transparent || colours[i].may_be_transparent)
                    check_kind(&kind);
            }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
