/* tilefft: convolution by Fourier transforms of tiles.
 *
 * Idea: a transform is bound by the memory that it crosses, so it should stay with its data
 *   (De Smet 2011). A tile and its surroundings fit in shared memory, and a step of 8 or 16 points
 *   in the registers of a thread. So one kernel transforms a tile, multiplies it by the filter's
 *   spectrum, and transforms it back (tile.cuh). Tiles overlap: of a transform of 128
 *   points a filter of 31 columns leaves 98 columns of output (overlap-save).
 *   Filters with a side of 48 and more waste most of such a tile. They get tiles of 512 or 1024
 *   points a side, which cross memory three times (large_tile.cuh).
 *   Steps of a chain are one transform if their borders allow it: their spectra are multiplied.
 * Improves on: fft, which crosses memory some ten times; tensor, for filters of full rank from
 *   about 17x17 on.
 * Needs: shared memory for a tile, 33 KiB for 64 x 64 points to 129 KiB for 128 x 128. For large
 *   tiles 72 to 140 KiB, and up to 192 MiB of the device's memory.
 * Limits: filters smaller than a tile. Exact chains: float32 transforms cannot restore their
 *   integers.
 * Loses: to direct and tensor at small filters, to separable at filters of rank 1 to 3. */
#include "gpu/device/check.cuh"
#include "gpu/device/kernel.cuh"
#include "gpu/methods/methods.cuh"
#include "gpu/methods/passes.cuh"
#include "gpu/methods/tilefft/kernels.cuh"
#include "gpu/methods/tilefft/large.cuh"
#include "gpu/methods/tilefft/types.cuh"

extern "C" {
#include "core/range.h"
#include "gpu/cost/costs.h"
#include "gpu/methods/tilefft/tiles.h"
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

/* ---- Kernels that are compiled ahead in parts (cmake/Kernels.cmake) -------------------------- */

gc_tilefft_kernel gc_tilefft_find(int columns, int lines, int type)
{
    return (type == GC_FLOAT   ? gc_tilefft_floats
            : type == GC_BYTE  ? gc_tilefft_bytes
            : type == GC_SHORT ? gc_tilefft_shorts
                               : gc_tilefft_any)(columns, lines);
}

gc_tilefft_large_kernels gc_tilefft_find_large(int columns, int lines, int type)
{
    gc_tilefft_large_kernels found = (type == GC_FLOAT   ? gc_tilefft_large_floats
                                      : type == GC_BYTE  ? gc_tilefft_large_bytes
                                      : type == GC_SHORT ? gc_tilefft_large_shorts
                                                         : gc_tilefft_large_any)(columns, lines);
    found.columns = gc_tilefft_find_columns(columns, lines);
    return found;
}

/* ---- What can be done ------------------------------------------------------------------------ */

static gc_pass_scope scope_of(const gc_problem *problem, const gc_tile_filter &filter)
{
    return gc_pass_scope_of_planes(gc_pass_scope_of(problem, filter.first, filter.count));
}

/* Whether a pass reads and stores chain values alone. */
static bool takes_values(const gc_pass_scope &scope)
{
    return scope.input == GC_FLOAT && scope.output == GC_FLOAT;
}

/* Whether samples of a pass can be stored one by one. Quotients with ties or remainders, samples in
 * double, edges and bits go through the kernels for all types. */
static bool rounds(const gc_pass_scope &scope)
{
    return (scope.finish == GC_FINISH_ROUND || scope.finish == GC_FINISH_NEAREST) &&
           (scope.output == GC_BYTE || scope.output == GC_SHORT);
}

/* The kernels of a pass, as gc_tilefft_find takes them. */
static int type_of(const gc_pass_scope &scope)
{
    bool is_single = takes_values(scope) || (scope.input == scope.output && rounds(scope));
    return is_single ? scope.input : -1;
}

static gc_tiles tiles_of(const gc_problem *problem, const gc_tile_filter &filter,
                         const gconv_device_info *device)
{
    gc_pass_scope scope = scope_of(problem, filter);
    bool stores_words = scope.output != GC_FLOAT && type_of(scope) < 0;
    return gc_tiles_of(problem, &filter, stores_words, device);
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    if (problem->chain.exact)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "float32 transforms cannot restore the integers of this chain");
    gc_tile_filter filter = gc_tile_filter_of(problem, step, device);
    if (tiles_of(problem, filter, device).width == 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter is too large for the tiles that fit in shared memory of %s",
                       step->width, step->height, device->name);
    if (!gc_range_holds_tiles(step, GC_TILE_POINTS_MAX))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "float32 has no room for spectra of this chain");
    return GCONV_OK;
}

