/* The CUDA runtime as src/gpu calls it, and as nvcc's host code does: a GPU that is a pretence. */
#include "state.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

/* The device is an H200, of compute capability 9.0, in all that is asked. Only its memory and cache
 * are smaller, so that a measurement has little to flush. */
enum { PROCESSORS = 132, SHARED = 48 << 10, SHARED_OPTIN = 227 << 10, L2_BYTES = 8 << 20 };

/* ---- The device ------------------------------------------------------------------------------ */

extern "C" cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    usleep((useconds_t)(1000 * gc_double_number("GC_DOUBLE_START", 0)));
    ENTER("cudaGetDeviceCount");
    *count = gc_double_devices();
    return *count > 0 ? cudaSuccess : gc_double_refuse(cudaErrorNoDevice);
}

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    ENTER("cudaGetDeviceProperties");
    memset(properties, 0, sizeof *properties);
    size_t available;
    gc_double_memory(&available, &properties->totalGlobalMem);
    snprintf(properties->name, sizeof properties->name, "NVIDIA H200 (a double)");
    properties->major = 9;
    properties->multiProcessorCount = PROCESSORS;
    properties->l2CacheSize = L2_BYTES;
    properties->totalConstMem = 64 << 10;
    properties->sharedMemPerBlock = SHARED;
    properties->sharedMemPerBlockOptin = SHARED_OPTIN;
    properties->sharedMemPerMultiprocessor = 228 << 10;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxThreadsPerBlock = 1024;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->warpSize = 32;
    properties->memoryBusWidth = 6144;
    return cudaSuccess;
}

extern "C" cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr name, int)
{
    ENTER("cudaDeviceGetAttribute");
    *value = name == cudaDevAttrClockRate                           ? 1980000
             : name == cudaDevAttrMemoryClockRate                   ? 3201000
             : name == cudaDevAttrMultiProcessorCount               ? PROCESSORS
             : name == cudaDevAttrCanUseHostPointerForRegisteredMem ? 1
                                                                    : 0;
    return cudaSuccess;
}

extern "C" cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= gc_double_devices())
        return gc_double_refuse(cudaErrorInvalidDevice);
    gc_double_set_device(device);
    ENTER("cudaSetDevice");
    return cudaSuccess;
}

extern "C" cudaError_t cudaGetDevice(int *device)
{
    ENTER("cudaGetDevice");
    *device = gc_double_device();
    return cudaSuccess;
}

extern "C" cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

extern "C" cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

extern "C" const char *cudaGetErrorString(cudaError_t code)
{
    switch ((int)code) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidDeviceFunction:
        return "invalid device function";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    default:
        return "an error of the double";
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

extern "C" cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    ENTER("cudaMemGetInfo");
    gc_double_memory(available, total);
    return cudaSuccess;
}

extern "C" cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    ENTER("cudaMalloc");
    return gc_double_allocate(memory, bytes, false);
}

extern "C" cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    ENTER("cudaHostAlloc");
    return gc_double_allocate(memory, bytes, true);
}

extern "C" cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return cudaHostAlloc(memory, bytes, 0);
}

static cudaError_t release(const char *call, void *memory, bool pinned)
{
    cudaError_t code = gc_double_enter(call);
    gc_double_drain_all();
    bool known = memory == nullptr || gc_double_release(memory, pinned);
    return known || code != cudaSuccess ? code : gc_double_refuse(cudaErrorInvalidValue);
}

extern "C" cudaError_t cudaFree(void *memory)
{
    return release("cudaFree", memory, false);
}

extern "C" cudaError_t cudaFreeHost(void *memory)
{
    return release("cudaFreeHost", memory, true);
}

extern "C" cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned)
{
    ENTER("cudaHostRegister");
    gc_double_pin(memory, bytes);
    return cudaSuccess;
}

extern "C" cudaError_t cudaHostUnregister(void *memory)
{
    cudaError_t code = gc_double_enter("cudaHostUnregister");
    gc_double_drain_all();
    bool known = gc_double_unpin(memory);
    return known || code != cudaSuccess ? code : gc_double_refuse(cudaErrorInvalidValue);
}

extern "C" cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                                const void *memory)
{
    ENTER("cudaPointerGetAttributes");
    *attributes = {};
    attributes->device = gc_double_device_of(memory);
    if (attributes->device >= 0)
        attributes->type = cudaMemoryTypeDevice;
    else if (gc_double_holds(memory, 1, true))
        attributes->type = cudaMemoryTypeHost;
    return cudaSuccess;
}

/* Rows of bytes to be copied. */
struct rows {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, bytes, count;
};

static void copy(const rows &all)
{
    for (size_t i = 0; i < all.count; i++)
        memmove(all.to + i * all.to_pitch, all.from + i * all.from_pitch, all.bytes);
}

