/* NVRTC, which compiles kernels at run time. Its library is loaded when it is first needed. */
#pragma once

#include "gpu/device/library.cuh"

extern "C" {
#include "base/status.h"
}

#include <nvrtc.h>

/* Options that every source is compiled with, beside the target (compile.cpp). */
enum { GC_COMPILE_OPTIONS = 3 };
extern const char *const gc_compile_options[GC_COMPILE_OPTIONS];

struct gc_nvrtc {
    gc_library library;
    decltype(&nvrtcVersion) version;
    decltype(&nvrtcGetErrorString) error_string;
    decltype(&nvrtcGetNumSupportedArchs) count_architectures;
    decltype(&nvrtcGetSupportedArchs) architectures;
    decltype(&nvrtcCreateProgram) create;
    decltype(&nvrtcDestroyProgram) destroy;
    decltype(&nvrtcCompileProgram) compile;
    decltype(&nvrtcGetProgramLogSize) log_size;
    decltype(&nvrtcGetProgramLog) log;
    decltype(&nvrtcGetCUBINSize) cubin_size;
    decltype(&nvrtcGetCUBIN) cubin;
    decltype(&nvrtcGetPTXSize) ptx_size;
    decltype(&nvrtcGetPTX) ptx;
    int release; /* 1000 * major + 10 * minor, as CUDART_VERSION */
};

/* Loads the library on the first call. Its functions may be called if library.loaded. */
const gc_nvrtc &gc_nvrtc_get();

gconv_status gc_nvrtc_fail(gconv_error *error, nvrtcResult code, const char *what);

/* Returns from the calling function with a status when a call of NVRTC fails. */
#define GC_NVRTC_TRY(error, call)                                                                  \
    do {                                                                                           \
        nvrtcResult nvrtc_code = (call);                                                           \
        if (nvrtc_code != NVRTC_SUCCESS)                                                           \
            return gc_nvrtc_fail(error, nvrtc_code, #call);                                        \
    } while (0)
