/* Compiling kernels at run time, as far as no device is needed. Plain C. NVRTC is loaded when it is
 * first needed. */
#pragma once

#include "gconv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gc_jit_when {
    GC_JIT_CACHED_ONLY, /* take it from the cache, whichever NVRTC made it; takes microseconds */
    GC_JIT_COMPILE,     /* compile what is not in the cache, or was compiled by another NVRTC */
    GC_JIT_UNKEPT       /* compile, and leave the cache alone: for kernels that are used once */
} gc_jit_when;

/* Whether NVRTC can be loaded. Takes milliseconds; half a second if the disk is cold. */
bool gc_jit_available(void);

/* GCONV_ERROR_UNSUPPORTED if it cannot: a filter of this size has to be compiled. */
gconv_status gc_jit_check(int width, int height, gconv_error *error);

/* Seconds that the calling thread has spent in gc_jit_compile, over all its calls. */
double gc_jit_seconds(void);

/* Compiles `source`, whose kernels are extern "C", for a compute capability: machine code, or PTX
 * (with its NUL) if this NVRTC does not know the device yet. Device is the default execution space,
 * C++17 the language. The bytes are freed with free. GCONV_ERROR_UNSUPPORTED if there is no NVRTC
 * for it; GCONV_ERROR_DEVICE with the compiler's words if the source does not compile. */
gconv_status gc_jit_compile(int major, int minor, const char *source, void **binary, size_t *size,
                            gconv_error *error);

/* Takes the binary from the cache on disk, or compiles it as gc_jit_compile does. The machine need
 * not have the device. GCONV_ERROR_UNSUPPORTED if only the cache may be used and has no such
 * kernel, or if the driver refused what this NVRTC compiles. */
gconv_status gc_jit_binary(const gconv_device_info *device, const char *source, gc_jit_when when,
                           void **binary, size_t *size, gconv_error *error);

/* Tells the cache that the driver refuses the binary that gc_jit_binary gave. Without `for_good`
 * the cache removes the binary, and the kernel is compiled again. `for_good` is for a kernel that
 * was just compiled again: the cache notes the refusal, and gc_jit_binary fails from then on with
 * this NVRTC. */
void gc_jit_refuse(const gconv_device_info *device, const char *source, bool for_good);

#ifdef __cplusplus
}
#endif
