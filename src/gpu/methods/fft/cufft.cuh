/* The functions of cuFFT. Its library is loaded when it is first needed. */
#pragma once

#include "gpu/device/library.cuh"

extern "C" {
#include "base/status.h"
}

#include <cufft.h>

struct gc_cufft {
    gc_library library;
    decltype(&cufftCreate) create;
    decltype(&cufftDestroy) destroy;
    decltype(&cufftSetStream) set_stream;
    decltype(&cufftMakePlanMany64) make_plan;
    decltype(&cufftExecC2C) c2c;
    decltype(&cufftExecR2C) r2c;
    decltype(&cufftExecC2R) c2r;
    decltype(&cufftExecD2Z) d2z;
    decltype(&cufftExecZ2D) z2d;
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
