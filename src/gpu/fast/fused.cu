/* fused: several steps of a chain in one pass over memory.
 *
 * Idea: the steps of an exact chain are one filter of whole weights, their product, and 8-bit samples
 *   times whole weights are what tensor cores multiply without error (kernels/mma/bytes.cuh). Samples go in
 *   and samples, or bits of `edges`, come out; chain values never see memory. Where steps meet the
 *   border of their own input, the product is the same under wrap, and under mirrors if all filters but
 *   the last are symmetric; elsewhere the pixels at the border have filters of their own. Other chains go
 *   two steps at a time: the first step's values around a tile stay in shared memory, where they are
 *   extended as the border says, and the second step reads them there (kernels/jit/pair.cuh). A step that is
 *   left over is taken as direct does.
 * Improves on: direct, whose float32 products are slower than 8-bit ones, and which crosses memory once a
 *   step.
 * Needs: compute capability 8.0 for the tensor cores; shared memory for a tile between two steps.
 * Limits: on the tensor cores one channel of 8 bits, exact chains whose product has weights from -128 to
 *   127, reaches 8 columns to either side and has at most 17 rows; one or two steps, and no tiny images,
 *   where the border is replicated or constant. Of other chains two neighbouring steps of at most 49
 *   weights and 9 rows and columns, which one pass takes sooner than two; NVRTC, but for squares of 3x3 and
 *   5x5. Other steps have direct's limits.
 * Loses: to separable at filters of rank 1 that are larger than these. */
#include "gpu/kernels/mma/bytes.cuh"

#include "gpu/runtime/check.cuh"

extern "C" {
#include "core/border.h"
}

#include "gpu/fast/direct.cuh"
#include "gpu/fast/methods.cuh"
#include "gpu/fast/pairs.cuh"
#include "gpu/ladder/shared_steps.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

enum {
    ROWS = 3,
    WARPS = 4,
    TILE_WIDTH = WARPS * GC_BYTES_UNITS * GC_BYTES_UNIT,
    TILE_HEIGHT = 16 * ROWS,
    RESERVED_BYTES = 1024, /* of shared memory, a block */
    SIDE_MAX = 2 * GC_BYTES_MARGIN + 1
};

/* Blocks that a multiprocessor should hold at once: what the registers for the weights leave. */
static constexpr int blocks_of(int height)
{
    return height <= 5 ? 6 : height <= 9 ? 5 : 4;
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
            gc_bytes_block<bytes_config<height, output, finish>>::shared_bytes,                    \
    }
