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

#define GC_NVRTC_FUNCTIONS(X)                                                                      \
    X(version, nvrtcVersion)                                                                       \
    X(error_string, nvrtcGetErrorString)                                                           \
    X(count_architectures, nvrtcGetNumSupportedArchs)                                              \
    X(architectures, nvrtcGetSupportedArchs)                                                       \
    X(create, nvrtcCreateProgram)                                                                  \
    X(destroy, nvrtcDestroyProgram)                                                                \
    X(compile, nvrtcCompileProgram)                                                                \
    X(log_size, nvrtcGetProgramLogSize)                                                            \
    X(log, nvrtcGetProgramLog)                                                                     \
    X(cubin_size, nvrtcGetCUBINSize)                                                               \
    X(cubin, nvrtcGetCUBIN)                                                                        \
    X(ptx_size, nvrtcGetPTXSize)                                                                   \
    X(ptx, nvrtcGetPTX)

struct gc_nvrtc {
    gc_library library;
    GC_NVRTC_FUNCTIONS(GC_LIBRARY_MEMBER)
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
