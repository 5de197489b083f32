/* How libjpeg-turbo makes RGB of the planes of a JPEG, and how an orientation turns it:
 * whole-number arithmetic that host and device share. Sources: jdsample.c, jdcolor.c and
 * jdmainct.c of libjpeg-turbo 2 and 3 with their default settings; EXIF 2.32, 4.6.4 Orientation. */
#pragma once

#include "core/border.h"

#include <stddef.h>

/* ---- Upsampling ------------------------------------------------------------------------------ */

/* How a sample of Cb and Cr is made for each pixel. */
typedef enum gc_upsampling {
    GC_UPSAMPLING_REPEAT, /* there is one, or h2v1_upsample, h2v2_upsample */
    GC_UPSAMPLING_ACROSS, /* h2v1_fancy_upsample */
    GC_UPSAMPLING_BOTH    /* h2v2_fancy_upsample */
} gc_upsampling;

/* The planes of a picture. */
typedef struct gc_ycc {
    const unsigned char *planes[3];
    size_t pitches[3];
    int width, height;
    int chroma_width, chroma_height;
    int half_x, half_y; /* 1 if a chroma sample stands for two pixels across, down */
    gc_upsampling upsampling;
} gc_ycc;

/* A picture without planes yet. */
static inline gc_ycc gc_ycc_of(const gconv_encoded *picture)
{
    gc_ycc image = {{NULL, NULL, NULL}, {0, 0, 0}, 0, 0, 0, 0, 0, 0, GC_UPSAMPLING_REPEAT};
    image.width = (int)picture->width;
    image.height = (int)picture->height;
    image.half_x = picture->sampling_x - 1;
    image.half_y = picture->sampling_y - 1;
    image.chroma_width = (image.width + image.half_x) >> image.half_x;
    image.chroma_height = (image.height + image.half_y) >> image.half_y;
    /* Narrower planes are not interpolated (jinit_upsampler). */
    if (image.half_x && image.chroma_width > 2)
        image.upsampling = image.half_y ? GC_UPSAMPLING_BOTH : GC_UPSAMPLING_ACROSS;
    return image;
}

GC_HOST_DEVICE static inline int gc_ycc_clamp(int value, int last)
{
    return value < 0 ? 0 : value > last ? last : value;
}

/* Chroma of one pixel. Outside the plane its first and last rows and columns go on, not the padding
 * of its blocks. */
GC_HOST_DEVICE static inline int gc_ycc_chroma_at(const gc_ycc *image, int plane, int x, int y)
{
    int last = image->chroma_width - 1, row = y >> image->half_y, column = x >> image->half_x;
    const unsigned char *from = image->planes[plane];
    size_t pitch = image->pitches[plane];
    const unsigned char *near_row = from + (size_t)row * pitch;
    if (image->upsampling == GC_UPSAMPLING_REPEAT)
        return near_row[column];
    int next = gc_ycc_clamp(x & 1 ? column + 1 : column - 1, last);
    if (image->upsampling == GC_UPSAMPLING_ACROSS)
        return (3 * near_row[column] + near_row[next] + (x & 1 ? 2 : 1)) >> 2;
    int far_index = gc_ycc_clamp(y & 1 ? row + 1 : row - 1, image->chroma_height - 1);
    const unsigned char *far_row = from + (size_t)far_index * pitch;
    int here = 3 * near_row[column] + far_row[column], beside = 3 * near_row[next] + far_row[next];
    return (3 * here + beside + (x & 1 ? 7 : 8)) >> 4;
}

/* ---- Colour ---------------------------------------------------------------------------------- */

/* The factors of jdcolor.c, times 2^16 and rounded: 1.402, 1.772, 0.71414, 0.34414. */
enum { GC_YCC_RED = 91881, GC_YCC_BLUE = 116130, GC_YCC_GREEN_CR = 46802, GC_YCC_GREEN_CB = 22554 };

/* Red in the lowest byte, then green and blue. Right shifts are arithmetic, as libjpeg-turbo
 * expects. */
GC_HOST_DEVICE static inline unsigned gc_ycc_rgb(int y, int cb, int cr)
{
    enum { HALF = 1 << 15, MIDDLE = 128 };
    int red = y + ((GC_YCC_RED * cr + (HALF - MIDDLE * GC_YCC_RED)) >> 16);
    int green = y + ((MIDDLE * (GC_YCC_GREEN_CB + GC_YCC_GREEN_CR) + HALF - GC_YCC_GREEN_CB * cb -
                      GC_YCC_GREEN_CR * cr) >>
                     16);
    int blue = y + ((GC_YCC_BLUE * cb + (HALF - MIDDLE * GC_YCC_BLUE)) >> 16);
    return (unsigned)gc_ycc_clamp(red, 255) | (unsigned)gc_ycc_clamp(green, 255) << 8 |
           (unsigned)gc_ycc_clamp(blue, 255) << 16;
}

GC_HOST_DEVICE static inline unsigned gc_ycc_pixel(const gc_ycc *image, int channels, int x, int y)
{
    int luma = image->planes[0][(size_t)y * image->pitches[0] + (size_t)x];
    if (channels == 1)
        return (unsigned)luma;
    return gc_ycc_rgb(luma, gc_ycc_chroma_at(image, 1, x, y), gc_ycc_chroma_at(image, 2, x, y));
}

/* ---- Orientation ----------------------------------------------------------------------------- */

/* A rectangle of stored pixels, and its place in the upright image. */
typedef struct gc_turn_tile {
    int width, height; /* stored */
    int upright_x, upright_y, upright_width, upright_height;
    int from_right, from_bottom, swaps; /* of the orientation */
} gc_turn_tile;

/* The rectangle of stored pixels from (x, y) on, at most `side` pixels a side. */
GC_HOST_DEVICE static inline gc_turn_tile gc_turn_tile_at(int orientation, int width, int height,
                                                          int x, int y, int side)
{
    gc_turn_tile tile;
    /* The side that the upright image begins at, as bits of the orientations: 2, 3, 7, 8 and 3, 4,
     * 6, 7. */
    tile.from_right = 0x18c >> orientation & 1;
    tile.from_bottom = 0x0d8 >> orientation & 1;
    tile.swaps = orientation >= 5;
    tile.width = width - x < side ? width - x : side;
    tile.height = height - y < side ? height - y : side;
    int across = tile.from_right ? width - x - tile.width : x;
    int down = tile.from_bottom ? height - y - tile.height : y;
    tile.upright_x = tile.swaps ? down : across;
    tile.upright_y = tile.swaps ? across : down;
    tile.upright_width = tile.swaps ? tile.height : tile.width;
    tile.upright_height = tile.swaps ? tile.width : tile.height;
    return tile;
}

/* The stored pixel, counted from the tile's first, that stands upright in column `x` and row `y` of
 * the tile: its row * `pitch` + its column. */
GC_HOST_DEVICE static inline int gc_turn_index(const gc_turn_tile *tile, int x, int y, int pitch)
{
    int column = tile->swaps ? y : x, row = tile->swaps ? x : y;
    if (tile->from_right)
        column = tile->width - 1 - column;
    if (tile->from_bottom)
        row = tile->height - 1 - row;
    return row * pitch + column;
}
