/* tensor: any filter on the tensor cores, in one pass over memory.
 *
 * Idea: tensor cores have many times the multiply-adds of float32, on numbers of 11 bits. Two such make
 *   a sample, two a weight, and three products of them have 22 bits (kernels/mma/halves.cuh; Ootomo and
 *   Yokota 2022). A row of weights is a banded matrix, a line of samples another one: of 16
 *   columns of it, weights fill as many as the filter is wide, 9 of 16 at 9x9, 17 of 24 at 17x17.
 *   8-bit samples take two products, whole weights up to 2048 one less.
 * Improves on: direct, from 9x9 on, of 8-bit samples from 5x5 on; it needs no compilation at run time.
 * Needs: compute capability 8.0; shared memory for a tile and its surroundings.
 * Limits: filters whose tile fits in shared memory and which have enough weights for the bound of rule 4;
 *   whole weights where the parts of them and of the samples give the integer exactly.
 * Loses: to direct at smaller filters, to separable at filters of rank 1 to 3, to fused at exact chains
 *   of 8 bits, to fft at large filters. */
#include "gpu/fast/methods.cuh"
#include "gpu/fast/passes.cuh"
#include "gpu/kernels/mma/halves.cuh"
#include "gpu/ladder/shared_steps.cuh"
#include "gpu/runtime/check.cuh"

extern "C" {
#include "gpu/fast/halves.h"
}

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>

enum { ROWS = 8, WARPS = 4, THREADS = 32 * WARPS, TILE_HEIGHT = ROWS * WARPS };

/* ---- Kernels --------------------------------------------------------------------------------- */

template <class sample_type, int of_matrix, int parts, int from, int type, int conversion>
struct halves_config {
    typedef sample_type sample;
    static constexpr int columns = of_matrix, weight_parts = parts, rows = ROWS, warps = WARPS;
    static constexpr int input = from, output = type, finish = conversion, border = -1;
};

/* Blocks that a multiprocessor should hold at once: what the registers for the samples leave. */
template <class config>
static __global__ void __launch_bounds__(THREADS, sizeof(typename config::sample) > 1 ? 3 : 4)
    halves_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_halves halves)
{
    gc_halves_pass<config>(pass, halves);
}

struct kernel_row {
    bool splits; /* samples */
    int weight_parts;
    int columns, input, output, finish; /* -1: any */
    const void *kernel;
};

#define KERNEL(sample, columns, weights, input, output, finish)                                    \
    {                                                                                              \
        sizeof(sample) > 1, weights, columns, input, output, finish,                               \
            (const void *)                                                                         \
                halves_kernel<halves_config<sample, columns, weights, input, output, finish>>,     \
    }
#define OUTPUTS(sample, columns, weights, input)                                                   \
    KERNEL(sample, columns, weights, input, GC_FLOAT, GC_FINISH_NONE),                             \
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_ROUND),                         \
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_QUOTIENT),                      \
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_NEAREST)
#define COLUMNS(sample, weights, input)                                                            \
    OUTPUTS(sample, 16, weights, input), OUTPUTS(sample, 24, weights, input),                      \
        OUTPUTS(sample, 32, weights, input), KERNEL(sample, -1, weights, input, -1, -1)

static const kernel_row kernels[] = {
    COLUMNS(unsigned char, 1, GC_BYTE), COLUMNS(unsigned char, 2, GC_BYTE),
    COLUMNS(float, 2, GC_FLOAT),        KERNEL(float, -1, 2, -1, -1, -1),
    KERNEL(float, -1, 1, -1, -1, -1),
};

static bool serves(int row, int wanted)
{
    return row == wanted || row == -1;
}

