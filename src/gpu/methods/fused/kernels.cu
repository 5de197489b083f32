/* The kernels of fused for filters of up to GC_FUSED_HEIGHT rows, which GC_FUSED_PART finds. This
 * file is compiled once for each height (cmake/Kernels.cmake), since all together take minutes. */
#include "gpu/methods/fused/kernels.cuh"

#include "gpu/methods/fused/bytes.cuh"

/* Blocks that a multiprocessor should hold at once, as many as the registers for weights allow. */
static constexpr int blocks_of(int height)
{
    return height <= 5 ? 6 : height <= 9 ? 5 : 4;
}

template <int most_rows, gc_sample_type from, gc_sample_type type, int conversion>
struct bytes_config {
    static constexpr int height = most_rows, rows = GC_FUSED_ROWS, warps = GC_FUSED_WARPS;
    static constexpr int input = from, output = type, finish = conversion, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

template <class config>
static __global__ void __launch_bounds__(32 * GC_FUSED_WARPS, blocks_of(config::height))
    bytes_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_bytes bytes)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* or the host alone */
    gc_bytes_pass<config>(pass, bytes);
#else
    __trap(); /* the host offers these kernels to no such device */
#endif
}

#define KERNEL(height, input, output, finish)                                                      \
    {                                                                                              \
        height, input, output, finish,                                                             \
            (const void *)bytes_kernel<bytes_config<height, input, output, finish>>,               \
            gc_bytes_block<bytes_config<height, input, output, finish>>::shared_bytes,             \
    }
#define KERNELS(height)                                                                            \
    KERNEL(height, GC_BYTE, GC_BIT, GC_FINISH_EDGES),                                              \
        KERNEL(height, GC_BYTE, GC_BYTE, GC_FINISH_EDGES),                                         \
        KERNEL(height, GC_BYTE, GC_BYTE, GC_FINISH_ROUND),                                         \
        KERNEL(height, GC_BYTE, GC_BYTE, GC_FINISH_QUOTIENT),                                      \
        KERNEL(height, GC_BYTE, GC_BYTE, -1), KERNEL(height, GC_BYTE, GC_FLOAT, -1),               \
        KERNEL(height, GC_SHORT, GC_SHORT, GC_FINISH_ROUND),                                       \
        KERNEL(height, GC_SHORT, GC_SHORT, GC_FINISH_REMAINDER),                                   \
        KERNEL(height, GC_SHORT, GC_SHORT, GC_FINISH_NEAREST),                                     \
        KERNEL(height, GC_SHORT, GC_SHORT, -1), KERNEL(height, GC_SHORT, GC_FLOAT, -1)

static const gc_fused_kernel kernels[] = {KERNELS(GC_FUSED_HEIGHT)};

/* A kernel for one conversion comes before the kernel for all conversions. */
const gc_fused_kernel *GC_FUSED_PART(gc_sample_type input, gc_sample_type output, int finish)
{
    for (const gc_fused_kernel &entry : kernels)
        if (entry.input == input && entry.output == output &&
            (entry.finish == finish || entry.finish == -1))
            return &entry;
    return nullptr;
}
