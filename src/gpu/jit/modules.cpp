/* Kernels compiled at run time, on the device. The driver loads and launches them in the context of
 * the CUDA runtime. There the runtime's streams and pointers are the driver's too (CUDA Runtime
 * API, "Interactions with the CUDA Driver API"). */
#include "gpu/jit/modules.cuh"

#include "gpu/device/check.cuh"
#include "gpu/device/current.cuh"
#include "gpu/device/library.cuh"
#include "gpu/device/owned.cuh"

#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <pthread.h>

struct gc_gpu_kernel {
    CUmodule module;
    CUfunction function;
    /* Of a kernel that the plans of a process share. */
    char *key; /* what it was made of; null for a kernel that is not shared */
    int device;
    int users;
    bool loading; /* by one thread; others wait */
    gc_gpu_kernel *next;
};

/* ---- The driver, loaded when first asked for ------------------------------------------------- */

#define DRIVER_FUNCTIONS(X)                                                                        \
    X(error_string, cuGetErrorString)                                                              \
    X(load, cuModuleLoadData)                                                                      \
    X(unload, cuModuleUnload)                                                                      \
    X(get_function, cuModuleGetFunction)                                                           \
    X(get_global, cuModuleGetGlobal)                                                               \
    X(set_attribute, cuFuncSetAttribute)                                                           \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)                                      \
    X(launch, cuLaunchKernel)

struct driver_library {
    gc_library library;
    DRIVER_FUNCTIONS(GC_LIBRARY_MEMBER)
};

