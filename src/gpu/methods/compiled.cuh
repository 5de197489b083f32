/* The kernel that is compiled at run time. The text before this one defines gc_config, the
 * constants of the kernel; gc_constant_weights, its weights; and GC_COMPILED_PASS, the pass to make
 * of them. */
extern "C" __global__ void __launch_bounds__(32 * gc_config::warps)
    gc_compiled_kernel(const __grid_constant__ gc_pass pass)
{
    if (gc_finish_is_once(gc_config::finish))
        gc_pass_let_follow();
    GC_COMPILED_PASS(pass, gc_constant_weights());
}
