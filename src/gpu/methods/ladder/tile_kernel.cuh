/* The tiles that a block of the ladder computes (van Werkhoven et al. 2014, figure 4). nvcc
 * compiles this text for the blocks that are built in, NVRTC for others, and for one size of filter
 * with all loops unrolled (section 5 there). A class says what the compiler knows:
 *     block_width, block_height  threads: an address of a tile then takes no register of its own
 *                                (2011, section 7)
 *     across, down               tiles of a block, of which one is 1
 *     width, height              of the filter; 0: the step says it, and loops stay loops
 *     pitch                      of a row in shared memory; 0: the step says it
 *     pixel                      the type that shared memory holds
 *     read_only                  pixels come through the read-only cache (2014, section 6)
 *     by_place                   a thread loads 1, 2 or 4 pixels (KTH 2018, section 3.2)
 *     idle                       a thread loads one pixel, and those of the apron compute nothing
 *                                (Hwu; 2014, section 8) */
#pragma once

#include "gpu/plan/step_types.cuh"

/* The block's part of the extended image, which ends after `columns` and `rows`. Pixels beyond are
 * left out: no output needs them. */
template <class config> struct gc_tile_pixels {
    typename config::pixel *shared;
    int pitch;
    const float *input;
    long long input_pitch;
    int columns, rows;

    __device__ inline void copy(const float *from, int x, int y) const
    {
        shared[y * pitch + x] = (typename config::pixel)(config::read_only ? __ldg(from) : *from);
    }

    /* The address comes before the condition: after it, `adaptive:kth` takes 17 % longer at 3x3. */
    __device__ inline void load(int x, int y) const
    {
        const float *from = &input[y * input_pitch + x];
        if (x < columns && y < rows)
            copy(from, x, y);
    }

    /* All threads load several pixels, none is idle (2014, figure 7). */
    __device__ inline void load_evenly(int width, int height) const
    {
        if constexpr (config::width == 0) {
            for (int y = (int)threadIdx.y; y < height; y += config::block_height)
                for (int x = (int)threadIdx.x; x < width; x += config::block_width)
                    load(x, y);
        } else {
#pragma unroll
            for (int y = 0; y < height; y += config::block_height)
#pragma unroll
                for (int x = 0; x < width; x += config::block_width) {
                    int to_x = x + (int)threadIdx.x, to_y = y + (int)threadIdx.y;
                    /* One condition: a branch of its own would keep loads from overlapping. */
                    if (to_x < width && to_y < height && to_x < columns && to_y < rows)
                        copy(&input[to_y * input_pitch + to_x], to_x, to_y);
                }
        }
    }

    /* A thread loads its own pixel of each tile, and one of the apron on each side at which it
     * stands: 1, 2 or 4 of one tile. If the filter is larger than the block, it loads more; the
     * loops are not unrolled, since they rarely turn twice. */
    __device__ inline void load_row(int left, int right, int y) const
    {
        const int tiles = config::block_width * config::across;
        for (int x = 0; x < tiles; x += config::block_width)
            load(left + x + (int)threadIdx.x, y);
#pragma unroll 1
        for (int x = (int)threadIdx.x; x < left; x += config::block_width)
            load(x, y);
#pragma unroll 1
        for (int x = config::block_width - 1 - (int)threadIdx.x; x < right;
             x += config::block_width)
            load(left + tiles + right - 1 - x, y);
    }

    __device__ inline void load_by_place(int filter_width, int filter_height) const
    {
        int left = (filter_width - 1) / 2, right = filter_width - 1 - left;
        int top = (filter_height - 1) / 2, bottom = filter_height - 1 - top;
        load_row(left, right, top + (int)threadIdx.y);
#pragma unroll 1
        for (int y = (int)threadIdx.y; y < top; y += config::block_height)
            load_row(left, right, y);
#pragma unroll 1
        for (int y = config::block_height - 1 - (int)threadIdx.y; y < bottom;
             y += config::block_height)
            load_row(left, right, top + config::block_height + bottom - 1 - y);
    }
};

