#include "gpu/jit/nvrtc.cuh"

#include "gpu/jit/jit.h"

#include <cstdio>
#include <cuda_runtime.h>
#include <pthread.h>

/* The NVRTC of the CUDA runtime in gconv comes first: a driver that supports this runtime accepts
 * code of this NVRTC, too. From CUDA 11.2 on, every CUDA 11 calls its library 11.2. */
static void open_in(gc_library *library, const char *directory)
{
    char built_with[32];
    snprintf(built_with, sizeof built_with, "libnvrtc.so.%d", CUDART_VERSION / 1000);
    const char *const names[] = {built_with, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                 "libnvrtc.so"};
    for (const char *name : names) {
        char path[512];
        int length = snprintf(path, sizeof path, "%s%s", directory, name);
        if (length < (int)sizeof path)
            gc_library_open(library, "NVRTC", path);
    }
}

/* Looks in the paths of the loader, then beside the toolkit. */
static void open_library(gc_library *library)
{
    open_in(library, "");
    const char *const roots[] = {secure_getenv("CUDA_PATH"), secure_getenv("CUDA_HOME"),
                                 "/usr/local/cuda"};
    for (const char *root : roots) {
        char directory[480];
        if (root == nullptr || root[0] != '/')
            continue;
        int length = snprintf(directory, sizeof directory, "%s/lib64/", root);
        if (length < (int)sizeof directory)
            open_in(library, directory);
    }
    if (!library->loaded)
        snprintf(library->reason, sizeof library->reason,
                 "no NVRTC (libnvrtc.so of the CUDA toolkit) can be loaded");
}

static gc_nvrtc load()
{
    gc_nvrtc of = {};
    int major = 0, minor = 0;
    open_library(&of.library);
    if (!of.library.loaded)
        return of;
    GC_NVRTC_FUNCTIONS(GC_LIBRARY_FIND)
    of.library.loaded = of.library.loaded && of.version(&major, &minor) == NVRTC_SUCCESS;
    of.release = 1000 * major + 10 * minor;
    if (!of.library.loaded)
        snprintf(of.library.reason, sizeof of.library.reason, "NVRTC is older than 11.2");
    return of;
}

static gc_nvrtc the_nvrtc;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const gc_nvrtc &gc_nvrtc_get()
{
    pthread_once(&once, [] { the_nvrtc = load(); });
    return the_nvrtc;
}

bool gc_jit_available(void)
{
    return gc_nvrtc_get().library.loaded;
}

gconv_status gc_jit_check(int width, int height, gconv_error *error)
{
    if (gc_jit_available())
        return GCONV_OK;
    return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                   "a %dx%d filter has to be compiled at run time, and there is no NVRTC here "
                   "(libnvrtc of the CUDA toolkit)",
                   width, height);
}

int gconv_nvrtc_version(void)
{
    return gc_nvrtc_get().library.loaded ? gc_nvrtc_get().release : 0;
}

gconv_status gc_nvrtc_fail(gconv_error *error, nvrtcResult code, const char *what)
{
    gconv_status status =
        code == NVRTC_ERROR_OUT_OF_MEMORY ? GCONV_ERROR_MEMORY : GCONV_ERROR_DEVICE;
    return gc_fail(error, status, "NVRTC: %s (%s)", gc_nvrtc_get().error_string(code), what);
}
