#include "cpu/rows.h"

gc_rows_function gc_convolve_row_portable;

static bool always(void)
{
    return true;
}

#if GC_HAS_X86_KERNELS
gc_rows_function gc_convolve_row_avx512;
gc_rows_function gc_convolve_row_avx2;

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static const gc_rows_kernel kernels[] = {
#if GC_HAS_X86_KERNELS
    {"avx512", has_avx512, gc_convolve_row_avx512},
    {"avx2", has_avx2, gc_convolve_row_avx2},
#endif
    {"portable", always, gc_convolve_row_portable},
};

int gc_rows_kernel_count(void)
{
    return sizeof kernels / sizeof kernels[0];
}

const gc_rows_kernel *gc_rows_kernel_at(int index)
{
    return index >= 0 && index < gc_rows_kernel_count() ? &kernels[index] : NULL;
}

const gc_rows_kernel *gc_rows_kernel_best(void)
{
    const gc_rows_kernel *kernel = kernels;
    while (!kernel->usable())
        kernel++;
    return kernel;
}