/* The first step of a pass takes the time of all. */
static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    gc_tile_filter filter = gc_tile_filter_of(problem, step, device);
    if (step != &problem->chain.steps[filter.first])
        return 0;
    gc_pass_scope scope = scope_of(problem, filter);
    const gc_costs *costs = gc_costs_of(device);
    int type = type_of(scope);
    double factor = type == GC_FLOAT ? 1
                    : type < 0       ? costs->tile_words_factor
                                     : costs->tile_samples_factor;
    return factor * tiles_of(problem, filter, device).seconds +
           gc_pass_scope_planes(problem, scope, device);
}

static int pass_steps(const gc_problem *problem, int first, const gconv_device_info *device)
{
    return gc_tile_filter_of(problem, &problem->chain.steps[first], device).count;
}

static double extra_bytes(const gc_problem *problem, int64_t rows)
{
    (void)rows;
    return gc_tiles_scratch_bytes(problem);
}

/* Terms of the largest transform, whatever the device's tiles. */
static double extra_terms(const gc_problem *problem)
{
    (void)problem;
    return 32 * log2((double)GC_TILE_POINTS_MAX);
}

static const gc_step *last_step_of(const gc_problem *problem, const gc_tile_filter &filter)
{
    return &problem->chain.steps[filter.first + filter.count - 1];
}

