/* The kernels of fused that bytes_lines.cuh has, compiled ahead: one for each height of
 * filter, type of output, and final conversion. */
#include "gpu/methods/fused/kernels.cuh"

#include "gpu/methods/fused/bytes_lines.cuh"

template <int most_rows, gc_sample_type type, int conversion> struct lines_config {
    static constexpr int height = most_rows, warps = GC_FUSED_WARPS;
    static constexpr int input = GC_BYTE, output = type, finish = conversion, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

/* As many blocks on a multiprocessor as registers allow. */
template <class config>
static __global__ void __launch_bounds__(32 * GC_FUSED_WARPS, 4)
    lines_kernel(const __grid_constant__ gc_lines_launch launch,
                 const __grid_constant__ gc_pass pass, const __grid_constant__ gc_bytes bytes)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* or the host alone */
    gc_lines_pass<config>(launch, pass, bytes);
#else
    __trap(); /* the host offers these kernels to no such device */
#endif
}

#define LINES(height, output, finish)                                                              \
    {                                                                                              \
        height, GC_BYTE, output, finish,                                                           \
            (const void *)lines_kernel<lines_config<height, output, finish>>,                      \
            gc_lines_block<lines_config<height, output, finish>>::shared_bytes,                    \
    }
#define ALL_LINES(height)                                                                          \
    LINES(height, GC_BIT, GC_FINISH_EDGES), LINES(height, GC_BYTE, GC_FINISH_EDGES),               \
        LINES(height, GC_BYTE, GC_FINISH_ROUND), LINES(height, GC_BYTE, GC_FINISH_QUOTIENT),       \
        LINES(height, GC_BYTE, -1)

static const gc_fused_kernel kernels[] = {ALL_LINES(3), ALL_LINES(5), ALL_LINES(7)};

/* In the order of gc_fused_find. */
const gc_fused_kernel *gc_fused_find_lines(int height, gc_sample_type output, int finish)
{
    for (const gc_fused_kernel &entry : kernels)
        if (entry.height >= height && entry.output == output &&
            (entry.finish == finish || entry.finish == -1))
            return &entry;
    return nullptr;
}
