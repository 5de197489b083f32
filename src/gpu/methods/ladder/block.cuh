/* What the steps of the ladder share: a thread block, the tiles that it computes, and the pixels
 * that it loads into shared memory. */
#pragma once

#include "gpu/plan/method.cuh"

extern "C" {
#include "gpu/tunings/tiling.h"
}

/* ---- Grids ----------------------------------------------------------------------------------- */

/* Thread blocks that cover a plane. x counts blocks row by row, since the y dimension of a grid
 * would be too short for tall images. y counts channels. */
struct gc_gpu_grid {
    dim3 blocks;
    unsigned columns; /* blocks in a row */
};

static inline gc_gpu_grid gc_gpu_grid_of(const gc_gpu_step &step, int width, int height)
{
    unsigned columns = (unsigned)((step.width + width - 1) / width);
    unsigned rows = (unsigned)((step.height + height - 1) / height);
    return {dim3(columns * rows, (unsigned)step.channels, 1), columns};
}

/* ---- Tilings --------------------------------------------------------------------------------- */

/* GCONV_ERROR_UNSUPPORTED with the figures if a block wants more than the device has. */
gconv_status gc_tiling_check(const gc_tiling *tiling, const gconv_device_info *device,
                             gconv_error *error);

/* Sets the thread block that --block asks for. Without --block *tiling stays as it is. */
void gc_tiling_take_block(const gc_problem *problem, gc_tiling *tiling);

/* Whether the step reads integers of 16 bits alone: of an exact chain, or samples of 8 bits. */
bool gc_step_reads_shorts(const gc_problem *problem, const gc_step *step);

/* Functions of a gc_step_method whose state begins with a gc_tiling. */
/* Equations 1 and 2 of van Werkhoven et al. 2014. */
double gc_tiling_intensity(const void *state, const gc_step *step);
void gc_tiling_describe(const void *state, char *text, size_t size);
int gc_tiling_factor(const void *state);

/* ---- Loading a block's pixels ---------------------------------------------------------------- */

#ifdef __CUDACC__
/* Loads `width` x `height` pixels from `input` to shared memory. All threads of the block take
 * part, with several elements each (van Werkhoven et al. 2014, figure 7). The extended image ends
 * after `columns` and `rows`. Pixels beyond are left out: no output needs them. */
template <bool READ_ONLY, class pixel>
static __device__ inline void gc_load_block(pixel *shared, int pitch, int width, int height,
                                            const float *input, int64_t input_pitch, int columns,
                                            int rows)
{
    for (int y = (int)threadIdx.y; y < height; y += (int)blockDim.y)
        for (int x = (int)threadIdx.x; x < width; x += (int)blockDim.x)
            if (x < columns && y < rows)
                shared[y * pitch + x] = (pixel)(READ_ONLY ? __ldg(&input[y * input_pitch + x])
                                                          : input[y * input_pitch + x]);
    __syncthreads();
}
#endif
