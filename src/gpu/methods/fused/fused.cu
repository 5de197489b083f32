/* fused: several steps of a chain in one pass over memory.
 *
 * Idea: a chain of whole weights on samples of 8 or 16 bits is one filter, its combined filter, and
 *   tensor cores multiply such numbers without error (bytes.cuh; banded matrices as
 *   Chen et al., PPoPP 2024). The pass reads samples and stores samples, or bits of `edges`. Chain
 *   values never reach memory. Each step meets the border of its own input. Near the border the
 *   combined filter is right under wrap, and under mirrors if all filters but the last are
 *   symmetric. Otherwise the outputs near the border have filters of their own: the ring
 *   (combined.cuh). Other chains go two steps at a time. The first step's values around a tile stay
 *   in shared memory, get their border there, and the second step reads them (pair.cuh;
 *   overlapped tiling: Holewinski et al., ICS 2012). A step that is left over is taken as direct
 *   does. On 8 bits, combined filters that reach 4 bytes to either side and have at most 7 rows
 *   have a kernel of their own (bytes_lines.cuh). It takes about half as many products
 *   as bytes.cuh.
 * Improves on: direct, whose float32 multiply-adds are slower than 8-bit ones, and which crosses
 *   memory once a step.
 * Needs: compute capability 8.0 for the tensor cores; shared memory for the values between two
 *   steps.
 * Limits on the tensor cores: no colours that are multiplied by alpha; a chain whose combined
 *   filter has whole weights from -128 to 127, reaches 8 bytes to either side and has at most 17
 *   rows: 17 columns of one channel of 8 bits, 9 of 16 bits, 5 of interleaved colours, 3 of those
 *   with 16 bits. On 8 bits the chain has to be exact. A ring needs a chain of two steps, and an
 *   image that is larger than the ring.
 * Limits of pairs: two neighbouring steps of at most 49 weights and 9 rows and columns, for which
 *   one pass is faster than two; NVRTC, except for squares of 3x3 and 5x5. Other steps have
 *   direct's limits.
 * Loses: to separable at filters of rank 1 that are beyond the limits on the tensor cores. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/direct/direct.cuh"
#include "gpu/methods/fused/combined.cuh"
#include "gpu/methods/fused/kernels.cuh"
#include "gpu/methods/fused/pairs.cuh"
#include "gpu/methods/fused/tables.cuh"
#include "gpu/methods/methods.cuh"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>

/* Bytes of shared memory that the system takes for itself in each block. */
enum { RESERVED_BYTES = 1024 };

/* ---- Kernels that are compiled ahead in parts (cmake/Kernels.cmake) -------------------------- */

const gc_fused_kernel *gc_fused_find(int height, gc_sample_type input, gc_sample_type output,
                                     int finish)
{
    static const struct {
        int height;
        gc_fused_part *find;
    } parts[] = {
        {3, gc_fused_up_to_3}, {5, gc_fused_up_to_5},   {7, gc_fused_up_to_7},
        {9, gc_fused_up_to_9}, {13, gc_fused_up_to_13}, {17, gc_fused_up_to_17},
    };
    for (const auto &part : parts)
        if (part.height >= height)
            return part.find(input, output, finish);
    return nullptr;
}

/* ---- What can be done ------------------------------------------------------------------------ */

static int step_of(const gc_problem *problem)
{
    return problem->job.input.channels * (problem->job.input.depth / 8);
}

/* Whether a constant border can be read as samples, with one value for all channels in later
 * steps. */
static bool border_is_of_samples(const gc_problem *problem)
{
    if (problem->job.border != GCONV_BORDER_CONSTANT)
        return true;
    for (int s = 0; s < problem->chain.step_count; s++)
        for (int c = 0; c < problem->chain.channels; c++) {
            float value = problem->chain.steps[s].border[c];
            if (s == 0 && !(value >= 0 && value <= (float)problem->conversion.sample_max &&
                            value == rintf(value)))
                return false;
            if (s > 0 && value != problem->chain.steps[s].border[0])
                return false;
        }
    return true;
}

/* Whether the columns of neighbours lie within the margins, and sums within 32 bits. Kernels count
 * columns in int. */
static bool fits_in_columns(const gc_problem *problem, const gc_combined &total)
{
    int step = step_of(problem), right = total.width - 1 - total.left;
    double sum = 0;
    for (int k = 0; k < total.width * total.height; k++)
        sum += fabs(total.taps[k]);
    return std::max(total.left, right) * step <= GC_BYTES_MARGIN &&
           sum * problem->conversion.sample_max < 0x1p31 &&
           (double)problem->chain.width * step < INT_MAX - 4096;
}