#define KERNELS(height)                                                                            \
    KERNEL(height, GC_BIT, GC_FINISH_EDGES), KERNEL(height, GC_BYTE, GC_FINISH_EDGES),             \
        KERNEL(height, GC_BYTE, GC_FINISH_ROUND), KERNEL(height, GC_BYTE, GC_FINISH_QUOTIENT),     \
        KERNEL(height, GC_BYTE, -1), KERNEL(height, GC_FLOAT, -1)

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
    if (total->left > GC_BYTES_MARGIN || total->width - 1 - total->left > GC_BYTES_MARGIN ||
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

static bool fits_bytes(const double *taps, size_t count)
{
    return std::all_of(taps, taps + count,
                       [](double tap) { return tap >= -128 && tap <= 127 && tap == rint(tap); });
}

static bool make_product(const gc_problem *problem, product *total)
{
    *total = {1, 1, 0, 0, {1}};
    for (int s = 0; s < problem->chain.step_count; s++)
        if (!multiply(total, &problem->chain.steps[s]))
            return false;
    return fits_bytes(total->taps, (size_t)(total->width * total->height));
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
    if (problem->chain.step_count == 1 || border == GCONV_BORDER_WRAP)
        return true;
    if (border != GCONV_BORDER_MIRROR && border != GCONV_BORDER_MIRROR101)
        return false;
    for (int s = 0; s + 1 < problem->chain.step_count; s++)
        if (!is_symmetric(&problem->chain.steps[s]))
            return false;
    return true;
}

/* How far from the border step 1 of two meets it. */
static int ring_of(const gc_problem *problem)
{
    const gc_step *step = &problem->chain.steps[1];
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
    if (problem->chain.step_count != 2)
        return false;
    const gc_step *step = &problem->chain.steps[1];
    int size = 2 * ring_of(problem) + 1;
    for (int at = 0; at < size; at++)
        if (!stays_in_reach(problem->job.border, at, size, step->left,
                            step->width - 1 - step->left) ||
            !stays_in_reach(problem->job.border, at, size, step->top, step->height - 1 - step->top))
            return false;
    return (int)std::min(problem->chain.width, problem->chain.height) >= size;
}

/* The filters of outputs near the border, where they are not all the product: of (2 ring + 1)^2 places,
 * row by row, those fewer than `ring` from the top or left first, then those in between, then the
 * others. Without a ring there is one place, that in between. */
struct filters {
    int ring;
    double *taps; /* of each place as many as the product has */
    double *sums; /* what a constant border adds to each */
};

static int places_of(int ring)
{
    return 2 * ring + 1;
}

/* The filter of one place: step 1 reads step 0's output where its border puts it. */
static void make_filter(const gc_problem *problem, const product &total, int ring, int x, int y,
                        double *taps, double *constant)
{
    const gc_step *first = &problem->chain.steps[0], *second = &problem->chain.steps[1];
    int size = places_of(ring); /* as good as any larger image */
    for (int m = 0; m < second->height; m++)
        for (int k = 0; k < second->width; k++) {
            double tap = second->taps[m * second->width + k];
            int64_t column = gc_border_index(problem->job.border, x + k - second->left, size);
            int64_t row = gc_border_index(problem->job.border, y + m - second->top, size);
            if (column < 0 || row < 0) {
                *constant += tap * (double)second->border[0];
                continue;
            }
            int left = (int)column - x - first->left + total.left;
            int top = (int)row - y - first->top + total.top;
            for (int j = 0; j < first->height; j++)
                for (int i = 0; i < first->width; i++)
                    taps[(top + j) * total.width + left + i] +=
                        tap * (double)first->taps[j * first->width + i];
        }
}

static gconv_status make_filters(const gc_problem *problem, const product &total, filters *all,
                                 gconv_error *error)
{
    *all = {};
    all->ring = is_product_at_border(problem) ? 0 : ring_of(problem);
    int across = places_of(all->ring);
    size_t places = (size_t)(across * across), area = (size_t)(total.width * total.height);
    all->taps = (double *)calloc(places * (area + 1), sizeof *all->taps);
    if (all->taps == nullptr)
        return gc_fail_memory(error, places * (area + 1) * sizeof *all->taps);
    all->sums = all->taps + places * area;
    if (all->ring == 0)
        std::copy(total.taps, total.taps + area, all->taps);
    for (int place = 0; place < across * across && all->ring > 0; place++)
        make_filter(problem, total, all->ring, place % across, place / across,
                    all->taps + (size_t)place * area, &all->sums[place]);
    return GCONV_OK;
}

/* Whether all of them can be multiplied, and what is added can be. */
static gconv_status check_filters(const gc_problem *problem, const product &total,
                                  gconv_error *error)
{
    filters all;
    GC_TRY(make_filters(problem, total, &all, error));
    size_t places = (size_t)(places_of(all.ring) * places_of(all.ring));
    bool fits = fits_bytes(all.taps, places * (size_t)(total.width * total.height)) &&
                std::all_of(all.sums, all.sums + places,
                            [](double sum) { return fabs(sum) < 0x1p24 && sum == rint(sum); });
    free(all.taps);
    return fits ? GCONV_OK
                : gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                          "the chain's weights at this border do not fit in 8 bits");
}

