/* Where libgconv and its CUDA module meet. The module, libgconv-cuda.so, is all of the GPU part
 * that needs CUDA. load.c, which is in libgconv, loads it when a GPU is wanted first. Both sides
 * define the functions that are listed here: those of libgconv call those of the module, or say why
 * there is none.
 *
 * The module has copies of its own of what it needs of base, core and filter. They keep no state
 * that libgconv would have to share. What does keep some is called through gc_cuda_host. */
#pragma once

#include "base/threads.h"
#include "core/gpu.h"
#include "gpu/tune/tune.h"

/* The functions of core/gpu.h, gconv.h, gconv_lab.h and gpu/tune/tune.h that the module defines. */
#define GC_CUDA_FUNCTIONS(X)                                                                       \
    X(gc_gpu_count)                                                                                \
    X(gc_gpu_describe)                                                                             \
    X(gc_gpu_operations)                                                                           \
    X(gc_gpu_works)                                                                                \
    X(gc_gpu_pin)                                                                                  \
    X(gc_gpu_unpin)                                                                                \
    X(gc_gpu_start)                                                                                \
    X(gc_gpu_started)                                                                              \
    X(gc_gpu_ready)                                                                                \
    X(gconv_cuda_reason)                                                                           \
    X(gconv_device_await)                                                                          \
    X(gconv_device_is_starting)                                                                    \
    X(gconv_nvrtc_version)                                                                         \
    X(gconv_gpu_lines_create)                                                                      \
    X(gconv_gpu_lines_free)                                                                        \
    X(gconv_gpu_lines_plan)                                                                        \
    X(gconv_gpu_lines_pass)                                                                        \
    X(gconv_gpu_lines_read)                                                                        \
    X(gc_tuner_create)                                                                             \
    X(gc_tuner_search)                                                                             \
    X(gc_tuner_destroy)

/* What the module calls of the library that has loaded it. */
typedef struct gc_cuda_host {
    __typeof__(gc_team_run) *team_run;
} gc_cuda_host;

/* The one symbol of the module, gc_cuda_module. The first two members stand first in every version:
 * the others are looked at only if these two are those of the library. */
typedef struct gc_cuda_table {
    const char *version;                     /* gconv_version */
    const char *interface;                   /* GC_INTERFACE */
    const char *built;                       /* by which CUDA, and for which GPUs */
    void (*enter)(const gc_cuda_host *host); /* called before any other function */
#define GC_CUDA_POINTER(name) __typeof__(name) *name;
    GC_CUDA_FUNCTIONS(GC_CUDA_POINTER)
#undef GC_CUDA_POINTER
} gc_cuda_table;
