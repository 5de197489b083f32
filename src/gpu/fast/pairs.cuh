/* Two steps of a chain in one pass over memory, of any samples and at any border: what fused does with
 * chains that are no single filter for the tensor cores. */
#ifndef GC_GPU_FAST_PAIRS_CUH
#define GC_GPU_FAST_PAIRS_CUH

#include "gpu/fast/passes.cuh"

enum {
    GC_PAIR_WEIGHTS = 49, /* of a filter */
    GC_PAIR_SIDE = 9      /* of a filter; of the second one as mirrors make it, see pad */
};

/* Whether step `first` and the next one can be taken in one pass, and sooner than one by one. */
bool gc_pair_fits(const gc_problem *problem, int first, const gconv_device_info *device);

/* Seconds that they are expected to take, compiling included. */
double gc_pair_seconds(const gc_problem *problem, int first, const gconv_device_info *device);

/* As gc_gpu_method.prepare_pass, for those two. */
gconv_status gc_pair_prepare(const gc_problem *problem, const gconv_device_info *device,
                             gc_gpu_pass *pass, gc_pass_kernel *kernel, gconv_error *error);

#endif
