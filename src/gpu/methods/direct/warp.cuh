/* A pass for small filters, from registers alone.
 *
 * Idea: each warp reads 128 columns of `rows` rows and of the rows around them straight into
 *   registers, four columns a thread. Threads get what lies to the left and right of their columns
 *   from their neighbours, by shuffles. A warp stores the 120 columns whose neighbours it has.
 *   There is no barrier, and every load is under way before the first is needed (rows in registers:
 *   Iandola et al., ICIP 2013; Chen et al., SC 2019).
 * Needs: 4 * (rows + height - 1) registers for samples, no shared memory.
 * Limits: filters that reach 4 columns to either side at most (gc_form_fits). */
#pragma once

#include "gpu/pass/pass.cuh"

/* Four columns of a row, anywhere. */
template <class config>
static __device__ inline float4 gc_warp_load4(const gc_pass &pass, int row, int x)
{
    if (row >= 0 && x >= 0 && x + 4 <= pass.width)
        return gc_pass_load4<config>(pass, gc_pass_input_start(pass) + row * pass.input_pitch + x);
    return make_float4(gc_pass_value<config>(pass, row, x), gc_pass_value<config>(pass, row, x + 1),
                       gc_pass_value<config>(pass, row, x + 2),
                       gc_pass_value<config>(pass, row, x + 3));
}

/* Loads the rows that a thread needs of its own four columns. */
template <class config>
static __device__ inline void gc_warp_load(const gc_pass &pass, int x, int y,
                                           float4 (&lines)[config::rows + config::height - 1])
{
    constexpr int count = config::rows + config::height - 1;
    int first = y - config::top;
    bool inside = x >= 0 && x + 4 <= pass.width && gc_pass_rows_inside(pass, first, count);
    if (__all_sync(~0u, inside)) {
        long long index =
            gc_pass_input_start(pass) + (first - pass.input_first) * pass.input_pitch + x;
#pragma unroll
        for (int q = 0; q < count; q++)
            lines[q] = gc_pass_load4<config>(pass, index + q * pass.input_pitch);
    } else {
#pragma unroll
        for (int q = 0; q < count; q++)
            lines[q] = gc_warp_load4<config>(pass, gc_pass_row<config>(pass, first + q),
                                             x < pass.width + 3 ? x : pass.width + 3);
    }
}

/* The columns that a thread's four outputs need, from left to right. */
template <class config>
static __device__ inline void gc_warp_window(const float4 &line, float (&window)[config::width + 3])
{
    const float own[4] = {line.x, line.y, line.z, line.w};
#pragma unroll
    for (int k = 0; k < config::width + 3; k++) {
        int column = k - config::left; /* relative to the thread's first */
        if (column < 0)
            window[k] = __shfl_up_sync(~0u, own[(column + 4) & 3], 1);
        else if (column < 4)
            window[k] = own[column & 3];
        else
            window[k] = __shfl_down_sync(~0u, own[(column - 4) & 3], 1);
    }
}

/* The kernel. A warp takes `rows` rows of output. */
template <class config, class weights_type>
static __device__ inline void gc_warp_pass(const gc_pass &pass, const weights_type &weights)
{
    static_assert(config::left <= 4 && config::width - 1 - config::left <= 4,
                  "a thread has the columns of its neighbours alone");
    int lane = gc_pass_lane(), warp = gc_pass_warp();
    int columns = (pass.width + GC_WARP_COLUMNS - 1) / GC_WARP_COLUMNS;
    int x = (int)(blockIdx.x % (unsigned)columns) * GC_WARP_COLUMNS + 4 * lane - 4;
    int y = ((int)(blockIdx.x / (unsigned)columns) * config::warps + warp) * config::rows +
            pass.output_first;
    if (y >= pass.output_first + pass.rows)
        return;
    float4 lines[config::rows + config::height - 1];
    gc_warp_load<config>(pass, x, y, lines);
    float sums[config::rows][4] = {};
#pragma unroll
    for (int q = 0; q < config::rows + config::height - 1; q++) {
        float window[config::width + 3];
        gc_warp_window<config>(lines[q], window);
#pragma unroll
        for (int r = 0; r < config::rows; r++)
            if (q - r >= 0 && q - r < config::height)
#pragma unroll
                for (int i = 0; i < config::width; i++)
#pragma unroll
                    for (int c = 0; c < 4 && !weights.skips((q - r) * config::width + i); c++)
                        sums[r][c] = fmaf(window[i + c], weights.at((q - r) * config::width + i),
                                          sums[r][c]);
    }
    gc_pass_store<config>(pass, x, y, sums, lane > 0 && lane < 31 && x < pass.width);
}
