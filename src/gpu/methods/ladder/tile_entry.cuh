/* The kernel that is compiled at run time of the text of tile_kernel.cuh. The text before this one
 * defines gc_config. */
extern "C" {
__constant__ float gc_ladder_weights[gc_config::weights];
}

extern "C" __global__ void __launch_bounds__(gc_config::block_width *gc_config::block_height)
    gc_ladder_kernel(const gc_ladder_step step)
{
    extern __shared__ float4 gc_block_memory[];
    gc_tiles<gc_config>(step, gc_block_memory,
                        gc_config::global_weights ? step.taps : gc_ladder_weights);
}
