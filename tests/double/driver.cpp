/* The driver and NVRTC as src/gpu/jit calls them. What they compile is a pretence that nothing
 * runs, unless there is a compiler for the host:
 *     GC_DOUBLE_COMPILER=COMMAND       compiles kernels for the host, into $TMPDIR, and so they run
 *     GC_DOUBLE_COMPILE=MILLISECONDS   a compilation takes that long
 *     GC_DOUBLE_REFUSE=N               the driver refuses the first N binaries that it is given */
#include "state.hpp"

#include "gpu/pass/types.h"
#include "gpu/plan/step_types.cuh"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
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
    *module = (CUmodule) new std::string((const char *)binary + sizeof magic - 1);
    gc_double_count(GC_DOUBLE_MODULES, 1);
    return CUDA_SUCCESS;
}

extern "C" CUresult cuModuleUnload(CUmodule module)
{
    CUresult code = enter("cuModuleUnload");
    delete (std::string *)module;
    gc_double_count(GC_DOUBLE_MODULES, -1);
    return code;
}

extern "C" CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *)
{
    CUresult code = enter("cuModuleGetFunction");
    *function = (CUfunction)module;
    return code;
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

/* ---- Kernels for the host -------------------------------------------------------------------- */

/* Of a binary that host_binary made; else null. */
static void *in_library(const std::string &path, const char *name)
{
    void *library = path[0] == '/' ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    return library != nullptr ? dlsym(library, name) : nullptr;
}

template <class type>
static void run(void *body, dim3 blocks, dim3 threads, void **arguments, cudaStream_t stream)
{
    void (*kernel)(type) = (void (*)(type))body;
    type argument = *(type *)arguments[0];
    gc_double_enqueue(stream, [kernel, argument, blocks, threads] {
        static const gc_double_body meeting = {"compiled", true, nullptr, nullptr};
        gc_double_run(
            &meeting, [kernel, argument] { kernel(argument); }, blocks, threads);
    });
}

/* The constant memory of the kernels that have some. Without a library it is memory that nobody
 * reads. */
extern "C" CUresult cuModuleGetGlobal(CUdeviceptr *memory, size_t *bytes, CUmodule module,
                                      const char *name)
{
    enum { CONSTANT_BYTES = 64 << 10 };
    CUresult code = enter("cuModuleGetGlobal");
    if (code != CUDA_SUCCESS)
        return code;
    static void *unread = gc_double_variable(CONSTANT_BYTES);
    void *found = in_library(*(std::string *)module, name);
    if (found != nullptr)
        gc_double_add_variable(found, CONSTANT_BYTES);
    *bytes = CONSTANT_BYTES;
    *memory = (CUdeviceptr)(found != nullptr ? found : unread);
    return CUDA_SUCCESS;
}

/* Where the compiler looks for headers: no shell splits that at blanks. Set before any thread. */
static const int includes_are_set = setenv("CPLUS_INCLUDE_PATH", GC_DOUBLE_INCLUDES, 1);

/* The path of a library with the kernel, made of its source; "" if there is no compiler. */
static std::string host_binary(const std::string &source)
{
    static std::atomic<int> count;
    const char *compiler = getenv("GC_DOUBLE_COMPILER");
    if (compiler == nullptr || (source.find("gc_compiled_kernel") == std::string::npos &&
                                source.find("gc_ladder_kernel") == std::string::npos))
        return "";
    const char *directory = getenv("TMPDIR");
    std::string path = std::string(directory != nullptr ? directory : "/tmp") + "/gc-double-" +
                       std::to_string(getpid()) + "-" + std::to_string(count++);
    FILE *file = fopen((path + ".cpp").c_str(), "w");
    if (file == nullptr)
        return "";
    fprintf(file, "#include \"compiled.hpp\"\n#undef __constant__\n#define __constant__\n%s",
            source.c_str());
    fclose(file);
    std::string command =
        std::string(compiler) + " " GC_DOUBLE_FLAGS " -shared -o " + path + ".so " + path + ".cpp";
    bool made = includes_are_set == 0 && system(command.c_str()) == 0;
    unlink((path + ".cpp").c_str());
    return made ? path + ".so" : "";
}

extern "C" CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                                   unsigned threads, unsigned threads_y, unsigned threads_z,
                                   unsigned, CUstream stream, void **arguments, void **)
{
    CUresult code = enter("cuLaunchKernel", true);
    if (code != CUDA_SUCCESS)
        return code;
    dim3 grid(x, y, z), block(threads, threads_y, threads_z);
    const std::string &path = *(std::string *)function;
    if (void *body = in_library(path, "gc_compiled_kernel")) {
        run<gc_pass>(body, grid, block, arguments, stream);
        return CUDA_SUCCESS;
    }
    if (void *body = in_library(path, "gc_ladder_kernel")) {
        run<gc_ladder_step>(body, grid, block, arguments, stream);
        return CUDA_SUCCESS;
    }
    gc_double_tell("missing kernels compiled at run time");
    gc_double_refuse(cudaErrorInvalidDeviceFunction);
    return (CUresult)cudaErrorInvalidDeviceFunction;
}

/* ---- NVRTC ----------------------------------------------------------------------------------- */

struct _nvrtcProgram {
    std::string binary, source;
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
        *program =
            new _nvrtcProgram{magic + std::to_string(std::hash<std::string>()(source)), source};
    return code;
}

extern "C" nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    delete *program;
    *program = nullptr;
    return enter_compiler("nvrtcDestroyProgram");
}

extern "C" nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char *const *)
{
    usleep((useconds_t)(1000 * gc_double_number("GC_DOUBLE_COMPILE", 0)));
    std::string host = host_binary(program->source);
    if (host != "")
        program->binary = magic + host;
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
    *size = program->binary.size() + 1;
    return enter_compiler("nvrtcGetCUBINSize");
}

extern "C" nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *binary)
{
    memcpy(binary, program->binary.c_str(), program->binary.size() + 1);
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
