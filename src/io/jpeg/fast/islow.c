#include "io/jpeg/fast/islow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* (1024 + norm of the steps / 2)^2, rounded down: 64 samples from -128 to 127 have an energy of at
 * most 1024^2, and rounding moves each coefficient by half a step. */
void gc_islow_set_limits(gc_islow_steps *steps)
{
    enum { LARGEST = 2047 /* of dequantised coefficients; those of sound blocks are smaller */ };
    int32_t sum = 0;
    for (int k = 0; k < GC_JPEG_COEFFICIENTS; k++) {
        steps->limits[k] = (int16_t)(LARGEST / steps->steps[k]);
        sum += (int32_t)steps->steps[k] * steps->steps[k];
    }
    double largest = 1024 + sqrt(sum) / 2;
    steps->energy_max = (int32_t)(largest * largest);
}

#if GC_HAS_X86_LOOPS
extern gc_islow_function gc_islow_avx512, gc_islow_avx2;

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

gc_islow_function *gc_islow_at(int index)
{
#if GC_HAS_X86_LOOPS
    if (index == 0)
        return __builtin_cpu_supports("avx2") ? gc_islow_avx2 : NULL;
    if (index == 1)
        return has_avx512() ? gc_islow_avx512 : NULL;
#endif
    (void)index;
    return NULL;
}

gc_islow_function *gc_islow_chosen(void)
{
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    gc_islow_function *best =
        wanted == NULL || strncmp(wanted, "avx512", 6) == 0 ? gc_islow_at(1) : NULL;
    return best != NULL ? best : gc_islow_at(0);
}
