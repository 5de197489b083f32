/* The ring of bytes.cuh: outputs near the image's border whose filters are not the combined filter.
 * The warp has stored outputs of the combined filter there already. These functions overwrite
 * them. */
#pragma once

#include "gpu/methods/fused/bytes_tile.cuh"

/* A filter of the ring, as a lane needs it. */
template <class config> struct gc_bytes_filter {
    uint4 weights[config::height];
    int starts[4]; /* of its four columns: what a constant border adds, and the threshold's start */
};

template <class config>
static __device__ inline gc_bytes_filter<config>
gc_bytes_filter_of(const gc_bytes &bytes, const gc_bytes_threshold &threshold, int table)
{
    gc_bytes_filter<config> filter;
#pragma unroll
    for (int q = 0; q < config::height; q++)
        filter.weights[q] = gc_bytes_look_up<config>(bytes, table, q);
    int4 sums = __ldg((const int4 *)(bytes.sums + table * GC_BYTES_UNIT) + threadIdx.x % 4);
    filter.starts[0] = sums.x + threshold.start;
    filter.starts[1] = sums.y + threshold.start;
    filter.starts[2] = sums.z + threshold.start;
    filter.starts[3] = sums.w + threshold.start;
    return filter;
}

/* The class of unit `unit` of the image: ring units count from 1, any other is 0. */
static __device__ inline int gc_bytes_unit_class(const gc_bytes &bytes, int unit)
{
    int unit_class = 0;
#pragma unroll
    for (int k = 0; k < GC_BYTES_RING_UNITS; k++)
        if (k < bytes.ring_unit_count && bytes.ring_units[k] == unit)
            unit_class = k + 1;
    return unit_class;
}

/* The functions from here on serve kernels with different tiles. `block` says how a tile lies in
 * shared memory (gc_bytes_block, gc_lines_block). */

/* Overwrites a lane's four outputs from column x of row `row` on. Of bits, two neighbouring lanes
 * make a byte. */
template <class block>
static __device__ inline void gc_bytes_overwrite(const gc_pass &pass, const gc_bytes &bytes,
                                                 const gc_bytes_threshold &threshold, int x,
                                                 int row, const int (&four)[4], bool stores)
{
    typedef typename block::made_for config;
    unsigned bits = 0;
#pragma unroll
    for (int p = 0; p < 4; p++)
        gc_bytes_shift_in(bits, four[p], threshold.addend);
    bits = bits << 4 | __shfl_down_sync(~0u, bits, 1);
    bits = (bits ^ threshold.inverted) & gc_bytes_mask(pass, x) >> 8;
    if (!stores || x >= pass.width)
        return;
    if (config::output == GC_FLOAT)
        gc_bytes_store_four<config>(pass, bytes, x, row, four);
    else if (config::output == GC_BYTE || config::output == GC_SHORT)
        *(unsigned *)(gc_bytes_row<unsigned char>(pass, row) + x) =
            gc_bytes_finish<config>(pass, bytes, four[0], four[1], four[2], four[3]);
    else if (x % 8 == 0)
        gc_bytes_row<unsigned char>(pass, row)[x / 8] = (unsigned char)bits;
}

/* The places of a lane's outputs: four from the fragment's row lane / 4, and four from the row 8
 * further. */
struct gc_bytes_targets {
    int x[2], row[2];
    bool stores[2];
};

/* Computes and stores one fragment with a filter of the ring. The samples of its row i lie
 * `stride` * (i % count) bytes after `address`. */
template <class block>
static __device__ inline void
gc_bytes_ring_fragment(const gc_pass &pass, const gc_bytes &bytes,
                       const gc_bytes_threshold &threshold,
                       const gc_bytes_filter<typename block::made_for> &filter, unsigned address,
                       int stride, int count, const gc_bytes_targets &targets)
{
    int sums[2][4];
#pragma unroll
    for (int k = 0; k < 8; k++)
        sums[k / 4][k % 4] = filter.starts[k / 4 * 2 + k % 2];
#pragma unroll
    for (int q = 0; q < block::made_for::height; q++) {
        unsigned samples[4];
        block::load(samples, address + q * block::pitch, stride, count);
        gc_bytes_multiply(sums[0], samples, filter.weights[q].x, filter.weights[q].y);
        gc_bytes_multiply(sums[1], samples, filter.weights[q].z, filter.weights[q].w);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int four[4] = {sums[0][2 * half], sums[0][2 * half + 1], sums[1][2 * half],
                             sums[1][2 * half + 1]};
        gc_bytes_overwrite<block>(pass, bytes, threshold, targets.x[half], targets.row[half], four,
                                  targets.stores[half]);
    }
}

