#include "gpu/decode/nvjpeg.cuh"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>

/* Looks where the loader looks, then beside the toolkit. */
static void open_library(gc_library *library)
{
    char name[32];
    snprintf(name, sizeof name, "libnvjpeg.so.%d", CUDART_VERSION / 1000);
    gc_library_open(library, "nvJPEG", name);
    const char *const roots[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"), "/usr/local/cuda"};
    for (const char *root : roots) {
        char path[512];
        if (root == nullptr || root[0] != '/')
            continue;
        int length = snprintf(path, sizeof path, "%s/lib64/%s", root, name);
        if (length < (int)sizeof path)
            gc_library_open(library, "nvJPEG", path);
    }
    if (!library->loaded)
        snprintf(library->reason, sizeof library->reason,
                 "nvJPEG (%s of the CUDA toolkit) cannot be loaded", name);
}

static gc_nvjpeg load()
{
    gc_nvjpeg nvjpeg = {};
    gc_library *library = &nvjpeg.library;
    open_library(library);
    gc_library_find(library, "nvjpegGetProperty", nvjpeg.get_property);
    gc_library_find(library, "nvjpegGetHardwareDecoderInfo", nvjpeg.get_units);
    gc_library_find(library, "nvjpegCreateEx", nvjpeg.create);
    gc_library_find(library, "nvjpegDestroy", nvjpeg.destroy);
    gc_library_find(library, "nvjpegJpegStateCreate", nvjpeg.create_state);
    gc_library_find(library, "nvjpegJpegStateDestroy", nvjpeg.destroy_state);
    gc_library_find(library, "nvjpegJpegStreamCreate", nvjpeg.create_stream);
    gc_library_find(library, "nvjpegJpegStreamDestroy", nvjpeg.destroy_stream);
    gc_library_find(library, "nvjpegJpegStreamParseHeader", nvjpeg.parse_header);
    gc_library_find(library, "nvjpegDecodeBatchedSupported", nvjpeg.supported);
    gc_library_find(library, "nvjpegDecodeBatchedInitialize", nvjpeg.begin_batch);
    gc_library_find(library, "nvjpegDecodeBatched", nvjpeg.decode_batch);
    for (int i = GC_NVJPEG_MAJOR; library->loaded && i <= GC_NVJPEG_PATCH; i++)
        nvjpeg.get_property(i, &nvjpeg.version[i]);
    return nvjpeg;
}

static gc_nvjpeg the_nvjpeg;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const gc_nvjpeg &gc_nvjpeg_get()
{
    pthread_once(&once, [] { the_nvjpeg = load(); });
    return the_nvjpeg;
}
