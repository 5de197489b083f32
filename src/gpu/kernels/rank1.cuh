/* A block's pass for a filter that is a column times a row: the tile's rows are convolved in shared
 * memory, in place, each by one warp, then the columns in registers. What stands between the two never
 * leaves the multiprocessor, so that memory is crossed once (KTH 2018, section 3.4, whose two passes
 * cross it twice). Weights: the row's, then the column's. */
#ifndef GC_GPU_KERNELS_RANK1_CUH
#define GC_GPU_KERNELS_RANK1_CUH

#include "gpu/kernels/block.cuh"

struct gc_block_rank1 {
    template <class config, class weights_type>
    static __device__ inline void convolve_rows(float *tile, const weights_type &weights)
    {
        typedef gc_block<config> block;
        int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll 2
        for (int line = warp; line < block::lines; line += config::warps) {
            float *base = tile + line * block::pitch + 4 * lane;
            float window[4 * block::words], sums[4] = {};
#pragma unroll
            for (int k = 0; k < block::words; k++)
                *(float4 *)&window[4 * k] = *(const float4 *)(base + 4 * k);
#pragma unroll
            for (int i = 0; i < config::width; i++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    sums[c] = fmaf(window[block::skip + i + c], weights.at(i), sums[c]);
            __syncwarp(); /* all lanes have read */
            *(float4 *)base = make_float4(sums[0], sums[1], sums[2], sums[3]);
        }
    }

    template <class config, class weights_type>
    static __device__ inline void convolve_columns(const float *tile, const weights_type &weights,
                                                   float (&sums)[config::rows][4])
    {
        typedef gc_block<config> block;
        int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
        const float *base = tile + warp * config::rows * block::pitch + 4 * lane;
#pragma unroll
        for (int q = 0; q < config::rows + config::height - 1; q++) {
            asm volatile("" ::: "memory");
            float values[4];
            *(float4 *)values = *(const float4 *)(base + q * block::pitch);
#pragma unroll
            for (int r = 0; r < config::rows; r++)
                if (q - r >= 0 && q - r < config::height)
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        sums[r][c] = fmaf(values[c], weights.at(config::width + q - r), sums[r][c]);
        }
    }

    template <class config, class weights_type>
    static __device__ inline void compute(const gc_pass &pass, float *tile, int x, int y,
                                          const weights_type &weights)
    {
        float sums[config::rows][4] = {};
        convolve_rows<config>(tile, weights);
        __syncthreads();
        convolve_columns<config>(tile, weights, sums);
        gc_block_store<config>(pass, x, y, sums);
    }
};

#endif
