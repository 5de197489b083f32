#include "io/png/loops.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern const gc_pack_loops gc_pack_portable;
#if GC_HAS_X86_LOOPS
extern const gc_pack_loops gc_pack_avx2, gc_pack_avx512;

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

const gc_pack_loops *gc_pack_loops_at(int index)
{
    const gc_pack_loops *sets[3];
    int count = 0;
#if GC_HAS_X86_LOOPS
    if (has_avx512())
        sets[count++] = &gc_pack_avx512;
    if (has_avx2())
        sets[count++] = &gc_pack_avx2;
#endif
    sets[count++] = &gc_pack_portable;
    return index < count ? sets[index] : NULL;
}

/* Of "avx512" and "avx512vnni" the AVX-512 loops, where the processor has what they need. */
const gc_pack_loops *gc_pack_loops_chosen(void)
{
#if GC_HAS_X86_LOOPS
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    if (has_avx512() && (wanted == NULL || strncmp(wanted, "avx512", 6) == 0))
        return &gc_pack_avx512;
    if (has_avx2() && (wanted == NULL || strcmp(wanted, "portable") != 0))
        return &gc_pack_avx2;
#endif
    return &gc_pack_portable;
}
