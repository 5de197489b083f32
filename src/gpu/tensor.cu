/* tensor: any filter on the tensor cores, in one pass over memory.
 *
 * Idea: tensor cores have many times the multiply-adds of float32, on numbers of 11 bits. Two such make
 *   a sample, two a weight, and three products of them have 22 bits (kernels/halves.cuh; Ootomo and
 *   Yokota 2022, section 3). A row of weights is a banded matrix, a line of samples another one: of 16
 *   columns of it, weights fill as many as the filter is wide, 9 of 16 at 9x9, 17 of 24 at 17x17.
 *   8-bit samples take two products, whole weights up to 2048 one less.
 * Improves on: direct, from 11x11 on, of 8-bit samples from 7x7 on; it needs no compilation at run time.
 * Needs: compute capability 8.0; shared memory for a tile and its surroundings.
 * Limits: filters whose tile fits in shared memory and which have enough weights for the bound of rule 4;
 *   whole weights where the parts of them and of the samples give the integer exactly.
 * Loses: to direct at small filters of float32, to separable at filters of rank 1, to fused at exact
 *   chains of 8 bits, to fft at large filters. */
#include "gpu/check.cuh"
#include "gpu/kernels/halves.cuh"
#include "gpu/method.cuh"
#include "gpu/methods.cuh"
#include "gpu/passes.cuh"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>

enum { ROWS = 8, WARPS = 4, THREADS = 32 * WARPS };

