/* tilefft: convolution by Fourier transforms of tiles.
 *
 * Idea: a transform is bound by the memory that it crosses, so it should stay with its data
 *   (De Smet 2011). A tile and its surroundings fit in shared memory, and a step of 16 or 32 points
 *   in the registers of a thread. So one kernel transforms a tile, multiplies it by the filter's
 *   spectrum, and transforms it back (tile.cuh). Tiles overlap: of a transform of 128
 *   points a filter of 31 columns leaves 98 columns of output (overlap-save).
 *   Filters with a side of 48 and more waste most of such a tile. They get tiles of 512 or 1024
 *   points a side, which cross memory three times (large_tile.cuh).
 * Improves on: fft, which crosses memory some ten times; tensor, for filters of full rank from
 *   about 17x17 on.
 * Needs: shared memory for a tile, 34 KiB for 64 x 64 points to 131 KiB for 128 x 128. For large
 *   tiles 72 to 140 KiB, and up to 256 MiB of the device's memory.
 * Limits: filters smaller than a tile. Exact chains: float32 transforms cannot restore their
 *   integers.
 * Loses: to direct and tensor at small filters, to separable at filters of rank 1 to 3. */
#include "gpu/device/kernel.cuh"
#include "gpu/methods/methods.cuh"
#include "gpu/methods/passes.cuh"
#include "gpu/methods/tilefft/kernels.cuh"
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
#include <numeric>

/* ---- Kernels that are compiled ahead in parts (cmake/Kernels.cmake) -------------------------- */

gc_tilefft_kernels gc_tilefft_find(int columns, int lines, int type)
{
    gc_tilefft_kernels floats = gc_tilefft_floats(columns, lines);
    if (type == GC_FLOAT)
        return floats;
    gc_tilefft_kernels found =
        (type == GC_BYTE ? gc_tilefft_bytes : gc_tilefft_shorts)(columns, lines);
    found.middle = floats.middle;
    return found;
}

/* ---- What can be done ------------------------------------------------------------------------ */

/* Whether samples of a pass can be stored one by one. Samples in double, edges, bits and samples of
 * another type than those that are read come from planes of chain values. */
static bool rounds(const gc_pass_scope &scope)
{
    return (scope.finish == GC_FINISH_ROUND || scope.finish == GC_FINISH_NEAREST) &&
           scope.output == scope.input;
}

static gc_pass_scope scope_of(const gc_problem *problem, const gc_step *step)
{
    int index = (int)(step - problem->chain.steps);
    gc_pass_scope scope = gc_pass_scope_of_planes(gc_pass_scope_of(problem, index, 1));
    if (!rounds(scope)) {
        scope.output = GC_FLOAT;
        scope.finish = GC_FINISH_NONE;
    }
    return scope;
}

static gconv_status supports(const gc_problem *problem, const gc_step *step,
                             const gconv_device_info *device, gconv_error *error)
{
    if (problem->chain.exact)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "float32 transforms cannot restore the integers of this chain");
    if (gc_tiles_of(problem, step, device).width == 0)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter is too large for the tiles that fit in shared memory of %s",
                       step->width, step->height, device->name);
    if (!gc_range_holds_tiles(step, GC_TILE_POINTS_MAX))
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "float32 has no room for spectra of this chain");
    return GCONV_OK;
}

