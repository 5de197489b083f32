/* The tuner's planes on a device. There are so many that no cache holds a plane until it is used
 * again. */
#include "gpu/tune/tuner.cuh"

#include "gpu/device/check.cuh"

gc_tuner_view gc_tuner_crop(const gc_tuner *tuner)
{
    return {GC_TUNER_CROP_WIDTH, GC_TUNER_CROP_HEIGHT, GC_TUNER_CROP_WIDTH + 3, tuner->expected};
}

gc_tuner_view gc_tuner_plane(const gc_tuner *tuner)
{
    return {tuner->side, tuner->side, tuner->side,
            tuner->expected + GC_TUNER_CROP_WIDTH * GC_TUNER_CROP_HEIGHT};
}

size_t gc_tuner_sample_bytes(gc_sample_type type)
{
    return type == GC_FLOAT ? sizeof(float) : 1;
}

/* Sets of planes: as many as exceed twice the cache, and the set in use. */
static int sets_for(const gconv_device_info *device, int side)
{
    uint64_t set = 2ull * (uint64_t)side * (uint64_t)side * sizeof(float);
    return (int)(2 * device->l2_bytes / set) + 2;
}

/* Chooses the largest planes that leave half of the device's free memory. */
static gconv_status choose_planes(gc_tuner *tuner, gconv_error *error)
{
    size_t available = 0, total = 0;
    GC_CUDA_TRY(error, cudaMemGetInfo(&available, &total));
    for (tuner->side = GC_TUNER_SIDE_MAX; tuner->side >= GC_TUNER_SIDE_MIN; tuner->side /= 2) {
        size_t plane = (size_t)tuner->side * (size_t)tuner->side * sizeof(float);
        tuner->sets = sets_for(&tuner->device, tuner->side);
        if ((size_t)(2 * tuner->sets + 2) * plane <= available / 2)
            return GCONV_OK;
    }
    return gc_fail(error, GCONV_ERROR_MEMORY, "%.0f MiB of free memory on %s are not enough",
                   (double)available / (1 << 20), tuner->device.name);
}

static gconv_status allocate(gc_tuner *tuner, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaSetDevice(tuner->device.index));
    GC_TRY(choose_planes(tuner, error));
    size_t samples = (size_t)tuner->side * (size_t)tuner->side;
    size_t bytes = (size_t)tuner->sets * samples * sizeof(float);
    GC_CUDA_TRY(error, cudaMalloc(&tuner->inputs, bytes));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->outputs, bytes));
    GC_CUDA_TRY(
        error, cudaMalloc(&tuner->expected,
                          (samples + GC_TUNER_CROP_WIDTH * GC_TUNER_CROP_HEIGHT) * sizeof(double)));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->taps,
                                  GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX * sizeof(double)));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->weights,
                                  GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX * sizeof(float)));
    GC_CUDA_TRY(error, cudaMalloc(&tuner->wrong, sizeof *tuner->wrong));
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&tuner->stream, cudaStreamNonBlocking));
    for (gc_owned_event &event : tuner->events)
        GC_CUDA_TRY(error, cudaEventCreate(&event));
    return GCONV_OK;
}

gconv_status gc_tuner_create(const gconv_device_info *device, gc_tuner **tuner, int *side,
                             gconv_error *error)
{
    gc_tuner *made;
    GC_TRY(gc_make(&made, tuner, error));
    made->device = *device;
    gconv_status status = allocate(made, error);
    *side = made->side;
    if (status != GCONV_OK) {
        gc_tuner_destroy(made);
        *tuner = nullptr;
    }
    return status;
}

void gc_tuner_destroy(gc_tuner *tuner)
{
    if (tuner == nullptr)
        return;
    gc_free<gc_tuner>(tuner);
    cudaGetLastError();
}
