#include "io/png/fast/loops.h"

#include "base/x86.h"

#include <stdlib.h>
#include <string.h>

extern const gc_pack_loops gc_pack_portable;

#if GC_HAS_X86_LOOPS
extern const gc_pack_loops gc_pack_avx2;
#endif

const gc_pack_loops *gc_pack_loops_at(int index)
{
#if GC_HAS_X86_LOOPS
    if (gc_x86_has(AVX2, "avx2") && gc_x86_has(BMI1, "bmi") && gc_x86_has(BMI2, "bmi2") &&
        index-- == 0)
        return &gc_pack_avx2;
#endif
    return index == 0 ? &gc_pack_portable : NULL;
}

const gc_pack_loops *gc_pack_loops_chosen(void)
{
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    bool is_portable = wanted != NULL && strcmp(wanted, "portable") == 0;
    return is_portable ? &gc_pack_portable : gc_pack_loops_at(0);
}
