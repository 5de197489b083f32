/* Kernels that were compiled at run time, on the device. */
#pragma once

#include "gpu/jit/jit.h"

#include <cuda_runtime.h>

/* A kernel in a module of its own, loaded on the device that was current. Different threads may
 * launch it at the same time. */
struct gc_gpu_kernel;

/* Finds `source` in the cache or compiles it (see gc_jit_binary), loads it on
 * `device`, which is current, and finds its extern "C" kernel `name`. *kernel is null on failure.
 */
gconv_status gc_jit_create(const gconv_device_info *device, const char *source, const char *name,
                           gc_jit_when when, gc_gpu_kernel **kernel, gconv_error *error);

/* Lets other threads wait before they load a kernel, until it is called again with false. */
void gc_jit_hold_loads(bool hold);

/* Launches in stream order. `arguments` has a pointer to each argument of the kernel. As after
 * <<<>>>, a later call reports failures of the kernel itself. */
gconv_status gc_jit_launch(const gc_gpu_kernel *kernel, dim3 grid, dim3 block,
                           unsigned shared_bytes, cudaStream_t stream, void **arguments,
                           gconv_error *error);

/* Sets *memory to the device address of a variable of the kernel's text. */
gconv_status gc_jit_symbol(const gc_gpu_kernel *kernel, const char *name, void **memory,
                           gconv_error *error);

/* Lets a launch have this much dynamic shared memory. Without this call a launch gets 48 KiB. */
gconv_status gc_jit_opt_in_shared(gc_gpu_kernel *kernel, unsigned bytes, gconv_error *error);

/* Sets *blocks to the blocks of `threads` with `shared_bytes` of dynamic shared memory that a
 * multiprocessor holds at the same time. */
gconv_status gc_jit_resident(const gc_gpu_kernel *kernel, int threads, unsigned shared_bytes,
                             int *blocks, gconv_error *error);

/* Gives the kernel back. The device has to be current, and launches have to be done. `kernel` may
 * be null. A kernel that other plans may share stays loaded until gc_jit_unload_unused; one that
 * was made with GC_JIT_UNKEPT is unloaded now. */
void gc_jit_destroy(gc_gpu_kernel *kernel);

void gc_jit_unload_unused();