/* ---- What can be done ------------------------------------------------------------------------ */

static gconv_status check_chain(const gc_problem *problem, const gconv_device_info *device,
                                gconv_error *error)
{
    product total;
    if (device->compute_major < 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "%s has no tensor cores for 8-bit samples (compute capability 8.0)",
                       device->name);
    if (problem->chain.channels != 1 || problem->job.input.channels != 1 ||
        problem->job.input.depth != 8 || !gc_border_is_byte(problem, &problem->chain.steps[0]))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "only one channel of 8-bit samples, border included");
    if (!problem->chain.exact || !make_product(problem, &total))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "only chains of whole weights whose product fits in 8 bits and %dx%d",
                       (int)SIDE_MAX, (int)SIDE_MAX);
    if (!is_product_at_border(problem) && !has_ring(problem))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "more than two steps, a lopsided one, or a tiny image, at this border");
    return check_filters(problem, total, error);
}

static bool is_one_filter(const gc_problem *problem, const gconv_device_info *device)
{
    gconv_error ignored;
    return check_chain(problem, device, &ignored) == GCONV_OK;
}

/* Of a chain that is taken in pairs: the steps of the pass that begins with step `index`; 0 where that is
 * the second of a pair. */
static int steps_from(const gc_problem *problem, int index, const gconv_device_info *device)
{
    for (int first = 0, count = 0; first <= index; first += count) {
        count = gc_pair_fits(problem, first, device) ? 2 : 1;
        if (first == index)
            return count;
    }
    return 0;
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    gconv_error reason;
    bool pairs = false;
    if (check_chain(problem, device, &reason) == GCONV_OK)
        return GCONV_OK;
    for (int first = 0; first < problem->chain.step_count; first++)
        pairs = pairs || gc_pair_fits(problem, first, device);
    if (!pairs)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED, "%s%s", reason.message,
                       problem->chain.step_count == 1
                           ? ""
                           : "; and no two neighbouring steps are worth one pass");
    return steps_from(problem, (int)(step - problem->chain.steps), device) == 1
               ? gc_direct_supports(problem, step, device, error)
               : GCONV_OK;
}

/* Samples through memory, and products for each row of the filter (measured on an H200: 19 us at 3x3 to
 * 30 us at 17x17, 4096 x 4096). */
static double chain_seconds(const gc_problem *problem, const gconv_device_info *device)
{
    product total;
    make_product(problem, &total);
    double values = (double)problem->chain.width * problem->chain.height;
    double bandwidth = device->memory_bandwidth > 0 ? device->memory_bandwidth : 1e11;
    double multiply_rate = 2.2e13 * device->processors / 132;
    return 3e-6 + values * 2 / (0.52 * bandwidth) + values * total.height / multiply_rate;
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    int index = (int)(step - problem->chain.steps);
    if (is_one_filter(problem, device))
        return index == 0 ? chain_seconds(problem, device) : 0;
    switch (steps_from(problem, index, device)) {
    case 2:
        return gc_pair_seconds(problem, index, device);
    case 1:
        return gc_direct_seconds(problem, step, device);
    default:
        return 0;
    }
}

/* ---- Preparing ------------------------------------------------------------------------------- */

/* Of a pass: the whole chain, where `values` is there, else one or two steps by `steps`. */
struct fused_state {
    gc_pass_kernel steps;
    gc_bytes bytes;
    const kernel_row *kernel; /* of the output, null where none makes it */
    const kernel_row *values; /* of chain values */
    product total;
    uint4 *tables; /* device: weights, then sums */
};

/* Units that hold columns of the ring: the first, and the last one or two. */
static void find_specials(const gc_problem *problem, int ring, gc_bytes *bytes)
{
    int width = (int)problem->chain.width;
    for (int unit = 0; unit <= (width - 1) / GC_BYTES_UNIT && ring > 0; unit++)
        if (unit == 0 || (unit + 1) * GC_BYTES_UNIT > width - ring)
            bytes->specials[bytes->special_count++] = unit;
}

