/* The method of adaptive. twopass gives it the steps whose filters are not of rank 1. */
#ifndef GC_GPU_METHODS_LADDER_ADAPTIVE_CUH
#define GC_GPU_METHODS_LADDER_ADAPTIVE_CUH

#include "gpu/plan/method.cuh"

extern const gc_step_method gc_adaptive_method;

#endif
