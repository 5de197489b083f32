/* What an implementation on the GPU is to the files of src/gpu/plan: a method of one of two types.
 * A gc_step_method convolves one step after the other from an extended image, a gc_pass_method
 * takes steps in passes. These files do the rest: memory, transfers, borders, bands, timing. */
#pragma once

#include "gpu/device/owned.cuh"
#include "gpu/plan/step_types.cuh"

extern "C" {
#include "core/implementation.h"
#include "gpu/cost/costs.h"
#include "gpu/pass/finish.h"
#include "gpu/plan/bands.h"
}

#include <cmath>

/* What methods of both types have. */
struct gc_gpu_method {
    /* GCONV_OK, or why this step cannot be done on this device (GCONV_ERROR_UNSUPPORTED). */
    gconv_status (*supports)(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error);
    /* Seconds that one step of the whole image is expected to take on the device; of a pass method
     * with what turns samples into planes and planes into samples (gc_pass_scope_planes). */
    double (*seconds)(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device);
    /* Frees a state that `prepare` made, also if `prepare` failed. */
    void (*release)(void *state);
    /* Writes one line on what was chosen for a step or a pass. */
    void (*describe)(const void *state, char *text, size_t size);
    /* The members from here on are optional. Each comment says what null means. */

    /* Bytes of the device's memory that states take for this problem, beside gc_band_bytes; null is
     * 0. */
    double (*extra_bytes)(const gc_problem *problem, int64_t rows) = nullptr;
    /* Terms added to n in the bound of rule 4; null is 0. */
    double (*extra_terms)(const gc_problem *problem) = nullptr;
    /* The rows of a step's output that are computed together, so that their bits do not depend on
     * how rows are divided into bands; null if rows do not depend on each other. */
    gc_slabs (*slabs)(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device) = nullptr;
    /* Bound of |value - exact sum of the weights| of a problem's only step, whose kernel reads
     * samples of 8 bits or their values; infinite if there is no proof. Null: there is none. */
    double (*error)(const gc_problem *problem, const gc_step *step,
                    const gconv_device_info *device) = nullptr;
    /* Whether filters of two vectors are taken, whose steps have no taps. The functions are asked
     * about no others if this is false. */
    bool takes_vectors = false;
    bool detects = false; /* gc_operations.detects; by the method laplace not */
};

/* ---- Methods that convolve step by step ------------------------------------------------------ */

struct gc_step_method : gc_gpu_method {
    /* Chooses and allocates what a step needs. `rows` is the most rows of output at once, in whole
     * slabs. The device is current. *state goes to the other functions. */
    gconv_status (*prepare)(const gc_problem *problem, const gc_step *step,
                            const gconv_device_info *device, int rows, void **state,
                            gconv_error *error);
    gconv_status (*convolve)(void *state, const gc_gpu_step &step, cudaStream_t stream,
                             gconv_error *error);
    /* FLOP a byte by the published model; null if there is none. */
    double (*intensity)(const void *state, const gc_step *step) = nullptr;
    /* The tiling factor; null if there are no tiles. */
    int (*tiling_factor)(const void *state) = nullptr;
};

/* ---- Methods that take steps in passes ------------------------------------------------------- */

/* The steps that one pass takes, and the types that it reads and stores. A pass is one kernel: it
 * crosses memory once and reads borders by itself. It reads samples or chain values, and it stores
 * chain values or, at the end of the chain, samples. */
struct gc_pass_scope {
    int first, count; /* steps of the problem */
    gc_sample_type input = GC_FLOAT;
    gc_sample_type output = GC_FLOAT; /* `finish` makes any other */
    int finish = GC_FINISH_NONE;      /* gc_finish_kind */
    int channels = 1; /* of a pixel of interleaved samples that are read or stored; 1: there are
                         none */
    int alpha = GC_PASS_NO_ALPHA; /* gc_pass_alpha of these channels */
};

/* The scope of steps `first` to `first + count - 1` with the types that suit the runtime best.
 * `error` is gc_gpu_method.error: samples are rounded once if it is small enough. */
gc_pass_scope gc_pass_scope_of(const gc_problem *problem, int first, int count,
                               double error = INFINITY);

/* The scope of a pass that reads and stores planes, if samples of several channels are interleaved;
 * else the same scope. */
gc_pass_scope gc_pass_scope_of_planes(const gc_pass_scope &scope);

/* Bytes of a value that such a pass reads and stores. */
double gc_pass_scope_bytes(const gc_pass_scope &scope);

