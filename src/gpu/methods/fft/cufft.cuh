/* The functions of cuFFT. Its library is loaded when it is first needed. */
#pragma once

#include "gpu/device/library.cuh"

extern "C" {
#include "base/status.h"
}

#include <cufft.h>

#define GC_CUFFT_FUNCTIONS(X)                                                                      \
    X(create, cufftCreate)                                                                         \
    X(destroy, cufftDestroy)                                                                       \
    X(set_stream, cufftSetStream)                                                                  \
    X(make_plan, cufftMakePlanMany64)                                                              \
    X(c2c, cufftExecC2C)                                                                           \
    X(r2c, cufftExecR2C)                                                                           \
    X(c2r, cufftExecC2R)                                                                           \
    X(d2z, cufftExecD2Z)                                                                           \
    X(z2d, cufftExecZ2D)

struct gc_cufft {
    gc_library library;
    GC_CUFFT_FUNCTIONS(GC_LIBRARY_MEMBER)
};

/* Loads the library on the first call. Its functions may be called if library.loaded. */
const gc_cufft &gc_cufft_get();

gconv_status gc_cufft_fail(gconv_error *error, cufftResult code, const char *what);

/* Returns from the calling function with a status when a call of cuFFT fails. */
#define GC_CUFFT_TRY(error, call)                                                                  \
    do {                                                                                           \
        cufftResult cufft_code = (call);                                                           \
        if (cufft_code != CUFFT_SUCCESS)                                                           \
            return gc_cufft_fail(error, cufft_code, #call);                                        \
    } while (0)