/* Particular ones come before any. */
static const void *find_kernel(const gc_parts &parts, int columns, const gc_gpu_pass &pass)
{
    for (const kernel_row &row : kernels)
        if (row.splits == parts.splits && row.weight_parts == parts.weight_parts &&
            (row.columns == -1 || parts.sample_exponent == 0) && serves(row.columns, columns) &&
            serves(row.input, pass.input) && serves(row.output, pass.output) &&
            serves(row.finish, pass.finish))
            return row.kernel;
    return nullptr;
}

/* ---- What can be done ------------------------------------------------------------------------ */

static gc_parts parts_of(const gc_problem *problem, const gc_gpu_pass &pass)
{
    return gc_parts_of(problem, &problem->chain.steps[pass.first], pass.input == GC_BYTE);
}

static gc_parts parts_of(const gc_problem *problem, const gc_step *step)
{
    return parts_of(problem, gc_gpu_pass_of(problem, (int)(step - problem->chain.steps), 1));
}

/* Where products are few, blocks stay and load a tile while they multiply another; else others on the
 * multiprocessor do (measured on an H200: 61 and 67 us at 9x9, 116 and 108 us at 17x17). */
static int slots_of(const gc_step *step)
{
    return gc_matrix_columns(step) <= 16 ? 2 : 1;
}

/* Of a block. */
static size_t shared_bytes_of(const gc_step *step, const gc_parts &parts)
{
    size_t slot = gc_halves_bytes(step, TILE_HEIGHT, parts.splits);
    return (size_t)slots_of(step) * slot + gc_matrix_bytes(step);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gc_parts parts = parts_of(problem, step);
    if (device->compute_major < 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "%s has no tensor cores that this works on (compute capability 8.0)",
                       device->name);
    if (shared_bytes_of(step, parts) > device->shared_per_block_optin)
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

/* Products of matrices of 16x16 and 16x8 that a multiprocessor does in a second, what those of 16x8 and
 * 8x8 take of that, and seconds of it for everything else that an output takes (measured on an H200:
 * what is left at no weights, 35 us of 4096 x 4096; the two do not overlap). */
static const double product_rate = 1.09e9, half_product = 0.68, output_seconds = 2.8e-10;

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    gc_parts parts = parts_of(problem, step);
    double values = (double)problem->chain.width * problem->chain.height * problem->chain.channels;
    int columns = gc_matrix_columns(step);
    double matrices = columns / 16 + (columns % 16 > 0 ? half_product : 0);
    double products = parts.splits + parts.weight_parts;
    double outputs = 16 * GC_HALVES_UNIT; /* of a product */
    double work = output_seconds + matrices * products * step->height / (outputs * product_rate);
    return std::max(gc_pass_seconds(problem, 2, 0, device, 1),
                    values * work / std::max(1, device->processors));
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct tensor_state {
    gc_halves halves;
    const void *kernel;
    gc_parts parts;
    size_t shared_bytes; /* of a block */
    int resident;        /* blocks that take several tiles in turn */
    uint4 *weights;      /* device */
};

/* What gc_halves.weights says of row `j` of the filter. */
static void fill_row(const gc_step *step, int exponent, int j, uint4 *row)
{
    for (int diagonal = 0; diagonal < gc_matrix_diagonals(step); diagonal++) {
        uint4 *words = &row[diagonal];
        gc_matrix_words(step, exponent, j, diagonal, &words->x, &words->z);
        gc_matrix_words(step, exponent, j, diagonal + GC_HALVES_UNIT, &words->y, &words->w);
    }
}

static gconv_status upload_weights(const gc_step *step, tensor_state *state, gconv_error *error)
{
    size_t size = gc_matrix_bytes(step);
    uint4 *rows = (uint4 *)calloc(1, size);
    if (rows == nullptr)
        return gc_fail_memory(error, size);
    for (int j = 0; j < step->height; j++)
        fill_row(step, state->parts.weight_exponent, j, rows + j * gc_matrix_diagonals(step));
    cudaError_t code = cudaMalloc(&state->weights, size);
    if (code == cudaSuccess)
        code = cudaMemcpy(state->weights, rows, size, cudaMemcpyHostToDevice);
    free(rows);
    GC_CUDA_TRY(error, code);
    state->halves.weights = state->weights;
    return GCONV_OK;
}

static gc_halves halves_of(const gc_step *step, const gc_parts &parts)
{
    gc_halves halves = {};
    halves.columns = gc_matrix_columns(step);
    halves.height = step->height;
    halves.before = step->left + gc_matrix_skip(step);
    halves.right = step->width - 1 - step->left;
    halves.top = step->top;
    halves.lines = gc_halves_lines(step, TILE_HEIGHT);
    unsigned rest = (unsigned)(gc_halves_line(step) - GC_BLOCK_COLUMNS) / 4;
    halves.rest_inverse = rest > 0 ? UINT_MAX / rest + 1 : 0;
    halves.units_inverse = UINT_MAX / (unsigned)(gc_halves_line(step) / GC_HALVES_UNIT) + 1;
    halves.slots = slots_of(step);
    halves.slot_bytes = (int)gc_halves_bytes(step, TILE_HEIGHT, parts.splits);
    halves.bytes_at = 2 * gc_halves_line(step) * (halves.lines + 1);
    halves.scale = ldexpf(1, parts.sample_exponent);
    halves.unscale = ldexpf(1, -parts.sample_exponent - parts.weight_exponent);
    return halves;
}

static gconv_status prepare_kernel(const gconv_device_info *device, tensor_state *state,
                                   gconv_error *error)
{
    int blocks = 0;
    GC_TRY(gc_gpu_opt_in(state->kernel, device, error)); /* other plans may have it, too */
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(state->kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, state->kernel,
                                                                     THREADS, state->shared_bytes));
    state->resident = state->halves.slots == 2 ? blocks * device->processors : INT_MAX;
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_gpu_pass *pass, void **opaque, gconv_error *error)
{
    tensor_state *state = (tensor_state *)calloc(1, sizeof *state);
    if (state == nullptr)
        return gc_fail_memory(error, sizeof *state);
    *opaque = state;
    const gc_step *step = &problem->chain.steps[pass->first];
    state->parts = parts_of(problem, *pass);
    state->shared_bytes = shared_bytes_of(step, state->parts);
    state->halves = halves_of(step, state->parts);
    state->kernel = find_kernel(state->parts, gc_matrix_columns(step), *pass);
    GC_TRY(prepare_kernel(device, state, error));
    return upload_weights(step, state, error);
}

