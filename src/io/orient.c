#include "io/orient.h"

#include "core/shape.h"

#include <string.h>

/* Pixels a side of the square that is turned at one time: its source rows stay in the L1 cache. */
enum { TILE_SIDE = 32 };

bool gc_orientation_swaps(int orientation)
{
    return orientation >= 5;
}

void gc_orient_mirror_row(unsigned char *row, uint32_t width, size_t pixel_bytes)
{
    unsigned char *left = row;
    unsigned char *right = row + (size_t)width * pixel_bytes;
    for (; right - left >= (ptrdiff_t)(2 * pixel_bytes); left += pixel_bytes) {
        right -= pixel_bytes;
        unsigned char kept[GC_CHANNELS_MAX * sizeof(float)];
        memcpy(kept, left, pixel_bytes);
        memcpy(left, right, pixel_bytes);
        memcpy(right, kept, pixel_bytes);
    }
}

/* How to walk the stored image: the place of upright (0,0), and the bytes from one upright pixel to
 * the next along x and along y. */
typedef struct walk {
    const unsigned char *origin;
    ptrdiff_t step_x;
    ptrdiff_t step_y;
} walk;

static walk find_walk(const gc_stored_image *stored, size_t pixel_bytes)
{
    /* Which stored side upright (0,0) is at: EXIF 2.32, 4.6.4 Orientation. */
    static const bool from_right[9] = {[2] = true, [3] = true, [7] = true, [8] = true};
    static const bool from_bottom[9] = {[3] = true, [4] = true, [6] = true, [7] = true};
    ptrdiff_t pixel = (ptrdiff_t)pixel_bytes;
    ptrdiff_t row = (ptrdiff_t)stored->stride;
    walk way = {.origin = stored->rows};
    if (from_right[stored->orientation]) {
        way.origin += (size_t)(stored->shape.width - 1) * pixel_bytes;
        pixel = -pixel;
    }
    if (from_bottom[stored->orientation]) {
        way.origin += (size_t)(stored->shape.height - 1) * stored->stride;
        row = -row;
    }
    bool swaps = gc_orientation_swaps(stored->orientation);
    way.step_x = swaps ? row : pixel;
    way.step_y = swaps ? pixel : row;
    return way;
}

/* Copies `count` pixels that lie `step` bytes apart. A constant `pixel_bytes` becomes one move. */
static inline void copy_span(const unsigned char *source, ptrdiff_t step, uint32_t count,
                             unsigned char *target, size_t pixel_bytes)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(target + i * pixel_bytes, source + (ptrdiff_t)i * step, pixel_bytes);
}

static void copy_pixels(const unsigned char *source, ptrdiff_t step, uint32_t count,
                        unsigned char *target, size_t pixel_bytes)
{
    switch (pixel_bytes) {
    case 1:
        copy_span(source, step, count, target, 1);
        break;
    case 2:
        copy_span(source, step, count, target, 2);
        break;
    case 3:
        copy_span(source, step, count, target, 3);
        break;
    case 4:
        copy_span(source, step, count, target, 4);
        break;
    default:
        copy_span(source, step, count, target, pixel_bytes);
    }
}

void gc_orient_rows(const gc_stored_image *stored, uint32_t first, uint32_t count,
                    unsigned char *rows, size_t stride)
{
    const gconv_shape *shape = &stored->shape;
    size_t pixel_bytes = (size_t)shape->channels * (size_t)shape->depth / 8;
    walk way = find_walk(stored, pixel_bytes);
    uint32_t width = gc_orientation_swaps(stored->orientation) ? shape->height : shape->width;
    for (uint32_t x = 0; x < width; x += TILE_SIDE) {
        uint32_t span = width - x < TILE_SIDE ? width - x : TILE_SIDE;
        for (uint32_t y = 0; y < count; y++)
            copy_pixels(way.origin + (ptrdiff_t)x * way.step_x +
                            ((ptrdiff_t)first + (ptrdiff_t)y) * way.step_y,
                        way.step_x, span, rows + y * stride + x * pixel_bytes, pixel_bytes);
    }
}
