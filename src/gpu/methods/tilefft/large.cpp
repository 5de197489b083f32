#include "gpu/methods/tilefft/large.cuh"

#include "gpu/device/check.cuh"
#include "gpu/device/kernel.cuh"

#include <algorithm>
#include <cstdlib>

/* ---- Preparing ------------------------------------------------------------------------------- */

static gconv_status prepare_kernel(const gc_tilefft_kernel &kernel, const gconv_device_info *device,
                                   int *resident, gconv_error *error)
{
    int blocks = 0;
    GC_TRY(gc_gpu_opt_in(kernel.kernel, device, error));
    GC_CUDA_TRY(error,
                cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared));
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                           &blocks, kernel.kernel, kernel.threads, (size_t)kernel.bytes));
    *resident = std::max(1, blocks * device->processors);
    return GCONV_OK;
}

/* The roots of rows and of columns. */
static gconv_status upload_roots(gc_large_pass *pass, gconv_error *error)
{
    size_t across = 2 * (size_t)pass->columns, down = 2 * (size_t)pass->lines;
    size_t bytes = (across + down) * sizeof(float);
    float *roots = (float *)malloc(bytes);
    if (roots == nullptr)
        return gc_fail_memory(error, bytes);
    gc_tiles_roots(pass->columns, roots);
    gc_tiles_roots(pass->lines, roots + across);
    cudaError_t code = cudaMalloc(&pass->roots, bytes);
    if (code == cudaSuccess)
        code = cudaMemcpy(pass->roots, roots, bytes, cudaMemcpyHostToDevice);
    free(roots);
    GC_CUDA_TRY(error, code);
    pass->tiles.roots_across = (const float2 *)pass->roots;
    pass->tiles.roots_down = (const float2 *)(pass->roots + across);
    return GCONV_OK;
}

static void set_tiles(const gc_problem *problem, const gc_tile_filter *filter,
                      const gc_tiles *tiles, gc_large_pass *pass)
{
    const gc_step *last = &problem->chain.steps[filter->first + filter->count - 1];
    gc_slabs rows = gc_slabs_of(problem, last, (int64_t)tiles->rows * tiles->height);
    pass->columns = tiles->columns;
    pass->lines = tiles->lines;
    pass->slab = tiles->rows;
    pass->pairs_at_once = gc_tiles_pairs_at_once(tiles);
    pass->first_row = (int)rows.first;
    pass->end_row = (int)rows.last + 1;
    pass->tiles.left = filter->left;
    pass->tiles.top = filter->top;
    pass->tiles.width = tiles->width;
    pass->tiles.height = tiles->height;
    pass->tiles.last_row = (int)rows.last + filter->height - 1 - filter->top;
    pass->tiles.last_column = (int)problem->chain.width + filter->width - 2 - filter->left;
    pass->tiles.across = tiles->across;
}

gconv_status gc_large_prepare(const gc_problem *problem, const gc_tile_filter *filter,
                              const gc_tiles *tiles, int type, const gconv_device_info *device,
                              gc_large_pass *pass, gconv_error *error)
{
    set_tiles(problem, filter, tiles, pass);
    pass->kernels = gc_tilefft_find_large(tiles->columns, tiles->lines, type);
    GC_TRY(prepare_kernel(pass->kernels.rows, device, &pass->resident_rows, error));
    GC_TRY(prepare_kernel(pass->kernels.columns, device, &pass->resident_columns, error));
    GC_TRY(prepare_kernel(pass->kernels.back, device, &pass->resident_back, error));
    GC_TRY(upload_roots(pass, error));
    GC_CUDA_TRY(error, cudaMalloc(&pass->tiles.scratch, (size_t)pass->pairs_at_once *
                                                            (size_t)tiles->columns *
                                                            (size_t)tiles->lines * sizeof(float2)));
    return GCONV_OK;
}

void gc_large_release(gc_large_pass *pass)
{
    cudaFree(pass->tiles.scratch);
    cudaFree(pass->roots);
    *pass = {};
}

/* ---- Running --------------------------------------------------------------------------------- */

static gconv_status launch(const gc_tilefft_kernel &kernel, int blocks, void **arguments,
                           cudaStream_t stream, gconv_error *error)
{
    GC_CUDA_TRY(error, cudaLaunchKernel(kernel.kernel, dim3((unsigned)blocks),
                                        dim3((unsigned)kernel.threads), arguments,
                                        (size_t)kernel.bytes, stream));
    return GCONV_OK;
}

/* Some pairs of a slab, of a channel. */
static gconv_status run_pairs(const gc_large_pass &large, gc_pass &pass, gc_tilefft_large &tiles,
                              cudaStream_t stream, gconv_error *error)
{
    const gc_tilefft_large_kernels &kernels = large.kernels;
    int rows = kernels.rows_of_a_block;
    int items = tiles.pairs * (large.lines / rows);
    int items_back = tiles.pairs * ((tiles.height + rows - 1) / rows);
    tiles.chunks =
        std::min(tiles.pairs, std::max(1, large.resident_columns / kernels.column_blocks));
    void *all[] = {&pass, &tiles}, *of_columns[] = {&tiles};
    GC_TRY(launch(kernels.rows, std::min(items, large.resident_rows), all, stream, error));
    GC_TRY(
        launch(kernels.columns, kernels.column_blocks * tiles.chunks, of_columns, stream, error));
    return launch(kernels.back, std::min(items_back, large.resident_back), all, stream, error);
}

static gconv_status run_slab(const gc_large_pass &large, gc_pass &pass, int first_row,
                             cudaStream_t stream, gconv_error *error)
{
    gc_tilefft_large tiles = large.tiles;
    int rows = (large.end_row - first_row + tiles.height - 1) / tiles.height;
    tiles.first_row = first_row;
    tiles.tiles = std::min(rows, large.slab) * tiles.across;
    int pairs = (tiles.tiles + 1) / 2;
    for (int first = 0; first < pairs; first += large.pairs_at_once) {
        tiles.first_pair = first;
        tiles.pairs = std::min(pairs - first, large.pairs_at_once);
        GC_TRY(run_pairs(large, pass, tiles, stream, error));
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

gconv_status gc_large_run(const gc_large_pass &large, const gc_pass &pass, int channels,
                          cudaStream_t stream, gconv_error *error)
{
    int slab_rows = large.slab * large.tiles.height;
    int first = (pass.output_first - large.first_row) / slab_rows;
    int last = (pass.output_first + pass.rows - 1 - large.first_row) / slab_rows;
    for (int c = 0; c < channels; c++) {
        gc_pass one = pass_of_channel(pass, c);
        for (int slab = first; slab <= last; slab++)
            GC_TRY(run_slab(large, one, large.first_row + slab * slab_rows, stream, error));
    }
    return GCONV_OK;
}
