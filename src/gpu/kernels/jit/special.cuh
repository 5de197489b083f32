/* The kernel that is compiled at run time. What stands before this text defines gc_special, a config;
 * gc_special_weights, its weights; and GC_SPECIAL_PASS, the pass to make of them. */
extern "C" __global__ void __launch_bounds__(32 * gc_special::warps)
    gc_special_kernel(const __grid_constant__ gc_pass pass)
{
    GC_SPECIAL_PASS(pass, gc_special_weights());
}
