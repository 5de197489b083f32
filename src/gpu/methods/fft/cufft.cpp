#include "gpu/methods/fft/cufft.cuh"

#include <cstdio>
#include <pthread.h>

static gc_cufft load()
{
    gc_cufft cufft = {};
    gc_library *library = &cufft.library;
    char name[32];
    snprintf(name, sizeof name, "libcufft.so.%d", CUFFT_VER_MAJOR);
    gc_library_open(library, "cuFFT", name);
    gc_library_find(library, "cufftCreate", cufft.create);
    gc_library_find(library, "cufftDestroy", cufft.destroy);
    gc_library_find(library, "cufftSetStream", cufft.set_stream);
    gc_library_find(library, "cufftMakePlanMany64", cufft.make_plan);
    gc_library_find(library, "cufftExecC2C", cufft.c2c);
    gc_library_find(library, "cufftExecR2C", cufft.r2c);
    gc_library_find(library, "cufftExecC2R", cufft.c2r);
    gc_library_find(library, "cufftExecD2Z", cufft.d2z);
    gc_library_find(library, "cufftExecZ2D", cufft.z2d);
    return cufft;
}

static gc_cufft the_cufft;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const gc_cufft &gc_cufft_get()
{
    pthread_once(&once, [] { the_cufft = load(); });
    return the_cufft;
}

gconv_status gc_cufft_fail(gconv_error *error, cufftResult code, const char *what)
{
    gconv_status status = code == CUFFT_ALLOC_FAILED ? GCONV_ERROR_MEMORY : GCONV_ERROR_DEVICE;
    return gc_fail(error, status, "cuFFT: %s failed with result %d", what, (int)code);
}
