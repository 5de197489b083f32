#include "gpu/methods/ladder/unrolled.cuh"

#include "gpu/device/check.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/constant.cuh"
#include "gpu/methods/ladder/unrolled_types.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* The text of unrolled_types.h and unrolled_tile.cuh, which the build embeds. */
extern "C" {
extern const char gc_source_unrolled[];
}

enum { SIZES_BYTES = 256 };

gconv_status gc_unrolled_check(const gc_step *step, gconv_error *error)
{
    if (!gc_jit_available())
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a %dx%d filter has to be compiled at run time, and there is no NVRTC here "
                       "(libnvrtc of the CUDA toolkit)",
                       step->width, step->height);
    return GCONV_OK;
}

/* The source for these sizes, freed with free; null if memory is short. */
static char *source_of(const gc_unrolled &u)
{
    size_t size = SIZES_BYTES + strlen(gc_source_unrolled);
    char *source = (char *)malloc(size);
    if (source != nullptr)
        snprintf(source, size,
                 "struct gc_config {\n"
                 "static constexpr int width = %d, height = %d;\n"
                 "static constexpr int block_width = %d, block_height = %d;\n"
                 "static constexpr int across = %d, down = %d, pitch = %d;\n};\n%s",
                 u.width, u.height, u.tiling.block_width, u.tiling.block_height,
                 u.down ? 1 : u.tiling.factor, u.down ? u.tiling.factor : 1, u.tiling.shared_pitch,
                 gc_source_unrolled);
    return source;
}

static gconv_status load(const gconv_device_info *device, gc_jit_when when, gc_unrolled *unrolled,
                         gconv_error *error)
{
    gc_owned_array<char> source(source_of(*unrolled));
    if (source == nullptr)
        return gc_fail_memory(error, SIZES_BYTES + strlen(gc_source_unrolled));
    return gc_jit_create(device, source, "gc_unrolled_kernel", when, &unrolled->kernel, error);
}

gconv_status gc_unrolled_create(const gconv_device_info *device, gc_jit_when when,
                                gc_unrolled *unrolled, gconv_error *error)
{
    if (unrolled->down)
        gc_tiling_measure_down(unrolled->width, unrolled->height, &unrolled->tiling);
    else
        gc_tiling_measure(unrolled->width, unrolled->height, &unrolled->tiling);
    GC_TRY(load(device, when, unrolled, error));
    GC_TRY(gc_jit_symbol(unrolled->kernel, "gc_unrolled_weights", &unrolled->weights, error));
    return gc_jit_opt_in_shared(unrolled->kernel, (unsigned)unrolled->tiling.shared_bytes, error);
}

void gc_unrolled_release(gc_unrolled *unrolled)
{
    gc_jit_destroy(unrolled->kernel);
    unrolled->kernel = nullptr;
}

gconv_status gc_unrolled_launch(const gc_unrolled &unrolled, const gc_gpu_step &step,
                                cudaStream_t stream, gconv_error *error)
{
    const gc_tiling &tiling = unrolled.tiling;
    gc_gpu_grid grid =
        gc_gpu_grid_of(step, tiling.block_width * (unrolled.down ? 1 : tiling.factor),
                       tiling.block_height * (unrolled.down ? tiling.factor : 1));
    gc_unrolled_step argument = {
        step.input,        step.input_pitch, step.input_plane, step.output,  step.output_pitch,
        step.output_plane, step.width,       step.height,      grid.columns,
    };
    void *arguments[] = {&argument};
    dim3 block((unsigned)tiling.block_width, (unsigned)tiling.block_height);
    GC_TRY(gc_constant_lock(unrolled.weights, step.taps, unrolled.width * unrolled.height, stream,
                            error));
    gconv_status status = gc_jit_launch(unrolled.kernel, grid.blocks, block,
                                        (unsigned)tiling.shared_bytes, stream, arguments, error);
    gconv_error ignored;
    gconv_status unlocked = gc_constant_unlock(stream, status == GCONV_OK ? error : &ignored);
    return status != GCONV_OK ? status : unlocked;
}