static double seconds(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    gc_pass_scope scope = scope_of(problem, step);
    gc_tiles tiles = gc_tiles_of(problem, step, device);
    bool as_values = scope.input == GC_FLOAT || gc_tiles_are_large(tiles.columns, tiles.lines);
    double factor = as_values ? 1 : gc_costs_of(device)->tile_samples_factor;
    return factor * tiles.seconds + gc_pass_scope_planes(problem, scope, device);
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

static gc_slabs slabs(const gc_problem *problem, const gc_step *step,
                      const gconv_device_info *device)
{
    gc_tiles tiles = gc_tiles_of(problem, step, device);
    return gc_slabs_of(problem, step, (int64_t)tiles.rows * tiles.height);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

/* Large tiles take three kernels a pass (large_tile.cuh). */
struct large_pass {
    gc_tilefft_large tiles; /* of a launch: what changes is filled in */
    gc_tilefft_kernels kernels;
    int slab, strips_at_once; /* rows, strips of gc_tiles */
    int end_row;              /* the row after all tiles' outputs */
    gc_owned_memory<float> roots;
    gc_owned_memory<float2> scratch;
};

struct tilefft_state {
    gc_tiles cut;
    gc_tilefft tiles;
    gc_tilefft_kernel kernel;
    gc_owned_memory<float> spectrum;
    large_pass large; /* in place of the kernel, if transforms are large */
};

static gconv_status upload_spectrum(const gc_step *step, tilefft_state *state, gconv_error *error)
{
    int columns = state->cut.columns, lines = state->cut.lines;
    size_t bytes = (size_t)columns * (size_t)lines * 2 * sizeof(float);
    gc_owned_array<float> spectrum((float *)malloc(bytes));
    if (spectrum == nullptr)
        return gc_fail_memory(error, bytes);
    GC_TRY(gc_tiles_spectrum(step, columns, lines, spectrum, error));
    return gc_gpu_upload(spectrum, bytes, &state->spectrum, error);
}

static gconv_status set_shared_share(const void *kernel, int percent, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                            percent));
    return GCONV_OK;
}

/* Shared memory that the blocks do not take is left to the first-level cache, for the filter's
 * spectrum. The runtime takes 1 KiB for each block. */
static gconv_status prepare_kernel(gc_tilefft_kernel *kernel, const gconv_device_info *device,
                                   gconv_error *error)
{
    GC_TRY(gc_gpu_opt_in(kernel->kernel, device, error));
    GC_TRY(set_shared_share(kernel->kernel, cudaSharedmemCarveoutMaxShared, error));
    GC_TRY(gc_gpu_resident(kernel->kernel, kernel->threads, (size_t)kernel->bytes, device,
                           &kernel->resident, error));
    double taken = (double)kernel->resident / device->processors * (kernel->bytes + 1024);
    double percent = ceil(100 * taken / ((double)device->shared_per_block_optin + 1024));
    return set_shared_share(kernel->kernel, (int)std::min(percent, 100.0), error);
}

static gconv_status upload_roots(const gc_tiles *tiles, large_pass *pass, gconv_error *error)
{
    size_t across = 2 * (size_t)tiles->columns, down = 2 * (size_t)tiles->lines;
    size_t bytes = (across + down) * sizeof(float);
    gc_owned_array<float> roots((float *)malloc(bytes));
    if (roots == nullptr)
        return gc_fail_memory(error, bytes);
    gc_tiles_roots(tiles->columns, roots);
    gc_tiles_roots(tiles->lines, roots + across);
    GC_TRY(gc_gpu_upload(roots, bytes, &pass->roots, error));
    pass->tiles.roots_across = (const float2 *)pass->roots;
    pass->tiles.roots_down = (const float2 *)(pass->roots + across);
    return GCONV_OK;
}

static gconv_status prepare_large(const gc_tilefft &common, int end_row, const gc_tiles *tiles,
                                  int type, const gconv_device_info *device, large_pass *pass,
                                  gconv_error *error)
{
    (gc_tilefft &)pass->tiles = common;
    pass->tiles.across = tiles->across;
    pass->slab = tiles->rows;
    pass->strips_at_once = tiles->strips;
    pass->end_row = end_row;
    pass->kernels = gc_tilefft_find(tiles->columns, tiles->lines, type);
    for (gc_tilefft_kernel *kernel :
         {&pass->kernels.forward, &pass->kernels.middle, &pass->kernels.back})
        GC_TRY(prepare_kernel(kernel, device, error));
    GC_TRY(upload_roots(tiles, pass, error));
    GC_CUDA_TRY(error, cudaMalloc(&pass->scratch, (size_t)gc_tilefft_scratch(tiles)));
    pass->tiles.strip_lines = tiles->strip_lines;
    pass->tiles.of_strips = pass->scratch;
    pass->tiles.of_pairs =
        pass->scratch + (size_t)tiles->strips * (size_t)tiles->strip_lines * (size_t)tiles->columns;
    return GCONV_OK;
}

