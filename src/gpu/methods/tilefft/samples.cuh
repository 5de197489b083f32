/* How kernels by transforms store: chain values, or samples of 8 and 16 bits, one by one, in passes
 * of the kinds GC_FINISH_ROUND and GC_FINISH_NEAREST. */
#pragma once

#include "gpu/pass/pass.cuh"

/* Whether a pass stores chain values: every kernel can. */
template <class config>
static __device__ __forceinline__ bool gc_fft_stores_values(const gc_pass &pass)
{
    return config::output == GC_FLOAT || pass.output_type == GC_FLOAT;
}

/* Stores values of the kind GC_FINISH_ROUND, value i at index at(i) if bit i of `stored` is
 * set. */
template <class sample, int count, class place>
static __device__ __forceinline__ void gc_fft_store_quotients(const gc_pass &pass,
                                                              const float (&values)[count],
                                                              unsigned stored, const place &at)
{
    sample *to = (sample *)pass.output;
#pragma unroll
    for (int i = 0; i < count; i++)
        if ((stored >> i & 1) != 0)
            to[at(i)] =
                (sample)gc_finish_clamp(pass.finish, gc_finish_round(pass.finish, values[i]));
}

/* Stores values of the kind GC_FINISH_NEAREST, likewise. Samples close to a tie are stored once
 * more, from double. */
template <class sample, int count, class place>
static __device__ __forceinline__ void gc_fft_store_nearest(const gc_pass &pass,
                                                            const float (&values)[count],
                                                            unsigned stored, const place &at)
{
    const bool is_short = sizeof(sample) == 2;
    sample *to = (sample *)pass.output;
    unsigned doubtful = 0;
#pragma unroll
    for (int i = 0; i < count; i++)
        if ((stored >> i & 1) != 0) {
            float part, shifted = gc_finish_nearest<is_short>(pass.finish, values[i], part);
            to[at(i)] = (sample)gc_finish_clamp(pass.finish, shifted);
            doubtful |= gc_finish_is_sure(is_short, part) ? 0 : 1u << i;
        }
#pragma unroll 1
    for (int i = 0; doubtful != 0; i++, doubtful >>= 1)
        if ((doubtful & 1) != 0) {
            float value = values[0];
#pragma unroll
            for (int k = 1; k < count; k++)
                value = k == i ? values[k] : value;
            to[at(i)] = (sample)gc_finish_sample(pass.finish, value, true);
        }
}

template <class sample, int count, class place>
static __device__ __forceinline__ void
gc_fft_store_as(const gc_pass &pass, const float (&values)[count], unsigned stored, const place &at)
{
    if (pass.finish.kind == GC_FINISH_ROUND)
        gc_fft_store_quotients<sample>(pass, values, stored, at);
    else
        gc_fft_store_nearest<sample>(pass, values, stored, at);
}

/* Stores chain values as samples, value i at index at(i) if bit i of `stored` is set. */
template <class config, int count, class place>
static __device__ __forceinline__ void gc_fft_store_rounded(const gc_pass &pass,
                                                            const float (&values)[count],
                                                            unsigned stored, const place &at)
{
    if constexpr (config::output == GC_BYTE)
        gc_fft_store_as<unsigned char>(pass, values, stored, at);
    else
        gc_fft_store_as<unsigned short>(pass, values, stored, at);
}
