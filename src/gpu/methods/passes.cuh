/* Kernels that take a step in one pass over memory: how they are laid out, compiled, launched. */
#pragma once

#include "gpu/jit/modules.cuh"
#include "gpu/plan/method.cuh"

extern "C" {
#include "gpu/tunings/layout.h"
}

/* A kernel for one filter, and what launching it takes. Either nvcc compiled it ahead, for filters
 * of one size, or NVRTC compiles it at run time, for this filter. */
struct gc_pass_kernel {
    gc_layout layout;
    const void *ahead;       /* compiled ahead: takes the weights as its second argument */
    gc_gpu_kernel *compiled; /* compiled at run time; null if `ahead` serves */
    float *weights;          /* of `ahead`; owned */
    unsigned *queue;         /* device: a counter a channel */
    unsigned shared_bytes;   /* of a block */
    int resident;            /* blocks on the device at once */
};

/* The weights that a kernel compiled ahead is given by value. */
template <int count> struct gc_pass_weights {
    float values[count];
    __device__ float at(int k) const
    {
        return values[k];
    }
    __device__ constexpr bool skips(int) const
    {
        return false;
    }
};

/* The source of a kernel (source.cpp): the text of its kernels, the constants of the layout, and
 * `count` weights. Freed with free; null if memory is short. */
char *gc_kernel_source(const gc_layout &layout, const float *weights, int count);

/* Makes *kernel run a kernel compiled for `layout` and `count` weights, which become constants.
 * GCONV_ERROR_UNSUPPORTED if it cannot be had (see gc_jit_create). */
gconv_status gc_pass_compile(const gc_layout &layout, const float *weights, int count,
                             const gconv_device_info *device, gc_jit_when when,
                             gc_pass_kernel *kernel, gconv_error *error);

bool gc_pass_is_cached(const gc_layout &layout, const float *weights, int count,
                       const gconv_device_info *device);

/* Gives a layout the types and the channels of a scope. */
void gc_pass_set_types(const gc_pass_scope &scope, gc_layout *layout);

/* The layout of a kernel for a step, with the device's tuning for the form. *scope becomes one of
 * planes if there is no room for all channels. */
gc_layout gc_pass_layout(const gc_problem *problem, const gc_step *step, gc_form form,
                         gc_pass_scope *scope, const gconv_device_info *device);

/* Seconds of a kernel with its weights as constants, for the whole image. It takes `work`
 * multiply-adds a value, beside what it takes to read and store samples. Includes planes. */
double gc_pass_seconds(const gc_problem *problem, const gc_pass_scope &scope, double work,
                       const gconv_device_info *device);

/* gc_pass_seconds of a kernel of this form, whose multiply-adds a value gc_form_work says. */
double gc_pass_form_seconds(const gc_problem *problem, const gc_step *step, gc_form form,
                            const gconv_device_info *device);

/* Seconds for the whole image of the kernels that a pass can have. */
struct gc_pass_times {
    double compiled; /* for one filter, without the time to compile it */
    double ahead;    /* compiled ahead; 0 if there is none */
};

/* The times of kernels that take `work` multiply-adds a value. If `is_ahead`, there is also a
 * kernel compiled ahead, which takes `factor` times as long as one of planes with its weights as
 * constants. */
gc_pass_times gc_pass_times_of(const gc_problem *problem, const gc_pass_scope &scope, double work,
                               bool is_ahead, double factor, const gconv_device_info *device);

/* Whether compiling takes less time than it saves over the expected runs. */
bool gc_pass_compiling_pays(const gc_problem *problem, const gc_pass_times &times,
                            const gconv_device_info *device);

/* Seconds of the kernel that gc_pass_prepare would take, and of compiling it, which the runs
 * share. */
double gc_pass_total_seconds(const gc_problem *problem, const gc_pass_times &times,
                             const gc_layout &layout, const float *weights, int count,
                             const gconv_device_info *device);

/* Counters of tiles, for gc_pass.queue, in the device's memory. */
gconv_status gc_pass_make_queue(unsigned **queue, gconv_error *error);

gconv_status gc_pass_launch(const gc_pass_kernel &kernel, gc_pass &pass, int channels,
                            cudaStream_t stream, gconv_error *error);

/* Frees what the kernel holds. Its launches have to be done. */
void gc_pass_release(gc_pass_kernel *kernel);

/* ---- Kernels compiled ahead ------------------------------------------------------------------ */

/* A kernel for square filters around their middle. */
struct gc_ahead_kernel {
    int side;
    gc_tuning tuning;
    const void *kernel;
};

/* Whether a step's filter is a square around its middle. */
bool gc_is_square(const gc_step *step, int side);

/* The kernel for a step; null if there is none. */
const gc_ahead_kernel *gc_ahead_find(const gc_ahead_kernel *kernels, size_t count,
                                     const gc_step *step);

/* A kernel to be had: compiled for a layout and its weights, or `ahead`, unless this is null. */
struct gc_pass_wanted {
    const gc_layout &layout;
    const float *weights;
    int count;
    const gc_ahead_kernel *ahead;
};

/* Makes *kernel run the kernel that is wanted. If `ahead` is null or `compiles` is true, one is
 * compiled. Otherwise only the cache is asked for it. If this fails, `ahead` serves. It stores
 * chain values, and reads no interleaved samples: *scope then says so. */
gconv_status gc_pass_prepare(const gc_pass_wanted &wanted, bool compiles,
                             const gconv_device_info *device, gc_pass_scope *scope,
                             gc_pass_kernel *kernel, gconv_error *error);

/* ---- The functions of a gc_pass_method whose state is a gc_pass_kernel ----------------------- */

int gc_pass_one_step(const gc_problem *problem, int first, const gconv_device_info *device);
gconv_status gc_pass_run(void *state, gc_pass &pass, int channels, cudaStream_t stream,
                         gconv_error *error);
void gc_pass_describe(const void *state, char *text, size_t size);
void gc_pass_free(void *state);