/* How numbers of a step become halves. */
struct split {
    bool splits; /* samples, in two parts */
    int weight_parts;
    int sample_exponent, weight_exponent; /* of the powers of 2 that both are multiplied with */
};

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
        KERNEL(sample, columns, weights, input, GC_BYTE, GC_FINISH_QUOTIENT)
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
static const void *find_kernel(const split &parts, int columns, const gc_gpu_pass &pass)
{
    for (const kernel_row &row : kernels)
        if (row.splits == parts.splits && row.weight_parts == parts.weight_parts &&
            (row.columns == -1 || parts.sample_exponent == 0) && serves(row.columns, columns) &&
            serves(row.input, pass.input) && serves(row.output, pass.output) &&
            serves(row.finish, pass.finish))
            return row.kernel;
    return nullptr;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* That of the power of 2 which brings values up to `largest` below 2^15, next to what a half can hold. */
static int exponent_for(double largest)
{
    int exponent;
    frexp(largest, &exponent);
    return largest > 0 ? 15 - exponent : 0;
}

/* Samples stay as they are where even their low parts are far enough from the smallest half, 2^-24. */
static int sample_exponent_for(double largest)
{
    return largest >= 1 && largest < 0x1p15 ? 0 : exponent_for(largest);
}

static float high_part(float value)
{
    return __half2float(__float2half_rn(value));
}

/* Whether the samples of a step, its border included, are bytes. */
static bool has_bytes(const gc_problem *problem, const gc_gpu_pass &pass)
{
    float border = problem->steps[pass.first].border[0];
    return pass.input == GC_BYTE && (problem->job.border != GCONV_BORDER_CONSTANT ||
                                     (border >= 0 && border <= 255 && border == truncf(border)));
}

static split split_of(const gc_problem *problem, const gc_gpu_pass &pass)
{
    const gc_step *step = &problem->steps[pass.first];
    const float *taps = step->taps, *end = taps + step->width * step->height;
    double largest = 0;
    for (const float *tap = taps; tap < end; tap++)
        largest = std::max(largest, fabs((double)*tap));
    bool splits = !has_bytes(problem, pass);
    split made = {splits, 1, splits ? sample_exponent_for(step->largest_input) : 0,
                  exponent_for(largest)};
    for (const float *tap = taps; tap < end; tap++) {
        float weight = ldexpf(*tap, made.weight_exponent);
        if (weight != high_part(weight))
            made.weight_parts = 2;
    }
    return made;
}

/* ---- What can be done ------------------------------------------------------------------------ */

/* Columns before a line of a tile that the filter does not reach: tiles start at a whole word. */
static int skip_of(const gc_step *step)
{
    return (step->left + 3) / 4 * 4 - step->left;
}

/* Columns of the banded matrix: a unit of outputs and its surroundings, in whole units. */
static int matrix_columns(const gc_step *step)
{
    int columns = GC_HALVES_UNIT - 1 + skip_of(step) + step->width;
    return (columns + GC_HALVES_UNIT - 1) / GC_HALVES_UNIT * GC_HALVES_UNIT;
}

static int diagonals_of(const gc_step *step)
{
    return matrix_columns(step) + GC_HALVES_UNIT - 1;
}

static int pitch_of(const gc_step *step)
{
    return GC_BLOCK_COLUMNS - GC_HALVES_UNIT + matrix_columns(step);
}

static int lines_of(const gc_step *step)
{
    return ROWS * WARPS + step->height - 1;
}

/* Of a slot: halves, of a line more than is filled, which can be asked for, and the bytes that some are
 * made of. What follows starts at 16 bytes. */
static size_t slot_bytes_of(const gc_step *step, bool splits)
{
    size_t line = (size_t)pitch_of(step), lines = (size_t)lines_of(step);
    size_t bytes = splits ? 4 * line * (lines + 1) : 2 * line * (lines + 1) + line * lines;
    return (bytes + 15) / 16 * 16;
}

/* One row more than there are can be asked for. */
static size_t weights_bytes_of(const gc_step *step)
{
    return (size_t)((step->height + 1) * diagonals_of(step)) * sizeof(uint4);
}

/* Whether the sum's error is in the bound of rule 4, 4 w h in units of 2^-24 sum|w| max|in|. Two parts
 * leave up to 12 of them out (three times 2^-22), and 2 are the low sum's and the last multiply-add's.
 * A product of matrices adds the t numbers of the band and the sum by aligning them to the largest, with
 * one bit more than float32 at least, and cuts what is beyond: t + 1, and 2 for the result (Fasi,
 * Higham, Mikaitis and Pranesh 2021, section 4). */
static bool meets_bound(const gc_step *step)
{
    double products = (matrix_columns(step) + 15) / 16;
    double error = step->height * (step->width + 3 * products) + 14;
    return error <= 4.0 * step->width * step->height;
}

/* Whether sums of integers are exact: all of the parts are integers of one unit, no product is left out,
 * and the high parts, which may be larger than the whole by 2^-11 each, stay below 2^24. */
static bool is_exact(const gc_step *step, const split &parts)
{
    bool is_whole = !parts.splits || (parts.weight_parts == 1 && step->largest_input < 0x1p22);
    return is_whole && step->largest_input * step->absolute_sum * (1 + 0x1p-9) < 0x1p24;
}

/* Whether powers of 2 do it: not where a constant border is so large that samples would be lost beside
 * it, nor at the ends of float32. */
static bool is_in_range(const gc_problem *problem, const gc_step *step, const split &parts)
{
    double samples = step == problem->steps ? problem->sample_max
                                            : (step - 1)->largest_input * (step - 1)->absolute_sum;
    if (problem->job.border == GCONV_BORDER_CONSTANT)
        for (int c = 0; c < problem->channels; c++)
            if (fabs((double)step->border[c]) > 256 * samples)
                return false;
    return abs(parts.sample_exponent) < 100 && abs(parts.weight_exponent) < 100 &&
           abs(parts.sample_exponent + parts.weight_exponent) < 100;
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    split parts = split_of(problem, gc_gpu_pass_of(problem, (int)(step - problem->steps), 1));
    if (device->compute_major < 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "%s has no tensor cores that this works on (compute capability 8.0)",
                       device->name);
    if (2 * slot_bytes_of(step, parts.splits) + weights_bytes_of(step) >
        device->shared_per_block_optin)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a tile for a %dx%d filter takes more shared memory than %s has",
                       step->width, step->height, device->name);
    if (problem->exact && !is_exact(step, parts))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "the integers of a %dx%d filter are too large to be exact", step->width,
                       step->height);
    if (!problem->exact && !meets_bound(step))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter has too few weights for the bound on its error", step->width,
                       step->height);
    if (!is_in_range(problem, step, parts))
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
    gc_gpu_pass pass = gc_gpu_pass_of(problem, (int)(step - problem->steps), 1);
    split parts = split_of(problem, pass);
    double values = (double)problem->width * problem->height * problem->channels;
    int columns = matrix_columns(step);
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
    split parts;
    size_t shared_bytes; /* of a block */
    int resident;        /* blocks that take several tiles in turn */
    uint4 *weights;      /* device */
};

