/* twopass:lecture and twopass:lecture1d: filters of rank 1 as in the lecture of Abramov 2011.
 *
 * Idea: blocks of 16x16 threads load their pixels and the apron of one direction, and a thread
 *   computes one output ("Filter separation"). The optimised version writes the array in shared
 *   memory with one dimension in place of two ("Reorganize shared memory").
 * Variants: twopass:lecture has an array of two dimensions with rows of a fixed length,
 *   twopass:lecture1d one of one dimension with rows as long as the filter needs.
 * Improves on: const, if the filter is large enough for two passes over memory.
 * Needs: (F_w + 15) * 16 and 16 * (F_h + 15) floats of shared memory; a plane of the device's
 *   memory for the values between the passes.
 * Limits: those of twopass; twopass:lecture takes filters of at most 49 columns.
 * Loses: to twopass, whose threads compute several outputs. */
#include "gpu/methods/ladder/twopass.cuh"

enum { SIDE = 16, FIXED_PITCH = 64 };

template <bool FLAT> static __global__ void lecture_rows(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    int left = (int)(blockIdx.x % columns) * SIDE, top = (int)(blockIdx.x / columns) * SIDE;
    int pitch = FLAT ? SIDE + step.filter_width - 1 : (int)FIXED_PITCH;
    gc_load_block<false>(pixels, pitch, SIDE + step.filter_width - 1, SIDE,
                         step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left,
                         step.input_pitch, step.width - left + step.filter_width - 1,
                         step.height - top);
    int x = left + (int)threadIdx.x, y = top + (int)threadIdx.y;
    if (x >= step.width || y >= step.height)
        return;
    const float(*rows)[FIXED_PITCH] = (const float(*)[FIXED_PITCH])pixels;
    float sum = 0;
    for (int i = 0; i < step.filter_width; i++)
        sum += (FLAT ? pixels[(int)threadIdx.y * pitch + (int)threadIdx.x + i]
                     : rows[threadIdx.y][(int)threadIdx.x + i]) *
               gc_filter[i];
    step.output[blockIdx.y * step.output_plane + y * step.output_pitch + x] = sum;
}

static __global__ void lecture_columns(gc_gpu_step step, unsigned columns)
{
    extern __shared__ float pixels[];
    int left = (int)(blockIdx.x % columns) * SIDE, top = (int)(blockIdx.x / columns) * SIDE;
    gc_load_block<false>(pixels, SIDE, SIDE, SIDE + step.filter_height - 1,
                         step.input + blockIdx.y * step.input_plane + top * step.input_pitch + left,
                         step.input_pitch, step.width - left,
                         step.height - top + step.filter_height - 1);
    int x = left + (int)threadIdx.x, y = top + (int)threadIdx.y;
    if (x >= step.width || y >= step.height)
        return;
    float sum = 0;
    for (int j = 0; j < step.filter_height; j++)
        sum += pixels[((int)threadIdx.y + j) * SIDE + (int)threadIdx.x] *
               gc_filter[step.filter_width + j];
    step.output[blockIdx.y * step.output_plane + y * step.output_pitch + x] = sum;
}

template <bool FLAT> static int row_floats(int filter_width, int)
{
    return (FLAT ? SIDE + filter_width - 1 : (int)FIXED_PITCH) * SIDE;
}

static int column_floats(int, int filter_height)
{
    return (SIDE + filter_height - 1) * SIDE;
}

template <bool FLAT>
static const gc_line_kernels lines = {
    {lecture_rows<FLAT>, SIDE, SIDE, SIDE, SIDE, row_floats<FLAT>},
    {lecture_columns, SIDE, SIDE, SIDE, SIDE, column_floats},
    FLAT ? (int)GCONV_FILTER_SIDE_MAX : FIXED_PITCH - SIDE + 1,
    "blocks 16x16, one output a thread",
};
static const gc_two_passes two_dimensions = gc_two_kernels<lines<false>>();
static const gc_two_passes one_dimension = gc_two_kernels<lines<true>>();
static const gc_step_method lecture = gc_twopass_method<two_dimensions>();
static const gc_step_method lecture1d = gc_twopass_method<one_dimension>();

GC_OPERATIONS(gc_twopass_lecture_operations, gc_step_operations<lecture>());
GC_OPERATIONS(gc_twopass_lecture1d_operations, gc_step_operations<lecture1d>());
