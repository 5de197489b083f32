#include "gpu/methods/ladder/compiled_tile.cuh"

#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant.cuh"

extern "C" {
#include "base/buffer.h"
}

#include <cstdlib>

/* The text of step_types.cuh, tile_kernel.cuh and tile_entry.cuh, which the build embeds. */
extern "C" {
extern const char gc_source_tile[];
}

/* The source for a tile, freed with free; null if memory is short. */
static char *source_of(const gc_compiled_tile &tile)
{
    auto has = [&](int flag) { return (tile.flags & flag) != 0; };
    bool sized = tile.width > 0;
    gc_buffer source = {};
    gc_buffer_print(
        &source,
        "struct gc_config {\n"
        "static constexpr int width = %d, height = %d, weights = %d, pitch = %d;\n"
        "static constexpr int block_width = %d, block_height = %d, across = %d, down = %d;\n"
        "static constexpr bool read_only = %d, by_place = %d, idle = %d, global_weights = %d;\n"
        "typedef %s pixel;\n};\n",
        tile.width, tile.height, sized ? tile.width * tile.height : (int)GC_CONSTANT_TAPS,
        sized ? tile.tiling.shared_pitch : 0, tile.tiling.block_width, tile.tiling.block_height,
        has(GC_TILE_DOWN) ? 1 : tile.tiling.factor, has(GC_TILE_DOWN) ? tile.tiling.factor : 1,
        has(GC_TILE_READ_ONLY), has(GC_TILE_BY_PLACE), has(GC_TILE_IDLE),
        has(GC_TILE_GLOBAL_WEIGHTS), has(GC_TILE_SHORTS) ? "short" : "float");
    gc_buffer_put(&source, gc_source_tile);
    return gc_buffer_take(&source, nullptr);
}

gconv_status gc_compiled_load(const gconv_device_info *device, gc_jit_when when, const char *source,
                              gc_compiled_tile *tile, gconv_error *error)
{
    GC_TRY(gc_jit_create(device, source, "gc_ladder_kernel", when, &tile->kernel, error));
    GC_TRY(gc_jit_symbol(tile->kernel, "gc_ladder_weights", &tile->weights, error));
    /* A kernel without sizes also serves filters that need more shared memory. */
    uint64_t bytes = tile->width > 0 ? tile->tiling.shared_bytes : device->shared_per_block_optin;
    return gc_jit_opt_in_shared(tile->kernel, (unsigned)bytes, error);
}

gconv_status gc_compiled_create(const gconv_device_info *device, gc_jit_when when,
                                gc_compiled_tile *tile, gconv_error *error)
{
    gc_owned_array<char> source(source_of(*tile));
    GC_TRY_MEMORY(source != nullptr, error, 0);
    return gc_compiled_load(device, when, source, tile, error);
}

void gc_compiled_release(gc_compiled_tile *tile)
{
    gc_jit_destroy(tile->kernel);
    tile->kernel = nullptr;
}

void gc_compiled_free(void *tile)
{
    gc_compiled_release((gc_compiled_tile *)tile);
    free(tile);
}

void gc_compiled_free_pair(void *pair)
{
    gc_compiled_release(&((gc_compiled_pair *)pair)->second);
    gc_compiled_free(pair);
}

/* Outputs of a block. */
static gc_gpu_grid grid_of(const gc_compiled_tile &tile, const gc_gpu_step &step)
{
    int width = tile.tiling.block_width, height = tile.tiling.block_height;
    if (tile.flags & GC_TILE_IDLE) {
        width -= step.filter_width - 1;
        height -= step.filter_height - 1;
    }
    (tile.flags & GC_TILE_DOWN ? height : width) *= tile.tiling.factor;
    return gc_gpu_grid_of(step, width, height);
}

gconv_status gc_compiled_launch(const gc_compiled_tile &tile, const gc_gpu_step &step,
                                cudaStream_t stream, gconv_error *error)
{
    const gc_tiling &tiling = tile.tiling;
    gc_gpu_grid grid = grid_of(tile, step);
    gc_ladder_step argument = {step, grid.columns, tiling.shared_pitch};
    void *arguments[] = {&argument};
    dim3 block((unsigned)tiling.block_width, (unsigned)tiling.block_height);
    if (tile.flags & GC_TILE_GLOBAL_WEIGHTS)
        return gc_jit_launch(tile.kernel, grid.blocks, block, (unsigned)tiling.shared_bytes, stream,
                             arguments, error);
    int count = tile.weight_count > 0 ? tile.weight_count : step.filter_width * step.filter_height;
    GC_TRY(gc_constant_lock(tile.weights, step.taps, count, stream, error));
    gconv_status status = gc_jit_launch(tile.kernel, grid.blocks, block,
                                        (unsigned)tiling.shared_bytes, stream, arguments, error);
    gconv_error ignored;
    gconv_status unlocked = gc_constant_unlock(stream, status == GCONV_OK ? error : &ignored);
    return status != GCONV_OK ? status : unlocked;
}
