/* Two steps of a chain in one pass over memory, for any samples and any border. fused takes a chain
 * in pairs if the tensor cores cannot take it as one filter. */
#pragma once

#include "gpu/methods/passes.cuh"

enum {
    GC_PAIR_WEIGHTS = 49, /* of a filter */
    GC_PAIR_SIDE = 9      /* of a filter; of the second one with its padding (pairs.cu, pad) */
};

/* Whether one pass can take step `first` and the next one, and is faster than two passes. */
bool gc_pair_fits(const gc_problem *problem, int first, const gconv_device_info *device);

/* Seconds that one pass is expected to take for them, compiling included. */
double gc_pair_seconds(const gc_problem *problem, int first, const gconv_device_info *device);

/* As gc_pass_method.prepare, for those two. */
gconv_status gc_pair_prepare(const gc_problem *problem, const gconv_device_info *device,
                             gc_pass_scope *scope, gc_pass_kernel *kernel, gconv_error *error);
