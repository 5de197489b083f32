/* Fourier transforms of lines by decimation in time with contiguous data (De Smet 2011).
 *
 * A step makes transforms of A * B points from B transforms of A points each. M = L / (A * B) of
 * them are interleaved in a line of L numbers. With <x> = exp(-2 pi i x) equation 12 is
 *     to[M (g + A h) + z] = F(s -> from[M (B g + s) + z] * <g s / (A B)>)[h].
 * One pair of g < A and z < M is a local transform of B points. Its number in the line is
 * j = M g + z (section 3.1), so that neighbours in j lie side by side in memory, all numbers that
 * are read and written for one s or h.
 *
 * Local transforms (section 3.2): up to 16 points in the registers of a thread; up to 16 * 16 = 256
 * by 16 threads, which exchange numbers in shared memory between two rounds of equation 12. Lines
 * of more points take two steps over the whole memory. */
#pragma once

#include "gpu/methods/tilefft/points.cuh"

enum {
    GC_FFT_HELD = 16,            /* points of a thread */
    GC_CONTIGUOUS_THREADS = 256, /* of a block */
    /* Of a block at one time. */
    GC_CONTIGUOUS_NUMBERS = GC_CONTIGUOUS_THREADS * GC_FFT_HELD,
    /* Places in shared memory, with padding. */
    GC_CONTIGUOUS_IN_BLOCK = GC_CONTIGUOUS_NUMBERS / GC_FFT_HELD + GC_CONTIGUOUS_NUMBERS
};

typedef gc_fft_held<GC_FFT_HELD> gc_fft_points;

/* The steps of a line: the only one (A = M = 1), or the first (A = 1) and the last (M = 1). */
enum { GC_CONTIGUOUS_ONLY, GC_CONTIGUOUS_FIRST, GC_CONTIGUOUS_LAST };

/* What a launch computes. */
struct gc_contiguous_pass {
    const float2 *from;
    float2 *to;
    int line_log2; /* of the points of a line */
    int items;     /* runs of GC_CONTIGUOUS_NUMBERS numbers */
    /* Whether a block takes neighbouring items. Otherwise neighbours go to different blocks, and so
     * to different multiprocessors (section 3.4). */
    bool in_ranges;
};

static __device__ constexpr int gc_contiguous_log2(int n)
{
    return n > 1 ? 1 + gc_contiguous_log2(n / 2) : 0;
}

/* exp(-2 pi i turns / 2^log2). `turns` is below 2^24. */
static __device__ __forceinline__ float2 gc_contiguous_root(int turns, int log2)
{
    float2 root;
    sincospif(-2 * (float)turns / (float)(1 << log2), &root.y, &root.x);
    return root;
}

/* Turns point i + k by root^k, for each k below `count`. */
template <int count>
static __device__ __forceinline__ void gc_contiguous_turn(gc_fft_points &v, int i, float2 root)
{
#pragma unroll
    for (int bit = 1; bit < count; bit *= 2) {
#pragma unroll
        for (int k = bit; k < count; k++)
            if (k & bit)
                gc_fft_turn(v, i + k, root.x, root.y);
        root = {fmaf(root.x, root.x, -(root.y * root.y)), 2 * root.x * root.y};
    }
}

