/* Memory of the host that devices copy from and to by themselves. */
#include "core/gpu.h"
#include "gpu/device/check.cuh"

gconv_status gc_gpu_pin(void *memory, size_t bytes, gconv_error *error)
{
    if (gc_gpu_count() == 0)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s", gconv_cuda_reason());
    cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    if (code == cudaErrorHostMemoryAlreadyRegistered) {
        cudaGetLastError();
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "the memory, or a part of it, is registered");
    }
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}

void gc_gpu_unpin(void *memory)
{
    if (gc_gpu_count() > 0)
        cudaHostUnregister(memory);
    cudaGetLastError();
}
