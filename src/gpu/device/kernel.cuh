/* What kernels have to be told before they are launched. */
#ifndef GC_GPU_DEVICE_KERNEL_CUH
#define GC_GPU_DEVICE_KERNEL_CUH

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

#endif
