/* Kernels compiled at run time, on the device. The driver loads and launches them in the context of
 * the CUDA runtime. There the runtime's streams and pointers are the driver's too (CUDA Runtime
 * API, "Interactions with the CUDA Driver API"). */
#include "gpu/jit/modules.cuh"

#include "gpu/runtime/check.cuh"
#include "gpu/runtime/library.cuh"

#include <cstdlib>
#include <cuda.h>
#include <pthread.h>

struct gc_gpu_kernel {
    CUmodule module;
    CUfunction function;
};

/* ---- The driver, loaded when first asked for ------------------------------------------------- */

struct driver_library {
    gc_library library;
    decltype(&cuGetErrorString) error_string;
    decltype(&cuModuleLoadData) load;
    decltype(&cuModuleUnload) unload;
    decltype(&cuModuleGetFunction) get_function;
    decltype(&cuFuncGetAttribute) get_attribute;
    decltype(&cuFuncSetAttribute) set_attribute;
    decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy;
    decltype(&cuLaunchKernel) launch;
};

static driver_library load_driver()
{
    driver_library driver = {};
    gc_library *library = &driver.library;
    gc_library_open(library, "the driver", "libcuda.so.1");
    gc_library_find(library, "cuGetErrorString", driver.error_string);
    gc_library_find(library, "cuModuleLoadData", driver.load);
    gc_library_find(library, "cuModuleUnload", driver.unload);
    gc_library_find(library, "cuModuleGetFunction", driver.get_function);
    gc_library_find(library, "cuFuncGetAttribute", driver.get_attribute);
    gc_library_find(library, "cuFuncSetAttribute", driver.set_attribute);
    gc_library_find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.occupancy);
    gc_library_find(library, "cuLaunchKernel", driver.launch);
    return driver;
}

static driver_library the_driver;
static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

static const driver_library &driver()
{
    pthread_once(&driver_once, [] { the_driver = load_driver(); });
    return the_driver;
}

static gconv_status driver_fail(gconv_error *error, CUresult code, const char *what)
{
    gconv_status status =
        code == CUDA_ERROR_OUT_OF_MEMORY ? GCONV_ERROR_MEMORY : GCONV_ERROR_DEVICE;
    const char *text = nullptr;
    if (driver().error_string(code, &text) != CUDA_SUCCESS || text == nullptr)
        text = "unknown error";
    return gc_fail(error, status, "CUDA: %s (%s, error %d)", text, what, (int)code);
}

#define DRIVER_TRY(error, call)                                                                    \
    do {                                                                                           \
        CUresult driver_code = (call);                                                             \
        if (driver_code != CUDA_SUCCESS)                                                           \
            return driver_fail(error, driver_code, #call);                                         \
    } while (0)

/* ---- A kernel -------------------------------------------------------------------------------- */

/* Whether the binary is at fault, and not the device or its memory. */
static bool is_refusal(CUresult code)
{
    return code == CUDA_ERROR_INVALID_IMAGE || code == CUDA_ERROR_INVALID_SOURCE ||
           code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_INVALID_PTX ||
           code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || code == CUDA_ERROR_NOT_FOUND;
}

static gconv_status load(const void *binary, const char *name, gc_gpu_kernel *kernel, bool *refused,
                         gconv_error *error)
{
    if (!driver().library.loaded)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s", driver().library.reason);
    CUresult code = driver().load(&kernel->module, binary);
    if (code == CUDA_SUCCESS)
        code = driver().get_function(&kernel->function, kernel->module, name);
    *refused = is_refusal(code);
    if (code != CUDA_SUCCESS)
        return driver_fail(error, code, "loading a kernel");
    return GCONV_OK;
}

/* A kernel to compile: its source, options and device. */
struct request {
    const gconv_device_info *device;
    const char *source;
    const char *const *options;
    int option_count;
    const char *name;
};

/* Loads a kernel from its binary. *refused: the driver refuses the binary. */
static gconv_status create(const request &wanted, gc_jit_when when, gc_gpu_kernel **kernel,
                           bool *refused, gconv_error *error)
{
    *refused = false;
    void *binary = nullptr;
    size_t size = 0;
    GC_TRY(gc_jit_binary(wanted.device, wanted.source, wanted.options, wanted.option_count, when,
                         &binary, &size, error));
    gc_gpu_kernel *loaded = (gc_gpu_kernel *)calloc(1, sizeof *loaded);
    gconv_status status = loaded == nullptr ? gc_fail_memory(error, sizeof *loaded)
                                            : load(binary, wanted.name, loaded, refused, error);
    free(binary);
    if (status == GCONV_OK)
        *kernel = loaded;
    else
        gc_jit_destroy(loaded);
    return status;
}

gconv_status gc_jit_create(const gconv_device_info *device, const char *source,
                           const char *const *options, int option_count, const char *name,
                           gc_jit_when when, gc_gpu_kernel **kernel, gconv_error *error)
{
    *kernel = nullptr;
    GC_CUDA_TRY(error, cudaFree(nullptr)); /* the runtime makes its context and makes it current */
    request wanted = {device, source, options, option_count, name};
    bool refused;
    gconv_status status = create(wanted, when, kernel, &refused, error);
    if (!refused || when == GC_JIT_UNKEPT)
        return status;
    gc_jit_refuse(device, source, options, option_count, false);
    if (when == GC_JIT_CACHED_ONLY)
        return status;
    status = create(wanted, when, kernel, &refused, error);
    if (refused)
        gc_jit_refuse(device, source, options, option_count, true);
    return status;
}

gconv_status gc_jit_launch(const gc_gpu_kernel *kernel, dim3 grid, dim3 block,
                           unsigned shared_bytes, cudaStream_t stream, void **arguments,
                           gconv_error *error)
{
    DRIVER_TRY(error, driver().launch(kernel->function, grid.x, grid.y, grid.z, block.x, block.y,
                                      block.z, shared_bytes, stream, arguments, nullptr));
    return GCONV_OK;
}

gconv_status gc_jit_opt_in_shared(gc_gpu_kernel *kernel, unsigned bytes, gconv_error *error)
{
    DRIVER_TRY(error,
               driver().set_attribute(kernel->function,
                                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
    return GCONV_OK;
}

gconv_status gc_jit_usage_of(const gc_gpu_kernel *kernel, int threads, unsigned shared_bytes,
                             gc_jit_usage *usage, gconv_error *error)
{
    CUfunction function = kernel->function;
    DRIVER_TRY(error,
               driver().get_attribute(&usage->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    DRIVER_TRY(error, driver().get_attribute(&usage->local_bytes,
                                             CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    DRIVER_TRY(error, driver().get_attribute(&usage->shared_bytes,
                                             CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    DRIVER_TRY(error, driver().occupancy(&usage->blocks, function, threads, shared_bytes));
    return GCONV_OK;
}

void gc_jit_destroy(gc_gpu_kernel *kernel)
{
    if (kernel == nullptr)
        return;
    if (kernel->module != nullptr)
        driver().unload(kernel->module);
    free(kernel);
}
