/* twopass:kth: filters of rank 1 in two passes, as in KTH 2018.
 *
 * Idea: a row pass and a column pass take F_w + F_h products a pixel, and a thread loads at most
 *   one pixel of the apron (section 3.4). Equation 12 counts 2 loads a pass. Blocks have 32x32
 *   threads, a thread computes one output.
 * Improves on: const:kth, if the filter is large enough for two passes over memory.
 * Needs: (F_w + 31) * 32 and 32 * (F_h + 31) floats of shared memory; a plane of the device's
 *   memory for the values between the passes.
 * Limits: those of twopass.
 * Loses: to twopass, whose threads compute several outputs. */
#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/ladder/tile.cuh"
#include "gpu/methods/ladder/twopass.cuh"

extern "C" {
#include "core/separate.h"
}

#include <cmath>

enum { SIDE = 32 };

/* One pass: a filter of one row or of one column, whose weights begin at `first`. */
template <class config>
static __device__ inline void convolve_line(const gc_gpu_step &step, unsigned columns, int width,
                                            int height, int first, void *memory)
{
    gc_ladder_step line = {step, columns, config::block_width * config::across + width - 1};
    line.filter_width = width;
    line.filter_height = height;
    gc_tiles<config>(line, memory, gc_filter + first);
}

template <int FACTOR, int FLAGS>
static __global__ void __launch_bounds__(SIDE *SIDE) kth_rows(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    convolve_line<gc_tile_config<FACTOR, SIDE, SIDE, FLAGS>>(step, columns, step.filter_width, 1, 0,
                                                             pixels);
}

static __global__ void __launch_bounds__(SIDE *SIDE) kth_columns(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    convolve_line<gc_tile_config<1, SIDE, SIDE, GC_TILE_BY_PLACE>>(
        step, columns, 1, step.filter_height, step.filter_width, pixels);
}

static int row_floats(int filter_width, int)
{
    return (SIDE + filter_width - 1) * SIDE;
}

static int column_floats(int, int filter_height)
{
    return (SIDE + filter_height - 1) * SIDE;
}

static const gc_line_kernels kth_lines = {
    {kth_rows<1, GC_TILE_BY_PLACE>, SIDE, SIDE, SIDE, SIDE, row_floats},
    {kth_columns, SIDE, SIDE, SIDE, SIDE, column_floats},
    "blocks 32x32, one output a thread",
};

/* twopass:transposed: twopass:kth with 21 tiles, the columns through transposed shared memory.
 *
 * Idea: 1xT tiling for the rows. For the columns a block turns its pixels when it loads them, so
 *   that a column of the image lies in a row of shared memory, and does as for rows: neighbouring
 *   threads on neighbouring addresses (KTH 2018, section 3.5.2 and figure 4). T is 21, as in the
 *   paper and by its equation 8 for all lines of up to 95 weights. Shared memory holds integers of
 *   16 bits, as there. Sums are turned back before they are stored; the paper does not say how it
 *   stores.
 * Improves on: twopass:kth, by T outputs a thread.
 * Needs: 32 rows of F - 1 + 21 * 32 integers of 16 bits of shared memory; T sums in registers.
 * Limits: those of twopass; what the row and the column read has to be integers of 16 bits, and a
 *   line has at most 95 weights.
 * Loses: to twopass, whose columns have no bank conflicts either, since the threads of a warp read
 *   one row, and whose smaller blocks leave no multiprocessor idle. */
enum { FACTOR = GC_KTH_FACTOR_MAX, SPAN = SIDE * FACTOR, LINE_MAX_WEIGHTS = 95 };

/* Integers of 16 bits from row to row of shared memory: twice an odd number, which keeps threads
 * that store a column in different banks. */
static __host__ __device__ inline int turned_pitch(int filter_height)
{
    return (SPAN + filter_height - 1 + 1) / 4 * 4 + 2;
}

