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
#include "gpu/device/kernel.cuh"
#include "gpu/methods/ladder/twopass.cuh"

extern "C" {
#include "base/status.h"
}

#include <cstdio>

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

template <bool FLAT>
static gconv_status check(const gc_problem *problem, const gc_step *step,
                          const gconv_device_info *device, gconv_error *error)
{
    (void)problem, (void)device;
    const int most = FIXED_PITCH - SIDE + 1;
    if (!FLAT && step->width > most)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a filter of %d columns is wider than the %d that its array has room for",
                       step->width, most);
    return GCONV_OK;
}

template <bool FLAT>
static gconv_status prepare_kernels(const gc_problem *problem, const gc_step *step,
                                    const gconv_device_info *device, void **kernels,
                                    gconv_error *error)
{
    (void)problem, (void)step, (void)kernels;
    GC_TRY(gc_gpu_opt_in((const void *)lecture_rows<FLAT>, device, error));
    return gc_gpu_opt_in((const void *)lecture_columns, device, error);
}

template <bool FLAT>
static gconv_status run(void *kernels, const gc_gpu_step &rows, const gc_gpu_step &columns,
                        const float *weights, cudaStream_t stream, gconv_error *error)
{
    (void)kernels;
    gc_gpu_grid row_grid = gc_gpu_grid_of(rows, SIDE, SIDE);
    gc_gpu_grid column_grid = gc_gpu_grid_of(columns, SIDE, SIDE);
    int pitch = FLAT ? SIDE + rows.filter_width - 1 : (int)FIXED_PITCH;
    size_t row_bytes = (size_t)pitch * SIDE * sizeof(float);
    size_t column_bytes = (size_t)(SIDE + columns.filter_height - 1) * SIDE * sizeof(float);
    auto row_kernel = lecture_rows<FLAT>;
    GC_TRY(gc_weights_lock(rows, weights, stream, error));
    row_kernel<<<row_grid.blocks, dim3(SIDE, SIDE), row_bytes, stream>>>(rows, row_grid.columns);
    lecture_columns<<<column_grid.blocks, dim3(SIDE, SIDE), column_bytes, stream>>>(
        columns, column_grid.columns);
    return gc_constant_unlock(stream, error);
}

static void describe(const void *kernels, char *text, size_t size)
{
    (void)kernels;
    snprintf(text, size, "blocks %dx%d, one output a thread", (int)SIDE, (int)SIDE);
}

static void spans(const void *kernels, double *row, double *column)
{
    (void)kernels;
    *row = *column = SIDE;
}

static const gc_two_passes two_dimensions = {
    check<false>, prepare_kernels<false>, nullptr, run<false>, describe, spans};
static const gc_two_passes one_dimension = {
    check<true>, prepare_kernels<true>, nullptr, run<true>, describe, spans};
static const gc_step_method lecture = gc_twopass_method<two_dimensions>();
static const gc_step_method lecture1d = gc_twopass_method<one_dimension>();

extern "C" {
extern const gc_operations gc_twopass_lecture_operations, gc_twopass_lecture1d_operations;
const gc_operations gc_twopass_lecture_operations = gc_step_operations<lecture>();
const gc_operations gc_twopass_lecture1d_operations = gc_step_operations<lecture1d>();
}
