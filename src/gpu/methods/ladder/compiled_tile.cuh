/* Kernels of the ladder that are compiled at run time: tiles (tile_kernel.cuh), for a block that is
 * not built in or for one size of filter, and the kernels of the lecture. */
#pragma once

#include "gpu/jit/modules.cuh"
#include "gpu/plan/method.cuh"

extern "C" {
#include "gpu/tunings/tiling.h"
}

/* Flags of a tile that the compiler knows: see tile_kernel.cuh. */
enum {
    GC_TILE_DOWN = 1, /* tiles lie one below the other, not side by side */
    GC_TILE_READ_ONLY = 2,
    GC_TILE_BY_PLACE = 4,
    GC_TILE_IDLE = 8,
    GC_TILE_SHORTS = 16,        /* shared memory holds integers of 16 bits */
    GC_TILE_GLOBAL_WEIGHTS = 32 /* weights are read from global memory */
};

/* A kernel, which is cached and shared by plans. */
struct gc_compiled_tile {
    gc_tiling tiling;  /* comes first: gc_tiling_describe and others take it */
    int width, height; /* of the filters that it takes; 0: of any size, loops are not unrolled */
    int flags;
    int weight_count; /* 0: as many as the step's filter has */
    gc_gpu_kernel *kernel;
    void *weights; /* device: the kernel's constant memory */
};

/* The kernels of two passes. */
struct gc_compiled_pair {
    gc_compiled_tile first, second;
};

/* Compiles the kernel for what *tile says, or takes it from the cache. gc_compiled_release frees
 * it, after a failure, too. */
gconv_status gc_compiled_create(const gconv_device_info *device, gc_jit_when when,
                                gc_compiled_tile *tile, gconv_error *error);
void gc_compiled_release(gc_compiled_tile *tile);

/* Releases of a tile and of a pair that a method has made as its state. */
void gc_compiled_free(void *tile);
void gc_compiled_free_pair(void *pair);

/* The same for any text with a kernel gc_ladder_kernel and weights gc_ladder_weights, in a block of
 * `tile->tiling`. */
gconv_status gc_compiled_load(const gconv_device_info *device, gc_jit_when when, const char *source,
                              gc_compiled_tile *tile, gconv_error *error);

/* Convolves with the weights at device address step.taps. If the tile has a size, the filter has
 * the same. */
gconv_status gc_compiled_launch(const gc_compiled_tile &tile, const gc_gpu_step &step,
                                cudaStream_t stream, gconv_error *error);

/* The time of a step by its share of the multiply-adds, a member of gc_costs. */
template <double gc_costs::*share>
double gc_compiled_seconds(const gc_problem *problem, const gc_step *step,
                           const gconv_device_info *device)
{
    return gc_cost_of_step(problem, step, device, gc_costs_of(device)->*share);
}
