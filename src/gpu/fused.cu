/* fused: whole chains of 8-bit images in one pass over memory, on the tensor cores.
 *
 * Idea: the steps of an exact chain are one filter of whole weights, their product, and 8-bit samples
 *   times whole weights are what tensor cores multiply without error (kernels/bytes.cuh). Samples go in
 *   and samples, or bits of `edges`, come out; chain values never see memory. Where steps meet the
 *   border of their own input, the product is the same under wrap, and under mirrors if all filters but
 *   the last are symmetric; elsewhere the pixels at the border have filters of their own.
 * Improves on: direct, whose float32 products are slower, and which crosses memory once a step.
 * Needs: compute capability 8.0.
 * Limits: one channel of 8 bits, exact chains whose product has weights from -128 to 127, reaches 8
 *   columns to either side and has at most 17 rows; one or two steps, and no tiny images, where the
 *   border is replicated or constant.
 * Loses: to separable at filters of rank 1 that are larger than these. */
#include "gpu/kernels/bytes.cuh"

#include "gpu/check.cuh"

extern "C" {
#include "core/border.h"
}

#include "gpu/method.cuh"
#include "gpu/methods.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

enum { ROWS = 3, WARPS = 4, SIDE_MAX = 2 * GC_BYTES_REACH + 1 };

/* Blocks that a multiprocessor should hold at once: what the registers for the weights leave. */
static constexpr int blocks_of(int height)
{
    return height <= 7 ? 6 : height <= 9 ? 5 : 4;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

template <int most_rows, gc_sample_type type, int conversion> struct bytes_config {
    static constexpr int height = most_rows, rows = ROWS, warps = WARPS;
    static constexpr int input = GC_BYTE, output = type, finish = conversion, border = -1;
};

template <class config>
static __global__ void __launch_bounds__(32 * WARPS, blocks_of(config::height))
    bytes_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_bytes bytes)
{
    gc_bytes_pass<config>(pass, bytes);
}

struct kernel_row {
    int height;
    gc_sample_type output;
    int finish; /* -1: any */
    const void *kernel;
    size_t shared_bytes;
};

#define KERNEL(height, output, finish)                                                             \
    {                                                                                              \
        height, output, finish, (const void *)bytes_kernel<bytes_config<height, output, finish>>,  \
            gc_bytes_block<bytes_config<height, output, finish>>::shared_bytes                     \
    }
#define KERNELS(height)                                                                            \
    KERNEL(height, GC_BIT, GC_FINISH_EDGES), KERNEL(height, GC_BYTE, GC_FINISH_EDGES),             \
        KERNEL(height, GC_BYTE, GC_FINISH_ROUND), KERNEL(height, GC_BYTE, GC_FINISH_QUOTIENT),     \
        KERNEL(height, GC_BYTE, -1)

static const kernel_row kernels[] = {KERNELS(3), KERNELS(5),  KERNELS(7),
                                     KERNELS(9), KERNELS(13), KERNELS(17)};

/* The first row that can do it: low filters come first, particular conversions before any. */
static const kernel_row *find_kernel(int height, gc_sample_type output, int finish)
{
    for (const kernel_row &row : kernels)
        if (row.height >= height && row.output == output &&
            (row.finish == finish || row.finish == -1))
            return &row;
    return nullptr;
}

/* ---- The product of a chain ------------------------------------------------------------------ */

struct product {
    int width, height, left, top;
    double taps[SIDE_MAX * SIDE_MAX];
};

/* Multiplies another step into the product; false where it grows too large. */
static bool multiply(product *total, const gc_step *step)
{
    product old = *total;
    total->width = old.width + step->width - 1;
    total->height = old.height + step->height - 1;
    total->left = old.left + step->left;
    total->top = old.top + step->top;
    if (total->left > GC_BYTES_REACH || total->width - 1 - total->left > GC_BYTES_REACH ||
        total->height > SIDE_MAX)
        return false;
    std::fill(total->taps, total->taps + total->width * total->height, 0.0);
    for (int j = 0; j < old.height; j++)
        for (int i = 0; i < old.width; i++)
            for (int m = 0; m < step->height; m++)
                for (int k = 0; k < step->width; k++)
                    total->taps[(j + m) * total->width + i + k] +=
                        old.taps[j * old.width + i] * (double)step->taps[m * step->width + k];
    return true;
}