static gconv_status check_chain(const gc_problem *problem, const gconv_device_info *device,
                                gconv_error *error)
{
    gc_combined total;
    if (device->compute_major < 8)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "%s has no tensor cores for 8-bit samples (compute capability 8.0)",
                       device->name);
    if (problem->job.input.depth == 32 || problem->conversion.premultiplies ||
        !border_is_of_samples(problem))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "only samples of 8 and 16 bits, border included, not multiplied by alpha");
    if ((!problem->chain.exact && problem->job.input.depth == 8) ||
        !gc_combined_make(problem, &total) || !fits_in_columns(problem, total))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "only chains of whole weights whose product fits in 8 bits and %dx%d",
                       (int)GC_BYTES_SIDE_MAX, (int)GC_BYTES_SIDE_MAX);
    if (!gc_combined_holds_at_border(problem) && !gc_combined_has_ring(problem))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "more than two steps, a lopsided one, or a tiny image, at this border");
    return gc_ring_filters_check(problem, total, error);
}

static bool is_one_filter(const gc_problem *problem, const gconv_device_info *device)
{
    gconv_error ignored;
    return check_chain(problem, device, &ignored) == GCONV_OK;
}

/* In a chain that is taken in pairs: how many steps the pass takes that begins with step `index`. 0
 * if that is the second step of a pair. */
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

static bool fits_lines(const gc_problem *problem, const gc_combined &total)
{
    int reach = std::max(total.left, total.width - 1 - total.left);
    /* Sums are compared with thresholds on both sides as numbers of 16 bits. */
    bool compares = problem->job.output != GCONV_OUTPUT_EDGES ||
                    problem->conversion.rule != GCONV_RULE_ABS ||
                    problem->conversion.threshold < 32767;
    return problem->job.input.depth == 8 && reach * step_of(problem) <= GC_LINES_REACH &&
           total.height <= GC_FUSED_LINES_HEIGHT && compares;
}

/* The kernel for a chain and the types of a scope; null if there is none. */
static const gc_fused_kernel *kernel_of(const gc_problem *problem, const gc_combined &total,
                                        const gc_pass_scope &scope)
{
    bool corrects = scope.output == GC_SHORT && scope.finish == GC_FINISH_QUOTIENT;
    int finish = corrects ? GC_FINISH_REMAINDER : scope.finish;
    return fits_lines(problem, total)
               ? gc_fused_find_lines(total.height, scope.output, finish)
               : gc_fused_find(total.height, scope.input, scope.output, finish);
}

/* Samples go through memory, and each row of the filter takes a matrix product. The two times add
 * up, and that of a remainder. */
static double chain_seconds(const gc_problem *problem, const gconv_device_info *device)
{
    const gc_costs *costs = gc_costs_of(device);
    gc_combined total;
    gc_combined_make(problem, &total);
    gc_pass_scope scope = gc_pass_scope_of(problem, 0, problem->chain.step_count);
    const gc_fused_kernel *kernel = kernel_of(problem, total, scope);
    if (kernel == nullptr)
        scope.output = GC_FLOAT;
    double values =
        (double)problem->chain.width * problem->chain.height * problem->job.input.channels;
    double bytes = values * gc_pass_scope_bytes(scope);
    double products = values * total.height * (problem->job.input.depth / 8);
    double remainders =
        kernel != nullptr && kernel->finish == GC_FINISH_REMAINDER ? costs->remainder_work : 0;
    return costs->fused_launch_seconds +
           bytes / (costs->fused_bandwidth_share * gc_cost_bandwidth(device)) +
           products / (costs->fused_rate * device->processors) +
           remainders * values / (costs->compiled_share * gc_device_peak(device) / 2) +
           gc_pass_scope_planes(problem, scope, device);
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

/* The state of a pass. If `values` is not null it takes the whole chain, else `steps` takes one or
 * two steps. */
struct fused_state {
    gc_pass_kernel steps;
    gc_fused_tables tables;
    bool lines;                    /* `kernel` is of bytes_lines.cuh */
    int blocks;                    /* of it that the device holds at once */
    const gc_fused_kernel *kernel; /* makes the output; null if no kernel does */
    const gc_fused_kernel *values; /* of chain values */
    gc_combined total;
    ~fused_state()
    {
        gc_pass_release(&steps);
    }
};

/* Sets *all to the blocks that the device holds at once. */
static gconv_status prepare_kernel(const gc_fused_kernel *kernel, const gconv_device_info *device,
                                   int *all, gconv_error *error)
{
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)kernel->shared_bytes));
    GC_TRY(gc_gpu_resident(kernel->kernel, 32 * GC_FUSED_WARPS, kernel->shared_bytes, device, all,
                           error));
    /* The first-level cache gets the memory that blocks do not take. It serves the weights, and
     * samples that two blocks load. */
    size_t blocks = (size_t)(*all / device->processors);
    size_t taken = blocks * (kernel->shared_bytes + RESERVED_BYTES);
    int percent = (int)(100 * taken / device->shared_per_processor) + 1;
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel->kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     std::min(percent, 100)));
    return GCONV_OK;
}