/* The output of a step within a pass is not stored, so that any of its rows will do. */
static gc_slabs slabs(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    gc_tile_filter filter = gc_tile_filter_of(problem, step, device);
    if (step != last_step_of(problem, filter))
        return gc_slabs_of(problem, step, 1);
    gc_tiles tiles = tiles_of(problem, filter, device);
    return gc_slabs_of(problem, step, (int64_t)tiles.rows * tiles.height);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct tilefft_state {
    gc_tilefft tiles;
    int columns, lines; /* of a transform */
    gc_tilefft_kernel kernel;
    int resident;        /* blocks on the device at once */
    float *spectrum;     /* device */
    gc_large_pass large; /* in place of tiles and kernel, if transforms are large */
};

static gconv_status upload_spectrum(const gc_problem *problem, const gc_tile_filter &filter,
                                    tilefft_state *state, gconv_error *error)
{
    size_t bytes = (size_t)state->columns * (size_t)state->lines * 2 * sizeof(float);
    float *spectrum = (float *)malloc(bytes);
    if (spectrum == nullptr)
        return gc_fail_memory(error, bytes);
    gconv_status status =
        gc_tiles_spectrum(problem, &filter, state->columns, state->lines, spectrum, error);
    cudaError_t code = cudaSuccess;
    if (status == GCONV_OK)
        code = cudaMalloc(&state->spectrum, bytes);
    if (status == GCONV_OK && code == cudaSuccess)
        code = cudaMemcpy(state->spectrum, spectrum, bytes, cudaMemcpyHostToDevice);
    free(spectrum);
    GC_TRY(status);
    GC_CUDA_TRY(error, code);
    return GCONV_OK;
}

static gc_tilefft arguments_of(const gc_problem *problem, const gc_tile_filter &filter,
                               const gc_tiles &tiles)
{
    gc_slabs rows = gc_slabs_of(problem, last_step_of(problem, filter), tiles.height);
    gc_tilefft arguments = {};
    arguments.left = filter.left;
    arguments.top = filter.top;
    arguments.width = tiles.width;
    arguments.height = tiles.height;
    arguments.first_row = (int)rows.first;
    arguments.last_row = (int)rows.last + filter.height - 1 - filter.top;
    arguments.last_column = (int)problem->chain.width + filter.width - 2 - filter.left;
    arguments.pairs = tiles.pairs;
    return arguments;
}

static gconv_status prepare_kernel(const gconv_device_info *device, int type, tilefft_state *state,
                                   gconv_error *error)
{
    int blocks = 0;
    state->kernel = gc_tilefft_find(state->columns, state->lines, type);
    GC_TRY(gc_gpu_opt_in(state->kernel.kernel, device, error));
    GC_CUDA_TRY(error, cudaFuncSetAttribute(state->kernel.kernel,
                                            cudaFuncAttributePreferredSharedMemoryCarveout,
                                            cudaSharedmemCarveoutMaxShared));
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, state->kernel.kernel,
                                                                     state->kernel.threads,
                                                                     (size_t)state->kernel.bytes));
    state->resident = std::max(1, blocks * device->processors);
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **opaque, gconv_error *error)
{
    tilefft_state *state = (tilefft_state *)calloc(1, sizeof *state);
    if (state == nullptr)
        return gc_fail_memory(error, sizeof *state);
    *opaque = state;
    gc_tile_filter filter = gc_tile_filter_of(problem, &problem->chain.steps[scope->first], device);
    *scope = scope_of(problem, filter);
    gc_tiles tiles = tiles_of(problem, filter, device);
    state->columns = tiles.columns;
    state->lines = tiles.lines;
    GC_TRY(upload_spectrum(problem, filter, state, error));
    int type = type_of(*scope);
    state->large.tiles.spectrum = (const float2 *)state->spectrum;
    if (gc_tiles_are_large(tiles.columns, tiles.lines))
        return gc_large_prepare(problem, &filter, &tiles, type, device, &state->large, error);
    state->tiles = arguments_of(problem, filter, tiles);
    state->tiles.spectrum = (const float2 *)state->spectrum;
    return prepare_kernel(device, type, state, error);
}

static void release(void *opaque)
{
    tilefft_state *state = (tilefft_state *)opaque;
    gc_large_release(&state->large);
    cudaFree(state->spectrum);
    free(state);
}

/* ---- The method ------------------------------------------------------------------------------ */

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    tilefft_state *state = (tilefft_state *)opaque;
    if (gc_tiles_are_large(state->columns, state->lines))
        return gc_large_run(state->large, pass, channels, stream, error);
    const gc_tilefft &tiles = state->tiles;
    int first = (pass.output_first - tiles.first_row) / tiles.height;
    int last = (pass.output_first + pass.rows - 1 - tiles.first_row) / tiles.height;
    pass.tiles = (last - first + 1) * tiles.pairs;
    unsigned blocks = (unsigned)std::min(std::max(1, state->resident / channels), pass.tiles);
    void *arguments[] = {&pass, &state->tiles};
    GC_CUDA_TRY(error, cudaLaunchKernel(state->kernel.kernel, dim3(blocks, (unsigned)channels),
                                        dim3((unsigned)state->kernel.threads), arguments,
                                        (size_t)state->kernel.bytes, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const tilefft_state *state = (const tilefft_state *)opaque;
    bool large = gc_tiles_are_large(state->columns, state->lines);
    snprintf(text, size, "tiles of %dx%d outputs by transforms of %dx%d points%s, compiled ahead",
             large ? state->large.tiles.width : state->tiles.width,
             large ? state->large.tiles.height : state->tiles.height, state->columns, state->lines,
             large ? " in three kernels" : "");
}

extern const gc_pass_method gc_tilefft_method = {
    {supports, seconds, release, describe, extra_bytes, extra_terms, slabs},
    pass_steps,
    prepare,
    run,
};

extern "C" {
extern const gc_operations gc_tilefft_operations;
const gc_operations gc_tilefft_operations = gc_pass_operations<gc_tilefft_method>();
}