/* Overwrites a ring unit, the warp's `unit`. The rows of its fragments are neighbours in the
 * image. */
template <class block>
static __device__ inline void
gc_bytes_ring_unit(const gc_pass &pass, const gc_bytes &bytes, const gc_bytes_threshold &threshold,
                   unsigned tile, const gc_bytes_outputs &outputs, int unit, int unit_class)
{
    int lane = (int)threadIdx.x % 32, end = outputs.end;
    int x = outputs.x + unit * GC_BYTES_UNIT + lane % 4 * 4;
    gc_bytes_filter<typename block::made_for> filter = gc_bytes_filter_of<typename block::made_for>(
        bytes, threshold, gc_bytes_table(bytes, bytes.ring, unit_class));
#pragma unroll 1
    for (int line = 0; outputs.y + line < outputs.end; line += 16) {
        int row = outputs.y + line + lane / 4;
        gc_bytes_ring_fragment<block>(
            pass, bytes, threshold, filter, tile + line * block::pitch + unit * GC_BYTES_UNIT,
            block::pitch, 16, {{x, x}, {row, row + 8}, {row < end, row + 8 < end}});
    }
}

/* Overwrites the units of class `unit_class` in row `line` of the tile, a row of the ring. The rows
 * of the fragment are the units of the warp. */
template <class block>
static __device__ inline void
gc_bytes_ring_row(const gc_pass &pass, const gc_bytes &bytes, const gc_bytes_threshold &threshold,
                  unsigned tile, const gc_bytes_outputs &outputs, int line, int unit_class)
{
    int lane = (int)threadIdx.x % 32, row = outputs.y + line;
    int at = row < bytes.ring ? row : row - pass.height + 2 * bytes.ring + 1;
    gc_bytes_targets targets;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int unit = lane / 4 + 8 * half, x = outputs.x + unit * GC_BYTES_UNIT;
        targets.x[half] = x + lane % 4 * 4;
        targets.row[half] = row;
        targets.stores[half] =
            unit < block::units && gc_bytes_unit_class(bytes, x / GC_BYTES_UNIT) == unit_class;
    }
    gc_bytes_ring_fragment<block>(pass, bytes, threshold,
                                  gc_bytes_filter_of<typename block::made_for>(
                                      bytes, threshold, gc_bytes_table(bytes, at, unit_class)),
                                  tile + line * block::pitch, GC_BYTES_UNIT, block::units, targets);
}

/* Overwrites the outputs of a warp that belong to the ring, in its columns, then in its rows.
 * `tile` has the samples from GC_BYTES_MARGIN columns before the warp's first output on, from the
 * first row of its filter on. */
template <class block>
static __device__ inline void gc_bytes_ring(const gc_pass &pass, const gc_bytes &bytes,
                                            const gc_bytes_threshold &threshold, unsigned tile,
                                            const gc_bytes_outputs &outputs)
{
    int first = outputs.x / GC_BYTES_UNIT;
    __syncwarp(); /* stores of other lanes come first */
#pragma unroll 1
    for (int k = 0; k < bytes.ring_unit_count; k++) {
        int unit = bytes.ring_units[k] - first;
        if (unit >= 0 && unit < block::units)
            gc_bytes_ring_unit<block>(pass, bytes, threshold, tile, outputs, unit, k + 1);
    }
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < 2 * bytes.ring; k++) {
        int row = k < bytes.ring ? k : pass.height - 2 * bytes.ring + k;
        if (row < outputs.y || row >= outputs.end)
            continue;
#pragma unroll 1
        for (int unit_class = 0; unit_class <= bytes.ring_unit_count; unit_class++) {
            int unit = unit_class == 0 ? first : bytes.ring_units[unit_class - 1];
            if (unit >= first && unit < first + block::units)
                gc_bytes_ring_row<block>(pass, bytes, threshold, tile, outputs, row - outputs.y,
                                         unit_class);
        }
    }
}

/* Whether the ring has some of the outputs of a warp. */
template <class block>
static __device__ inline bool gc_bytes_at_border(const gc_pass &pass, const gc_bytes &bytes,
                                                 const gc_bytes_outputs &outputs)
{
    return bytes.ring > 0 &&
           (outputs.x < bytes.ring * bytes.step ||
            outputs.x + block::warp_width > pass.width - bytes.ring * bytes.step ||
            outputs.y < bytes.ring || outputs.end > pass.height - bytes.ring);
}
