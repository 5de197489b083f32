/* Kernels that make interleaved samples of planes (ycc.h). */
#include "gpu/device/check.cuh"
#include "gpu/jpeg/jpeg.h"
#include "gpu/jpeg/ycc.h"

enum {
    TILE_SIDE = 32,
    TILE_PITCH = TILE_SIDE + 1, /* no two rows of a column in one bank */
    TILE_ROWS = 8               /* threads down */
};

/* Samples of 1 or 3 channels in any orientation, tile by tile. A warp reads along the stored rows
 * and writes along the upright ones. */
template <int channels>
static __global__ void unpack_tiles(gc_ycc image, int orientation, unsigned char *samples,
                                    size_t pitch)
{
    extern __shared__ float pixels[];
    unsigned *tile = (unsigned *)pixels;
    int x = (int)blockIdx.x * TILE_SIDE, y = (int)blockIdx.y * TILE_SIDE;
    gc_turn_tile turn = gc_turn_tile_at(orientation, image.width, image.height, x, y, TILE_SIDE);
    int column = (int)threadIdx.x;
    for (int row = (int)threadIdx.y; row < turn.height; row += TILE_ROWS)
        if (column < turn.width)
            tile[row * TILE_PITCH + column] = gc_ycc_pixel(&image, channels, x + column, y + row);
    __syncthreads();
    for (int row = (int)threadIdx.y; row < turn.upright_height; row += TILE_ROWS) {
        unsigned char *to =
            samples + (size_t)(turn.upright_y + row) * pitch + (size_t)turn.upright_x * channels;
        for (int i = (int)threadIdx.x; i < turn.upright_width * channels; i += TILE_SIDE) {
            unsigned pixel = tile[gc_turn_index(&turn, i / channels, row, TILE_PITCH)];
            to[i] = (unsigned char)(pixel >> 8 * (i % channels));
        }
    }
}

gconv_status gc_decode_unpack(const gc_decoded *decoded, const gconv_encoded *picture, int channels,
                              unsigned char *samples, size_t pitch, cudaStream_t stream,
                              gconv_error *error)
{
    if (channels != 1 && (channels != 3 || picture->components != 3 || !decoded->planes[2]))
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%d channels of planes that are not there",
                       channels);
    gc_ycc image = gc_ycc_of(picture);
    for (int i = 0; i < 3; i++) {
        image.planes[i] = (const unsigned char *)decoded->planes[i];
        image.pitches[i] = decoded->pitches[i];
    }
    if (picture->orientation == 1 && channels == 1)
        GC_CUDA_TRY(error, cudaMemcpy2DAsync(samples, pitch, image.planes[0], image.pitches[0],
                                             picture->width, picture->height,
                                             cudaMemcpyDeviceToDevice, stream));
    else {
        dim3 grid((picture->width + TILE_SIDE - 1) / TILE_SIDE,
                  (picture->height + TILE_SIDE - 1) / TILE_SIDE);
        auto kernel = channels == 1 ? unpack_tiles<1> : unpack_tiles<3>;
        kernel<<<grid, dim3(TILE_SIDE, TILE_ROWS), TILE_SIDE * TILE_PITCH * sizeof(unsigned),
                 stream>>>(image, picture->orientation, samples, pitch);
    }
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}