static driver_library load_driver()
{
    driver_library of = {};
    gc_library_open(&of.library, "the driver", "libcuda.so.1");
    DRIVER_FUNCTIONS(GC_LIBRARY_FIND)
    return of;
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

static void unload_module(gc_gpu_kernel *kernel)
{
    if (kernel->module != nullptr)
        driver().unload(kernel->module);
    kernel->module = nullptr;
}

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

void gc_jit_hold_loads(bool hold)
{
    (hold ? pthread_mutex_lock : pthread_mutex_unlock)(&load_lock);
}

static gconv_status load(const void *binary, const char *name, gc_gpu_kernel *kernel, bool *refused,
                         gconv_error *error)
{
    if (!driver().library.loaded)
        return gc_fail(error, GCONV_ERROR_DEVICE, "%s", driver().library.reason);
    gc_jit_hold_loads(true);
    CUresult code = driver().load(&kernel->module, binary);
    if (code == CUDA_SUCCESS)
        code = driver().get_function(&kernel->function, kernel->module, name);
    gc_jit_hold_loads(false);
    *refused = is_refusal(code);
    if (code == CUDA_SUCCESS)
        return GCONV_OK;
    unload_module(kernel);
    return driver_fail(error, code, "loading a kernel");
}

static void destroy(gc_gpu_kernel *kernel)
{
    unload_module(kernel);
    free(kernel->key);
    free(kernel);
}

struct request {
    const gconv_device_info *device;
    const char *source;
    const char *name;
};

/* Loads *kernel from its binary. *refused: the driver refuses the binary. */
static gconv_status load_wanted(const request &wanted, gc_jit_when when, gc_gpu_kernel *kernel,
                                bool *refused, gconv_error *error)
{
    *refused = false;
    gc_owned_array<void> binary;
    size_t size = 0;
    GC_TRY(gc_jit_binary(wanted.device, wanted.source, when, &binary, &size, error));
    return load(binary, wanted.name, kernel, refused, error);
}

/* Calls load_wanted, and calls it again if the driver refuses a binary of the cache. */
static gconv_status load_again(const request &wanted, gc_jit_when when, gc_gpu_kernel *kernel,
                               gconv_error *error)
{
    bool refused;
    gconv_status status = load_wanted(wanted, when, kernel, &refused, error);
    if (!refused || when == GC_JIT_UNKEPT)
        return status;
    gc_jit_refuse(wanted.device, wanted.source, false);
    if (when == GC_JIT_CACHED_ONLY)
        return status;
    status = load_wanted(wanted, when, kernel, &refused, error);
    if (refused)
        gc_jit_refuse(wanted.device, wanted.source, true);
    return status;
}

/* ---- Kernels that plans share ---------------------------------------------------------------- */

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t shared_loaded = PTHREAD_COND_INITIALIZER;
static gc_gpu_kernel *shared_kernels;

/* All that a kernel is made of, in one text; null if memory is out. */
static char *key_of(const request &wanted)
{
    char *key = (char *)malloc(strlen(wanted.name) + strlen(wanted.source) + 2);
    if (key != nullptr)
        strcpy(stpcpy(stpcpy(key, wanted.name), "\n"), wanted.source);
    return key;
}

/* Finds the kernel of the entry's key, which another thread may be loading. If there is none, it
 * enters `entry`, which the caller has to load: true. */
static bool enter(gc_gpu_kernel *entry, gc_gpu_kernel **kernel)
{
    pthread_mutex_lock(&shared_lock);
    gc_gpu_kernel *found = shared_kernels;
    while (found != nullptr) {
        bool same = found->device == entry->device && strcmp(found->key, entry->key) == 0;
        if (same && found->loading) {
            pthread_cond_wait(&shared_loaded, &shared_lock);
            found = shared_kernels; /* it may have failed and gone */
        } else if (same) {
            break;
        } else {
            found = found->next;
        }
    }
    bool is_new = found == nullptr;
    if (is_new) {
        entry->loading = true;
        entry->next = shared_kernels;
        shared_kernels = found = entry;
    }
    found->users++;
    pthread_mutex_unlock(&shared_lock);
    *kernel = found;
    return is_new;
}

/* Ends the loading of an entry. If it has failed, the entry is removed. */
static void end_loading(gc_gpu_kernel *entry, bool failed)
{
    pthread_mutex_lock(&shared_lock);
    gc_gpu_kernel **link = &shared_kernels;
    while (*link != entry)
        link = &(*link)->next;
    if (failed)
        *link = entry->next;
    entry->loading = false;
    pthread_cond_broadcast(&shared_loaded);
    pthread_mutex_unlock(&shared_lock);
}

gconv_status gc_jit_create(const gconv_device_info *device, const char *source, const char *name,
                           gc_jit_when when, gc_gpu_kernel **kernel, gconv_error *error)
{
    *kernel = nullptr;
    GC_CUDA_TRY(error, cudaFree(nullptr)); /* the runtime makes its context and makes it current */
    request wanted = {device, source, name};
    bool is_shared = when != GC_JIT_UNKEPT;
    gc_gpu_kernel *made = (gc_gpu_kernel *)calloc(1, sizeof *made);
    if (made == nullptr || (is_shared && (made->key = key_of(wanted)) == nullptr)) {
        free(made);
        return gc_fail_memory(error, strlen(source));
    }
    made->device = device->index;
    if (is_shared && !enter(made, kernel)) {
        destroy(made);
        return GCONV_OK;
    }
    gconv_status status = load_again(wanted, when, made, error);
    if (is_shared)
        end_loading(made, status != GCONV_OK);
    if (status != GCONV_OK)
        destroy(made);
    *kernel = status == GCONV_OK ? made : nullptr;
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

gconv_status gc_jit_symbol(const gc_gpu_kernel *kernel, const char *name, void **memory,
                           gconv_error *error)
{
    CUdeviceptr address = 0;
    size_t bytes;
    DRIVER_TRY(error, driver().get_global(&address, &bytes, kernel->module, name));
    *memory = (void *)address;
    return GCONV_OK;
}

gconv_status gc_jit_opt_in_shared(gc_gpu_kernel *kernel, unsigned bytes, gconv_error *error)
{
    DRIVER_TRY(error,
               driver().set_attribute(kernel->function,
                                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
    return GCONV_OK;
}

gconv_status gc_jit_resident(const gc_gpu_kernel *kernel, int threads, unsigned shared_bytes,
                             int *blocks, gconv_error *error)
{
    DRIVER_TRY(error, driver().occupancy(blocks, kernel->function, threads, shared_bytes));
    return GCONV_OK;
}

void gc_jit_destroy(gc_gpu_kernel *kernel)
{
    if (kernel == nullptr)
        return;
    if (kernel->key == nullptr) {
        destroy(kernel);
        return;
    }
    pthread_mutex_lock(&shared_lock);
    kernel->users--;
    pthread_mutex_unlock(&shared_lock);
}

void gc_jit_unload_unused()
{
    gc_gpu_kernel *unused = nullptr;
    pthread_mutex_lock(&shared_lock);
    for (gc_gpu_kernel **link = &shared_kernels; *link != nullptr;) {
        gc_gpu_kernel *kernel = *link;
        if (kernel->users > 0) {
            link = &kernel->next;
            continue;
        }
        *link = kernel->next;
        kernel->next = unused;
        unused = kernel;
    }
    pthread_mutex_unlock(&shared_lock);
    while (unused != nullptr) {
        gc_gpu_kernel *next = unused->next;
        gc_current_device current(unused->device);
        destroy(unused);
        unused = next;
    }
}
