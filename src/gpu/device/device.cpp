/* Finds and describes CUDA devices. */
#include "gpu/device/device.cuh"

#include "core/gpu.h"

extern "C" {
#include "base/clock.h"
#include "base/status.h"
#include "gpu/cost/costs.h"
}

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>

/* Found once: asking the driver again costs time and cannot change the answer. */
static struct {
    int count;
    char reason[256];
    double seconds;
} found;

static void discover()
{
    double begin = gc_seconds();
    cudaError_t status = cudaGetDeviceCount(&found.count);
    if (status != cudaSuccess) {
        found.count = 0;
        /* Without any driver CUDA reports a driver that is too old. */
        int driver = 0;
        bool none = status == cudaErrorInsufficientDriver &&
                    cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
        snprintf(found.reason, sizeof found.reason, "%s",
                 none ? "no NVIDIA driver found" : cudaGetErrorString(status));
    } else if (found.count == 0) {
        snprintf(found.reason, sizeof found.reason, "no CUDA device found");
    }
    found.count = std::min(found.count, (int)GCONV_DEVICES_MAX);
    cudaGetLastError();
    found.seconds = gc_seconds() - begin;
}

int gc_gpu_count(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, discover);
    return found.count;
}

double gc_device_discovery_seconds()
{
    return gc_gpu_count() > 0 ? found.seconds : 0;
}

const char *gconv_cuda_reason(void)
{
    return gc_gpu_count() == 0 ? found.reason : "";
}

/* A device attribute, 0 if the driver does not know it. */
static int attribute(cudaDeviceAttr name, int index)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, name, index) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return value;
}

static void describe_limits(int index, const cudaDeviceProp &properties, gconv_device_info *info)
{
    info->compute_major = properties.major;
    info->compute_minor = properties.minor;
    info->processors = properties.multiProcessorCount;
    info->memory_bytes = properties.totalGlobalMem;
    info->l2_bytes = (uint64_t)properties.l2CacheSize;
    info->constant_bytes = properties.totalConstMem;
    info->shared_per_block = properties.sharedMemPerBlock;
    info->shared_per_block_optin = properties.sharedMemPerBlockOptin;
    info->shared_per_processor = properties.sharedMemPerMultiprocessor;
    info->registers_per_block = properties.regsPerBlock;
    info->registers_per_processor = properties.regsPerMultiprocessor;
    info->threads_per_processor = properties.maxThreadsPerMultiProcessor;
    info->threads_per_block = properties.maxThreadsPerBlock;
    info->blocks_per_processor = properties.maxBlocksPerMultiProcessor;
    info->warp_size = properties.warpSize;
    info->memory_bus_bits = properties.memoryBusWidth;
    info->clock_khz = attribute(cudaDevAttrClockRate, index);
    info->memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, index);
    /* Double data rate: two transfers a clock, bus bits over 8 bytes each. */
    info->memory_bandwidth = 2.0 * 1e3 * info->memory_clock_khz * info->memory_bus_bits / 8;
}

static void describe(int index, gconv_device_info *info)
{
    memset(info, 0, sizeof *info);
    info->kind = GCONV_DEVICE_CUDA;
    info->index = index;
    cudaDeviceProp properties;
    cudaError_t status = cudaGetDeviceProperties(&properties, index);
    if (status != cudaSuccess) {
        snprintf(info->name, sizeof info->name, "cuda:%d", index);
        snprintf(info->reason, sizeof info->reason, "%s", cudaGetErrorString(status));
        cudaGetLastError();
        return;
    }
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    describe_limits(index, properties, info);
    cudaDriverGetVersion(&info->driver_version);
    cudaRuntimeGetVersion(&info->runtime_version);
    info->measured = gc_costs_are_measured(info);
    info->usable = true;
}

/* The descriptions of the usable devices. Every choice of an implementation asks several times. */
static gconv_device_info known[GCONV_DEVICES_MAX];
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;

