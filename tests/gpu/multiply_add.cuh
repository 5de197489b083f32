/* A header of a kernel, for the tests of texts that NVRTC compiles. */
#ifndef TESTS_MULTIPLY_ADD_CUH
#define TESTS_MULTIPLY_ADD_CUH

static __device__ inline float multiply_add(float a, float b, float c)
{
    return a * b + c;
}

#endif