static gconv_status prepare(const gc_problem *problem, const gconv_device_info *device,
                            gc_pass_scope *scope, void **opaque, gconv_error *error)
{
    tilefft_state *state;
    GC_TRY(gc_make(&state, opaque, error));
    const gc_step *step = &problem->chain.steps[scope->first];
    *scope = scope_of(problem, step);
    const gc_tiles &cut = state->cut = gc_tiles_of(problem, step, device);
    GC_TRY(upload_spectrum(step, state, error));
    gc_slabs rows = slabs(problem, step, device);
    state->tiles = {(const float2 *)state->spectrum,
                    step->left,
                    step->top,
                    cut.width,
                    cut.height,
                    (int)rows.first,
                    (int)rows.last + step->height - 1 - step->top,
                    (int)problem->chain.width + step->width - 2 - step->left,
                    cut.pairs};
    if (gc_tiles_are_large(cut.columns, cut.lines))
        return prepare_large(state->tiles, (int)rows.last + 1, &cut, scope->input, device,
                             &state->large, error);
    state->kernel = gc_tilefft_find(cut.columns, cut.lines, scope->input).forward;
    return prepare_kernel(&state->kernel, device, error);
}

/* ---- Running large tiles --------------------------------------------------------------------- */

static gconv_status launch(const gc_tilefft_kernel &kernel, int blocks, void **arguments,
                           cudaStream_t stream, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaLaunchKernel(kernel.kernel, dim3((unsigned)blocks),
                                        dim3((unsigned)kernel.threads), arguments,
                                        (size_t)kernel.bytes, stream));
    return GCONV_OK;
}

/* Some strips of a slab, of a channel. */
static gconv_status run_strips(const gc_tilefft_kernels &kernels, gc_pass &pass,
                               gc_tilefft_large &tiles, int strips, cudaStream_t stream,
                               gconv_error *error)
{
    auto items_of = [&](int lines) {
        return (lines + kernels.rows_of_a_block - 1) / kernels.rows_of_a_block;
    };
    int full = tiles.full_strips, half = (tiles.rows + 1) / 2;
    int half_lines = std::min((half - 1) * tiles.height + kernels.lines, tiles.lines);
    tiles.row_items = full * items_of(tiles.lines) + (strips - full) * items_of(half_lines);
    tiles.pairs = full * tiles.rows + (strips - full) * half;
    tiles.chunks =
        std::min(tiles.pairs, std::max(1, kernels.middle.resident / kernels.column_blocks));
    int items_back = tiles.pairs * items_of(tiles.height);
    void *all[] = {&pass, &tiles}, *of_columns[] = {&tiles};
    GC_TRY(launch(kernels.forward, std::min(tiles.row_items, kernels.forward.resident), all, stream,
                  error));
    GC_TRY(launch(kernels.middle, kernels.column_blocks * tiles.chunks, of_columns, stream, error));
    return launch(kernels.back, std::min(items_back, kernels.back.resident), all, stream, error);
}

static gconv_status run_slab(const large_pass &large, gc_pass &pass, int first_row,
                             cudaStream_t stream, gconv_error *error)
{
    gc_tilefft_large tiles = large.tiles;
    int rows = (large.end_row - first_row + tiles.height - 1) / tiles.height;
    tiles.first_row = first_row;
    tiles.rows = std::min(rows, large.slab);
    tiles.lines = std::min((tiles.rows - 1) * tiles.height + large.kernels.lines,
                           tiles.last_row + 1 - (first_row - tiles.top));
    int all = (tiles.across + 1) / 2;
    for (int first = 0; first < all; first += large.strips_at_once) {
        int strips = std::min(all - first, large.strips_at_once);
        tiles.first_strip = first;
        tiles.full_strips = std::min(tiles.across / 2 - first, strips);
        GC_TRY(run_strips(large.kernels, pass, tiles, strips, stream, error));
    }
    return GCONV_OK;
}