/* The place, of those of `filters`, of column `column` of a unit of the class. */
static int place_of(const gc_bytes *bytes, int width, int special, int column)
{
    if (special == 0)
        return bytes->ring;
    int x = bytes->specials[special - 1] * GC_BYTES_UNIT + column;
    if (x < bytes->ring)
        return x;
    return x >= width - bytes->ring && x < width ? x - width + 2 * bytes->ring + 1 : bytes->ring;
}

/* What mma.sync wants of its second matrix in a lane (PTX ISA, m16n8k32): column lane / 4, four rows
 * from lane % 4 * 4 on, and four from 16 further. */
static uint4 lane_weights(const product &total, const double *const *columns, int row, int lane)
{
    unsigned words[4] = {};
    for (int word = 0; word < 4; word++)
        for (int i = 0; i < 4; i++) {
            int n = lane / 4, column = n / 2 * 4 + word / 2 * 2 + n % 2;
            int k = word % 2 * 16 + lane % 4 * 4 + i - column - GC_BYTES_MARGIN + total.left;
            bool is_there = row < total.height && k >= 0 && k < total.width;
            int weight = is_there ? (int)columns[column][row * total.width + k] : 0;
            words[word] |= (unsigned)(unsigned char)(signed char)weight << (8 * i);
        }
    return {words[0], words[1], words[2], words[3]};
}

/* One table of gc_bytes: rows of place `y`, units of class `special`. */
static void fill_table(const gc_problem *problem, const fused_state *state, const filters &all,
                       int y, int special, uint4 *weights, int *sums)
{
    const product &total = state->total;
    const double *columns[GC_BYTES_UNIT];
    for (int column = 0; column < GC_BYTES_UNIT; column++) {
        int x = place_of(&state->bytes, (int)problem->chain.width, special, column);
        int place = y * places_of(all.ring) + x;
        columns[column] = all.taps + place * total.width * total.height;
        sums[column] = (int)all.sums[place];
    }
    for (int row = 0; row < state->values->height; row++)
        for (int lane = 0; lane < 32; lane++)
            weights[row * 32 + lane] = lane_weights(total, columns, row, lane);
}

static gconv_status upload_tables(const gc_problem *problem, fused_state *state, const filters &all,
                                  gconv_error *error)
{
    gc_bytes *bytes = &state->bytes;
    size_t classes = 1 + (size_t)bytes->special_count;
    size_t tables = (size_t)places_of(all.ring) * classes;
    size_t words = (size_t)state->values->height * 32; /* of a table's weights */
    size_t size = tables * (words * sizeof(uint4) + GC_BYTES_UNIT * sizeof(int));
    uint4 *made = (uint4 *)malloc(size);
    if (made == nullptr)
        return gc_fail_memory(error, size);
    int *sums = (int *)(made + tables * words);
    for (size_t k = 0; k < tables; k++)
        fill_table(problem, state, all, (int)(k / classes), (int)(k % classes), made + k * words,
                   sums + k * GC_BYTES_UNIT);
    cudaError_t code = cudaMalloc(&state->tables, size);
    if (code == cudaSuccess)
        code = cudaMemcpy(state->tables, made, size, cudaMemcpyHostToDevice);
    free(made);
    GC_CUDA_TRY(error, code);
    bytes->weights = state->tables;
    bytes->sums = (const int *)(state->tables + tables * words);
    return GCONV_OK;
}

static gconv_status prepare_tables(const gc_problem *problem, fused_state *state,
                                   gconv_error *error)
{
    filters all;
    GC_TRY(make_filters(problem, state->total, &all, error));
    state->bytes.height = state->total.height;
    state->bytes.top = state->total.top;
    state->bytes.ring = all.ring;
    find_specials(problem, all.ring, &state->bytes);
    gconv_status status = upload_tables(problem, state, all, error);
    free(all.taps);
    return status;
}

