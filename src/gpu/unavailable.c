/* The GPU part of a build without CUDA: it has no devices, and says why. */
#include "core/gpu.h"
#include "gpu/tune/tune.h"

#include "base/status.h"

#include <math.h>

int gc_gpu_count(void)
{
    return 0;
}

const char *gconv_cuda_reason(void)
{
    return "this gconv was built without CUDA";
}

static gconv_status fail(gconv_error *error)
{
    return gc_fail(error, GCONV_ERROR_DEVICE, "%s", gconv_cuda_reason());
}

gconv_status gc_gpu_describe(int index, gconv_device_info *info, gconv_error *error)
{
    (void)info;
    return gc_fail(error, GCONV_ERROR_DEVICE, "there is no device cuda:%d: %s", index,
                   gconv_cuda_reason());
}

bool gc_gpu_works(int index)
{
    (void)index;
    return false;
}

gconv_status gc_gpu_pin(void *memory, size_t bytes, gconv_error *error)
{
    (void)memory, (void)bytes;
    return fail(error);
}

void gc_gpu_unpin(void *memory)
{
    (void)memory;
}

void gc_gpu_start(uint64_t devices)
{
    (void)devices;
}

void gconv_device_await(void)
{
}

bool gconv_device_is_starting(void)
{
    return false;
}

bool gc_gpu_started(void)
{
    return false;
}

bool gc_gpu_ready(void)
{
    return true;
}

void gconv_gpu_clock(int index, double *megahertz, double *celsius)
{
    (void)index;
    *megahertz = *celsius = 0;
}

gconv_status gconv_gpu_lines_create(int index, const float *numbers, size_t count,
                                    gconv_gpu_lines **lines, gconv_error *error)
{
    (void)index, (void)numbers, (void)count;
    *lines = NULL;
    return fail(error);
}

void gconv_gpu_lines_free(gconv_gpu_lines *lines)
{
    (void)lines;
}

gconv_status gconv_gpu_lines_plan(gconv_gpu_lines *lines, int points, gconv_error *error)
{
    (void)lines, (void)points;
    return fail(error);
}

gconv_status gconv_gpu_lines_pass(gconv_gpu_lines *lines, double *seconds, gconv_error *error)
{
    (void)lines, (void)seconds;
    return fail(error);
}

gconv_status gconv_gpu_lines_read(const gconv_gpu_lines *lines, size_t first, size_t count,
                                  float *numbers, gconv_error *error)
{
    (void)lines, (void)first, (void)count, (void)numbers;
    return fail(error);
}

int gconv_nvrtc_version(void)
{
    return 0;
}

gconv_status gc_tuner_create(const gconv_device_info *device, gc_tuner **tuner, int *side,
                             gconv_error *error)
{
    (void)device, (void)tuner, (void)side;
    return fail(error);
}

gconv_status gc_tuner_search(gc_tuner *tuner, const gc_layout *layout,
                             gconv_tuning_goes_on *goes_on, void *user, gconv_tuning_result *result,
                             gc_tuned *best, gconv_error *error)
{
    (void)tuner, (void)layout, (void)goes_on, (void)user, (void)result, (void)best;
    return fail(error);
}

void gc_tuner_destroy(gc_tuner *tuner)
{
    (void)tuner;
}

#if !GC_HAS_FAST /* gpu/cost is not there */
double gc_gpu_least_seconds(const gc_problem *problem, double cpu_seconds)
{
    (void)problem, (void)cpu_seconds;
    return HUGE_VAL;
}
#endif
