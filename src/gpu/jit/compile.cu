/* Kernels compiled at run time by NVRTC, and the cache of what it made. */
#include "gpu/jit/jit.h"
#include "gpu/runtime/check.cuh"
#include "gpu/runtime/library.cuh"

extern "C" {
#include "base/cache.h"
#include "base/clock.h"
#include "base/memory.h"
}

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>

/* ---- NVRTC, loaded when first asked for ------------------------------------------------------ */

struct compiler {
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
    bool loaded;
    char reason[256];
};

/* First what belongs to the runtime that gconv is built with: a driver that can do with this runtime
 * takes that NVRTC's code too. CUDA 11 names its libraries 11.2 from that version on. */
static void *open_in(const char *directory)
{
    char built_with[32];
    snprintf(built_with, sizeof built_with, "libnvrtc.so.%d", CUDART_VERSION / 1000);
    const char *const names[] = {built_with, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                 "libnvrtc.so"};
    for (const char *name : names) {
        char path[512];
        int length = snprintf(path, sizeof path, "%s%s", directory, name);
        void *handle = length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
        if (handle != nullptr)
            return handle;
    }
    return nullptr;
}

/* Where the loader looks, then beside the toolkit. */
static void *open_library()
{
    void *handle = open_in("");
    const char *const roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda"};
    for (const char *root : roots) {
        char directory[480];
        if (handle != nullptr || root == nullptr || root[0] != '/')
            continue;
        int length = snprintf(directory, sizeof directory, "%s/lib64/", root);
        if (length < (int)sizeof directory)
            handle = open_in(directory);
    }
    return handle;
}

static compiler load_compiler()
{
    compiler nvrtc = {};
    void *library = open_library();
    if (library == nullptr) {
        snprintf(nvrtc.reason, sizeof nvrtc.reason,
                 "no NVRTC (libnvrtc.so of the CUDA toolkit) can be loaded");
        return nvrtc;
    }
    int major = 0, minor = 0;
    nvrtc.loaded =
        gc_find_function(library, "nvrtcVersion", nvrtc.version) &&
        gc_find_function(library, "nvrtcGetErrorString", nvrtc.error_string) &&
        gc_find_function(library, "nvrtcGetNumSupportedArchs", nvrtc.count_architectures) &&
        gc_find_function(library, "nvrtcGetSupportedArchs", nvrtc.architectures) &&
        gc_find_function(library, "nvrtcCreateProgram", nvrtc.create) &&
        gc_find_function(library, "nvrtcDestroyProgram", nvrtc.destroy) &&
        gc_find_function(library, "nvrtcCompileProgram", nvrtc.compile) &&
        gc_find_function(library, "nvrtcGetProgramLogSize", nvrtc.log_size) &&
        gc_find_function(library, "nvrtcGetProgramLog", nvrtc.log) &&
        gc_find_function(library, "nvrtcGetCUBINSize", nvrtc.cubin_size) &&
        gc_find_function(library, "nvrtcGetCUBIN", nvrtc.cubin) &&
        gc_find_function(library, "nvrtcGetPTXSize", nvrtc.ptx_size) &&
        gc_find_function(library, "nvrtcGetPTX", nvrtc.ptx) &&
        nvrtc.version(&major, &minor) == NVRTC_SUCCESS;
    nvrtc.release = 1000 * major + 10 * minor;
    if (!nvrtc.loaded)
        snprintf(nvrtc.reason, sizeof nvrtc.reason, "NVRTC is older than 11.2");
    return nvrtc;
}

static compiler the_compiler;
static pthread_once_t compiler_once = PTHREAD_ONCE_INIT;

static const compiler &nvrtc()
{
    pthread_once(&compiler_once, [] { the_compiler = load_compiler(); });
    return the_compiler;
}

bool gc_jit_available(void)
{
    return nvrtc().loaded;
}

int gc_jit_version(void)
{
    return nvrtc().loaded ? nvrtc().release : 0;
}

static gconv_status nvrtc_fail(gconv_error *error, nvrtcResult code, const char *what)
{
    gconv_status status =
        code == NVRTC_ERROR_OUT_OF_MEMORY ? GCONV_ERROR_MEMORY : GCONV_ERROR_DEVICE;
    return gc_fail(error, status, "NVRTC: %s (%s)", nvrtc().error_string(code), what);
}

