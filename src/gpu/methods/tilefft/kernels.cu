/* The kernels of tilefft that read and store GC_TILEFFT_TYPE, which GC_TILEFFT_PART and
 * GC_TILEFFT_LARGE_PART find. This file is compiled once for each type (cmake/Kernels.cmake), since
 * all together take minutes. */
#include "gpu/methods/tilefft/instances.cuh"

static const kernel_entry kernels[] = {KERNELS(GC_TILEFFT_TYPE)};

gc_tilefft_kernel GC_TILEFFT_PART(int columns, int lines)
{
    for (const kernel_entry &entry : kernels)
        if (entry.columns == columns && entry.lines == lines)
            return entry.found;
    return {};
}

static const large_entry large_kernels[] = {LARGE_KERNELS(GC_TILEFFT_TYPE)};

gc_tilefft_large_kernels GC_TILEFFT_LARGE_PART(int columns, int lines)
{
    for (const large_entry &entry : large_kernels)
        if (entry.columns == columns && entry.lines == lines)
            return entry.found;
    return {};
}