/* Seconds to turn samples into planes, if a pass begins the chain and does not read samples, and
 * planes into the result, if it ends the chain and does not store samples. */
double gc_pass_scope_planes(const gc_problem *problem, const gc_pass_scope &scope,
                            const gconv_device_info *device);

struct gc_pass_method : gc_gpu_method {
    /* How many steps from step `first` on one pass takes. */
    int (*pass_steps)(const gc_problem *problem, int first, const gconv_device_info *device);
    /* Chooses and allocates what a pass needs. *scope has the types that suit the runtime best. A
     * method that cannot read or store such a type sets it to GC_FLOAT, with interleaved samples
     * both types (gc_pass_scope_of_planes). The device is current.
     * *state goes to the other functions. */
    gconv_status (*prepare)(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **state, gconv_error *error);
    /* Runs a pass for all `channels` of the chain. Its output type is the prepared one, or GC_FLOAT
     * if the run wants chain values. */
    gconv_status (*run)(void *state, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error);
};

/* ---- What the registry asks ------------------------------------------------------------------ */

/* Sets *finish if the device makes the final conversion. False if the CPU makes it. */
bool gc_gpu_finish_of(const gc_problem *problem, gc_finish *finish);

/* gc_operations.rounds_once. If so, *finish, which may be unset, becomes the final conversion. */
bool gc_gpu_settles(const gc_gpu_method &method, const gc_problem *problem,
                    const gconv_device_info *device, gc_finish *finish);

gconv_status gc_gpu_supports(const gc_gpu_method &method, const gc_problem *problem,
                             const gconv_device_info *device, gconv_error *error);
/* Planes are counted: by step methods here, by pass methods in their `seconds`. */
double gc_gpu_cost(const gc_step_method &method, const gc_problem *problem,
                   const gconv_device_info *device);
double gc_gpu_cost(const gc_pass_method &method, const gc_problem *problem,
                   const gconv_device_info *device);

/* The type of the method decides how the plan runs. */
gconv_status gc_gpu_prepare(const gc_step_method &method, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error);
gconv_status gc_gpu_prepare(const gc_pass_method &method, const gc_problem *problem,
                            const gconv_device_info *device, void **state, gconv_error *error);

gconv_status gc_gpu_await(void *state, double *compile_seconds, gconv_error *error);
gconv_status gc_gpu_run(void *state, gc_stream *stream, gconv_error *error);
void gc_gpu_release(void *state);
void gc_gpu_describe_plan(void *state, char *text, size_t size);
gconv_status gc_gpu_time(void *state, const void *input, size_t stride, double seconds,
                         gconv_device_times *times, gconv_error *error);

/* In device_run.cpp; `stream` is a cudaStream_t. */
gconv_status gc_gpu_run_device(void *state, const void *input, size_t input_stride, void *output,
                               size_t output_stride, void *stream, gconv_error *error);

/* Of a plan whose method is a gc_step_method with `intensity`. */
double gc_gpu_intensity(void *state);
/* Of a plan whose method is a gc_step_method with `tiling_factor`. */
int gc_gpu_tiling_factor(void *state);

/* The registry's view of a method, whose type is `method_type`. */
template <class method_type, const method_type &method>
constexpr gc_operations gc_gpu_operations(double (*extra_terms)(const gc_problem *problem),
                                          double (*intensity)(void *state),
                                          int (*tiling_factor)(void *state))
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
        extra_terms,
        [](const gc_problem *problem, const gconv_device_info *device) {
            gc_finish finish;
            return gc_gpu_settles(method, problem, device, &finish);
        },
        gc_gpu_describe_plan,
        intensity,
        gc_gpu_time,
        gc_gpu_await,
        gc_gpu_run_device,
        tiling_factor,
        method.error != nullptr ? "8 bits and 1 bit, of one small filter" : nullptr,
        method.detects,
    };
}

template <const gc_step_method &method> constexpr gc_operations gc_step_operations()
{
    return gc_gpu_operations<gc_step_method, method>(
        method.extra_terms, method.intensity != nullptr ? gc_gpu_intensity : nullptr,
        method.tiling_factor != nullptr ? gc_gpu_tiling_factor : nullptr);
}

template <const gc_pass_method &method> constexpr gc_operations gc_pass_operations()
{
    return gc_gpu_operations<gc_pass_method, method>(method.extra_terms, nullptr, nullptr);
}

/* Defines operations for the registry, which is C. */
#define GC_OPERATIONS(name, made)                                                                  \
    extern "C" const gc_operations name;                                                           \
    const gc_operations name = made
