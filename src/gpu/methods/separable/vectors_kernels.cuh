/* A pass that convolves all columns of a plane with a vector and stores the result transposed. Two
 * of them convolve with a column and a row.
 *
 * Idea: a thread computes OUTPUTS neighbouring outputs of four columns in registers. Each row that
 *   it reads from shared memory meets the OUTPUTS weights that slide along it, so that 4 * OUTPUTS
 *   multiply-adds take one load of 16 bytes and a share of the weights' loads. Weights come from
 *   shared memory too: their number is limited by nothing else, and the code is the same for all.
 *
 *       input rows       outputs of a warp (column 0 to 3 of each lane)
 *       y   ------>  w[y-o] * in[y] adds to output o, for OUTPUTS values of o
 *       y+1 ------>  ...
 *
 * Needs: shared memory for the weights and for two chunks of rows: one is loaded while the other is
 *   computed. */
#pragma once

#include "gpu/pass/pass.cuh"

enum {
    GC_VECTORS_COLUMNS = 128, /* of a block: a warp takes all of them */
    GC_VECTORS_WARPS = 8,     /* of a block: each takes other outputs */
    GC_VECTORS_OUTPUTS = 16,  /* of a thread and column: a multiple of GC_VECTORS_STEP */
    GC_VECTORS_CHUNK = 32,    /* input rows that are loaded at one time */
    GC_VECTORS_STEP = 8,      /* of which so many are computed at one time */
    GC_VECTORS_PADDING = 24   /* zeros on either side of the weights: OUTPUTS and STEP */
};

/* One launch. "Along" is the direction of the vector: rows of the input, columns of the output. An
 * index counts along the image. */
struct gc_vectors_pass {
    const float *input;
    float *output;
    long long input_pitch, output_pitch; /* floats from row to row: multiples of 4 */
    int columns;                         /* of the input, rows of the output */
    int outputs;                         /* along */
    int first;                           /* index that output 0 reads with weight 0 */
    int size;                            /* of the image along */
    int held, held_first;                /* rows of the input; row 0 is this index */
    int border;
    float constant;
    const float *weights; /* with zeros: see gc_vectors_weights */
    int length;           /* of the vector */
};

/* Floats of the weights in memory: GC_VECTORS_PADDING zeros, the weights, zeros up to a multiple of
 * 4, GC_VECTORS_PADDING zeros. */
static __host__ __device__ inline int gc_vectors_weights(int length)
{
    return (length + 3) / 4 * 4 + 2 * GC_VECTORS_PADDING;
}

static __host__ __device__ inline int gc_vectors_shared_bytes(int length)
{
    return (gc_vectors_weights(length) + 2 * GC_VECTORS_CHUNK * GC_VECTORS_COLUMNS) *
           (int)sizeof(float);
}

/* Starts to load rows `row` to `row + GC_VECTORS_CHUNK - 1`, counted from the block's first. */
static __device__ inline void gc_vectors_load(const gc_vectors_pass &pass, int row, int x,
                                              float *chunk)
{
    int lane = gc_pass_lane();
    int column = min(x + 4 * lane, (pass.columns - 1) / 4 * 4); /* beyond, nothing is stored */
    for (int r = gc_pass_warp(); r < GC_VECTORS_CHUNK; r += GC_VECTORS_WARPS) {
        int along = gc_pass_index(pass.border, row + r, pass.size);
        float *to = chunk + r * GC_VECTORS_COLUMNS + 4 * lane;
        if (along < 0) {
            *(float4 *)to = make_float4(pass.constant, pass.constant, pass.constant, pass.constant);
            continue;
        }
        int from = max(min(along - pass.held_first, pass.held - 1), 0);
        gc_pass_copy<16>(to, pass.input + from * pass.input_pitch + column);
    }
}

