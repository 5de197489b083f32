/* adaptive's method, for implementations that hand it the steps they have no better way for. */
#ifndef GC_GPU_LADDER_ADAPTIVE_CUH
#define GC_GPU_LADDER_ADAPTIVE_CUH

#include "gpu/runtime/method.cuh"

extern const gc_step_method gc_adaptive_method;

#endif
