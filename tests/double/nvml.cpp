/* NVML as src/gpu calls it. Device N has N MHz less than the first, and N degrees more.
 *     GC_DOUBLE_NVML=absent   it does not start
 *                    refuse   it knows the devices, but tells nothing of them */
#include "state.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* nvmlReturn_t */
enum { SUCCESS = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

enum { CLOCK_SM = 1, MEGAHERTZ = 1980, CELSIUS = 41 };

static bool is_mode(const char *name)
{
    const char *mode = getenv("GC_DOUBLE_NVML");
    return mode != nullptr && strcmp(mode, name) == 0;
}

extern "C" int nvmlInit_v2()
{
    return is_mode("absent") ? DRIVER_NOT_LOADED : SUCCESS;
}

/* A handle is the number of the device, from 1 on. */
extern "C" int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, intptr_t *handle)
{
    unsigned bus = 0;
    if (sscanf(bus_id, "0000:%2X:00.0", &bus) != 1 || bus < GC_DOUBLE_FIRST_BUS ||
        bus >= GC_DOUBLE_FIRST_BUS + (unsigned)gc_double_devices())
        return NOT_FOUND;
    *handle = 1 + (intptr_t)bus - GC_DOUBLE_FIRST_BUS;
    return SUCCESS;
}

static int tell(intptr_t handle, bool right, int value, unsigned *told)
{
    if (is_mode("refuse"))
        return NOT_SUPPORTED;
    if (!right || handle < 1 || handle > gc_double_devices())
        return INVALID;
    *told = (unsigned)value;
    return SUCCESS;
}

extern "C" int nvmlDeviceGetClockInfo(intptr_t handle, int kind, unsigned *megahertz)
{
    return tell(handle, kind == CLOCK_SM, MEGAHERTZ + 1 - (int)handle, megahertz);
}

extern "C" int nvmlDeviceGetTemperature(intptr_t handle, int sensor, unsigned *celsius)
{
    return tell(handle, sensor == 0, CELSIUS - 1 + (int)handle, celsius);
}
