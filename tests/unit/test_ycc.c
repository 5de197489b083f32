/* RGB made of planes is libjpeg-turbo's, in every size, sampling and orientation. */
#include "unit.h"

#include "jpeg/turbo.h"

#include "gpu/jpeg/ycc.h"
#include "io/orient.h"

enum { SIDE_MAX = 40, TILE = 16 };

static const struct {
    int x, y;
} samplings[] = {{1, 1}, {2, 1}, {2, 2}};

static gc_ycc planes_of(const turbo_image *image)
{
    gc_ycc planes = gc_ycc_of(&image->about);
    for (int c = 0; c < 3; c++) {
        planes.planes[c] = image->planes[c];
        planes.pitches[c] = image->pitches[c];
    }
    assert_int_equal(planes.chroma_width, image->plane_widths[1]);
    assert_int_equal(planes.chroma_height, image->plane_heights[1]);
    return planes;
}

/* The upright pixels of a tile, as the kernel places them. */
static void turn_tile(const gc_ycc *planes, int orientation, int channels, int x, int y,
                      unsigned char *upright, size_t stride)
{
    gc_turn_tile tile = gc_turn_tile_at(orientation, planes->width, planes->height, x, y, TILE);
    for (int v = 0; v < tile.upright_height; v++)
        for (int u = 0; u < tile.upright_width; u++) {
            int index = gc_turn_index(&tile, u, v, TILE);
            unsigned pixel = gc_ycc_pixel(planes, channels, x + index % TILE, y + index / TILE);
            for (int c = 0; c < channels; c++)
                upright[(size_t)(tile.upright_y + v) * stride +
                        (size_t)((tile.upright_x + u) * channels + c)] =
                    (unsigned char)(pixel >> 8 * c);
        }
}

static void check_orientation(const gc_ycc *planes, const unsigned char *rows, int channels,
                              int orientation)
{
    static unsigned char upright[SIDE_MAX * SIDE_MAX * 3], expected[SIDE_MAX * SIDE_MAX * 3];
    gconv_shape stored = {.width = (uint32_t)planes->width,
                          .height = (uint32_t)planes->height,
                          .channels = channels,
                          .depth = 8};
    bool swaps = gc_orientation_swaps(orientation);
    uint32_t width = swaps ? stored.height : stored.width;
    uint32_t height = swaps ? stored.width : stored.height;
    size_t stride = width * (size_t)channels, row_bytes = stored.width * (size_t)channels;
    memset(upright, 0xa5, sizeof upright);
    for (int y = 0; y < planes->height; y += TILE)
        for (int x = 0; x < planes->width; x += TILE)
            turn_tile(planes, orientation, channels, x, y, upright, stride);
    gc_orient_rows(&(gc_stored_image){rows, stored, row_bytes, orientation}, 0, height, expected,
                   stride);
    assert_memory_equal(upright, expected, stride * height);
}

static void check_image(uint32_t width, uint32_t height, int sampling)
{
    turbo_settings set = {.width = width,
                          .height = height,
                          .components = 3,
                          .sampling_x = samplings[sampling].x,
                          .sampling_y = samplings[sampling].y,
                          .quality = 100,
                          .content = TURBO_NOISE,
                          .seed = width * 64 + height};
    RELEASED_BY(turbo_free) turbo_image image;
    gconv_encoded file = {0};
    unsigned long size;
    unsigned char *bytes = turbo_make(&set, &size);
    file.bytes = bytes;
    file.size = size;
    assert_true(turbo_decode(&file, &image));
    gc_ycc planes = planes_of(&image);
    unsigned char luma[SIDE_MAX * SIDE_MAX];
    for (uint32_t y = 0; y < height; y++)
        memcpy(luma + y * width, image.planes[0] + y * image.pitches[0], width);
    for (int orientation = 1; orientation <= 8; orientation++) {
        check_orientation(&planes, image.rows, 3, orientation);
        check_orientation(&planes, luma, 1, orientation);
    }
    free(bytes);
}

TEST(every_size_is_libjpegs)
{
#ifndef LIBJPEG_TURBO_VERSION
    skip();
#endif
    for (uint32_t height = 1; height <= SIDE_MAX; height++)
        for (uint32_t width = 1; width <= SIDE_MAX; width++)
            for (int sampling = 0; sampling < 3; sampling++)
                check_image(width, height, sampling);
}

/* All of them, from libjpeg's tables: build_ycc_rgb_table in jdcolor.c. */
TEST(every_colour_is_converted)
{
    for (int cb = 0; cb < 256; cb++)
        for (int cr = 0; cr < 256; cr++) {
            int red = (91881 * (cr - 128) + 32768) >> 16;
            int blue = (116130 * (cb - 128) + 32768) >> 16;
            int green = (-22554 * (cb - 128) + 32768 - 46802 * (cr - 128)) >> 16;
            for (int y = 0; y < 256; y += 15) {
                unsigned expected = (unsigned)gc_ycc_clamp(y + red, 255) |
                                    (unsigned)gc_ycc_clamp(y + green, 255) << 8 |
                                    (unsigned)gc_ycc_clamp(y + blue, 255) << 16;
                assert_int_equal(gc_ycc_rgb(y, cb, cr), expected);
            }
        }
}
