/* The driver and NVRTC as src/gpu/jit calls them. What they compile is a pretence; nothing runs it.
 *     GC_DOUBLE_COMPILE=MILLISECONDS   a compilation takes that long
 *     GC_DOUBLE_REFUSE=N               the driver refuses the first N binaries that it is given */
#include "state.hpp"

#include <atomic>
#include <cstring>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <unistd.h>

static const char magic[] = "\177kernel of the double: ";

/* ---- The driver ------------------------------------------------------------------------------ */

/* Codes of the driver that a runtime's error has, too, are the same numbers. */
static CUresult enter(const char *call, bool enqueues = false)
{
    return (CUresult)gc_double_enter(call, enqueues);
}

extern "C" CUresult cuGetErrorString(CUresult code, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)code);
    return CUDA_SUCCESS;
}

extern "C" CUresult cuModuleLoadData(CUmodule *module, const void *binary)
{
    static std::atomic<long long> refused(gc_double_number("GC_DOUBLE_REFUSE", 0));
    CUresult code = enter("cuModuleLoadData");
    if (code != CUDA_SUCCESS)
        return code;
    if (memcmp(binary, magic, sizeof magic - 1) != 0 || refused-- > 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *module = (CUmodule) new char;
    gc_double_count(GC_DOUBLE_MODULES, 1);
    return CUDA_SUCCESS;
}

extern "C" CUresult cuModuleUnload(CUmodule module)
{
    CUresult code = enter("cuModuleUnload");
    delete (char *)module;
    gc_double_count(GC_DOUBLE_MODULES, -1);
    return code;
}

extern "C" CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *)
{
    CUresult code = enter("cuModuleGetFunction");
    *function = (CUfunction)module;
    return code;
}

extern "C" CUresult cuFuncGetAttribute(int *value, CUfunction_attribute, CUfunction)
{
    *value = 40;
    return enter("cuFuncGetAttribute");
}

extern "C" CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int)
{
    return enter("cuFuncSetAttribute");
}

extern "C" CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction,
                                                                int threads, size_t)
{
    *blocks = 2048 / threads;
    return enter("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

extern "C" CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, CUstream, void **, void **)
{
    CUresult code = enter("cuLaunchKernel", true);
    if (code != CUDA_SUCCESS)
        return code;
    gc_double_tell("missing kernels compiled at run time");
    gc_double_refuse(cudaErrorInvalidDeviceFunction);
    return (CUresult)cudaErrorInvalidDeviceFunction;
}

/* ---- NVRTC ----------------------------------------------------------------------------------- */

struct _nvrtcProgram {
    std::string binary;
};

static nvrtcResult enter_compiler(const char *call)
{
    cudaError_t code = gc_double_enter(call);
    return code == cudaSuccess                 ? NVRTC_SUCCESS
           : code == cudaErrorMemoryAllocation ? NVRTC_ERROR_OUT_OF_MEMORY
                                               : NVRTC_ERROR_INTERNAL_ERROR;
}

extern "C" nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = CUDART_VERSION / 1000;
    *minor = CUDART_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

extern "C" const char *nvrtcGetErrorString(nvrtcResult)
{
    return "an error of the double";
}

extern "C" nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    *count = 1;
    return NVRTC_SUCCESS;
}

extern "C" nvrtcResult nvrtcGetSupportedArchs(int *architectures)
{
    *architectures = 90;
    return NVRTC_SUCCESS;
}

extern "C" nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *,
                                          int, const char *const *, const char *const *)
{
    nvrtcResult code = enter_compiler("nvrtcCreateProgram");
    if (code == NVRTC_SUCCESS)
        *program = new _nvrtcProgram{magic + std::to_string(std::hash<std::string>()(source))};
    return code;
}

extern "C" nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    delete *program;
    *program = nullptr;
    return enter_compiler("nvrtcDestroyProgram");
}

extern "C" nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char *const *)
{
    usleep((useconds_t)(1000 * gc_double_number("GC_DOUBLE_COMPILE", 0)));
    return enter_compiler("nvrtcCompileProgram");
}

extern "C" nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t *size)
{
    *size = 1;
    return NVRTC_SUCCESS;
}

extern "C" nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char *log)
{
    log[0] = '\0';
    return NVRTC_SUCCESS;
}

extern "C" nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    *size = program->binary.size();
    return enter_compiler("nvrtcGetCUBINSize");
}

extern "C" nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *binary)
{
    memcpy(binary, program->binary.data(), program->binary.size());
    return enter_compiler("nvrtcGetCUBIN");
}

extern "C" nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size)
{
    return nvrtcGetCUBINSize(program, size);
}

extern "C" nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *binary)
{
    return nvrtcGetCUBIN(program, binary);
}