/* The pass of a channel. If there are several, they are planes of values. */
static gc_pass pass_of_channel(const gc_pass &pass, int channel)
{
    gc_pass one = pass;
    if (channel > 0) {
        one.input = (const float *)pass.input + channel * pass.input_plane;
        one.output = (float *)pass.output + channel * pass.output_plane;
        one.constant[0] = pass.constant[channel];
    }
    return one;
}

static gconv_status run_large(const large_pass &large, const gc_pass &pass, int channels,
                              cudaStream_t stream, gconv_error *error)
{
    int slab_rows = large.slab * large.tiles.height;
    int first = (pass.output_first - large.tiles.first_row) / slab_rows;
    int last = (pass.output_first + pass.rows - 1 - large.tiles.first_row) / slab_rows;
    for (int c = 0; c < channels; c++) {
        gc_pass one = pass_of_channel(pass, c);
        for (int slab = first; slab <= last; slab++)
            GC_TRY(run_slab(large, one, large.tiles.first_row + slab * slab_rows, stream, error));
    }
    return GCONV_OK;
}

/* ---- The method ------------------------------------------------------------------------------ */

/* Blocks for pairs of tiles. Those at the left and the right of a row take longer. If a row's
 * number of pairs and the number of blocks have no common factor, all blocks get some of them. */
static int blocks_of(int resident, int tiles, int pairs)
{
    int blocks = std::min(resident, tiles), turns = (tiles + blocks - 1) / blocks;
    for (int fewer = blocks; fewer > 0 && (tiles + fewer - 1) / fewer == turns; fewer--)
        if (std::gcd(fewer, pairs) == 1)
            return fewer;
    return blocks;
}

static gconv_status run(void *opaque, gc_pass &pass, int channels, cudaStream_t stream,
                        gconv_error *error)
{
    tilefft_state *state = (tilefft_state *)opaque;
    if (gc_tiles_are_large(state->cut.columns, state->cut.lines))
        return run_large(state->large, pass, channels, stream, error);
    const gc_tilefft &tiles = state->tiles;
    int first = (pass.output_first - tiles.first_row) / tiles.height;
    int last = (pass.output_first + pass.rows - 1 - tiles.first_row) / tiles.height;
    pass.tiles = (last - first + 1) * tiles.pairs;
    unsigned blocks = (unsigned)blocks_of(std::max(1, state->kernel.resident / channels),
                                          pass.tiles, tiles.pairs);
    void *arguments[] = {&pass, &state->tiles};
    GC_CUDA_TRY(error, cudaLaunchKernel(state->kernel.kernel, dim3(blocks, (unsigned)channels),
                                        dim3((unsigned)state->kernel.threads), arguments,
                                        (size_t)state->kernel.bytes, stream));
    return GCONV_OK;
}

static void describe(const void *opaque, char *text, size_t size)
{
    const tilefft_state *state = (const tilefft_state *)opaque;
    const gc_tiles &cut = state->cut;
    snprintf(text, size, "tiles of %dx%d outputs by transforms of %dx%d points%s, compiled ahead",
             cut.width, cut.height, cut.columns, cut.lines,
             gc_tiles_are_large(cut.columns, cut.lines) ? " in three kernels" : "");
}

extern const gc_pass_method gc_tilefft_method = {
    {supports, seconds, gc_free<tilefft_state>, describe, extra_bytes, extra_terms, slabs},
    gc_pass_one_step,
    prepare,
    run,
};

GC_OPERATIONS(gc_tilefft_operations, gc_pass_operations<gc_tilefft_method>());
