/* Clock and temperature of a GPU. NVML, NVIDIA's management library, comes with the driver. */
#include "gconv_lab.h"
#include "gpu/device/library.cuh"

#include <cuda_runtime.h>
#include <pthread.h>

/* What is used of nvml.h, which CUDA toolkits may lack. Enumerations are passed as int. */
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };
typedef struct nvmlDevice_st *nvml_device;

struct nvml {
    gc_library library;
    int (*init)();
    int (*find)(const char *bus_id, nvml_device *device);
    int (*clock)(nvml_device device, int kind, unsigned *megahertz);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
};

static nvml load()
{
    nvml n = {};
    gc_library_open(&n.library, "NVML", "libnvidia-ml.so.1");
    gc_library_find(&n.library, "nvmlInit_v2", n.init);
    gc_library_find(&n.library, "nvmlDeviceGetHandleByPciBusId_v2", n.find);
    gc_library_find(&n.library, "nvmlDeviceGetClockInfo", n.clock);
    gc_library_find(&n.library, "nvmlDeviceGetTemperature", n.temperature);
    n.library.loaded = n.library.loaded && n.init() == NVML_SUCCESS;
    return n;
}

static nvml the_nvml;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* NVML's order of devices is not CUDA's, so the device is found by its place on the PCI bus. */
static bool find(int index, nvml_device *device)
{
    char bus_id[32];
    pthread_once(&once, [] { the_nvml = load(); });
    if (!the_nvml.library.loaded)
        return false;
    if (cudaDeviceGetPCIBusId(bus_id, (int)sizeof bus_id, index) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return the_nvml.find(bus_id, device) == NVML_SUCCESS;
}

void gconv_gpu_clock(int index, double *megahertz, double *celsius)
{
    nvml_device device;
    unsigned value;
    *megahertz = *celsius = 0;
    if (!find(index, &device))
        return;
    if (the_nvml.clock(device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        *megahertz = value;
    if (the_nvml.temperature(device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
        *celsius = value;
}
