/* What all GPU implementations share: memory, transfers, borders, bands, timing. An implementation
 * is a gc_gpu_method, which convolves one prepared plane; the runner makes a chain of it. */
#ifndef GC_GPU_RUNTIME_METHOD_CUH
#define GC_GPU_RUNTIME_METHOD_CUH

extern "C" {
#include "core/implementation.h"
#include "gpu/kernels/jit/types.h"
#include "gpu/runtime/bands.h"
}

#include <cuda_runtime.h>

/* One step on the device. `input` is a scratch image that carries the border, so that
 *     output[y][x] = sum_j sum_i taps[j][i] * input[y + j][x + i]
 * for all channels; kernels need no border logic. Channels lie in planes of their own. */
struct gc_gpu_step {
    const float *input;
    int64_t input_pitch, input_plane; /* samples from row to row, from channel to channel */
    float *output;
    int64_t output_pitch, output_plane;
    int width, height; /* of the output */
    int channels;
    const float *taps; /* on the device */
    int filter_width, filter_height;
};

/* Thread blocks that cover a plane: x counts tiles row by row (the y dimension of a grid would be
 * too short for tall images), y counts channels. */
struct gc_gpu_grid {
    dim3 blocks;
    unsigned columns; /* blocks in a row */
};

static inline gc_gpu_grid gc_gpu_grid_of(const gc_gpu_step &step, int tile_width, int tile_height)
{
    unsigned columns = (unsigned)((step.width + tile_width - 1) / tile_width);
    unsigned rows = (unsigned)((step.height + tile_height - 1) / tile_height);
    return {dim3(columns * rows, (unsigned)step.channels, 1), columns};
}

/* Steps that one kernel takes at once, reading borders by itself: from samples or values to values
 * or, where they end the chain, samples. */
struct gc_gpu_pass {
    int first, count;             /* steps of the problem */
    gc_sample_type input, output; /* of an output other than GC_FLOAT: `finish` makes it */
    int finish;                   /* gc_finish_kind */
};

/* The final conversion, if the device makes it; false where the CPU does. */
bool gc_gpu_finish_of(const gc_problem *problem, gc_finish *finish);

/* What a pass of steps `first` to `first + count - 1` may read and store, the best that a method can
 * make of it. */
gc_gpu_pass gc_gpu_pass_of(const gc_problem *problem, int first, int count);

/* How an implementation convolves: step by step from a scratch image, by `prepare` and `convolve`; or
 * in passes, by `pass_steps`, `prepare_pass` and `run_pass`. What it does not have is NULL. */
struct gc_gpu_method {
    const char *name;
    /* GCONV_OK, or why this step cannot be done on this device (GCONV_ERROR_UNSUPPORTED). */
    gconv_status (*supports)(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error);
    /* Seconds that one step of the whole image is expected to take on the device. */
    double (*seconds)(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device);
    /* Chooses and allocates what the step needs; `rows` is the most rows of output at once, whole slabs. *state
     * goes to the others. The device is current. */
    gconv_status (*prepare)(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error);
    gconv_status (*convolve)(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error);
    void (*release)(void *state);
    /* FLOP a byte by the published model; NULL where there is none. */
    double (*intensity)(const void *state, const gc_step *step);
    /* One line on what was chosen for a step; NULL where there is nothing to choose. */
    void (*describe)(const void *state, char *text, size_t size);
    /* Bytes beside gc_band_bytes; NULL is 0. */
    double (*extra_bytes)(const gc_problem *problem, int64_t rows);
    /* Terms added to n in the bound of rule 4; NULL is 0. */
    double (*extra_terms)(const gc_problem *problem);
    /* How many steps from step `first` on one pass takes. */
    int (*pass_steps)(const gc_problem *problem, int first, const gconv_device_info *device);
    /* As prepare. Input and output of *pass are what would suit the runner; they may be set to
     * GC_FLOAT. */
    gconv_status (*prepare_pass)(const gc_problem *problem, const gconv_device_info *device,
                                 gc_gpu_pass *pass, void **state, gconv_error *error);
    /* Every channel of `pass`, whose output type is the prepared one or GC_FLOAT: chain values. */
    gconv_status (*run_pass)(void *state, gc_pass &pass, int channels, cudaStream_t stream,
                             gconv_error *error);
    /* Which rows of the step's output have to be computed together, for their bits not to depend on the
     * device's memory; NULL where rows do not depend on each other. */
    gc_slabs (*slabs)(const gc_problem *problem, const gc_step *step);
};

gconv_status gc_gpu_supports(const gc_gpu_method &method, const gc_problem *problem,
                             const gconv_device_info *device, gconv_error *error);
double gc_gpu_cost(const gc_gpu_method &method, const gc_problem *problem,
                   const gconv_device_info *device);
gconv_status gc_gpu_prepare(const gc_gpu_method &method, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error);
gconv_status gc_gpu_await(void *state, double *compile_seconds, gconv_error *error);
gconv_status gc_gpu_run(void *state, gc_stream *stream, gconv_error *error);
void gc_gpu_release(void *state);
void gc_gpu_describe(void *state, char *text, size_t size);
double gc_gpu_intensity(void *state);
gconv_status gc_gpu_time(void *state, const void *input, size_t stride, double seconds,
                         double *median, gconv_error *error);

/* The registry's view of a method. */
template <const gc_gpu_method &method> constexpr gc_operations gc_gpu_operations()
{
    return {
        [](const gc_problem *problem, const gconv_device_info *device, gconv_error *error) {
            return gc_gpu_supports(method, problem, device, error);
        },
        [](const gc_problem *problem, const gconv_device_info *device) {
            return gc_gpu_cost(method, problem, device);
        },
        [](const gc_problem *problem, const gconv_device_info *device, void **state,
           gconv_error *error) { return gc_gpu_prepare(method, problem, device, state, error); },
        gc_gpu_run,
        gc_gpu_release,
        [](const gc_problem *problem) {
            return method.extra_terms != nullptr ? method.extra_terms(problem) : 0.0;
        },
        gc_gpu_describe,
        method.intensity != nullptr ? gc_gpu_intensity : nullptr,
        gc_gpu_time,
        gc_gpu_await,
    };
}

#endif
