/* tensor: any filter on the tensor cores, in one pass over memory.
 *
 * Idea: tensor cores do many times as many multiply-adds as float32 units, on numbers of 11 bits,
 *   halves. Two halves make a sample, two a weight, and three products of them have 22 bits (Ootomo
 *   and Yokota 2022; halves.cuh). For 8-bit samples two products are enough; one, if
 *   the weights are whole numbers up to 2048. A row of weights becomes a banded matrix, a line of
 *   samples another matrix. Of the banded matrix's columns only the filter's width is of use: 9 of
 *   16 at 9x9, 17 of 24 at 17x17.
 * Improves on: direct, from 9x9 on, or 5x5 on 8-bit samples; no kernel is compiled at run time.
 *   A block takes interleaved bytes in place: it deals them to planes of bytes in shared memory,
 *   and multiplies one channel after the other. Outputs are staged there, too.
 * Needs: compute capability 8.0; shared memory for a tile and its surroundings.
 * Limits: filters whose tile fits in shared memory, and which have enough weights for the bound of
 *   rule 4. Exact chains: the parts of weights and samples have to give the integer exactly.
 * Loses: to direct at smaller filters, to separable at filters of rank 1 to 3, to fused at exact
 *   chains of 8 bits, to fft at large filters. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/methods.cuh"
#include "gpu/methods/passes.cuh"
#include "gpu/methods/tensor/halves.cuh"
#include "gpu/methods/tensor/kernels.cuh"

extern "C" {
#include "gpu/methods/tensor/halves.h"
}

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>

/* ---- Kernels that are compiled ahead in parts (cmake/Kernels.cmake) -------------------------- */

const void *gc_tensor_find(const gc_tensor_shape &wanted, bool scales)
{
    static gc_tensor_part *const parts[] = {
        gc_tensor_bytes, gc_tensor_split_bytes, gc_tensor_floats,    gc_tensor_any,
        gc_tensor_rgb,   gc_tensor_rgba,        gc_tensor_kept_alpha};
    for (gc_tensor_part *find : parts)
        if (const void *found = find(wanted, scales))
            return found;
    return nullptr;
}

/* ---- What can be done ------------------------------------------------------------------------ */

static gc_parts parts_of(const gc_problem *problem, const gc_pass_scope &scope)
{
    return gc_parts_of(problem, &problem->chain.steps[scope.first], scope.input == GC_BYTE);
}

/* Whether there is a kernel that takes the interleaved samples of a scope. */
static bool takes_pixels(const gc_problem *problem, const gc_pass_scope &scope)
{
    return scope.channels > 2 && scope.alpha != GC_PASS_MULTIPLIES && scope.input == GC_BYTE &&
           scope.output == GC_BYTE && !parts_of(problem, scope).splits;
}

static gc_pass_scope scope_of(const gc_problem *problem, const gc_step *step)
{
    gc_pass_scope scope = gc_pass_scope_of(problem, (int)(step - problem->chain.steps), 1);
    return takes_pixels(problem, scope) ? scope : gc_pass_scope_of_planes(scope);
}

static gc_parts parts_of(const gc_problem *problem, const gc_step *step)
{
    return parts_of(problem, scope_of(problem, step));
}

/* Buffers of a block. With two, a block stays and loads a tile while it multiplies another: faster
 * if products are few. With one, another block of the multiprocessor multiplies meanwhile. */
static int buffers_of(const gc_step *step, const gconv_device_info *device)
{
    return gc_matrix_columns(step) <= gc_costs_of(device)->two_buffers_columns ? 2 : 1;
}

/* Bytes of a channel of a tile. */
static int plane_bytes_of(const gc_step *step)
{
    return gc_halves_line_length(step) * gc_halves_lines(step, GC_TENSOR_TILE_HEIGHT);
}

/* Samples that are split become halves in place. Bytes have a place of their own. */
static size_t buffers_at_of(const gc_step *step, const gc_parts &parts)
{
    return parts.splits ? 0 : gc_halves_bytes(step, GC_TENSOR_TILE_HEIGHT, false);
}

static size_t buffer_bytes_of(const gc_step *step, const gc_pass_scope &scope,
                              const gc_parts &parts)
{
    int planes = scope.channels - (scope.alpha == GC_PASS_KEEPS ? 1 : 0); /* that are convolved */
    size_t bytes = (size_t)planes * (size_t)plane_bytes_of(step);
    return parts.splits ? gc_halves_bytes(step, GC_TENSOR_TILE_HEIGHT, true)
                        : (bytes + 15) / 16 * 16;
}

