/* Kernels that fill planes with random samples, compute a convolution by its definition, and
 * compare. */
#pragma once

#include "gpu/tune/tuner.cuh"

/* The finalizer of MurmurHash3 (Appleby, public domain). It turns consecutive numbers into random
 * ones. */
static __host__ __device__ inline unsigned gc_scramble(unsigned n)
{
    n = (n ^ n >> 16) * 0x85ebca6bu;
    n = (n ^ n >> 13) * 0xc2b2ae35u;
    return n ^ n >> 16;
}

/* Random words: floats from 0 to 1, or four bytes each. */
static __global__ void fill(unsigned *words, size_t count, bool floats)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned random = gc_scramble((unsigned)i + 1);
        words[i] = floats ? __float_as_uint((float)(random >> 8) * 0x1p-24f) : random;
    }
}

/* The row or column that a mirror border takes for `index`. */
static __device__ inline int reflected(int index, int size)
{
    while (index < 0 || index >= size)
        index = index < 0 ? -1 - index : 2 * size - 1 - index;
    return index;
}

/* Computes one output by the definition. With a divisor of 0 it is the sum, else an 8-bit
 * sample. */
template <typename sample>
static __global__ void expect(const sample *input, gc_tuner_view image, gc_layout layout,
                              const double *taps, double divisor)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= image.width || y >= image.height)
        return;
    double sum = 0;
    for (int j = 0; j < layout.height; j++) {
        const sample *row = input + reflected(y + j - layout.top, image.height) * image.pitch;
        for (int i = 0; i < layout.width; i++)
            sum += taps[j * layout.width + i] *
                   (double)row[reflected(x + i - layout.left, image.width)];
    }
    if (divisor != 0)
        sum = fmin(fmax(rint(sum / divisor), 0.0), 255.0);
    image.expected[(size_t)y * image.width + x] = sum;
}

/* Compares the first `columns` of the first `rows`. */
template <typename sample>
static __global__ void compare(const sample *output, gc_tuner_view image, int columns, int rows,
                               double tolerance, unsigned *wrong)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= columns || y >= rows)
        return;
    double difference =
        (double)output[y * image.pitch + x] - image.expected[(size_t)y * image.width + x];
    if (!(fabs(difference) <= tolerance))
        atomicAdd(wrong, 1u);
}
