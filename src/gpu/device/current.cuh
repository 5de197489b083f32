/* The current device of a thread. */
#pragma once

#include <cuda_runtime.h>

/* Makes a device current for the calling thread. The destructor makes the device before it current
 * again. */
struct gc_current_device {
    int before;
    explicit gc_current_device(int index)
    {
        if (cudaGetDevice(&before) != cudaSuccess)
            before = -1;
        cudaSetDevice(index);
        cudaGetLastError();
    }
    ~gc_current_device()
    {
        if (before >= 0)
            cudaSetDevice(before);
    }
};
