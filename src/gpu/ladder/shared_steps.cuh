/* What several methods share. */
#ifndef GC_GPU_LADDER_SHARED_STEPS_CUH
#define GC_GPU_LADDER_SHARED_STEPS_CUH

#include "gpu/runtime/method.cuh"

extern "C" {
#include "gpu/ladder/tiling.h"
}

/* ---- Expected times -------------------------------------------------------------------------- */

/* Seconds of a step that reaches `share` of the device's multiply-add peak, or its bandwidth: the
 * roofline (van Werkhoven et al. 2014, section 2). A step reads and writes every value, and its
 * border's scratch image does the same once more. */
double gc_gpu_seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device, double share);

/* Seconds of a pass that crosses memory `crossings` times and takes `products` multiply-adds a value at
 * `share` of the device's peak: whichever is longer, since a pass does both at once. */
double gc_pass_seconds(const gc_problem *problem, int crossings, double products,
                       const gconv_device_info *device, double share);

/* ---- Shared memory --------------------------------------------------------------------------- */

/* GCONV_ERROR_UNSUPPORTED with the figures where a block wants more than the device has. */
gconv_status gc_gpu_check_shared(const gc_tiling *tiling, const gconv_device_info *device,
                                 gconv_error *error);

/* Lets a kernel have all the shared memory that the device gives a block; unasked it gets 48 KiB.
 */
gconv_status gc_gpu_opt_in(const void *kernel, const gconv_device_info *device, gconv_error *error);

/* The thread block that --block asks for, else the method's own. */
void gc_gpu_block(const gc_problem *problem, gc_tiling *tiling);

/* One tile a block of 32x16 threads or what --block asks for, its rows not padded. */
gc_tiling gc_block_tiling(const gc_problem *problem, const gc_step *step);

/* A step's state where a tiling is all there is; freed with free. */
gconv_status gc_tiling_create(const gc_tiling *tiling, void **state, gconv_error *error);
/* Equations 1 and 2 of van Werkhoven et al. 2014. */
double gc_tiling_intensity(const void *state, const gc_step *step);
void gc_tiling_describe(const void *state, char *text, size_t size);

/* ---- The filter in constant memory ----------------------------------------------------------- */

/* What one kernel's constant memory holds: 64 KB (CUDA C++ Programming Guide, compute
 * capabilities), all of it for weights. */
enum { GC_CONSTANT_TAPS = 16384 };

/* GCONV_ERROR_UNSUPPORTED where the filter is larger. */
gconv_status gc_gpu_check_constant(const gc_step *step, gconv_error *error);

/* Copies `count` weights from device memory to the constant memory at `symbol` (its address on the
 * device) in stream order, after the last kernel of any plan that reads what stands there, and
 * keeps other plans out until gc_constant_unlock, which follows the launch. */
gconv_status gc_constant_lock(void *symbol, const float *taps, int count, cudaStream_t stream,
                              gconv_error *error);
gconv_status gc_constant_unlock(cudaStream_t stream, gconv_error *error);

/* ---- Loading a block's pixels ---------------------------------------------------------------- */

#ifdef __CUDACC__
/* Loads `width` x `height` pixels from `input` to shared memory, all threads of the block taking
 * part, several elements each (van Werkhoven et al. 2014, figure 7; KTH 2018, section 3.2). Pixels
 * beyond `columns` and `rows`, where the scratch image ends, are left out: nobody reads them. */
static __device__ inline void gc_load_block(float *shared, int pitch, int width, int height,
                                            const float *input, int64_t input_pitch, int columns,
                                            int rows)
{
    for (int y = (int)threadIdx.y; y < height; y += (int)blockDim.y)
        for (int x = (int)threadIdx.x; x < width; x += (int)blockDim.x)
            if (x < columns && y < rows)
                shared[y * pitch + x] = input[y * input_pitch + x];
    __syncthreads();
}
#endif

#endif