/* Adds GC_VECTORS_STEP rows to the sums. Row 0 meets output 0 in weight `at`, a multiple of 4. */
static __device__ inline void gc_vectors_add(const float *rows, const float *weights, int at,
                                             float (&sums)[GC_VECTORS_OUTPUTS][4])
{
    const int count = GC_VECTORS_OUTPUTS;
    alignas(16) float w[count + GC_VECTORS_STEP];
#pragma unroll
    for (int k = 0; k < count + GC_VECTORS_STEP; k += 4)
        *(float4 *)&w[k] = *(const float4 *)(weights + at - count + k);
#pragma unroll
    for (int i = 0; i < GC_VECTORS_STEP; i++) {
        float4 in = *(const float4 *)(rows + i * GC_VECTORS_COLUMNS);
#pragma unroll
        for (int t = 0; t < count; t++) {
            float weight = w[i - t + count];
            sums[t][0] = fmaf(in.x, weight, sums[t][0]);
            sums[t][1] = fmaf(in.y, weight, sums[t][1]);
            sums[t][2] = fmaf(in.z, weight, sums[t][2]);
            sums[t][3] = fmaf(in.w, weight, sums[t][3]);
        }
    }
}

/* Column c of the thread's sums becomes a piece of row x + c of the output. */
static __device__ inline void gc_vectors_store(const gc_vectors_pass &pass, int x, int first,
                                               const float (&sums)[GC_VECTORS_OUTPUTS][4])
{
    const int count = GC_VECTORS_OUTPUTS;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        float *to = pass.output + (x + c) * pass.output_pitch + first;
#pragma unroll
        for (int t = 0; t < count && x + c < pass.columns; t += 4)
            if (first + t < pass.outputs) /* rows have whole words of 16 bytes */
                *(float4 *)(to + t) =
                    make_float4(sums[t][c], sums[t + 1][c], sums[t + 2][c], sums[t + 3][c]);
    }
}

static __global__ void __launch_bounds__(32 * GC_VECTORS_WARPS)
    gc_vectors_convolve(const __grid_constant__ gc_vectors_pass pass)
{
    extern __shared__ float4 gc_block_memory[];
    const int count = GC_VECTORS_OUTPUTS;
    float *weights = (float *)gc_block_memory;
    float *chunks = weights + gc_vectors_weights(pass.length);
    const int chunk_floats = GC_VECTORS_CHUNK * GC_VECTORS_COLUMNS;
    int x = (int)blockIdx.x * GC_VECTORS_COLUMNS;
    int block_first = (int)blockIdx.y * GC_VECTORS_WARPS * count;
    int mine = gc_pass_warp() * count; /* the warp's outputs, counted from the block's */
    int rows = GC_VECTORS_WARPS * count + pass.length - 1;
    for (int k = (int)threadIdx.x; k < gc_vectors_weights(pass.length) / 4;
         k += 32 * GC_VECTORS_WARPS)
        gc_pass_copy<16>(weights + 4 * k, pass.weights + 4 * k);
    gc_vectors_load(pass, pass.first + block_first, x, chunks);
    float sums[count][4] = {};
    for (int row = 0, buffer = 0; row < rows; row += GC_VECTORS_CHUNK, buffer ^= 1) {
        gc_pass_arrive();
        __syncthreads(); /* the chunk is there, and nobody reads the other one any more */
        if (row + GC_VECTORS_CHUNK < rows)
            gc_vectors_load(pass, pass.first + block_first + row + GC_VECTORS_CHUNK, x,
                            chunks + (buffer ^ 1) * chunk_floats);
        const float *chunk = chunks + buffer * chunk_floats + 4 * gc_pass_lane();
#pragma unroll 1
        for (int i = 0; i < GC_VECTORS_CHUNK; i += GC_VECTORS_STEP) {
            int at = row + i - mine; /* weights beyond either end are 0 */
            if (at > -GC_VECTORS_STEP && at - count < pass.length)
                gc_vectors_add(chunk + i * GC_VECTORS_COLUMNS, weights + GC_VECTORS_PADDING, at,
                               sums);
        }
    }
    gc_vectors_store(pass, x + 4 * gc_pass_lane(), block_first + mine, sums);
}
