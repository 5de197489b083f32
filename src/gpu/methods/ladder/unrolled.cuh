/* Tiles of one size with all loops unrolled (unrolled_tile.cuh), compiled at run time. */
#ifndef GC_GPU_METHODS_LADDER_UNROLLED_CUH
#define GC_GPU_METHODS_LADDER_UNROLLED_CUH

#include "gpu/jit/modules.cuh"
#include "gpu/plan/method.cuh"

extern "C" {
#include "gpu/tunings/tiling.h"
}

/* A kernel for filters of one size. It is cached, and plans share it. */
struct gc_unrolled {
    gc_tiling tiling;  /* comes first: gc_tiling_describe and others take it */
    bool down;         /* tiles lie one below the other, not side by side */
    int width, height; /* of the filter */
    gc_gpu_kernel *kernel;
    void *weights; /* device: the kernel's constant memory */
};

/* GCONV_ERROR_UNSUPPORTED if there is no NVRTC. */
gconv_status gc_unrolled_check(const gc_step *step, gconv_error *error);

/* Compiles the kernel for the tiling and the sizes in *unrolled, or takes it from the cache. Sets
 * the pitch and the bytes of the tiling. gc_unrolled_release frees it, after a failure, too. */
gconv_status gc_unrolled_create(const gconv_device_info *device, gc_jit_when when,
                                gc_unrolled *unrolled, gconv_error *error);
void gc_unrolled_release(gc_unrolled *unrolled);

/* Convolves with the weights at device address step.taps. `step` has the filter's size. */
gconv_status gc_unrolled_launch(const gc_unrolled &unrolled, const gc_gpu_step &step,
                                cudaStream_t stream, gconv_error *error);

#endif
