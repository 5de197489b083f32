/* naive:lecture const:lecture twopass:lecture twopass:lecture1d: the kernels of Abramov 2011.
 *
 * Idea: naive:lecture reads global memory and multiplies two weights for each pixel, one of the
 *   column and one of the row ("the most naive approach"). const:lecture loads the pixels of a
 *   block first, 4 a thread ("Shared memory"). twopass:lecture convolves rows, then columns, with 2
 *   loads a thread in each pass ("Filter separation"). twopass:lecture1d writes the array in shared
 *   memory with one dimension in place of two ("Reorganize shared memory"). Blocks have 16x16
 *   threads, and a thread computes one output. The sizes are known to the compiler, and each load
 *   tests whether its pixel lies outside, as there.
 * Improves on: the serial loop, by parallel threads; two passes take F_w + F_h products, not two
 *   for each of F_w * F_h weights.
 * Needs: NVRTC; of the last three up to 32 * 32 floats of shared memory; of the last two a plane of
 *   the device's memory for the values between the passes.
 * Limits: those of twopass; but for naive:lecture filters of at most 17x17, which two loads in each
 *   direction cover.
 * Loses: to twopass, whose threads compute several outputs. */
#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/ladder/twopass.cuh"

extern "C" {
#include "base/buffer.h"
}

#include <cstdio>

/* The text of step_types.cuh and lecture_kernel.cuh, which the build embeds. */
extern "C" {
extern const char gc_source_lecture[];
}

enum { SIDE = 16 };
/* As in lecture_kernel.cuh; BOTH are rows, then columns. */
enum { NAIVE, SHARED, ROWS, COLUMNS, BOTH = ROWS };

static gconv_status check(const gc_problem *, const gc_step *step, const gconv_device_info *,
                          gconv_error *error)
{
    return step->width <= SIDE + 1 && step->height <= SIDE + 1
               ? gc_jit_check(step->width, step->height, error)
               : gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                         "a filter of %dx%d has an apron that is wider than a block of 16x16",
                         step->width, step->height);
}

static gconv_status check_naive(const gc_problem *, const gc_step *step, const gconv_device_info *,
                                gconv_error *error)
{
    return gc_jit_check(step->width, step->height, error);
}

static gconv_status compile(const gconv_device_info *device, int kind, bool flat,
                            gc_compiled_tile *tile, gconv_error *error)
{
    gc_buffer text = {};
    gc_buffer_print(&text,
                    "struct gc_config {\nstatic constexpr int width = %d, height = %d, step = %d;\n"
                    "static constexpr bool flat = %d;\n};\n",
                    tile->width, tile->height, kind, flat);
    gc_buffer_put(&text, gc_source_lecture);
    gc_owned_array<char> source(gc_buffer_take(&text, nullptr));
    GC_TRY_MEMORY(source != nullptr, error, 0);
    return gc_compiled_load(device, GC_JIT_COMPILE, source, tile, error);
}

template <int KIND, bool FLAT>
static gconv_status prepare(const gc_problem *, const gc_step *step,
                            const gconv_device_info *device, void **state, gconv_error *error)
{
    gc_compiled_pair *made; /* of one pass the first alone */
    GC_TRY(gc_make(&made, state, error));
    gc_tiling tiling = {SIDE, SIDE, 1, 0, 0};
    tiling.shared_bytes = KIND == NAIVE ? 0 : 4 * SIDE * SIDE * sizeof(float);
    made->first = {tiling, step->width, step->height, 0, step->width + step->height};
    made->second = made->first;
    GC_TRY(compile(device, KIND, FLAT, &made->first, error));
    return KIND == BOTH ? compile(device, COLUMNS, FLAT, &made->second, error) : GCONV_OK;
}

template <int KIND>
static gconv_status run(void *state, const gc_gpu_step &rows, const gc_gpu_step &columns,
                        const float *weights, cudaStream_t stream, gconv_error *error)
{
    const gc_compiled_pair *made = (const gc_compiled_pair *)state;
    gc_gpu_step first = rows, second = columns;
    first.taps = second.taps = weights;
    if (KIND != BOTH) { /* from the image to the result */
        second.input = rows.input;
        second.input_pitch = rows.input_pitch;
        second.input_plane = rows.input_plane;
        return gc_compiled_launch(made->first, second, stream, error);
    }
    GC_TRY(gc_compiled_launch(made->first, first, stream, error));
    return gc_compiled_launch(made->second, second, stream, error);
}

static void describe(const void *, char *text, size_t size)
{
    snprintf(text, size, "blocks 16x16, one output a thread");
}

static void spans(const void *, double *row, double *column)
{
    *row = *column = SIDE;
}

/* A weight of the column and one of the row are rounded, and so is their product with a pixel. */
static double extra_terms(const gc_problem *)
{
    return 3;
}

/* The method of one pass, which takes all weights. */
template <const gc_two_passes &passes, double gc_costs::*share>
static constexpr gc_step_method one_pass()
{
    gc_step_method method = gc_twopass_method<passes>();
    method.seconds = gc_compiled_seconds<share>;
    method.extra_terms = extra_terms;
    method.intensity = nullptr;
    return method;
}

template <int KIND, bool FLAT>
static constexpr gc_two_passes passes = {KIND == NAIVE ? check_naive : check,
                                         prepare<KIND, FLAT>,
                                         gc_compiled_free_pair,
                                         run<KIND>,
                                         describe,
                                         spans};
static const gc_step_method naive = one_pass<passes<NAIVE, false>, &gc_costs::naive_share>();
static const gc_step_method shared = one_pass<passes<SHARED, false>, &gc_costs::const_share>();
static const gc_step_method lecture = gc_twopass_method<passes<BOTH, false>>();
static const gc_step_method lecture1d = gc_twopass_method<passes<BOTH, true>>();

GC_OPERATIONS(gc_naive_lecture_operations, gc_step_operations<naive>());
GC_OPERATIONS(gc_const_lecture_operations, gc_step_operations<shared>());
GC_OPERATIONS(gc_twopass_lecture_operations, gc_step_operations<lecture>());
GC_OPERATIONS(gc_twopass_lecture1d_operations, gc_step_operations<lecture1d>());
