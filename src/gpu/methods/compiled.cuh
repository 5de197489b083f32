/* The kernel that is compiled at run time. The text before this one defines gc_config, the
 * constants of the kernel; gc_constant_weights, its weights; GC_COMPILED_PASS, the pass to make of
 * them; and GC_COMPILED_REGISTERS, which threads may have at most, or 0. */
static constexpr int gc_compiled_blocks()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ % 100 == 0
    int threads = 2048; /* of a multiprocessor */
#else
    int threads = __CUDA_ARCH__ < 800 ? 1024 : 1536;
#endif
    int most = GC_COMPILED_REGISTERS > 0 ? 65536 / GC_COMPILED_REGISTERS : 0;
    int blocks = (most < threads ? most : threads) / (32 * gc_config::warps);
    return blocks > 0 ? blocks : 1;
}

extern "C" __global__ void __launch_bounds__(32 * gc_config::warps, gc_compiled_blocks())
    gc_compiled_kernel(const __grid_constant__ gc_pass pass)
{
    GC_COMPILED_PASS(pass, gc_constant_weights());
}
