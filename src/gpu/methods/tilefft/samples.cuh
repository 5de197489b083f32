/* How kernels by transforms store: chain values, or samples of 8 and 16 bits, one by one, in passes
 * of the kinds GC_FINISH_ROUND and GC_FINISH_NEAREST. */
#pragma once

#include "gpu/pass/pass.cuh"

/* What a gc_sample_type is in memory. */
template <int type> struct gc_fft_type {
    typedef float sample;
};
template <> struct gc_fft_type<GC_BYTE> {
    typedef unsigned char sample;
};
template <> struct gc_fft_type<GC_SHORT> {
    typedef unsigned short sample;
};

/* Returns a number or a pointer, hidden from the compiler: it computes again what depends on that,
 * instead of keeping it in registers, or computes it where it is hidden, not where it is needed. */
template <class number> static __device__ __forceinline__ number gc_fft_hidden(number n)
{
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(number) == 8)
        asm volatile("" : "+l"(n));
    else
        asm volatile("" : "+r"(n));
#endif
    return n;
}

/* The bits from `first` to `end` - 1, of 32. */
static __device__ __forceinline__ unsigned gc_fft_bits(int first, int end)
{
    first = min(max(first, 0), 32);
    return (unsigned)((1ull << max(first, min(end, 32))) - (1ull << first));
}

/* Stores the low bits of a word without a branch, if at all: if `stores` is not 0. */
template <class sample>
static __device__ __forceinline__ void gc_fft_store_if(sample *to, unsigned bits, unsigned stores)
{
#ifdef __CUDA_ARCH__
#define GC_FFT_STORE(type)                                                                         \
    asm volatile("{\n"                                                                             \
                 ".reg .pred stores;\n"                                                            \
                 "setp.ne.s32 stores, %2, 0;\n"                                                    \
                 "@stores st.global." type " [%0], %1;\n"                                          \
                 "}" ::"l"(__cvta_generic_to_global(to)),                                          \
                 "r"(bits), "r"(stores)                                                            \
                 : "memory")
    if constexpr (sizeof(sample) == 1)
        GC_FFT_STORE("u8");
    else if constexpr (sizeof(sample) == 2)
        GC_FFT_STORE("u16");
    else
        GC_FFT_STORE("u32");
#undef GC_FFT_STORE
#else
    if (stores != 0)
        *to = (sample)bits;
#endif
}

static __device__ __forceinline__ float gc_fft_hidden_float(float value)
{
    return __uint_as_float(gc_fft_hidden(__float_as_uint(value)));
}

/* A value of GC_FINISH_NEAREST as a sample in the low bits. It is an absolute value already, if
 * those are taken. Bytes are made as fix_nearest (finish.c) says. */
template <class sample>
static __device__ __forceinline__ unsigned gc_fft_nearest(const gc_finish &f, float value,
                                                          bool &sure)
{
    if (sizeof(sample) == 1) {
        float share = __saturatef(fmaf(value, f.fixed_gain, f.fixed_base));
        unsigned fixed =
            __float_as_uint(fmaf(share, 255, 256.5f + 0x1p-16f * (float)gc_fft_hidden(f.doubtful)));
        sure = (fixed & 0x7fff) >= f.doubtful;
        return fixed >> 15;
    }
    float part;
    unsigned bits = gc_finish_clamp(f, gc_finish_nearest<true>(f, value, part));
    sure = gc_finish_is_sure(true, part);
    return bits;
}

/* Stores value i, `columns` columns and `rows` rows of output behind the one before, if bit i of
 * `stored` is set: as a chain value if the kind is GC_FINISH_NONE, else as a sample. `start` is the
 * index of value 0. Samples close to a tie are stored once more, from double. */
template <class sample, int kind, int columns, int rows, int count>
static __device__ __forceinline__ void gc_fft_store_as(const gc_pass &pass, float (&values)[count],
                                                       unsigned stored, long long start)
{
    gc_finish f = pass.finish; /* with more constants */
    f.value_bits = ~0u;
    f.largest = (sample)~0u;
    sample *to = (sample *)pass.output + start;
    const bool is_byte = sizeof(sample) == 1;
    unsigned doubtful = 0; /* bits, as those of `stored`; of bytes all or none */
    bool sure = true;
    if (kind == GC_FINISH_NEAREST && f.absolute)
#pragma unroll
        for (int i = 0; i < count; i++)
            values[i] = fabsf(values[i]);
#pragma unroll
    for (int i = 0; i < count; i++) {
        unsigned bits = __float_as_uint(values[i]);
        if (kind == GC_FINISH_ROUND)
            bits = gc_finish_clamp(f, gc_finish_round(f, values[i]));
        if (kind == GC_FINISH_NEAREST) {
            bits = gc_fft_nearest<sample>(f, values[i], sure);
            doubtful |= sure ? 0 : is_byte ? ~0u : 1u << i;
        }
        gc_fft_store_if(to + columns * i, bits, stored & 1u << i);
        if (rows > 0) /* one multiply-add */
            to = gc_fft_hidden(to + (long long)gc_fft_hidden((int)pass.output_pitch) * rows);
    }
    doubtful &= stored;
    if (doubtful == 0)
        return;
#pragma unroll
    for (int i = 0; i < count && is_byte; i++) {
        gc_fft_nearest<sample>(f, gc_fft_hidden_float(values[i]), sure);
        doubtful &= sure ? ~(1u << i) : ~0u;
    }
#pragma unroll 1
    for (; doubtful != 0; doubtful &= doubtful - 1) {
        int i = __ffs((int)doubtful) - 1;
        float chosen[count];
#pragma unroll
        for (int k = 0; k < count; k++)
            chosen[k] = values[k];
#pragma unroll
        for (int bit = 1; bit < count; bit *= 2)
#pragma unroll
            for (int k = 0; k < count; k += 2 * bit)
                chosen[k] = (i & bit) != 0 ? chosen[k + bit] : chosen[k];
        to[columns * i + (i - count) * rows * pass.output_pitch] =
            (sample)gc_finish_sample(f, chosen[0], true);
    }
}

/* Likewise, as the pass says: every kernel can store chain values. */
template <class config, int columns, int rows, int count>
static __device__ __forceinline__ void gc_fft_store(const gc_pass &pass, float (&values)[count],
                                                    unsigned stored, long long start)
{
    typedef typename gc_fft_type<config::output>::sample sample;
    if (config::output == GC_FLOAT || pass.output_type == GC_FLOAT)
        gc_fft_store_as<unsigned, GC_FINISH_NONE, columns, rows>(pass, values, stored, start);
    else if (pass.finish.kind == GC_FINISH_ROUND)
        gc_fft_store_as<sample, GC_FINISH_ROUND, columns, rows>(pass, values, stored, start);
    else
        gc_fft_store_as<sample, GC_FINISH_NEAREST, columns, rows>(pass, values, stored, start);
}
