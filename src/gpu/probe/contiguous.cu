#include "gpu/probe/contiguous.cuh"

#include "gpu/device/check.cuh"
#include "gpu/probe/contiguous_kernel.cuh"

#include <algorithm>

typedef void (*lines_kernel)(gc_contiguous_pass pass);

/* The kernels of a step, by the logarithm of their points. */
#define KERNEL(points, step) gc_transform_lines<points, step, ahead>
template <bool ahead> static lines_kernel kernel_of(int step, int log2)
{
    static const lines_kernel only[] = {
        KERNEL(2, GC_CONTIGUOUS_ONLY),   KERNEL(4, GC_CONTIGUOUS_ONLY),
        KERNEL(8, GC_CONTIGUOUS_ONLY),   KERNEL(16, GC_CONTIGUOUS_ONLY),
        KERNEL(32, GC_CONTIGUOUS_ONLY),  KERNEL(64, GC_CONTIGUOUS_ONLY),
        KERNEL(128, GC_CONTIGUOUS_ONLY), KERNEL(256, GC_CONTIGUOUS_ONLY)};
    static const lines_kernel first[] = {
        KERNEL(16, GC_CONTIGUOUS_FIRST), KERNEL(32, GC_CONTIGUOUS_FIRST),
        KERNEL(64, GC_CONTIGUOUS_FIRST), KERNEL(128, GC_CONTIGUOUS_FIRST)};
    static const lines_kernel last[] = {KERNEL(32, GC_CONTIGUOUS_LAST),
                                        KERNEL(64, GC_CONTIGUOUS_LAST),
                                        KERNEL(128, GC_CONTIGUOUS_LAST)};
    return step == GC_CONTIGUOUS_ONLY    ? only[log2 - 1]
           : step == GC_CONTIGUOUS_FIRST ? first[log2 - 4]
                                         : last[log2 - 5];
}

/* As many blocks as the device holds at once. */
static gconv_status launch(int step, int log2, gconv_lines_way way, gc_contiguous_pass pass,
                           cudaStream_t stream, gconv_error *error)
{
    lines_kernel kernel =
        way == GCONV_LINES_AHEAD ? kernel_of<true>(step, log2) : kernel_of<false>(step, log2);
    int device, processors, blocks;
    GC_CUDA_TRY(error, cudaGetDevice(&device));
    GC_CUDA_TRY(error, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    GC_CUDA_TRY(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel,
                                                                     GC_CONTIGUOUS_THREADS, 0));
    unsigned grid = (unsigned)std::min(std::max(blocks, 1) * processors, pass.items);
    kernel<<<grid, GC_CONTIGUOUS_THREADS, 0, stream>>>(pass);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

gconv_status gc_contiguous_transform(const gc_contiguous_lines &lines, int points,
                                     gconv_lines_way way, cudaStream_t stream, gconv_error *error)
{
    int log2 = 0;
    while (1 << log2 < points)
        log2++;
    gc_contiguous_pass pass = {lines.from, lines.to, log2,
                               (int)(lines.count / GC_CONTIGUOUS_NUMBERS),
                               way == GCONV_LINES_RANGES};
    if (log2 <= 8)
        return launch(GC_CONTIGUOUS_ONLY, log2, way, pass, stream, error);
    int last = log2 == 9 ? 5 : log2 <= 12 ? 6 : 7;
    pass.to = lines.between;
    GC_TRY(launch(GC_CONTIGUOUS_FIRST, log2 - last, way, pass, stream, error));
    pass.from = lines.between;
    pass.to = lines.to;
    return launch(GC_CONTIGUOUS_LAST, last, way, pass, stream, error);
}