static void release(void *opaque)
{
    tensor_state *state = (tensor_state *)opaque;
    cudaFree(state->weights);
    free(state);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    tensor_state *state = (tensor_state *)opaque;
    int columns = (pass.width + GC_BLOCK_COLUMNS - 1) / GC_BLOCK_COLUMNS;
    pass.tiles = columns * ((pass.rows + TILE_HEIGHT - 1) / TILE_HEIGHT);
    int blocks = std::min(state->resident, pass.tiles);
    void *arguments[] = {&pass, &state->halves};
    GC_CUDA_TRY(error, cudaLaunchKernel(state->kernel, dim3((unsigned)blocks, (unsigned)channels),
                                        dim3(THREADS), arguments, state->shared_bytes, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const tensor_state *state = (const tensor_state *)opaque;
    snprintf(text, size, "samples in %d part%s, weights in %d, %.1f KiB, compiled ahead",
             state->parts.splits ? 2 : 1, state->parts.splits ? "s" : "", state->parts.weight_parts,
             (double)state->shared_bytes / 1024);
}

extern const gc_gpu_method gc_tensor_method = {
    "tensor", supports, seconds, nullptr,          nullptr, release, nullptr,
    describe, nullptr,  nullptr, gc_pass_one_step, prepare, run,
};

extern "C" {
extern const gc_operations gc_tensor_operations;
const gc_operations gc_tensor_operations = gc_gpu_operations<gc_tensor_method>();
}