static gconv_status prepare_chain(const gc_problem *problem, const gconv_device_info *device,
                                  gc_pass_scope *scope, fused_state *state, gconv_error *error)
{
    int ignored;
    gc_combined_make(problem, &state->total);
    state->values = gc_fused_find(state->total.height, scope->input, GC_FLOAT, -1);
    state->kernel = kernel_of(problem, state->total, *scope);
    state->lines = fits_lines(problem, state->total);
    if (state->kernel == nullptr)
        scope->output = GC_FLOAT;
    else
        GC_TRY(prepare_kernel(state->kernel, device, &state->blocks, error));
    GC_TRY(prepare_kernel(state->values, device, &ignored, error));
    return gc_fused_tables_make(problem, state->total, state->values->height, &state->tables,
                                error);
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **opaque, gconv_error *error)
{
    fused_state *state;
    GC_TRY(gc_make(&state, opaque, error));
    if (is_one_filter(problem, device))
        return prepare_chain(problem, device, scope, state, error);
    return scope->count == 2 ? gc_pair_prepare(problem, device, scope, &state->steps, error)
                             : gc_direct_prepare(problem, &problem->chain.steps[scope->first],
                                                 device, scope, &state->steps, error);
}

/* ---- The method ------------------------------------------------------------------------------ */

static int pass_steps(const gc_problem *problem, int first, const gconv_device_info *device)
{
    return is_one_filter(problem, device) ? problem->chain.step_count
                                          : steps_from(problem, first, device);
}

/* Rows of a tile. All tiles run at once if that is possible; else they fill the device a whole
 * number of times. A tile has further lines around it: very low ones do not pay. */
static int tile_rows(int rows, int columns, int blocks)
{
    const int least = 8;
    long long tiles = (long long)columns * ((rows + GC_LINES_ROWS - 1) / GC_LINES_ROWS);
    long long times = (tiles + blocks - 1) / blocks, down = times * blocks / columns;
    return std::max((int)((rows + down - 1) / down), least);
}

static gconv_status run_lines(const fused_state *state, const gc_pass &pass, cudaStream_t stream,
                              gconv_error *error)
{
    gc_lines_launch lines = state->tables.lines;
    int columns = (pass.width + GC_FUSED_LINES_WIDTH - 1) / GC_FUSED_LINES_WIDTH;
    lines.height = tile_rows(pass.rows, columns, state->blocks);
    dim3 grid((unsigned)((pass.rows + lines.height - 1) / lines.height), (unsigned)columns);
    void *arguments[] = {&lines, const_cast<gc_pass *>(&pass),
                         const_cast<gc_bytes *>(&state->tables.bytes)};
    GC_CUDA_TRY(error, cudaLaunchKernel(state->kernel->kernel, grid, dim3(32 * GC_FUSED_WARPS),
                                        arguments, state->kernel->shared_bytes, stream));
    return GCONV_OK;
}

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    fused_state *state = (fused_state *)opaque;
    if (state->values == nullptr)
        return gc_pass_launch(state->steps, pass, channels, stream, error);
    const gc_fused_kernel *kernel = pass.output_type == GC_FLOAT ? state->values : state->kernel;
    pass.width *= state->tables.bytes.step;
    pass.input_pitch *= pass.input_type == GC_SHORT ? 2 : 1;
    pass.output_pitch *= pass.output_type == GC_SHORT ? 2 : 1;
    if (state->lines && kernel == state->kernel)
        return run_lines(state, pass, stream, error);
    int columns = (pass.width + GC_FUSED_TILE_WIDTH - 1) / GC_FUSED_TILE_WIDTH;
    int rows = (pass.rows + GC_FUSED_TILE_HEIGHT - 1) / GC_FUSED_TILE_HEIGHT;
    dim3 grid((unsigned)(columns * rows));
    void *arguments[] = {&pass, &state->tables.bytes};
    GC_CUDA_TRY(error, cudaLaunchKernel(kernel->kernel, grid, dim3(32 * GC_FUSED_WARPS), arguments,
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
             state->tables.bytes.ring > 0 ? ", filters of their own at the border" : "");
}

extern const gc_pass_method gc_fused_method = {
    {supports, seconds, gc_free<fused_state>, describe},
    pass_steps,
    prepare,
    run,
};

GC_OPERATIONS(gc_fused_operations, gc_pass_operations<gc_fused_method>());
