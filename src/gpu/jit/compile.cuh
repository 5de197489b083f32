/* What compiling and the cache of compiled kernels share. */
#ifndef GC_GPU_JIT_COMPILE_CUH
#define GC_GPU_JIT_COMPILE_CUH

#include "gpu/jit/jit.h"

/* Options that every source is compiled with, beside the target. */
enum { GC_COMPILE_OPTIONS = 3 };
extern const char *const gc_compile_options[GC_COMPILE_OPTIONS];

#endif
