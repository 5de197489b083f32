#include "gpu/methods/fft/cufft.cuh"

#include <cstdio>
#include <pthread.h>

static gc_cufft load()
{
    gc_cufft of = {};
    char name[32];
    snprintf(name, sizeof name, "libcufft.so.%d", CUFFT_VER_MAJOR);
    gc_library_open(&of.library, "cuFFT", name);
    GC_CUFFT_FUNCTIONS(GC_LIBRARY_FIND)
    return of;
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