/* Pixels of a block, from a thread's first on.
 *
 * An optimiser takes time with the square of the loads that it knows of, and a kernel whose loops
 * are unrolled has thousands. There a load is an instruction of which it knows nothing: 23x23
 * weights by 4 tiles compile in a third of the time (NVRTC 13.0), to the same machine code. Such a
 * load depends on nothing but its address, which is taken after the barrier. */
template <class config> struct gc_tile_own {
    const typename config::pixel *pixels;
#ifdef __CUDA_ARCH__
    static constexpr bool hides = config::width > 0 &&
                                  sizeof(typename config::pixel) == sizeof(float);
    unsigned address = 0;
#endif

    __device__ inline gc_tile_own(const typename config::pixel *pixels) : pixels(pixels)
    {
#ifdef __CUDA_ARCH__
        if constexpr (hides) {
            address = (unsigned)__cvta_generic_to_shared(pixels);
            asm volatile("" : "+r"(address) : : "memory");
        }
#endif
    }

    __device__ inline float operator[](int offset) const
    {
#ifdef __CUDA_ARCH__
        if constexpr (hides) {
            float value;
            asm("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address + 4 * offset));
            return value;
        }
#endif
        return pixels[offset];
    }
};

/* One thread of a step; `memory` is the shared memory of its block. */
template <class config>
static __device__ inline void gc_tiles(const gc_ladder_step &step, void *memory,
                                       const float *weights)
{
    typedef typename config::pixel pixel;
    const int width = config::width > 0 ? config::width : step.filter_width;
    const int height = config::height > 0 ? config::height : step.filter_height;
    const int pitch = config::pitch > 0 ? config::pitch : step.shared_pitch;
    const int tiles = config::across * config::down;
    const int span_x = config::block_width * config::across - (config::idle ? width - 1 : 0);
    const int span_y = config::block_height * config::down - (config::idle ? height - 1 : 0);
    /* From a tile of a thread to the next. */
    const int next_x = config::across > 1 ? config::block_width : 0;
    const int next_y = config::down > 1 ? config::block_height : 0;
    int left = (int)(blockIdx.x % step.columns) * span_x;
    int top = (int)(blockIdx.x / step.columns) * span_y;
    const gc_tile_pixels<config> pixels = {(pixel *)memory,
                                           pitch,
                                           step.input + blockIdx.y * step.input_plane +
                                               top * step.input_pitch + left,
                                           step.input_pitch,
                                           step.width - left + width - 1,
                                           step.height - top + height - 1};
    if (config::by_place)
        pixels.load_by_place(width, height);
    else
        pixels.load_evenly(span_x + width - 1, span_y + height - 1);
    __syncthreads();
    if (config::idle && ((int)threadIdx.x >= span_x || (int)threadIdx.y >= span_y))
        return;
    const gc_tile_own<config> own(pixels.shared + (int)threadIdx.y * pitch + (int)threadIdx.x);
    float sums[tiles] = {};
    auto add = [&](int j, int i) {
        float weight = weights[j * width + i];
#pragma unroll
        for (int t = 0; t < tiles; t++)
            sums[t] += own[(j + t * next_y) * pitch + i + t * next_x] * weight;
    };
    if constexpr (config::width > 0) {
#pragma unroll
        for (int j = 0; j < height; j++)
#pragma unroll
            for (int i = 0; i < width; i++)
                add(j, i);
    } else {
        for (int j = 0; j < height; j++)
            for (int i = 0; i < width; i++)
                add(j, i);
    }
    float *output = step.output + blockIdx.y * step.output_plane;
#pragma unroll
    for (int t = 0; t < tiles; t++) {
        int x = left + (int)threadIdx.x + t * next_x, y = top + (int)threadIdx.y + t * next_y;
        if (x < step.width && y < step.height)
            output[y * step.output_pitch + x] = sums[t];
    }
}
