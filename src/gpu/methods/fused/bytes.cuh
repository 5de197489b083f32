/* A pass for samples of 8 and 16 bits and whole weights from -128 to 127, on the tensor cores,
 * exactly.
 *
 * Idea: a row of samples times a banded matrix of a row of weights gives 8 neighbouring outputs,
 *   and the rows of the filter add up (banded products of stencils on tensor cores: Chen et al.,
 *   PPoPP 2024; integers make them exact). A chain is taken as one filter, its combined filter.
 *   Outputs near the image's border may have filters of their own: those of the ring
 *   (gc_bytes.ring, bytes_ring.cuh).
 * Needs: compute capability 8.0; shared memory for a tile and its surroundings; 4 registers a row
 *   of the filter for weights.
 * Limits: filters that reach GC_BYTES_MARGIN columns to either side at most; sums below 2^31.
 *
 * mma.sync m16n8k32 multiplies 16 rows of 32 samples by 32 x 8 weights (fragments.cuh shows which
 * lane holds what). A warp computes a unit, 16 columns of output, at a time. Two matrices of
 * weights share the samples, which start GC_BYTES_MARGIN columns to the left of the unit: there
 * ldmatrix finds them on a boundary of 16 bytes:
 *
 *     samples of a row      |  margin: 8  |   unit: 16   | margin: 8 |      32 bytes, a row of A
 *     outputs                             | 0 1 2 ... 15 |
 *
 * Columns of output are dealt to the two matrices so that the four outputs of a lane in a row are
 * neighbours: column n of matrix m is column 4 (n / 2) + 2 m + n % 2 of the unit.
 *
 *     matrix 0   columns 0 1     4 5     8 9       12 13
 *     matrix 1   columns     2 3     6 7     10 11       14 15
 *     lane l % 4             0       1       2           3
 *
 * The 16 rows of a fragment lie `rows` apart in the image, so that a fragment serves `rows` outputs
 * of each lane. The next row of the filter is then another fragment, never a shift between lanes.
 *
 * A pixel of several interleaved channels, or of samples of 16 bits, is several columns. Its
 * neighbours lie as many columns further (gc_bytes.step), and so do the weights of a band. Sums of
 * the low and the high bytes of samples are then columns of their own; a lane has both and adds
 * them up. This takes no more products than other bytes do.
 *
 * The config of such a kernel has
 *     height           the most rows of a filter
 *     rows, warps      as in other passes; `rows` is odd, so that fragments lie in different banks
 *     input            as in other passes: GC_BYTE or GC_SHORT
 *     output, finish   as in other passes: GC_BIT, GC_BYTE, GC_SHORT, or GC_FLOAT for chain values.
 *                      GC_BIT is for one channel of 8 bits */
#pragma once

#include "gpu/methods/fused/bytes_ring.cuh"

/* Computes and stores the outputs of a warp, whose surroundings start at `tile`. */
template <class config>
static __device__ inline void
gc_bytes_compute(const gc_pass &pass, const gc_bytes &bytes, const gc_bytes_threshold &threshold,
                 const int (&starts)[4], const uint4 (&weights)[config::height], unsigned tile,
                 const gc_bytes_outputs &outputs)
{
    typedef gc_bytes_block<config> block;
    unsigned upper[config::rows] = {}, lower[config::rows] = {};
    unsigned address =
        tile + gc_bytes_fragment_row() * config::rows * block::pitch + gc_bytes_fragment_column();
#pragma unroll 1
    for (int unit = 0; unit < GC_BYTES_UNITS; unit++, address += GC_BYTES_UNIT) {
        int sums[config::rows][2][4];
        gc_bytes_sum<config>(address, weights, starts, sums);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (config::output == GC_BIT) {
#pragma unroll
                for (int p = 0; p < 4; p++) {
                    gc_bytes_shift_in(upper[r], sums[r][p / 2][p % 2], threshold.addend);
                    gc_bytes_shift_in(lower[r], sums[r][p / 2][p % 2 + 2], threshold.addend);
                }
            } else if (config::output == GC_FLOAT) {
                gc_bytes_store_values<config>(pass, bytes, outputs, unit, r, sums[r]);
            } else {
                gc_bytes_stage<config>(pass, bytes, outputs, unit, r, sums[r]);
            }
    }
    bool inside = outputs.x + block::warp_width <= pass.width &&
                  outputs.y + block::tile_height <= outputs.end;
    if (config::output == GC_BIT && inside)
        gc_bytes_store_bits<config, true>(pass, outputs, upper, lower, threshold.inverted);
    else if (config::output == GC_BIT)
        gc_bytes_store_bits<config, false>(pass, outputs, upper, lower, threshold.inverted);
    else if (block::stages)
        gc_bytes_store_staged<config>(pass, outputs);
}

/* The kernel: each block takes one tile. */
template <class config>
static __device__ inline void gc_bytes_pass(const gc_pass &pass, const gc_bytes &bytes)
{
    typedef gc_bytes_block<config> block;
    extern __shared__ uint4 gc_bytes_memory[];
    unsigned char *tile = (unsigned char *)gc_bytes_memory;
    int warp = (int)threadIdx.x / 32;
    int2 at = gc_pass_tile((pass.width + block::tile_width - 1) / block::tile_width,
                           (pass.rows + block::tile_height - 1) / block::tile_height);
    int x = at.x * block::tile_width, y = at.y * block::tile_height + pass.output_first;
    gc_bytes_fill<config>(pass, bytes, tile, (int *)(tile + block::rows_at), x, y);
    uint4 weights[config::height];
#pragma unroll
    for (int k = 0; k < config::height; k++)
        weights[k] = gc_bytes_look_up<config>(bytes, gc_bytes_table(bytes, bytes.ring, 0), k);
    gc_bytes_threshold threshold = {};
    if (config::output == GC_BIT)
        threshold = gc_bytes_threshold_of(pass.finish);
    int starts[4];
#pragma unroll
    for (int k = 0; k < 4; k++) /* shuffled, the equal starts stay in registers of the lane */
        starts[k] = __shfl_sync(~0u, threshold.start, k);
    gc_pass_arrive();
    __syncthreads();
    gc_bytes_outputs outputs = {x + warp * block::warp_width, y,
                                min(y + block::tile_height, pass.output_first + pass.rows),
                                tile + block::tile_bytes + warp * block::staged};
    if (outputs.x >= pass.width)
        return;
    unsigned surroundings = (unsigned)__cvta_generic_to_shared(tile + warp * block::warp_width);
    gc_bytes_compute<config>(pass, bytes, threshold, starts, weights, surroundings, outputs);
    if (gc_bytes_at_border<block>(pass, bytes, outputs))
        gc_bytes_ring<block>(pass, bytes, threshold, surroundings, outputs);
}
