#include "gpu/plan/plan.cuh"

#include "gpu/device/check.cuh"
#include "gpu/device/device.cuh"
#include "gpu/device/owned.cuh"
#include "gpu/plan/pool.cuh"

extern "C" {
#include "gpu/cost/measured.h"
}

#include <algorithm>
#include <atomic>

/* Bytes of a copy from or to the host. A copy of 4 MiB is about as fast as a large one: the 5 us to
 * begin it are a twentieth of its time. */
enum { HOST_COPY_BYTES = 4 << 20 };

/* Bytes of a copy within the device at most: twice this is beyond any cache. */
enum { DEVICE_COPY_BYTES_MAX = 128 << 20 };

/* The first of them warms up; the fastest counts. */
enum { COPIES = 4 };

/* What a measurement holds. */
struct copy_bench {
    gc_owned_stream stream;
    gc_owned_event begin, end;
    gc_owned<gc_host_buffer *, gc_host_give> host; /* pinned */
    gc_owned_memory<char> device;                  /* two blocks */
    size_t block;                                  /* bytes */
};

static gconv_status take(copy_bench *bench, const gconv_device_info *device, gconv_error *error)
{
    uint64_t share = std::min<uint64_t>(device->memory_bytes / 64, DEVICE_COPY_BYTES_MAX);
    bench->block = std::max<size_t>((size_t)share, HOST_COPY_BYTES);
    bench->host.held = gc_host_take(HOST_COPY_BYTES, device->index);
    if (bench->host == nullptr || !bench->host.held->pinned)
        return gc_fail_memory(error, HOST_COPY_BYTES);
    GC_CUDA_TRY(error, cudaStreamCreateWithFlags(&bench->stream, cudaStreamNonBlocking));
    GC_CUDA_TRY(error, cudaEventCreate(&bench->begin));
    GC_CUDA_TRY(error, cudaEventCreate(&bench->end));
    GC_CUDA_TRY(error, cudaMalloc(&bench->device, 2 * bench->block));
    return GCONV_OK;
}

/* Sets *rate to the bytes a second of the fastest copy. */
static gconv_status time_copies(const copy_bench *bench, void *to, const void *from, size_t bytes,
                                cudaMemcpyKind kind, double *rate, gconv_error *error)
{
    *rate = 0;
    for (int copy = 0; copy < COPIES; copy++) {
        float milliseconds = 0;
        GC_CUDA_TRY(error, cudaEventRecord(bench->begin, bench->stream));
        GC_CUDA_TRY(error, cudaMemcpyAsync(to, from, bytes, kind, bench->stream));
        GC_CUDA_TRY(error, cudaEventRecord(bench->end, bench->stream));
        GC_CUDA_TRY(error, cudaEventSynchronize(bench->end));
        GC_CUDA_TRY(error, cudaEventElapsedTime(&milliseconds, bench->begin, bench->end));
        if (copy > 0 && milliseconds > 0)
            *rate = std::max(*rate, (double)bytes / (1e-3 * (double)milliseconds));
    }
    return GCONV_OK;
}

static gconv_status time_all(const gconv_device_info *device, gc_measured *figures,
                             gconv_error *error)
{
    copy_bench made = {}, *bench = &made;
    GC_TRY(take(bench, device, error));
    GC_TRY(time_copies(bench, bench->device, bench->host.held->bytes, HOST_COPY_BYTES,
                       cudaMemcpyHostToDevice, &figures->pinned_upload_rate, error));
    GC_TRY(time_copies(bench, bench->host.held->bytes, bench->device, HOST_COPY_BYTES,
                       cudaMemcpyDeviceToHost, &figures->pinned_download_rate, error));
    GC_TRY(time_copies(bench, bench->device + bench->block, bench->device, bench->block,
                       cudaMemcpyDeviceToDevice, &figures->memory_rate, error));
    figures->memory_rate *= 2; /* every byte is read and written */
    return GCONV_OK;
}

/* The process ends its context when it exits, which takes about as long as making it and cannot be
 * timed. A context that was there already says nothing. */
static double start_seconds(double context_seconds)
{
    static const double shortest = 0.01;
    return context_seconds > shortest ? gc_device_discovery_seconds() + 2 * context_seconds : 0;
}

static std::atomic<bool> done[GCONV_DEVICES_MAX];

void gc_measure_device(const gconv_device_info *device, double context_seconds)
{
    if (gc_costs_are_measured(device) || done[device->index].exchange(true))
        return;
    gc_measured figures = {};
    figures.start_seconds = start_seconds(context_seconds);
    gconv_error error;
    if (time_all(device, &figures, &error) == GCONV_OK)
        gc_measured_keep(device, &figures);
    cudaGetLastError();
}