#define NVRTC_TRY(error, call)                                                                     \
    do {                                                                                           \
        nvrtcResult nvrtc_code = (call);                                                           \
        if (nvrtc_code != NVRTC_SUCCESS)                                                           \
            return nvrtc_fail(error, nvrtc_code, #call);                                           \
    } while (0)

/* ---- What to compile for --------------------------------------------------------------------- */

struct target {
    char option[40];
    bool machine_code; /* else PTX */
};

/* Machine code for the device itself, else PTX of the newest architecture below it. */
static gconv_status choose_target(int architecture, const int *known, int count, target *chosen,
                                  gconv_error *error)
{
    int newest = 0;
    for (int i = 0; i < count; i++)
        if (known[i] <= architecture)
            newest = std::max(newest, known[i]);
    if (newest == 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "NVRTC %d.%d does not compile for compute capability %d.%d",
                       nvrtc().release / 1000, nvrtc().release % 1000 / 10, architecture / 10,
                       architecture % 10);
    chosen->machine_code = newest == architecture;
    snprintf(chosen->option, sizeof chosen->option, "--gpu-architecture=%s_%d",
             chosen->machine_code ? "sm" : "compute", newest);
    return GCONV_OK;
}

static gconv_status find_target(int architecture, target *chosen, gconv_error *error)
{
    int count = 0;
    NVRTC_TRY(error, nvrtc().count_architectures(&count));
    int *known = (int *)gc_allocate_array((size_t)count, sizeof *known);
    if (known == nullptr)
        return gc_fail_memory(error, (size_t)count * sizeof *known);
    nvrtcResult result = nvrtc().architectures(known);
    gconv_status status = result == NVRTC_SUCCESS
                              ? choose_target(architecture, known, count, chosen, error)
                              : nvrtc_fail(error, result, "asking for architectures");
    free(known);
    return status;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* The beginning of the compiler's log, as far as it fits, with one blank between words. */
static gconv_status fail_with_log(nvrtcProgram program, gconv_error *error)
{
    size_t size = 0;
    NVRTC_TRY(error, nvrtc().log_size(program, &size));
    char *log = (char *)calloc(size + 1, 1);
    if (log == nullptr)
        return gc_fail_memory(error, size + 1);
    nvrtcResult result = nvrtc().log(program, log);
    char *end = log;
    for (const char *next = log; *next != '\0'; next++)
        if (!isspace((unsigned char)*next))
            *end++ = *next;
        else if (end > log && end[-1] != ' ')
            *end++ = ' ';
    *end = '\0';
    gconv_status status = result == NVRTC_SUCCESS
                              ? gc_fail(error, GCONV_ERROR_DEVICE, "NVRTC: %s", log)
                              : nvrtc_fail(error, result, "asking for the log");
    free(log);
    return status;
}

/* Warnings are for those who compile the same source ahead. */
static const char *const our_options[] = {"--std=c++17", "-default-device", "-w"};
enum { OUR_OPTIONS = sizeof our_options / sizeof our_options[0] };

static gconv_status compile(nvrtcProgram program, const target &chosen, const char *const *options,
                            int option_count, gconv_error *error)
{
    int count = 1 + OUR_OPTIONS + option_count;
    const char **all = (const char **)gc_allocate_array((size_t)count, sizeof *all);
    if (all == nullptr)
        return gc_fail_memory(error, (size_t)count * sizeof *all);
    all[0] = chosen.option;
    std::copy(our_options, our_options + OUR_OPTIONS, all + 1);
    std::copy(options, options + option_count, all + 1 + OUR_OPTIONS);
    nvrtcResult result = nvrtc().compile(program, count, all);
    free(all);
    if (result == NVRTC_ERROR_COMPILATION)
        return fail_with_log(program, error);
    return result == NVRTC_SUCCESS ? GCONV_OK : nvrtc_fail(error, result, "compiling");
}

static gconv_status take_image(nvrtcProgram program, bool machine_code, void **image, size_t *size,
                               gconv_error *error)
{
    size_t bytes = 0;
    NVRTC_TRY(error, machine_code ? nvrtc().cubin_size(program, &bytes)
                                  : nvrtc().ptx_size(program, &bytes));
    char *copy = (char *)malloc(bytes);
    if (copy == nullptr)
        return gc_fail_memory(error, bytes);
    nvrtcResult result = machine_code ? nvrtc().cubin(program, copy) : nvrtc().ptx(program, copy);
    if (result != NVRTC_SUCCESS) {
        free(copy);
        return nvrtc_fail(error, result, "asking for the code");
    }
    *image = copy;
    *size = bytes;
    return GCONV_OK;
}

static gconv_status compile_for(int major, int minor, const char *source,
                                const char *const *options, int option_count, void **image,
                                size_t *size, gconv_error *error)
{
    if (!nvrtc().loaded)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "%s", nvrtc().reason);
    target chosen;
    GC_TRY(find_target(10 * major + minor, &chosen, error));
    nvrtcProgram program = nullptr;
    NVRTC_TRY(error, nvrtc().create(&program, source, "gconv.cu", 0, nullptr, nullptr));
    gconv_status status = compile(program, chosen, options, option_count, error);
    if (status == GCONV_OK)
        status = take_image(program, chosen.machine_code, image, size, error);
    nvrtc().destroy(&program);
    return status;
}

static thread_local double seconds_spent;

double gc_jit_seconds(void)
{
    return seconds_spent;
}

gconv_status gc_jit_compile(int major, int minor, const char *source, const char *const *options,
                            int option_count, void **image, size_t *size, gconv_error *error)
{
    *image = nullptr;
    *size = 0;
    double start = gc_seconds();
    gconv_status status =
        compile_for(major, minor, source, options, option_count, image, size, error);
    seconds_spent += gc_seconds() - start;
    return status;
}

/* ---- The cache ------------------------------------------------------------------------------- */

static const char kind[] = "kernel";

static gc_hash hash_number(gc_hash hash, int number)
{
    return gc_hash_bytes(hash, &number, sizeof number);
}

static gc_hash hash_options(gc_hash hash, const char *const *options, int count)
{
    hash = hash_number(hash, count);
    for (int i = 0; i < count; i++)
        hash = gc_hash_string(hash, options[i]);
    return hash;
}

/* Not NVRTC's version: to know it the library must be loaded. It stands in the entry. */
static gc_hash key_of(const gconv_device_info *device, const char *source,
                      const char *const *options, int option_count)
{
    gc_hash hash = gc_hash_string(gc_hash_start(), gconv_version());
    hash = gc_hash_string(hash, device->name);
    hash = hash_number(hash, device->compute_major);
    hash = hash_number(hash, device->compute_minor);
    hash = hash_number(hash, device->driver_version);
    hash = hash_options(hash, our_options, OUR_OPTIONS);
    hash = hash_options(hash, options, option_count);
    return gc_hash_string(hash, source);
}

/* An entry is the image, then the release of the NVRTC that made it. Of one that the driver refused for
 * good the image is empty. */
static bool load_entry(gc_hash key, int *release, void **image, size_t *size)
{
    if (gc_cache_load(kind, key, image, size, nullptr) != GCONV_OK)
        return false;
    if (*size < sizeof *release) {
        free(*image);
        return false;
    }
    *size -= sizeof *release;
    memcpy(release, (const char *)*image + *size, sizeof *release);
    return true;
}

/* What cannot be kept is compiled again next time. */
static void store_entry(gc_hash key, int release, const void *image, size_t size)
{
    char *entry = (char *)malloc(size + sizeof release);
    if (entry == nullptr)
        return;
    if (size > 0)
        memcpy(entry, image, size);
    memcpy(entry + size, &release, sizeof release);
    gc_cache_store(kind, key, entry, size + sizeof release, nullptr);
    free(entry);
}

gconv_status gc_jit_image(const gconv_device_info *device, const char *source,
                          const char *const *options, int option_count, gc_jit_when when,
                          void **image, size_t *size, gconv_error *error)
{
    if (when == GC_JIT_UNKEPT)
        return gc_jit_compile(device->compute_major, device->compute_minor, source, options,
                              option_count, image, size, error);
    gc_hash key = key_of(device, source, options, option_count);
    int release = 0;
    bool cached = load_entry(key, &release, image, size);
    bool holds =
        cached && (when == GC_JIT_CACHED_ONLY || !nvrtc().loaded || release == nvrtc().release);
    if (holds && *size > 0)
        return GCONV_OK;
    if (cached)
        free(*image);
    *image = nullptr;
    *size = 0;
    if (holds)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "the driver refuses what NVRTC %d.%d compiles", release / 1000,
                       release % 1000 / 10);
    if (when == GC_JIT_CACHED_ONLY)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "this kernel has not been compiled yet");
    GC_TRY(gc_jit_compile(device->compute_major, device->compute_minor, source, options,
                          option_count, image, size, error));
    store_entry(key, nvrtc().release, *image, *size);
    return GCONV_OK;
}

void gc_jit_refuse(const gconv_device_info *device, const char *source, const char *const *options,
                   int option_count, bool for_good)
{
    gc_hash key = key_of(device, source, options, option_count);
    if (for_good)
        store_entry(key, nvrtc().release, nullptr, 0);
    else
        gc_cache_remove(kind, key);
}