/* Whether each side lies where `kind` says. */
static bool is_allowed(const rows &all, cudaMemcpyKind kind)
{
    if (all.bytes == 0 || all.count == 0)
        return true;
    size_t to = (all.count - 1) * all.to_pitch + all.bytes;
    size_t from = (all.count - 1) * all.from_pitch + all.bytes;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return gc_double_holds(all.to, to, false) == to_device &&
           gc_double_holds(all.from, from, false) == from_device;
}

/* Memory that is not pinned is read before the call returns, and written before it returns. */
static cudaError_t copy_in_order(rows all, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!is_allowed(all, kind))
        return gc_double_refuse(cudaErrorInvalidValue);
    size_t from = all.count == 0 ? 0 : (all.count - 1) * all.from_pitch + all.bytes;
    if (kind == cudaMemcpyHostToDevice && !gc_double_holds(all.from, from, true)) {
        std::vector<char> staged(all.from, all.from + from);
        gc_double_enqueue(stream, [all, staged]() mutable {
            all.from = staged.data();
            copy(all);
        });
        return cudaSuccess;
    }
    gc_double_enqueue(stream, [all] { copy(all); });
    if (kind == cudaMemcpyDeviceToHost && !gc_double_holds(all.to, 1, true))
        gc_double_drain(stream);
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                       cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t code = gc_double_enter("cudaMemcpyAsync", true);
    if (code != cudaSuccess)
        return code;
    return copy_in_order({(char *)to, (const char *)from, bytes, bytes, bytes, 1}, kind, stream);
}

extern "C" cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                         size_t from_pitch, size_t bytes, size_t count,
                                         cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t code = gc_double_enter("cudaMemcpy2DAsync", true);
    if (code != cudaSuccess)
        return code;
    return copy_in_order({(char *)to, (const char *)from, to_pitch, from_pitch, bytes, count}, kind,
                         stream);
}

extern "C" cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    ENTER("cudaMemcpy");
    return copy_in_order({(char *)to, (const char *)from, bytes, bytes, bytes, 1}, kind, nullptr);
}

static cudaError_t set_in_order(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    if (!gc_double_holds(memory, bytes, false))
        return gc_double_refuse(cudaErrorInvalidValue);
    gc_double_enqueue(stream, [memory, value, bytes] { memset(memory, value, bytes); });
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    cudaError_t code = gc_double_enter("cudaMemsetAsync", true);
    return code != cudaSuccess ? code : set_in_order(memory, value, bytes, stream);
}

extern "C" cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    ENTER("cudaMemset");
    return set_in_order(memory, value, bytes, nullptr);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* A variable of a file's device code, and all of them in one file. */
struct variable {
    const void *symbol;
    void *memory;
    size_t bytes;
};
typedef std::vector<variable> variables;

struct registered_kernel {
    std::string name;
    const gc_double_body *body; /* null where the double has none */
    const variables *of_file;
    size_t shared; /* dynamic bytes that a launch may ask for */
};

struct registry {
    std::mutex lock;
    std::map<const void *, registered_kernel> kernels;
    std::map<const void *, void *> symbols;
};

static registry &registered()
{
    static registry *all = new registry();
    return *all;
}

/* "load_samples<float>" of "_Z12load_samplesIfEvPKT_ib13gc_gpu_planes". */
static std::string plain_name(const char *mangled)
{
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 ? text : mangled;
    free(text);
    size_t end = 0; /* parameters begin outside of template arguments */
    for (int depth = 0; end < name.size() && (depth > 0 || name[end] != '('); end++)
        depth += (name[end] == '<') - (name[end] == '>');
    name.resize(end);
    return name.compare(0, 5, "void ") == 0 ? name.substr(5) : name;
}

static const gc_double_body *body_of(const std::string &name)
{
    for (const gc_double_body *body = gc_double_bodies; body->name != nullptr; body++)
        if (name == body->name)
            return body;
    return gc_double_tile_body(name);
}

extern "C" void **__cudaRegisterFatBinary(void *)
{
    return (void **)new variables();
}

extern "C" void __cudaRegisterFatBinaryEnd(void **)
{
}

extern "C" void __cudaUnregisterFatBinary(void **file)
{
    delete (variables *)file;
}

extern "C" void __cudaRegisterFunction(void **file, const char *stub, char *, const char *mangled,
                                       int, uint3 *, uint3 *, dim3 *, dim3 *, int *)
{
    std::string name = plain_name(mangled);
    std::lock_guard<std::mutex> guard(registered().lock);
    registered().kernels[stub] = {name, body_of(name), (const variables *)file, SHARED};
}

