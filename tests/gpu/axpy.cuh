/* A kernel for the tests of run-time compilation: FACTOR is a constant before it. */
#include "multiply_add.cuh"
#include "not_there.cuh" // left out as well

extern "C" __global__ void axpy(const float *x, float *y, int count)
{
    extern __shared__ float shared[];
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    shared[threadIdx.x] = i < count ? x[i] : 0.0f;
    __syncthreads();
    if (i < count)
        y[i] = multiply_add(FACTOR, shared[threadIdx.x], y[i]);
}