/* `sum` of thread (x, y) becomes that of thread (y, x). */
static __device__ inline float turn(float sum, float *memory)
{
    __syncthreads();
    memory[threadIdx.x * (SIDE + 1) + threadIdx.y] = sum;
    __syncthreads();
    return memory[threadIdx.y * (SIDE + 1) + threadIdx.x];
}

static __global__ void __launch_bounds__(SIDE *SIDE)
    turned_columns(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    short *turned = (short *)pixels;
    int left = (int)(blockIdx.x % columns) * SIDE, top = (int)(blockIdx.x / columns) * SPAN;
    int pitch = turned_pitch(step.filter_height), count = SPAN + step.filter_height - 1;
    int x = left + (int)threadIdx.x;
    const float *input = step.input + blockIdx.y * step.input_plane + top * step.input_pitch + x;
    for (int y = (int)threadIdx.y; y < count; y += SIDE)
        if (x < step.width && y < step.height - top + step.filter_height - 1)
            turned[(int)threadIdx.x * pitch + y] = (short)input[y * step.input_pitch];
    __syncthreads();
    const float *weights = gc_filter + step.filter_width;
    const short *column = turned + (int)threadIdx.y * pitch + (int)threadIdx.x;
    float sums[FACTOR] = {};
    for (int j = 0; j < step.filter_height; j++)
#pragma unroll
        for (int t = 0; t < FACTOR; t++)
            sums[t] += column[j + t * SIDE] * weights[j];
    float *output = step.output + blockIdx.y * step.output_plane + x;
#pragma unroll
    for (int t = 0; t < FACTOR; t++) {
        int y = top + (int)threadIdx.y + t * SIDE;
        float sum = turn(sums[t], pixels);
        if (x < step.width && y < step.height)
            output[y * step.output_pitch] = sum;
    }
}

/* Floats that take as much as so many integers of 16 bits. */
static int turned_row_floats(int filter_width, int)
{
    return (SPAN + filter_width - 1) * SIDE / 2;
}

static int turned_column_floats(int, int filter_height)
{
    return turned_pitch(filter_height) * SIDE / 2;
}

/* Both passes read integers of 16 bits: the image, and the sums of its rows. */
static gconv_status check_shorts(const gc_problem *problem, const gc_step *step, gconv_error *error)
{
    float row[GCONV_FILTER_SIDE_MAX], column[GCONV_FILTER_SIDE_MAX];
    double most = 0;
    gc_step_separate(step, row, column);
    bool whole = gc_step_reads_shorts(problem, step);
    for (int i = 0; i < step->width; i++) {
        whole = whole && row[i] == truncf(row[i]);
        most += std::fabs((double)row[i]) * step->largest_input;
    }
    if (!whole || most > 32767)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "it holds pixels and sums of rows as integers of 16 bits, and those of this "
                       "filter need not be such");
    if (step->width > LINE_MAX_WEIGHTS || step->height > LINE_MAX_WEIGHTS)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "21 tiles of 32x32 pixels fit in 48 KiB with filters of up to %dx%d alone",
                       (int)LINE_MAX_WEIGHTS, (int)LINE_MAX_WEIGHTS);
    return GCONV_OK;
}

static const gc_line_kernels turned_lines = {
    {kth_rows<FACTOR, GC_TILE_BY_PLACE | GC_TILE_SHORTS>, SIDE, SIDE, SPAN, SIDE,
     turned_row_floats},
    {turned_columns, SIDE, SIDE, SIDE, SPAN, turned_column_floats},
    "blocks 32x32, rows and transposed columns with factor 21",
    check_shorts,
};
static const gc_two_passes kth_passes = gc_two_kernels<kth_lines>();
static const gc_two_passes turned_passes = gc_two_kernels<turned_lines>();
static const gc_step_method kth_method = gc_twopass_method<kth_passes>();
static const gc_step_method turned_method = gc_twopass_method<turned_passes>();

GC_OPERATIONS(gc_twopass_kth_operations, gc_step_operations<kth_method>());
GC_OPERATIONS(gc_twopass_transposed_operations, gc_step_operations<turned_method>());
