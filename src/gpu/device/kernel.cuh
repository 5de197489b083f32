/* What comes before a launch: what a kernel has to be told, and memory for it. */
#pragma once

#include "gpu/device/check.cuh"

/* Lets a kernel use all the shared memory that the device gives a block. Without this call a kernel
 * gets 48 KiB. */
static inline gconv_status gc_gpu_opt_in(const void *kernel, const gconv_device_info *device,
                                         gconv_error *error)
{
    GC_CUDA_TRY(error, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)device->shared_per_block_optin));
    return GCONV_OK;
}

/* Sets *blocks to those of a kernel that the device holds at once, 1 at least. */
static inline gconv_status gc_gpu_resident(const void *kernel, int threads, size_t shared_bytes,
                                           const gconv_device_info *device, int *blocks,
                                           gconv_error *error)
{
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads,
                                                                     shared_bytes));
    *blocks = *blocks > 0 ? *blocks * device->processors : 1;
    return GCONV_OK;
}

/* Copies `bytes` bytes to new memory of the device, which cudaFree frees, after a failure, too. */
template <class type>
static inline gconv_status gc_gpu_upload(const void *from, size_t bytes, type **memory,
                                         gconv_error *error)
{
    GC_CUDA_TRY(error, cudaMalloc(memory, bytes));
    GC_CUDA_TRY(error, cudaMemcpy(*memory, from, bytes, cudaMemcpyHostToDevice));
    return GCONV_OK;
}
