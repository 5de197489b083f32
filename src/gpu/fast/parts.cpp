/* Finds kernels that are compiled ahead in parts, so that their compilation takes all cores
 * (cmake/Kernels.cmake). */
#include "gpu/fast/fused_kernels.cuh"
#include "gpu/fast/tensor_kernels.cuh"
#include "gpu/fast/tilefft_kernels.cuh"

const gc_fused_kernel *gc_fused_find(int height, gc_sample_type input, gc_sample_type output,
                                     int finish)
{
    static const struct {
        int height;
        gc_fused_part *find;
    } parts[] = {
        {3, gc_fused_up_to_3}, {5, gc_fused_up_to_5},   {7, gc_fused_up_to_7},
        {9, gc_fused_up_to_9}, {13, gc_fused_up_to_13}, {17, gc_fused_up_to_17},
    };
    for (const auto &part : parts)
        if (part.height >= height)
            return part.find(input, output, finish);
    return nullptr;
}

const void *gc_tensor_find(const gc_tensor_shape &wanted, bool scales)
{
    static gc_tensor_part *const parts[] = {
        gc_tensor_bytes, gc_tensor_split_bytes, gc_tensor_floats,    gc_tensor_any,
        gc_tensor_rgb,   gc_tensor_rgba,        gc_tensor_kept_alpha};
    for (gc_tensor_part *find : parts)
        if (const void *found = find(wanted, scales))
            return found;
    return nullptr;
}

gc_tilefft_kernel gc_tilefft_find(int columns, int lines, int type)
{
    return (type == GC_FLOAT   ? gc_tilefft_floats
            : type == GC_BYTE  ? gc_tilefft_bytes
            : type == GC_SHORT ? gc_tilefft_shorts
                               : gc_tilefft_any)(columns, lines);
}

gc_tilefft_large_kernels gc_tilefft_find_large(int columns, int lines, int type)
{
    gc_tilefft_large_kernels found = (type == GC_FLOAT   ? gc_tilefft_large_floats
                                      : type == GC_BYTE  ? gc_tilefft_large_bytes
                                      : type == GC_SHORT ? gc_tilefft_large_shorts
                                                         : gc_tilefft_large_any)(columns, lines);
    found.columns = gc_tilefft_find_columns(columns, lines);
    return found;
}