/* Of a block. */
static size_t shared_bytes_of(const gc_step *step, const gc_pass_scope &scope,
                              const gc_parts &parts, const gconv_device_info *device)
{
    return buffers_at_of(step, parts) +
           (size_t)buffers_of(step, device) * buffer_bytes_of(step, scope, parts) +
           gc_matrix_bytes(step) + 2 * sizeof(unsigned);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_parts parts = parts_of(problem, step);
    if (device->compute_major < 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "%s has no tensor cores that this works on (compute capability 8.0)",
                       device->name);
    if (shared_bytes_of(step, scope_of(problem, step), parts, device) >
        device->shared_per_block_optin)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a tile for a %dx%d filter takes more shared memory than %s has",
                       step->width, step->height, device->name);
    if (problem->chain.exact && !gc_parts_are_exact(step, &parts))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "the integers of a %dx%d filter are too large to be exact", step->width,
                       step->height);
    if (!problem->chain.exact && !gc_parts_meet_bound(step, device->compute_major))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter has too few weights for the bound on its error", step->width,
                       step->height);
    if (!gc_parts_in_range(problem, step, &parts))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "border, samples and weights are too far apart to be scaled together");
    return GCONV_OK;
}

static double error_of(const gc_problem *problem, const gc_step *step,
                       const gconv_device_info *device)
{
    gc_parts parts = parts_of(problem, step);
    return gc_parts_error(problem, step, &parts, device->compute_major);
}

/* Samples of 16 bits take as long in place as in planes: no kernel is made for them alone. */
static gc_pass_scope of_bytes(gc_pass_scope scope)
{
    scope.input = scope.input == GC_SHORT ? GC_FLOAT : scope.input;
    scope.output = scope.output == GC_SHORT ? GC_FLOAT : scope.output;
    return scope;
}

