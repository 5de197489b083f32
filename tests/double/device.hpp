/* What the text of a kernel needs to be compiled as C++ for the host: the words of the CUDA
 * language, the index of the thread that runs, barriers, and the few intrinsic functions that are
 * used. Comes first. */
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernel.hpp"

#undef __shared__
#undef __constant__
#undef __global__
#undef __device__
#undef __host__
#undef __launch_bounds__
#define __CUDACC__ 1
#define __global__
#define __device__
#define __host__
#define __shared__ __thread /* as thread_local, without a function that initialises */
#define __constant__ __thread
#define __launch_bounds__(...)

#define threadIdx (gc_double_place.thread)
#define blockIdx (gc_double_place.block)
#define blockDim (gc_double_place.threads)
#define gridDim (gc_double_place.blocks)
#define __syncthreads() gc_double_barrier()

/* One of the threads of a block after the other comes here. */
static inline int __syncthreads_or(int value)
{
    static __thread int any;
    any |= value;
    gc_double_barrier();
    int result = any;
    gc_double_barrier();
    any = 0;
    gc_double_barrier();
    return result;
}

/* A launch in the text of a .cu file becomes (gc_double_launched(...), kernel(...)) by
 * Launches.cmake: it compiles, and nobody calls it. */
template <class... configuration> static inline void gc_double_launched(configuration...)
{
}

static inline int min(int a, int b)
{
    return a < b ? a : b;
}

static inline unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static inline uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline int max(int a, int b)
{
    return a > b ? a : b;
}

template <class to, class from> static inline to gc_double_bits(from value)
{
    static_assert(sizeof(to) == sizeof(from));
    to bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline unsigned __float_as_uint(float value)
{
    return gc_double_bits<unsigned>(value);
}

static inline float __uint_as_float(unsigned value)
{
    return gc_double_bits<float>(value);
}

static inline double __dmul_rn(double a, double b)
{
    return a * b;
}

static inline double __dadd_rn(double a, double b)
{
    return a + b;
}

static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

static inline float __fadd_rn(float a, float b)
{
    return a + b;
}

static inline float __frcp_rn(float a)
{
    return 1 / a;
}

static inline void sincospif(float turns, float *sine, float *cosine)
{
    *sine = (float)std::sin(M_PI * turns);
    *cosine = (float)std::cos(M_PI * turns);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

static inline float __saturatef(float a)
{
    return a > 0 ? (a < 1 ? a : 1) : 0;
}

template <class type> static inline type __ldg(const type *from)
{
    return *from;
}

static inline unsigned atomicAdd(unsigned *to, unsigned value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

static inline unsigned atomicOr(unsigned *to, unsigned value)
{
    return __atomic_fetch_or(to, value, __ATOMIC_RELAXED);
}

static inline unsigned atomicSub(unsigned *to, unsigned value)
{
    return __atomic_fetch_sub(to, value, __ATOMIC_RELAXED);
}

/* The next two are for memory of one block, whose threads run one after the other. */
template <class number> static inline number atomicMin(number *to, number value)
{
    number before = *to;
    *to = value < before ? value : before;
    return before;
}

template <class number> static inline number atomicMax(number *to, number value)
{
    number before = *to;
    *to = value > before ? value : before;
    return before;
}

static inline int __ffsll(long long bits)
{
    return __builtin_ffsll(bits);
}

static inline int __ffs(unsigned bits)
{
    return __builtin_ffs((int)bits);
}

static inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

static inline int __popcll(unsigned long long bits)
{
    return __builtin_popcountll(bits);
}

static inline int __clz(int bits)
{
    return bits == 0 ? 32 : __builtin_clz((unsigned)bits);
}

static inline int __clzll(long long bits)
{
    return bits == 0 ? 64 : __builtin_clzll((unsigned long long)bits);
}

static inline unsigned __brev(unsigned bits)
{
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++)
        reversed |= (bits >> i & 1) << (31 - i);
    return reversed;
}

static inline void __trap()
{
    abort();
}