static bool make_product(const gc_problem *problem, product *total)
{
    *total = {1, 1, 0, 0, {1}};
    for (int s = 0; s < problem->step_count; s++)
        if (!multiply(total, &problem->steps[s]))
            return false;
    for (int i = 0; i < total->width * total->height; i++)
        if (total->taps[i] < -128 || total->taps[i] > 127)
            return false;
    return true;
}

static bool is_symmetric(const gc_step *step)
{
    if (2 * step->left != step->width - 1 || 2 * step->top != step->height - 1)
        return false;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            float tap = step->taps[j * step->width + i];
            if (tap != step->taps[j * step->width + step->width - 1 - i] ||
                tap != step->taps[(step->height - 1 - j) * step->width + i])
                return false;
        }
    return true;
}

/* Whether the product's values are the chain's at the border too. A symmetric filter turns a
 * reflected image into a reflected image. */
static bool is_product_at_border(const gc_problem *problem)
{
    gconv_border border = problem->job.border;
    if (problem->step_count == 1 || border == GCONV_BORDER_WRAP)
        return true;
    if (border != GCONV_BORDER_MIRROR && border != GCONV_BORDER_MIRROR101)
        return false;
    for (int s = 0; s + 1 < problem->step_count; s++)
        if (!is_symmetric(&problem->steps[s]))
            return false;
    return true;
}

/* How far from the border step 1 of two meets it. */
static int ring_of(const gc_problem *problem)
{
    const gc_step *step = &problem->steps[1];
    return std::max(std::max(step->left, step->width - 1 - step->left),
                    std::max(step->top, step->height - 1 - step->top));
}

/* Whether the border puts every sample that is read at `at` of a long line where the filter reaches
 * anyway: `before` samples back to `after` on. */
static bool stays_in_reach(gconv_border border, int at, int size, int before, int after)
{
    for (int k = -before; k <= after; k++) {
        int64_t index = gc_border_index(border, at + k, size);
        if (index >= 0 && (index - at < -before || index - at > after))
            return false;
    }
    return true;
}

/* Whether the border is made of places whose filters are known: a pixel's distance from either side
 * decides, and no border makes its filter larger. */
static bool has_ring(const gc_problem *problem)
{
    if (problem->step_count != 2)
        return false;
    const gc_step *step = &problem->steps[1];
    int size = 2 * ring_of(problem) + 1;
    for (int at = 0; at < size; at++)
        if (!stays_in_reach(problem->job.border, at, size, step->left,
                            step->width - 1 - step->left) ||
            !stays_in_reach(problem->job.border, at, size, step->top, step->height - 1 - step->top))
            return false;
    return (int)std::min(problem->width, problem->height) >= size;
}

/* ---- What can be done ------------------------------------------------------------------------ */

/* A constant border must be a sample. */
static bool border_is_sample(const gc_problem *problem)
{
    float value = problem->steps[0].border[0];
    return problem->job.border != GCONV_BORDER_CONSTANT ||
           (value >= 0 && value <= 255 && value == (float)(int)value);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    (void)step;
    product total;
    if (device->compute_major < 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "%s has no tensor cores for 8-bit samples (compute capability 8.0)",
                       device->name);
    if (problem->channels != 1 || problem->job.input.channels != 1 ||
        problem->job.input.depth != 8 || !border_is_sample(problem))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "only one channel of 8-bit samples, border included");
    if (!problem->exact || !make_product(problem, &total))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "only chains of whole weights whose product fits in 8 bits and %dx%d",
                       (int)SIDE_MAX, (int)SIDE_MAX);
    if (!is_product_at_border(problem) && !has_ring(problem))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "more than two steps, a lopsided one, or a tiny image, at this border");
    return GCONV_OK;
}

