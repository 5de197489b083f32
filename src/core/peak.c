/* The peak rate of a device. */
#include "base/sized.h"
#include "core/device.h"

double gc_device_peak(const gconv_device_info *info)
{
    if (info->kind == GCONV_DEVICE_CPU)
        return 0;
    /* Float32 lanes a multiprocessor: 64 up to compute capability 8.0, 128 later (CUDA C++
     * Programming Guide, arithmetic instructions). */
    bool half = info->compute_major < 8 || (info->compute_major == 8 && info->compute_minor == 0);
    return 2.0 * (half ? 64 : 128) * info->processors * info->clock_khz * 1e3;
}

double gconv_device_peak(const gconv_device_info *given)
{
    gconv_device_info info = gconv_device_info_default();
    gconv_status status = gc_sized_read(given, "gconv_device_info", &info, sizeof info, NULL);
    return status == GCONV_OK ? gc_device_peak(&info) : 0;
}
