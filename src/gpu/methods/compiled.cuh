/* The kernel that is compiled at run time. The text before this one defines gc_config, the
 * constants of the kernel; gc_constant_weights, its weights; and GC_COMPILED_PASS, the pass to make
 * of them. */

/* Settling, which is rare, shall not take registers that keep other blocks away. Elsewhere the
 * compiler chooses: a bound of 1 would let it take registers as for a single block. */
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100
static constexpr int gc_compiled_blocks =
    gc_finish_is_once(gc_config::finish) && gc_config::rows <= 4 && gc_config::channels == 1
        ? 64 / gc_config::warps
        : 0;
#else
static constexpr int gc_compiled_blocks = 0;
#endif

extern "C" __global__ void __launch_bounds__(32 * gc_config::warps, gc_compiled_blocks)
    gc_compiled_kernel(const __grid_constant__ gc_pass pass)
{
    GC_COMPILED_PASS(pass, gc_constant_weights());
}
