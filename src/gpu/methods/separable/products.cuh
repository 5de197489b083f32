/* A pass for a filter that is a product of a column and a row, or a sum of such products.
 *
 * Idea: the tile's rows are convolved in shared memory, each by one warp, then the columns in
 *   registers. The values between the two never leave the multiprocessor, so that memory is crossed
 *   once (KTH 2018, section 3.4, crosses it twice).
 * Needs: shared memory for the surroundings of a tile; for sums also for convolved rows.
 * Limits: those of the shared memory.
 *
 * Weights: of each product the row's, then the column's.
 *
 * There are two buffers for convolved rows. Buffer 0 overwrites the tile's own rows. Buffer 1 lies
 * behind the buffers. The last two products read each row of the tile together. The first of them
 * stores into buffer 0, because the tile is not needed afterwards. The other one stores into
 * buffer 1. A product before these two uses buffer 1 alone. */
#pragma once

#include "gpu/pass/block.cuh"

/* The computing of GC_FORM_RANK1 to GC_FORM_RANK3. */
struct gc_block_products {
    /* Channels share buffer 1. */
    template <class config> static __device__ constexpr bool keeps_to_plane()
    {
        return config::products == 1;
    }

    /* A convolved row of a tile, in buffer 0 or 1. */
    template <class config>
    static __device__ inline float *row_of(float *tile, int buffer, int line)
    {
        typedef gc_block<config> block;
        extern __shared__ float4 gc_block_memory[];
        return buffer == 0 ? tile + line * block::pitch
                           : (float *)gc_block_memory + block::buffers * block::buffer_floats +
                                 line * block::tile_width;
    }

    /* Convolves rows with `product` and the products after it, into buffers from `first` on and
     * before `end`. */
    template <class config, int first, int end, class weights_type>
    static __device__ inline void convolve_rows(float *tile, int product,
                                                const weights_type &weights)
    {
        typedef gc_block<config> block;
        int lane = gc_pass_lane(), warp = gc_pass_warp();
#pragma unroll 2
        for (int line = warp; line < block::lines; line += config::warps) {
            const float *base = tile + line * block::pitch + 4 * lane;
            alignas(16) float window[4 * block::words];
            float sums[end - first][4] = {};
#pragma unroll
            for (int k = 0; k < block::words; k++)
                *(float4 *)&window[4 * k] = *(const float4 *)(base + 4 * k);
#pragma unroll
            for (int p = 0; p < end - first; p++)
#pragma unroll
                for (int i = 0; i < config::width; i++) {
                    int k = (product + p) * (config::width + config::height) + i;
#pragma unroll
                    for (int c = 0; c < 4 && !weights.skips(k); c++)
                        sums[p][c] = fmaf(window[block::skip + i + c], weights.at(k), sums[p][c]);
                }
            if (first == 0)
                __syncwarp(); /* all lanes have read */
#pragma unroll
            for (int p = 0; p < end - first; p++)
                *(float4 *)(row_of<config>(tile, first + p, line) + 4 * lane) =
                    make_float4(sums[p][0], sums[p][1], sums[p][2], sums[p][3]);
        }
    }

    /* Convolves the columns of these buffers and adds them to `sums`. */
    template <class config, int first, int end, class weights_type>
    static __device__ inline void convolve_columns(float *tile, int product,
                                                   const weights_type &weights,
                                                   float (&sums)[config::rows][4])
    {
        int lane = gc_pass_lane(), warp = gc_pass_warp();
#pragma unroll
        for (int q = 0; q < config::rows + config::height - 1; q++) {
            asm volatile("" ::: "memory");
            alignas(16) float values[end - first][4];
#pragma unroll
            for (int p = 0; p < end - first; p++)
                *(float4 *)values[p] =
                    *(const float4 *)(row_of<config>(tile, first + p, warp * config::rows + q) +
                                      4 * lane);
#pragma unroll
            for (int p = 0; p < end - first; p++)
#pragma unroll
                for (int r = 0; r < config::rows; r++)
                    if (q - r >= 0 && q - r < config::height) {
                        int k = (product + p) * (config::width + config::height) + config::width +
                                q - r;
#pragma unroll
                        for (int c = 0; c < 4 && !weights.skips(k); c++)
                            sums[r][c] = fmaf(values[p][c], weights.at(k), sums[r][c]);
                    }
        }
    }

    /* Makes the compiler compute the sums here. Otherwise it would keep all of the columns in
     * registers and add them up later. */
    template <class config>
    static __device__ inline void compute_now(float (&sums)[config::rows][4])
    {
#ifdef __CUDA_ARCH__
#pragma unroll
        for (int r = 0; r < config::rows; r++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                asm volatile("" : "+f"(sums[r][c]));
#else
        (void)sums;
#endif
    }

    /* Adds `product` and the products after it, as many as these buffers, to `sums`. */
    template <class config, int first, int end, class weights_type>
    static __device__ inline void add(float *tile, int product, const weights_type &weights,
                                      float (&sums)[config::rows][4])
    {
        convolve_rows<config, first, end>(tile, product, weights);
        __syncthreads();
        convolve_columns<config, first, end>(tile, product, weights, sums);
    }

    template <class config, class weights_type>
    static __device__ inline void sum(const gc_pass &, float *tile, int, int, int,
                                      const weights_type &weights, float (&sums)[config::rows][4])
    {
        constexpr int buffers = config::products > 1 ? 2 : 1;
#pragma unroll
        for (int product = 0; product < config::products - buffers; product++) {
            add<config, 1, 2>(tile, product, weights, sums);
            compute_now<config>(sums);
            __syncthreads(); /* all have read what the next product overwrites */
        }
        add<config, 0, buffers>(tile, config::products - buffers, weights, sums);
    }
};