/* The tensor cores are as fast as memory up to some 9x9; beyond, time grows with the height. */
static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    product total;
    if (step != &problem->steps[0] || !make_product(problem, &total))
        return 0;
    double values = (double)problem->width * problem->height;
    double bandwidth = device->memory_bandwidth > 0 ? device->memory_bandwidth : 1e11;
    double multiply_rate = 2e13 * device->processors / 132; /* rows of products a second, H200 */
    return 6e-6 + std::max(values * 2 / (0.5 * bandwidth), values * total.height / multiply_rate);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct fused_state {
    gc_bytes bytes;
    const kernel_row *kernel;
    product total;
    uint4 *weights; /* device */
    float *ring;    /* device: taps of all places, then their sums */
    int resident;
};

/* The weight that meets sample `k` of a product for its output `n`. */
static int weight_at(const product &total, int row, int k, int n)
{
    int i = k - n - GC_BYTES_BEFORE + total.left;
    return row < total.height && i >= 0 && i < total.width ? (int)total.taps[row * total.width + i]
                                                           : 0;
}

/* Lane after lane, what mma.sync wants of its second matrix (PTX ISA, m16n8k32): column lane / 4,
 * rows lane % 4 * 8 on, which is where the lane's eight bytes of samples come from. */
static uint4 lane_weights(const product &total, int row, int lane)
{
    unsigned words[4] = {};
    for (int word = 0; word < 4; word++)
        for (int i = 0; i < 4; i++) {
            int k = lane % 4 * 8 + word % 2 * 4 + i;
            int weight = weight_at(total, row, k, lane / 4 + word / 2 * 8);
            words[word] |= (unsigned)(unsigned char)(signed char)weight << (8 * i);
        }
    return {words[0], words[1], words[2], words[3]};
}

static gconv_status upload_weights(fused_state *state, gconv_error *error)
{
    uint4 weights[SIDE_MAX * 32];
    int height = state->kernel->height;
    for (int row = 0; row < height; row++)
        for (int lane = 0; lane < 32; lane++)
            weights[row * 32 + lane] = lane_weights(state->total, row, lane);
    size_t bytes = (size_t)height * 32 * sizeof *weights;
    GC_CUDA_TRY(error, cudaMalloc(&state->weights, bytes));
    GC_CUDA_TRY(error, cudaMemcpy(state->weights, weights, bytes, cudaMemcpyHostToDevice));
    state->bytes.weights = state->weights;
    return GCONV_OK;
}

/* The filter of one place of the ring, `x` and `y` counting as gc_bytes.ring_taps does: step 1 reads step
 * 0's output where its border puts it. Returns what a constant border adds. */
static float ring_filter(const gc_problem *problem, const product &total, int x, int y, float *taps)
{
    const gc_step *first = &problem->steps[0], *second = &problem->steps[1];
    int ring = ring_of(problem), size = 2 * ring + 1; /* as good as any larger image */
    float constant = 0;
    for (int m = 0; m < second->height; m++)
        for (int k = 0; k < second->width; k++) {
            float tap = second->taps[m * second->width + k];
            int64_t column = gc_border_index(problem->job.border, x + k - second->left, size);
            int64_t row = gc_border_index(problem->job.border, y + m - second->top, size);
            if (column < 0 || row < 0) {
                constant += tap * second->border[0];
                continue;
            }
            int left = (int)column - x - first->left + total.left;
            int top = (int)row - y - first->top + total.top;
            for (int j = 0; j < first->height; j++)
                for (int i = 0; i < first->width; i++)
                    taps[(top + j) * total.width + left + i] +=
                        tap * first->taps[j * first->width + i];
        }
    return constant;
}

