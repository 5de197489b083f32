/* Kernels that take a step in one pass over memory: how they are laid out, compiled, launched. */
#ifndef GC_GPU_FAST_PASSES_CUH
#define GC_GPU_FAST_PASSES_CUH

#include "gpu/jit/kernel.cuh"
#include "gpu/runtime/method.cuh"

extern "C" {
#include "gpu/fast/layout.h"
}

/* What NVRTC takes for a kernel of moderate size, measured on a server. */
#define GC_COMPILE_SECONDS 0.5

/* Multiply-adds a second that a kernel with constant weights reaches of the device's peak (measured on an
 * H200). */
constexpr double gc_pass_share = 0.78;

/* A kernel for one filter, compiled ahead or at run time, and what launching it takes. */
struct gc_pass_kernel {
    gc_layout layout;
    const void *ahead;      /* compiled ahead: takes the weights as its second argument */
    gc_gpu_kernel *special; /* compiled at run time; null where `ahead` is not */
    float *weights;         /* of `ahead`; owned */
    unsigned *queue;        /* device: a counter a channel */
    unsigned shared_bytes;  /* of a block */
    int resident;           /* blocks on the device at once */
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

/* Makes *kernel run a kernel compiled for `layout` and `count` weights, which become constants.
 * GCONV_ERROR_UNSUPPORTED where it cannot be had (see gc_jit_create). */
gconv_status gc_pass_specialise(const gc_layout &layout, const float *weights, int count,
                                const gconv_device_info *device, gc_jit_when when,
                                gc_pass_kernel *kernel, gconv_error *error);

/* Whether that takes no compiling; asks the disk. */
bool gc_pass_is_cached(const gc_layout &layout, const float *weights, int count,
                       const gconv_device_info *device);

/* What a kernel for a step has to be: its tuning is the device's for kernels of the form. */
gc_layout gc_pass_layout(const gc_problem *problem, const gc_step *step, gc_form form,
                         const gc_gpu_pass &pass, const gconv_device_info *device);

/* What is compiled for that, freed with free; null where memory is short. */
char *gc_pass_source(const gc_layout &layout, const float *weights, int count);

/* Seconds of a kernel of the form whose weights are constants, for the whole image. */
double gc_pass_form_seconds(const gc_problem *problem, const gc_step *step, gc_form form,
                            const gconv_device_info *device);

/* Enqueues `pass` for all channels. */
gconv_status gc_pass_launch(const gc_pass_kernel &kernel, gc_pass &pass, int channels,
                            cudaStream_t stream, gconv_error *error);

/* Frees what the kernel holds; launches are done. */
void gc_pass_release(gc_pass_kernel *kernel);

/* ---- Kernels compiled ahead ------------------------------------------------------------------ */

/* For square filters around their middle. */
struct gc_ahead_kernel {
    int side;
    gc_tuning tuning;
    const void *kernel;
};

/* Whether a step's filter is such a square. */
bool gc_is_square(const gc_step *step, int side);

/* The row for a step; null where there is none. */
const gc_ahead_kernel *gc_ahead_find(const gc_ahead_kernel *rows, size_t count,
                                     const gc_step *step);

/* Makes *kernel run a kernel compiled for `layout` and `count` weights, where `ahead` is null; else only
 * if it is there already, or should be compiled, and can be; else that compiled ahead, which gives
 * chain values: pass->output says so. */
gconv_status gc_pass_prepare(const gc_layout &layout, const gc_ahead_kernel *ahead,
                             const float *weights, int count, bool compiles,
                             const gconv_device_info *device, gc_gpu_pass *pass,
                             gc_pass_kernel *kernel, gconv_error *error);

/* ---- What a method whose state is a gc_pass_kernel does (see gc_gpu_method) ------------------ */

int gc_pass_one_step(const gc_problem *problem, int first, const gconv_device_info *device);
gconv_status gc_pass_run(void *state, gc_pass &pass, int channels, cudaStream_t stream,
                         gconv_error *error);
void gc_pass_describe(const void *state, char *text, size_t size);
void gc_pass_free(void *state);

#endif
