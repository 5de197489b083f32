/* The kernels of fused for filters of up to GC_FUSED_HEIGHT rows, which GC_FUSED_PART finds. This
 * file is compiled once for each height (cmake/Kernels.cmake), since all together take minutes. */
#include "gpu/methods/fused/instances.cuh"

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
