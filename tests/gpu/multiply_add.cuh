/* A header of a kernel, for the tests of texts that NVRTC compiles. */
#pragma once

static __device__ inline float multiply_add(float a, float b, float c)
{
    return a * b + c;
}
