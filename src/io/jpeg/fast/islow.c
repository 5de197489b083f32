#include "io/jpeg/fast/islow.h"

#include "base/x86.h"

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
gc_islow_function *gc_islow_chosen(void)
{
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    bool may_be_wide = wanted == NULL || strncmp(wanted, "avx512", 6) == 0;
    return may_be_wide && gc_x86_has(AVX512BW, "avx512bw") && gc_x86_has(AVX512DQ, "avx512dq") &&
                   gc_x86_has(AVX512VL, "avx512vl")
               ? gc_islow_avx512
               : gc_islow_avx2;
}
#endif