extern "C" void __cudaRegisterVar(void **file, char *symbol, char *, const char *, int,
                                  size_t bytes, int, int)
{
    void *memory = gc_double_variable(bytes);
    ((variables *)file)->push_back({symbol, memory, bytes});
    std::lock_guard<std::mutex> guard(registered().lock);
    registered().symbols[symbol] = memory;
}

extern "C" cudaError_t cudaGetSymbolAddress(void **memory, const void *symbol)
{
    ENTER("cudaGetSymbolAddress");
    std::lock_guard<std::mutex> guard(registered().lock);
    auto found = registered().symbols.find(symbol);
    if (found == registered().symbols.end())
        return gc_double_refuse(cudaErrorInvalidSymbol);
    *memory = found->second;
    return cudaSuccess;
}

static bool find_kernel(const void *stub, registered_kernel *kernel)
{
    std::lock_guard<std::mutex> guard(registered().lock);
    auto found = registered().kernels.find(stub);
    if (found != registered().kernels.end())
        *kernel = found->second;
    return found != registered().kernels.end();
}

extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *stub)
{
    ENTER("cudaFuncGetAttributes");
    registered_kernel kernel;
    if (!find_kernel(stub, &kernel))
        return gc_double_refuse(cudaErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->numRegs = 40;
    attributes->ptxVersion = 90;
    attributes->maxThreadsPerBlock = 1024;
    return cudaSuccess;
}

extern "C" cudaError_t cudaFuncSetAttribute(const void *stub, cudaFuncAttribute name, int value)
{
    ENTER("cudaFuncSetAttribute");
    std::lock_guard<std::mutex> guard(registered().lock);
    auto found = registered().kernels.find(stub);
    if (found == registered().kernels.end())
        return gc_double_refuse(cudaErrorInvalidDeviceFunction);
    if (name != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || value > SHARED_OPTIN)
        return gc_double_refuse(cudaErrorInvalidValue);
    found->second.shared = (size_t)value;
    return cudaSuccess;
}

extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *,
                                                                     int threads, size_t)
{
    ENTER("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = 2048 / threads;
    return cudaSuccess;
}

/* What a launch between <<< and >>> says, on its way to the stub's call of cudaLaunchKernel. */
struct configuration {
    dim3 blocks, threads;
    size_t shared;
    cudaStream_t stream;
};
static thread_local std::vector<configuration> pushed;

extern "C" unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared,
                                                cudaStream_t stream)
{
    pushed.push_back({blocks, threads, shared, stream});
    return 0;
}

extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *shared,
                                                  void *stream)
{
    configuration last = pushed.back();
    pushed.pop_back();
    *blocks = last.blocks;
    *threads = last.threads;
    *shared = last.shared;
    *(cudaStream_t *)stream = last.stream;
    return cudaSuccess;
}

static bool fits(dim3 blocks, dim3 threads, size_t shared, const registered_kernel &kernel)
{
    return blocks.x > 0 && blocks.x <= INT32_MAX && blocks.y > 0 && blocks.y <= 65535 &&
           blocks.z > 0 && blocks.z <= 65535 && threads.x > 0 && threads.y > 0 && threads.z > 0 &&
           threads.x * threads.y * threads.z <= 1024 && threads.z <= 64 && shared <= kernel.shared;
}

/* What the kernel reads as constant memory is this thread's. */
static void load_constants(const registered_kernel &kernel)
{
    if (kernel.body->constant != nullptr)
        for (const variable &one : *kernel.of_file)
            memcpy(kernel.body->constant(), one.memory, one.bytes);
}

extern "C" cudaError_t cudaLaunchKernel(const void *stub, dim3 blocks, dim3 threads,
                                        void **arguments, size_t shared, cudaStream_t stream)
{
    cudaError_t code = gc_double_enter("cudaLaunchKernel", true);
    if (code != cudaSuccess)
        return code;
    registered_kernel kernel;
    if (!find_kernel(stub, &kernel))
        return gc_double_refuse(cudaErrorInvalidDeviceFunction);
    if (kernel.body == nullptr) {
        gc_double_tell(("missing " + kernel.name).c_str());
        return gc_double_refuse(cudaErrorInvalidDeviceFunction);
    }
    if (!fits(blocks, threads, shared, kernel))
        return gc_double_refuse(cudaErrorInvalidConfiguration);
    std::function<void()> thread = kernel.body->bind(arguments);
    gc_double_enqueue(stream, [kernel, thread, blocks, threads] {
        load_constants(kernel);
        gc_double_run(kernel.body, thread, blocks, threads);
    });
    return cudaSuccess;
}

extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration,
                                           const void *stub, void **arguments)
{
    return cudaLaunchKernel(stub, configuration->gridDim, configuration->blockDim, arguments,
                            configuration->dynamicSmemBytes, configuration->stream);
}