/* One thread of a step whose local transforms have `points` points, a power of two. */
template <int points, int step> struct gc_contiguous_thread {
    /* Lines of fewer than 16 points: a thread has several, one behind the other. */
    static constexpr int whole = points < GC_FFT_HELD ? GC_FFT_HELD : points;
    static constexpr int parts = whole / GC_FFT_HELD; /* threads of a local transform */
    static constexpr int transforms = GC_CONTIGUOUS_NUMBERS / whole; /* of a block */
    /* Few threads read neighbouring numbers: they pass through shared memory, as in section 3.1. */
    static constexpr bool reads_staged = step != GC_CONTIGUOUS_FIRST && parts < 4;
    static constexpr bool writes_staged = step == GC_CONTIGUOUS_ONLY && parts < 4;

    const gc_contiguous_pass &pass;
    float2 *shared;
    int read, read_part;   /* the local transform of the block, and the thread's part, at first */
    int write, write_part; /* and after the exchange */

    /* Threads beside each other have neighbouring parts where a local transform's numbers lie side
     * by side, else neighbouring local transforms. */
    __device__ __forceinline__ gc_contiguous_thread(const gc_contiguous_pass &pass, float2 *shared)
        : pass(pass), shared(shared)
    {
        int id = (int)threadIdx.x;
        bool along_read = step != GC_CONTIGUOUS_FIRST, along_write = step == GC_CONTIGUOUS_ONLY;
        read = along_read ? id / parts : id % transforms;
        read_part = along_read ? id % parts : id / transforms;
        write = along_write ? id / parts : id % transforms;
        write_part = along_write ? id % parts : id / transforms;
    }

    /* The place of number i of the block in shared memory. */
    static __device__ __forceinline__ int staged(int i)
    {
        return i + i / GC_FFT_HELD;
    }

    /* The place of number i of a local transform in shared memory. */
    static __device__ __forceinline__ int exchanged(int transform, int i)
    {
        return step == GC_CONTIGUOUS_ONLY ? staged(transform * whole + i)
                                          : i * (transforms + 1) + transform;
    }

    /* Of j, local transforms of a line. */
    __device__ __forceinline__ int others_log2() const
    {
        return pass.line_log2 - gc_contiguous_log2(points);
    }

    /* Where the line of local transform u begins, plus u's number in the line. */
    __device__ __forceinline__ int among_others(int u) const
    {
        int others = others_log2();
        return (u >> others << pass.line_log2) + (u & ((1 << others) - 1));
    }

    /* Reads the thread's numbers of an item, or if they go through shared memory any 16. */
    __device__ __forceinline__ void fetch(int item, float2 numbers[GC_FFT_HELD]) const
    {
        int u = item * transforms + read, distance = reads_staged ? GC_CONTIGUOUS_THREADS : parts;
        int first =
            reads_staged ? item * GC_CONTIGUOUS_NUMBERS + (int)threadIdx.x : u * whole + read_part;
        if (step == GC_CONTIGUOUS_FIRST) {
            first = among_others(u) + (read_part << others_log2());
            distance <<= others_log2();
        }
        const float2 *from = pass.from + first;
#pragma unroll
        for (int k = 0; k < GC_FFT_HELD; k++)
            numbers[k] = from[k * distance];
    }

    /* Numbers that were fetched become the points of the thread: number part + parts * k of its
     * local transform is point k. */
    __device__ __forceinline__ void take(const float2 numbers[GC_FFT_HELD], gc_fft_points &v) const
    {
        if (reads_staged) {
#pragma unroll
            for (int k = 0; k < GC_FFT_HELD; k++)
                shared[staged(k * GC_CONTIGUOUS_THREADS + (int)threadIdx.x)] = numbers[k];
            __syncthreads();
        }
#pragma unroll
        for (int k = 0; k < GC_FFT_HELD; k++) {
            float2 number =
                reads_staged ? shared[staged(read * whole + k * parts + read_part)] : numbers[k];
            v.re[k] = number.x;
            v.im[k] = number.y;
        }
        if (reads_staged)
            __syncthreads();
    }

    /* <g s / L> for the thread's numbers s. */
    __device__ __forceinline__ void turn_last(int item, gc_fft_points &v) const
    {
        int g = (item * transforms + read) & ((1 << others_log2()) - 1);
        float2 begin = gc_contiguous_root(g * read_part, pass.line_log2);
#pragma unroll
        for (int k = 0; k < GC_FFT_HELD; k++)
            gc_fft_turn(v, k, begin.x, begin.y);
        gc_contiguous_turn<GC_FFT_HELD>(v, 0, gc_contiguous_root(g * parts, pass.line_log2));
    }

    /* The second round within local transforms, of `parts` points: A is 16. Numbers
     * parts * g + s of a local transform become points of a thread, for 16 / parts values of g. */
    __device__ __forceinline__ void second_round(gc_fft_points &v) const
    {
#pragma unroll
        for (int h = 0; h < GC_FFT_HELD; h++)
            shared[exchanged(read, read_part + parts * h)] = {v.re[h], v.im[h]};
        __syncthreads();
        float2 root = gc_contiguous_root(write_part, gc_contiguous_log2(points));
#pragma unroll
        for (int c = 0; c < GC_FFT_HELD; c += parts) {
#pragma unroll
            for (int s = 0; s < parts; s++) {
                float2 number = shared[exchanged(write, parts * (write_part + c) + s)];
                v.re[c + s] = number.x;
                v.im[c + s] = number.y;
            }
            gc_contiguous_turn<parts>(v, c, root);
            gc_fft_transform<parts>(v, c, 1);
            /* From <g / points> for g = write_part + c to that for c + parts: <1 / 16>. */
            const float re = 0.92387953251128674f, im = -0.38268343236508977f;
            root = {fmaf(root.x, re, -(root.y * im)), fmaf(root.x, im, root.y * re)};
        }
        __syncthreads();
    }

    /* Writes frequency f of the thread's local transform. */
    __device__ __forceinline__ void put(int item, int f, float re, float im) const
    {
        int u = item * transforms + write;
        if (writes_staged)
            shared[staged(write * whole + f)] = {re, im};
        else if (step == GC_CONTIGUOUS_ONLY)
            pass.to[u * whole + f] = {re, im};
        else
            pass.to[among_others(u) + (f << others_log2())] = {re, im};
    }

    __device__ __forceinline__ void write_all(int item, const gc_fft_points &v) const
    {
#pragma unroll
        for (int i = 0; i < GC_FFT_HELD; i++) {
            int f = parts > 1 ? write_part + i / parts * parts + GC_FFT_HELD * (i % parts) : i;
            put(item, f, v.re[i], v.im[i]);
        }
        if (!writes_staged)
            return;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < GC_FFT_HELD; k++) {
            int i = k * GC_CONTIGUOUS_THREADS + (int)threadIdx.x;
            pass.to[item * GC_CONTIGUOUS_NUMBERS + i] = shared[staged(i)];
        }
        __syncthreads();
    }

    __device__ __forceinline__ void transform(int item, gc_fft_points &v) const
    {
        constexpr int first = points < GC_FFT_HELD ? points : GC_FFT_HELD;
        if (step == GC_CONTIGUOUS_LAST)
            turn_last(item, v);
#pragma unroll
        for (int i = 0; i < GC_FFT_HELD; i += first)
            gc_fft_transform<first>(v, i, 1);
        if constexpr (parts > 1)
            second_round(v);
        write_all(item, v);
    }
};

/* Transforms all items. If `fetches_ahead`, the numbers of the next item are on their way while one
 * is transformed, in registers that are left (section 3.3). */
template <int points, int step, bool fetches_ahead>
static __global__ void __launch_bounds__(GC_CONTIGUOUS_THREADS, fetches_ahead ? 2 : 3)
    gc_transform_lines(gc_contiguous_pass pass)
{
    static __shared__ float2 shared[GC_CONTIGUOUS_IN_BLOCK];
    const gc_contiguous_thread<points, step> thread(pass, shared);
    int blocks = (int)gridDim.x, each = (pass.items + blocks - 1) / blocks;
    int item = (int)blockIdx.x * (pass.in_ranges ? each : 1), next = pass.in_ranges ? 1 : blocks;
    int end = pass.in_ranges ? min(item + each, pass.items) : pass.items;
    float2 numbers[GC_FFT_HELD];
    if (fetches_ahead && item < end)
        thread.fetch(item, numbers);
    for (; item < end; item += next) {
        gc_fft_points v;
        if (!fetches_ahead)
            thread.fetch(item, numbers);
        thread.take(numbers, v);
        if (fetches_ahead && item + next < end)
            thread.fetch(item + next, numbers);
        thread.transform(item, v);
    }
}