/* Seconds of a multiprocessor that interleaved samples take beyond those of one channel. */
static double dealing_seconds(const gc_problem *problem, int columns, int channels,
                              const gc_costs *costs)
{
    gc_finish finish;
    if (channels == 1)
        return 0;
    bool divided = gc_finish_of(problem, &finish) && finish.kind == GC_FINISH_ROUND;
    return (double)problem->chain.width * problem->chain.height * problem->job.input.channels *
           costs->dealing_seconds[divided && columns <= 24];
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    gc_parts parts = parts_of(problem, step);
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    int columns = gc_matrix_columns(step);
    const gc_costs *costs = gc_costs_of(device);
    double matrices = columns / 16 + (columns % 16 > 0 ? costs->half_product : 0);
    double products = parts.splits + parts.weight_parts;
    double outputs = 16 * GC_HALVES_UNIT; /* of a product */
    gc_pass_scope scope = scope_of(problem, step);
    bool bytes = scope.input == GC_BYTE && scope.output == GC_BYTE;
    double work =
        (bytes ? costs->output_seconds_of_bytes[parts.weight_parts - 1] : costs->output_seconds) +
        matrices * products * step->height / (outputs * costs->product_rate);
    double dealing = dealing_seconds(problem, columns, scope.channels, costs);
    double pass = std::max(gc_cost_of_pass(problem, gc_pass_scope_bytes(scope), 0, device, 1),
                           (values * work + dealing) / std::max(1, device->processors));
    return pass + gc_pass_scope_planes(problem, of_bytes(scope), device);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct tensor_state {
    gc_halves halves;
    const void *kernel;
    gc_parts parts;
    size_t shared_bytes; /* of a block */
    int resident;        /* blocks that take several tiles in turn */
    bool takes_pixels;   /* a block takes all channels */
    gc_owned_memory<uint4> weights;
    gc_owned_memory<unsigned> queue; /* of tiles, if blocks take several */
};

/* What gc_halves.weights says of row `j` of the filter. */
static void fill_row(const gc_step *step, const gc_parts &parts, int j, uint4 *row)
{
    for (int diagonal = 0; diagonal < gc_matrix_diagonals(step); diagonal++) {
        uint4 *words = &row[diagonal];
        gc_matrix_words(step, &parts, j, diagonal, &words->x, &words->z);
        gc_matrix_words(step, &parts, j, diagonal + GC_HALVES_UNIT, &words->y, &words->w);
    }
}

static gconv_status upload_weights(const gc_step *step, tensor_state *state, gconv_error *error)
{
    size_t size = gc_matrix_bytes(step);
    gc_owned_array<uint4> rows((uint4 *)calloc(1, size));
    GC_TRY_MEMORY(rows != nullptr, error, size);
    for (int j = 0; j < step->height; j++)
        fill_row(step, state->parts, j, rows + j * gc_matrix_diagonals(step));
    GC_TRY(gc_gpu_upload(rows, size, &state->weights, error));
    state->halves.weights = state->weights;
    return GCONV_OK;
}

static gc_halves halves_of(const gc_step *step, const gc_pass_scope &scope, const gc_parts &parts,
                           const gconv_device_info *device)
{
    gc_halves halves = {};
    halves.columns = gc_matrix_columns(step);
    halves.height = step->height;
    halves.before = step->left + gc_matrix_skip(step);
    halves.right = step->width - 1 - step->left;
    halves.top = step->top;
    halves.lines = gc_halves_lines(step, GC_TENSOR_TILE_HEIGHT);
    unsigned rest = (unsigned)(gc_halves_line_length(step) - GC_BLOCK_COLUMNS) / 4;
    halves.rest_inverse = rest > 0 ? UINT_MAX / rest + 1 : 0;
    halves.units_inverse = UINT_MAX / (unsigned)(gc_halves_line_length(step) / GC_HALVES_UNIT) + 1;
    halves.buffers = buffers_of(step, device);
    halves.buffer_bytes = (int)buffer_bytes_of(step, scope, parts);
    halves.buffers_at = (int)buffers_at_of(step, parts);
    halves.plane = plane_bytes_of(step);
    halves.scale = ldexpf(1, parts.sample_exponent);
    halves.unscale = ldexpf(1, -parts.sample_exponent - parts.weight_exponent);
    return halves;
}

static gc_tensor_shape shape_of(const gc_step *step, const gc_parts &parts,
                                const gc_pass_scope &scope)
{
    int finish = scope.finish == GC_FINISH_ONCE_INSIDE ? GC_FINISH_ONCE : scope.finish;
    return {parts.splits,   parts.weight_parts, gc_matrix_columns(step),
            scope.input,    scope.output,       finish,
            scope.channels, scope.alpha};
}

static gconv_status prepare_kernel(const gconv_device_info *device, tensor_state *state,
                                   gconv_error *error)
{
    int blocks = 0;
    GC_TRY(gc_gpu_opt_in(state->kernel, device, error)); /* other plans may have it, too */
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(state->kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                           &blocks, state->kernel, GC_TENSOR_THREADS, state->shared_bytes));
    state->resident = state->halves.buffers == 2 ? blocks * device->processors : INT_MAX;
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **opaque, gconv_error *error)
{
    tensor_state *state;
    GC_TRY(gc_make(&state, opaque, error));
    const gc_step *step = &problem->chain.steps[scope->first];
    int finish = scope->finish;
    *scope = scope_of(problem, step);
    scope->finish = scope->finish != GC_FINISH_NONE ? finish : GC_FINISH_NONE;
    state->parts = parts_of(problem, *scope);
    state->takes_pixels = scope->channels > 1;
    state->shared_bytes = shared_bytes_of(step, *scope, state->parts, device);
    state->halves = halves_of(step, *scope, state->parts, device);
    state->kernel =
        gc_tensor_find(shape_of(step, state->parts, *scope), state->parts.sample_exponent != 0);
    GC_TRY(prepare_kernel(device, state, error));
    if (state->halves.buffers == 2)
        GC_TRY(gc_pass_make_queue(&state->queue, error));
    return upload_weights(step, state, error);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    tensor_state *state = (tensor_state *)opaque;
    int columns = (pass.width + GC_BLOCK_COLUMNS - 1) / GC_BLOCK_COLUMNS;
    pass.tiles = columns * ((pass.rows + GC_TENSOR_TILE_HEIGHT - 1) / GC_TENSOR_TILE_HEIGHT);
    int blocks = std::min(state->resident, pass.tiles);
    gc_halves halves = state->halves;
    halves.based = 0x64006400 + (unsigned)pass.centre * 0x10001; /* from 1024 on a bit counts 1 */
    pass.centre = 0;                                             /* bytes stay bytes */
    pass.queue = state->queue;
    void *arguments[] = {&pass, &halves};
    GC_CUDA_TRY(error, cudaLaunchKernel(
                           state->kernel,
                           dim3((unsigned)blocks, state->takes_pixels ? 1 : (unsigned)channels),
                           dim3(GC_TENSOR_THREADS), arguments, state->shared_bytes, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const tensor_state *state = (const tensor_state *)opaque;
    snprintf(text, size, "samples in %d part%s, weights in %d, %.1f KiB, compiled ahead",
             state->parts.splits ? 2 : 1, state->parts.splits ? "s" : "", state->parts.weight_parts,
             (double)state->shared_bytes / 1024);
}

extern const gc_pass_method gc_tensor_method = {
    {supports, seconds, gc_free<tensor_state>, describe, nullptr, nullptr, nullptr, error_of},
    gc_pass_one_step,
    prepare,
    run,
};

GC_OPERATIONS(gc_tensor_operations, gc_pass_operations<gc_tensor_method>());
