/* Kernels that make interleaved samples of planes (ycc.h). */
#include "gpu/device/check.cuh"
#include "gpu/jpeg/jpeg.h"
#include "gpu/jpeg/ycc.h"

#include <algorithm>
#include <cstdint>

enum {
    RUN_THREADS = 128,
    RUN_PIXELS = RUN_THREADS * GC_YCC_RUN, /* of a block */
    TILE_SIDE = 32,
    TILE_PITCH = TILE_SIDE + 1, /* no two rows of a column in one bank */
    TILE_ROWS = 8,              /* threads down */
    GRID_ROWS_MAX = 65535
};

/* Copies bytes to memory of any alignment, a whole block of threads together. `bytes` begin `shift`
 * into a word of the target, and lie behind as many bytes in `staged`. */
static __device__ inline void store_staged(const unsigned *staged, unsigned char *bytes, int shift,
                                           int count)
{
    const unsigned char *from = (const unsigned char *)staged;
    unsigned char *begin = bytes - shift;
    int end = shift + count;
    for (int word = (int)threadIdx.x; 4 * word < end; word += RUN_THREADS) {
        if (4 * word >= shift && 4 * word + 4 <= end) {
            *(unsigned *)(begin + 4 * word) = staged[word];
            continue;
        }
        for (int i = 4 * word; i < 4 * word + 4; i++)
            if (i >= shift && i < end)
                begin[i] = from[i];
    }
}

/* Puts the pixels of a thread at the place from which store_staged takes them. */
static __device__ inline void stage(unsigned *staged, int shift, const unsigned rgb[GC_YCC_RUN])
{
    if (shift == 0) { /* four pixels are three words */
        for (int i = 0; i < GC_YCC_RUN / 4; i++) {
            unsigned *words = staged + (threadIdx.x * GC_YCC_RUN / 4 + i) * 3;
            const unsigned *pixels = rgb + 4 * i;
            words[0] = pixels[0] | pixels[1] << 24;
            words[1] = pixels[1] >> 8 | pixels[2] << 16;
            words[2] = pixels[2] >> 16 | pixels[3] << 8;
        }
        return;
    }
    unsigned char *bytes = (unsigned char *)staged + shift + threadIdx.x * GC_YCC_RUN * 3;
    for (int i = 0; i < GC_YCC_RUN; i++)
        for (int c = 0; c < 3; c++)
            bytes[3 * i + c] = (unsigned char)(rgb[i] >> 8 * c);
}

/* RGB of pixels that stand as they are stored. A thread makes GC_YCC_RUN pixels of a row. */
template <int upsampling>
static __global__ void unpack_rows(gc_ycc image, unsigned char *samples, size_t pitch)
{
    extern __shared__ float pixels[];
    unsigned *staged = (unsigned *)pixels;
    int first = (int)blockIdx.x * RUN_PIXELS, x = first + (int)threadIdx.x * GC_YCC_RUN;
    int count = min(RUN_PIXELS, image.width - first) * 3;
    for (int y = (int)blockIdx.y; y < image.height; y += (int)gridDim.y) {
        unsigned char *row = samples + (size_t)y * pitch + (size_t)first * 3;
        int shift = (int)((uintptr_t)row & 3);
        if (x < image.width) {
            /* Rows are whole lines: what is behind the last pixel may be read. */
            uint2 word = *(const uint2 *)(image.planes[0] + (size_t)y * image.pitches[0] + x);
            int cb[GC_YCC_RUN], cr[GC_YCC_RUN];
            unsigned rgb[GC_YCC_RUN];
            gc_ycc_chroma(&image, (gc_upsampling)upsampling, 1, x, y, cb);
            gc_ycc_chroma(&image, (gc_upsampling)upsampling, 2, x, y, cr);
#pragma unroll
            for (int i = 0; i < GC_YCC_RUN; i++) {
                unsigned luma = (i < 4 ? word.x : word.y) >> 8 * (i & 3) & 255;
                rgb[i] = gc_ycc_rgb((int)luma, cb[i], cr[i]);
            }
            stage(staged, shift, rgb);
        }
        __syncthreads();
        store_staged(staged, row, shift, count);
        __syncthreads();
    }
}

/* Samples of 1 or 3 channels in any orientation, tile by tile. A warp reads along the stored rows
 * and writes along the upright ones. */
static __global__ void unpack_tiles(gc_ycc image, int orientation, int channels,
                                    unsigned char *samples, size_t pitch)
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
        unsigned char *to = samples + (size_t)(turn.upright_y + row) * pitch +
                            (size_t)turn.upright_x * (size_t)channels;
        for (int i = (int)threadIdx.x; i < turn.upright_width * channels; i += TILE_SIDE) {
            unsigned pixel = tile[gc_turn_index(&turn, i / channels, row, TILE_PITCH)];
            to[i] = (unsigned char)(pixel >> 8 * (i % channels));
        }
    }
}

typedef void rows_kernel(gc_ycc image, unsigned char *samples, size_t pitch);

static rows_kernel *kernel_for(gc_upsampling upsampling)
{
    switch (upsampling) {
    case GC_UPSAMPLING_NONE:
        return unpack_rows<GC_UPSAMPLING_NONE>;
    case GC_UPSAMPLING_REPEAT:
        return unpack_rows<GC_UPSAMPLING_REPEAT>;
    case GC_UPSAMPLING_ACROSS:
        return unpack_rows<GC_UPSAMPLING_ACROSS>;
    default:
        return unpack_rows<GC_UPSAMPLING_BOTH>;
    }
}

static void launch_rows(const gc_ycc &image, unsigned char *samples, size_t pitch,
                        cudaStream_t stream)
{
    dim3 grid((unsigned)((image.width + RUN_PIXELS - 1) / RUN_PIXELS),
              (unsigned)std::min<int>(image.height, GRID_ROWS_MAX));
    size_t shared = RUN_PIXELS * 3 + sizeof(unsigned);
    rows_kernel *kernel = kernel_for(image.upsampling);
    kernel<<<grid, RUN_THREADS, shared, stream>>>(image, samples, pitch);
}

static void launch_tiles(const gc_ycc &image, int orientation, int channels, unsigned char *samples,
                         size_t pitch, cudaStream_t stream)
{
    dim3 grid((unsigned)((image.width + TILE_SIDE - 1) / TILE_SIDE),
              (unsigned)((image.height + TILE_SIDE - 1) / TILE_SIDE));
    unpack_tiles<<<grid, dim3(TILE_SIDE, TILE_ROWS), TILE_SIDE * TILE_PITCH * sizeof(unsigned),
                   stream>>>(image, orientation, channels, samples, pitch);
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
    else if (picture->orientation == 1)
        launch_rows(image, samples, pitch, stream);
    else
        launch_tiles(image, picture->orientation, channels, samples, pitch, stream);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}
