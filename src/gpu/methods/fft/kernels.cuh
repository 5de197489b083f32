/* Kernels around the transforms of fft: planes become real images, spectra are multiplied, real
 * images become planes. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <cuda_runtime.h>

/* Copies a plane into a real image of `pitch` x `rows`, with zeros beyond the plane. */
template <typename real>
static __global__ void gc_fft_widen(const float *plane, int64_t plane_pitch, int width, int height,
                                    real *image, int64_t pitch, int64_t rows)
{
    int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= pitch)
        return;
    for (int64_t y = blockIdx.y; y < rows; y += gridDim.y)
        image[y * pitch + x] = x < width && y < height ? (real)plane[y * plane_pitch + x] : (real)0;
}

/* Multiplies by the conjugate of the filter's spectrum, which correlates (taps are in reading
 * order), and by 1 / points, which cuFFT leaves to its caller. */
template <typename complex, typename real>
static __global__ void gc_fft_multiply(complex *spectrum, const complex *filter, int64_t count,
                                       real scale)
{
    int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= count)
        return;
    complex a = spectrum[item], b = filter[item];
    complex product;
    product.x = (a.x * b.x + a.y * b.y) * scale;
    product.y = (a.y * b.x - a.x * b.y) * scale;
    spectrum[item] = product;
}

/* Copies the part of a real image that a plane holds. Adding zero turns the -0 that rounding makes
 * into the +0 of a direct sum. */
template <typename real>
static __global__ void gc_fft_narrow(const real *image, int64_t pitch, float *plane,
                                     int64_t plane_pitch, int width, int height, bool round)
{
    int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    for (int64_t y = blockIdx.y; y < height; y += gridDim.y) {
        real value = image[y * pitch + x];
        plane[y * plane_pitch + x] = (float)(round ? (real)(rint((double)value) + 0.0) : value);
    }
}

enum { GC_FFT_THREADS = 256, GC_FFT_GRID_ROWS_MAX = 65535 };

/* A thread for each column. A thread takes several rows if there are more rows than a grid has. */
static inline dim3 gc_fft_grid(int64_t width, int64_t rows)
{
    return dim3((unsigned)((width + GC_FFT_THREADS - 1) / GC_FFT_THREADS),
                (unsigned)std::min<int64_t>(rows, GC_FFT_GRID_ROWS_MAX));
}

static inline unsigned gc_fft_blocks(int64_t count)
{
    return (unsigned)((count + GC_FFT_THREADS - 1) / GC_FFT_THREADS);
}