static gconv_status prepare_kernel(const kernel_row *kernel, const gconv_device_info *device,
                                   gconv_error *error)
{
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)kernel->shared_bytes));
    int blocks = 0;
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                           &blocks, kernel->kernel, 32 * WARPS, kernel->shared_bytes));
    /* What blocks do not take is left to the first-level cache: weights come from there, and samples
     * that two copies share. */
    size_t taken = (size_t)blocks * (kernel->shared_bytes + RESERVED_BYTES);
    int percent = (int)(100 * taken / device->shared_per_processor) + 1;
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel->kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     std::min(percent, 100)));
    return GCONV_OK;
}

static gconv_status prepare_chain(const gc_problem *problem, const gconv_device_info *device,
                                  gc_gpu_pass *pass, fused_state *state, gconv_error *error)
{
    make_product(problem, &state->total);
    state->values = find_kernel(state->total.height, GC_FLOAT, -1);
    state->kernel = find_kernel(state->total.height, pass->output, pass->finish);
    if (state->kernel == nullptr)
        pass->output = GC_FLOAT;
    else
        GC_TRY(prepare_kernel(state->kernel, device, error));
    GC_TRY(prepare_kernel(state->values, device, error));
    return prepare_tables(problem, state, error);
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_gpu_pass *pass, void **opaque, gconv_error *error)
{
    fused_state *state = (fused_state *)calloc(1, sizeof *state);
    if (state == nullptr)
        return gc_fail_memory(error, sizeof *state);
    *opaque = state;
    if (is_one_filter(problem, device))
        return prepare_chain(problem, device, pass, state, error);
    return pass->count == 2 ? gc_pair_prepare(problem, device, pass, &state->steps, error)
                            : gc_direct_prepare(problem, &problem->chain.steps[pass->first], device,
                                                pass, &state->steps, error);
}

static void release(void *opaque)
{
    fused_state *state = (fused_state *)opaque;
    gc_pass_release(&state->steps);
    cudaFree(state->tables);
    free(state);
}

/* ---- The method ------------------------------------------------------------------------------ */

static int pass_steps(const gc_problem *problem, int first, const gconv_device_info *device)
{
    return is_one_filter(problem, device) ? problem->chain.step_count
                                          : steps_from(problem, first, device);
}

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    fused_state *state = (fused_state *)opaque;
    if (state->values == nullptr)
        return gc_pass_launch(state->steps, pass, channels, stream, error);
    const kernel_row *kernel = pass.output_type == GC_FLOAT ? state->values : state->kernel;
    int columns = (pass.width + TILE_WIDTH - 1) / TILE_WIDTH;
    int rows = (pass.rows + TILE_HEIGHT - 1) / TILE_HEIGHT;
    dim3 grid((unsigned)(columns * rows), (unsigned)channels);
    void *arguments[] = {&pass, &state->bytes};
    GC_CUDA_TRY(error, cudaLaunchKernel(kernel->kernel, grid, dim3(32 * WARPS), arguments,
                                        kernel->shared_bytes, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const fused_state *state = (const fused_state *)opaque;
    if (state->values == nullptr) {
        gc_pass_describe(&state->steps, text, size);
        return;
    }
    snprintf(text, size, "the chain as one %dx%d filter on the tensor cores%s", state->total.width,
             state->total.height,
             state->bytes.ring > 0 ? ", filters of their own at the border" : "");
}

extern const gc_gpu_method gc_fused_method = {
    "fused",  supports, seconds, nullptr,    nullptr, release, nullptr,
    describe, nullptr,  nullptr, pass_steps, prepare, run,
};

extern "C" {
extern const gc_operations gc_fused_operations;
const gc_operations gc_fused_operations = gc_gpu_operations<gc_fused_method>();
}