gconv_status gc_gpu_describe(int index, gconv_device_info *info, gconv_error *error)
{
    if (index < 0 || index >= gc_gpu_count())
        return gc_fail(error, GCONV_ERROR_DEVICE, "there is no device cuda:%d: %s", index,
                       gc_gpu_count() == 0 ? found.reason : "its number is too high");
    pthread_mutex_lock(&known_mutex);
    if (!known[index].usable)
        describe(index, &known[index]);
    *info = known[index];
    pthread_mutex_unlock(&known_mutex);
    return GCONV_OK;
}

/* ---- Starting in the background -------------------------------------------------------------- */

static std::atomic<bool> started; /* a device has */
static std::atomic<bool> has_context[GCONV_DEVICES_MAX];

void gc_device_note_started(int index)
{
    has_context[index] = true;
    started = true;
}

bool gc_device_has_started(int index)
{
    return has_context[index];
}

bool gc_gpu_started(void)
{
    return started;
}

static struct {
    pthread_mutex_t lock;
    bool runs; /* the thread was created; nobody has joined it yet */
    pthread_t thread;
    uint64_t devices;
    std::atomic<bool> begun, done;
} start = {PTHREAD_MUTEX_INITIALIZER, false, {}, 0, {false}, {false}};

/* Seconds that making a context took in the background. */
static std::atomic<double> context_seconds[GCONV_DEVICES_MAX];

double gc_device_context_seconds(int index)
{
    return context_seconds[index];
}

/* Describes a device and makes its context. What fails here fails again when it is needed. */
static void *start_device(void *number)
{
    int index = (int)(intptr_t)number;
    gconv_device_info info;
    bool usable = gc_gpu_describe(index, &info, nullptr) == GCONV_OK && info.usable;
    double begin = gc_seconds();
    if (usable && cudaSetDevice(index) == cudaSuccess && cudaFree(nullptr) == cudaSuccess) {
        context_seconds[index] = gc_seconds() - begin;
        gc_device_note_started(index);
    }
    cudaGetLastError();
    return nullptr;
}

/* The last device starts in this thread, the others side by side with it. */
static void *start_devices(void *)
{
    pthread_t threads[GCONV_DEVICES_MAX];
    int created = 0, last = -1;
    for (int i = 0; i < gc_gpu_count(); i++) {
        if ((start.devices >> i & 1) == 0)
            continue;
        if (last >= 0 &&
            pthread_create(&threads[created], nullptr, start_device, (void *)(intptr_t)last) == 0)
            created++;
        last = i;
    }
    if (last >= 0)
        start_device((void *)(intptr_t)last);
    while (created > 0)
        pthread_join(threads[--created], nullptr);
    start.done = true;
    return nullptr;
}

void gc_gpu_start(uint64_t devices)
{
    pthread_mutex_lock(&start.lock);
    if (!start.begun) {
        start.begun = true;
        start.devices = devices;
        start.runs = pthread_create(&start.thread, nullptr, start_devices, nullptr) == 0;
        if (!start.runs)
            start.done = true;
    }
    pthread_mutex_unlock(&start.lock);
}

void gconv_device_await(void)
{
    pthread_mutex_lock(&start.lock);
    if (start.runs)
        pthread_join(start.thread, nullptr);
    start.runs = false;
    pthread_mutex_unlock(&start.lock);
}

bool gc_gpu_ready(void)
{
    return started || start.done;
}

bool gconv_device_is_starting(void)
{
    return start.begun && !gc_gpu_ready();
}

/* ---- Devices that fail ----------------------------------------------------------------------- */

bool gc_gpu_works(int index)
{
    int before = 0;
    bool known = cudaGetDevice(&before) == cudaSuccess;
    bool works =
        cudaSetDevice(index) == cudaSuccess && cudaStreamSynchronize(nullptr) == cudaSuccess;
    if (known)
        cudaSetDevice(before);
    cudaGetLastError();
    return works;
}
