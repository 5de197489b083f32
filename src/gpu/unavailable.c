/* The GPU part of a build without CUDA: no devices, and the reason. */
#include "gpu/gpu.h"

#include "core/status.h"

int gc_gpu_count(void)
{
    return 0;
}

const char *gc_gpu_reason(void)
{
    return "this gconv was built without CUDA";
}

gconv_status gc_gpu_describe(int index, gconv_device_info *info, gconv_error *error)
{
    (void)info;
    return gc_fail(error, GCONV_ERROR_DEVICE, "there is no device cuda:%d: %s", index,
                   gc_gpu_reason());
}