static unsigned half_bits(float value)
{
    return __half_as_ushort(__float2half_rn(value));
}

/* Two halves that stand on a diagonal of the matrix of row `j` of the filter and the next: high parts
 * and low ones. */
static uint2 diagonal_words(const gc_step *step, int exponent, int j, int diagonal)
{
    uint2 words = {};
    for (int i = 0; i < 2; i++) {
        int tap = diagonal + i - (GC_HALVES_UNIT - 1) - skip_of(step);
        bool is_there = tap >= 0 && tap < step->width;
        float weight = is_there ? ldexpf(step->taps[j * step->width + tap], exponent) : 0;
        words.x |= half_bits(weight) << (16 * i);
        words.y |= half_bits(weight - high_part(weight)) << (16 * i);
    }
    return words;
}

/* What gc_halves.weights says of row `j` of the filter. */
static void fill_row(const gc_step *step, int exponent, int j, uint4 *row)
{
    for (int diagonal = 0; diagonal < diagonals_of(step); diagonal++) {
        uint2 here = diagonal_words(step, exponent, j, diagonal);
        uint2 there = diagonal_words(step, exponent, j, diagonal + GC_HALVES_UNIT);
        row[diagonal] = {here.x, there.x, here.y, there.y};
    }
}

static gconv_status upload_weights(const gc_step *step, tensor_state *state, gconv_error *error)
{
    size_t size = weights_bytes_of(step);
    uint4 *rows = (uint4 *)calloc(1, size);
    if (rows == nullptr)
        return gc_fail_memory(error, size);
    for (int j = 0; j < step->height; j++)
        fill_row(step, state->parts.weight_exponent, j, rows + j * diagonals_of(step));
    cudaError_t code = cudaMalloc(&state->weights, size);
    if (code == cudaSuccess)
        code = cudaMemcpy(state->weights, rows, size, cudaMemcpyHostToDevice);
    free(rows);
    GC_CUDA_TRY(error, code);
    state->halves.weights = state->weights;
    return GCONV_OK;
}

static gc_halves halves_of(const gc_step *step, const split &parts)
{
    gc_halves halves = {};
    halves.columns = matrix_columns(step);
    halves.height = step->height;
    halves.before = step->left + skip_of(step);
    halves.right = step->width - 1 - step->left;
    halves.top = step->top;
    halves.lines = lines_of(step);
    unsigned rest = (unsigned)(pitch_of(step) - GC_BLOCK_COLUMNS) / 4;
    halves.rest_inverse = rest > 0 ? UINT_MAX / rest + 1 : 0;
    halves.units_inverse = UINT_MAX / (unsigned)(pitch_of(step) / GC_HALVES_UNIT) + 1;
    halves.slot_bytes = (int)slot_bytes_of(step, parts.splits);
    halves.bytes_at = 2 * pitch_of(step) * (halves.lines + 1);
    halves.scale = ldexpf(1, parts.sample_exponent);
    halves.unscale = ldexpf(1, -parts.sample_exponent - parts.weight_exponent);
    return halves;
}

/* Where products are few, blocks stay and load a tile while they multiply another; else others on the
 * multiprocessor do (measured on an H200: 74 and 78 us at 9x9, 116 and 108 us at 17x17). */
static gconv_status prepare_kernel(const gc_step *step, const gconv_device_info *device,
                                   tensor_state *state, gconv_error *error)
{
    size_t slot = (size_t)state->halves.slot_bytes;
    state->halves.slots = matrix_columns(step) <= 16 ? 2 : 1;
    state->shared_bytes = (size_t)state->halves.slots * slot + weights_bytes_of(step);
    int blocks = 0;
    GC_TRY(gc_gpu_share_cache(state->kernel, THREADS, state->shared_bytes, device, &blocks, error));
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
    const gc_step *step = &problem->steps[pass->first];
    state->parts = split_of(problem, *pass);
    state->halves = halves_of(step, state->parts);
    state->kernel = find_kernel(state->parts, matrix_columns(step), *pass);
    GC_TRY(prepare_kernel(step, device, state, error));
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
    pass.tiles = columns * ((pass.rows + ROWS * WARPS - 1) / (ROWS * WARPS));
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