static gconv_status upload_ring(const gc_problem *problem, fused_state *state, gconv_error *error)
{
    const product &total = state->total;
    int ring = ring_of(problem), places = (2 * ring + 1) * (2 * ring + 1);
    size_t area = (size_t)(total.width * total.height);
    size_t bytes = ((size_t)places * area + (size_t)places) * sizeof(float);
    float *filters = (float *)calloc(1, bytes);
    if (filters == nullptr)
        return gc_fail_memory(error, bytes);
    float *sums = filters + (size_t)places * area;
    for (int place = 0; place < places; place++)
        sums[place] = ring_filter(problem, total, place % (2 * ring + 1), place / (2 * ring + 1),
                                  filters + (size_t)place * area);
    cudaError_t code = cudaMalloc(&state->ring, bytes);
    if (code == cudaSuccess)
        code = cudaMemcpy(state->ring, filters, bytes, cudaMemcpyHostToDevice);
    free(filters);
    GC_CUDA_TRY(error, code);
    state->bytes.ring = ring;
    state->bytes.ring_taps = state->ring;
    state->bytes.ring_sums = state->ring + (size_t)places * area;
    return GCONV_OK;
}

static gconv_status prepare_kernel(const gconv_device_info *device, fused_state *state,
                                   gconv_error *error)
{
    const kernel_row *kernel = state->kernel;
    int blocks = 0;
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)kernel->shared_bytes));
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel->kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                           &blocks, kernel->kernel, 32 * WARPS, kernel->shared_bytes));
    state->resident = std::max(1, blocks) * device->processors;
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_gpu_pass *pass, void **opaque, gconv_error *error)
{
    fused_state *state = (fused_state *)calloc(1, sizeof *state);
    if (state == nullptr)
        return gc_fail_memory(error, sizeof *state);
    *opaque = state;
    make_product(problem, &state->total);
    state->bytes.height = state->total.height;
    state->bytes.top = state->total.top;
    state->bytes.width = state->total.width;
    state->bytes.left = state->total.left;
    state->kernel = find_kernel(state->total.height, pass->output, pass->finish);
    if (state->kernel == nullptr) { /* chain values then, which every kernel gives */
        pass->output = GC_FLOAT;
        state->kernel = find_kernel(state->total.height, GC_BYTE, -1);
    }
    GC_TRY(upload_weights(state, error));
    if (!is_product_at_border(problem))
        GC_TRY(upload_ring(problem, state, error));
    return prepare_kernel(device, state, error);
}

static void release(void *opaque)
{
    fused_state *state = (fused_state *)opaque;
    cudaFree(state->weights);
    cudaFree(state->ring);
    free(state);
}

/* ---- The method ------------------------------------------------------------------------------ */

static int all_steps(const gc_problem *problem, int, const gconv_device_info *)
{
    return problem->step_count;
}

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    fused_state *state = (fused_state *)opaque;
    int columns = (pass.width + GC_BYTES_COLUMNS - 1) / GC_BYTES_COLUMNS;
    int rows = (pass.rows + 16 * ROWS - 1) / (16 * ROWS);
    state->bytes.tiles = columns * rows;
    dim3 grid((unsigned)std::min(state->resident, columns * rows), (unsigned)channels);
    void *arguments[] = {&pass, &state->bytes};
    GC_CUDA_TRY(error, cudaLaunchKernel(state->kernel->kernel, grid, dim3(32 * WARPS), arguments,
                                        state->kernel->shared_bytes, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const fused_state *state = (const fused_state *)opaque;
    snprintf(text, size, "the chain as one %dx%d filter on the tensor cores%s", state->total.width,
             state->total.height,
             state->bytes.ring > 0 ? ", filters of their own at the border" : "");
}

extern const gc_gpu_method gc_fused_method = {
    "fused",  supports, seconds, nullptr,   nullptr, release, nullptr,
    describe, nullptr,  nullptr, all_steps, prepare, run,
};

extern "C" {
extern const gc_operations gc_fused_operations;
const gc_operations gc_fused_operations = gc_gpu_operations<gc_fused_method>();
}
