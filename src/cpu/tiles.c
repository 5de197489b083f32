#include "cpu/tiles.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static size_t plane_values(int side)
{
    return (size_t)side * (size_t)(side + GC_TRANSFORM_PADDING);
}

size_t gc_tiles_scratch(int side)
{
    return 2 * plane_values(side);
}

static gc_plane plane_in(float *scratch, int side)
{
    return (gc_plane){scratch, scratch + plane_values(side)};
}

/* Reading order is correlation: tap (i, j) stands at (-i, -j), and output (x, y) of a tile comes out
 * at (x, y). The transform's own factor is divided out here. */
static void transform_filter(gc_tiles *tiles, const gc_step *step)
{
    int side = tiles->transform.side;
    size_t stride = tiles->transform.stride;
    memset(tiles->spectrum.real, 0, gc_tiles_scratch(side) * sizeof(float));
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            size_t y = (size_t)((side - j) % side), x = (size_t)((side - i) % side);
            tiles->spectrum.real[y * stride + x] =
                step->taps[j * step->width + i] / (float)side / (float)side;
        }
    tiles->kernel->forward(&tiles->transform, tiles->spectrum);
}

gconv_status gc_tiles_create(gc_tiles *tiles, const gc_transform_kernel *kernel, int side,
                             const gc_step *step, gconv_error *error)
{
    size_t roots = (size_t)side;
    *tiles = (gc_tiles){.kernel = kernel,
                        .width = step->width,
                        .height = step->height,
                        .columns = side - step->width + 1,
                        .rows = side - step->height + 1};
    tiles->transform = (gc_transform){.side = side, .stride = roots + GC_TRANSFORM_PADDING};
    tiles->transform.cosine = gc_allocate_array(2 * roots, sizeof(float));
    float *spectrum = gc_allocate_aligned(gc_tiles_scratch(side), sizeof(float));
    if (tiles->transform.cosine == NULL || spectrum == NULL) {
        free(spectrum);
        gc_tiles_destroy(tiles);
        return gc_fail_memory(error, gc_tiles_scratch(side) * sizeof(float));
    }
    tiles->transform.sine = tiles->transform.cosine + roots;
    for (int i = 0; i < side; i++) {
        tiles->transform.cosine[i] = (float)cos(2 * pi * i / side);
        tiles->transform.sine[i] = (float)-sin(2 * pi * i / side);
    }
    tiles->spectrum = plane_in(spectrum, side);
    transform_filter(tiles, step);
    return GCONV_OK;
}

void gc_tiles_destroy(gc_tiles *tiles)
{
    free(tiles->transform.cosine);
    free(tiles->spectrum.real);
    *tiles = (gc_tiles){.kernel = NULL};
}

double gc_tiles_transforms(const gc_step *step, int side, double width, double height, int channels)
{
    double across = ceil(width / (side - step->width + 1)) * channels;
    return ceil(across / 2) * ceil(height / (side - step->height + 1));
}

/* Tiles of a row of tiles are numbered from left to right, all channels of a place in turn. */
typedef struct place {
    size_t x; /* its first pixel */
    size_t channel;
} place;

static place place_of(const gc_tiles *tiles, size_t channels, size_t index)
{
    return (place){index / channels * (size_t)tiles->columns, index % channels};
}

/* Beyond the extended row there is nothing to read, and nothing that an output needs. */
static void load_tile(const gc_tiles *tiles, const float *const *rows, int row_count,
                      size_t channels, size_t width, place at, float *values)
{
    size_t side = (size_t)tiles->transform.side;
    size_t there = width + (size_t)tiles->width - 1 - at.x;
    size_t count = there < side ? there : side;
    for (size_t y = 0; y < side; y++, values += tiles->transform.stride) {
        size_t loaded = y < (size_t)(row_count + tiles->height - 1) ? count : 0;
        if (loaded > 0 && channels == 1)
            memcpy(values, rows[y] + at.x, loaded * sizeof *values);
        else
            for (size_t x = 0; x < loaded; x++)
                values[x] = rows[y][(at.x + x) * channels + at.channel];
        memset(values + loaded, 0, (side - loaded) * sizeof *values);
    }
}

static void store_tile(const gc_tiles *tiles, const float *values, int row_count, size_t channels,
                       size_t width, place at, float *const *out)
{
    size_t count = width - at.x;
    if (count > (size_t)tiles->columns)
        count = (size_t)tiles->columns;
    for (int o = 0; o < row_count; o++, values += tiles->transform.stride)
        if (channels == 1)
            memcpy(out[o] + at.x, values, count * sizeof *values);
        else
            for (size_t x = 0; x < count; x++)
                out[o][(at.x + x) * channels + at.channel] = values[x];
}

void gc_tiles_convolve(const gc_tiles *tiles, float *scratch, const float *const *rows,
                       size_t channels, size_t width, int row_count, float *const *out)
{
    size_t columns = (size_t)tiles->columns;
    size_t count = (width + columns - 1) / columns * channels;
    gc_plane plane = plane_in(scratch, tiles->transform.side);
    for (size_t first = 0; first < count; first += 2) {
        place one = place_of(tiles, channels, first);
        place other = place_of(tiles, channels, first + 1);
        bool both = first + 1 < count;
        load_tile(tiles, rows, row_count, channels, width, one, plane.real);
        if (both)
            load_tile(tiles, rows, row_count, channels, width, other, plane.imaginary);
        else
            memset(plane.imaginary, 0, plane_values(tiles->transform.side) * sizeof(float));
        tiles->kernel->forward(&tiles->transform, plane);
        tiles->kernel->backward(&tiles->transform, plane, tiles->spectrum);
        store_tile(tiles, plane.real, row_count, channels, width, one, out);
        if (both)
            store_tile(tiles, plane.imaginary, row_count, channels, width, other, out);
    }
}
