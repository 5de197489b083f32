#include "gpu/methods/ladder/block.cuh"

#include <cmath>
#include <cstdio>

gconv_status gc_tiling_check(const gc_tiling *tiling, const gconv_device_info *device,
                             gconv_error *error)
{
    if (tiling->block_width * tiling->block_height > device->threads_per_block)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a block of %dx%d threads is more than the %d of %s", tiling->block_width,
                       tiling->block_height, device->threads_per_block, device->name);
    if (tiling->shared_bytes > device->shared_per_block_optin)
        return gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                       "a block of %dx%d threads, factor %d, takes %.0f KiB of shared memory for "
                       "this filter; %s has %.0f",
                       tiling->block_width, tiling->block_height, tiling->factor,
                       (double)tiling->shared_bytes / 1024, device->name,
                       (double)device->shared_per_block_optin / 1024);
    return GCONV_OK;
}

void gc_tiling_take_block(const gc_problem *problem, gc_tiling *tiling)
{
    if (problem->tiling.block_width > 0) {
        tiling->block_width = problem->tiling.block_width;
        tiling->block_height = problem->tiling.block_height;
    }
}

bool gc_step_reads_shorts(const gc_problem *problem, const gc_step *step)
{
    static const double largest_short = 32767;
    bool whole = problem->chain.exact;
    if (step == problem->chain.steps && problem->job.input.depth == 8) {
        whole = true;
        for (int c = 0; c < problem->chain.channels; c++)
            whole = whole && step->border[c] == truncf(step->border[c]);
    }
    return whole && step->largest_input <= largest_short;
}

void gc_tiling_describe(const void *state, char *text, size_t size)
{
    const gc_tiling *tiling = (const gc_tiling *)state;
    snprintf(text, size, "block %dx%d, factor %d, %.1f KiB of shared memory", tiling->block_width,
             tiling->block_height, tiling->factor, (double)tiling->shared_bytes / 1024);
}

double gc_tiling_intensity(const void *state, const gc_step *step)
{
    const gc_tiling *t = (const gc_tiling *)state;
    double outputs = (double)t->block_width * t->factor * t->block_height;
    double loaded = (double)(step->width - 1 + t->block_width * t->factor) *
                    (step->height - 1 + t->block_height);
    return 2.0 * step->width * step->height * outputs / (loaded * sizeof(float));
}

int gc_tiling_factor(const void *state)
{
    return ((const gc_tiling *)state)->factor;
}
