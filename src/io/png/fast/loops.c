#include "io/png/fast/loops.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if GC_HAS_ARM_CRC_LOOPS
#include <sys/auxv.h>
#endif

/* The name is one that GCONV_INSTRUCTIONS may have. */
typedef struct pack_set {
    const char *name;
    bool (*usable)(void);
    const gc_pack_loops *loops;
} pack_set;

extern const gc_pack_loops gc_pack_portable;

static bool always(void)
{
    return true;
}

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
#elif GC_HAS_ARM_CRC_LOOPS
extern const gc_pack_loops gc_pack_arm_crc;

static bool has_arm_crc(void)
{
    enum { CRC32 = 1 << 7 }; /* HWCAP_CRC32 of Linux */
    return (getauxval(AT_HWCAP) & CRC32) != 0;
}
#endif

/* The best ones first. */
static const pack_set sets[] = {
#if GC_HAS_X86_LOOPS
    {"avx512", has_avx512, &gc_pack_avx512},
    {"avx2", has_avx2, &gc_pack_avx2},
#elif GC_HAS_ARM_CRC_LOOPS
    {"arm_crc", has_arm_crc, &gc_pack_arm_crc},
#endif
    {"portable", always, &gc_pack_portable},
};

enum { SETS = sizeof sets / sizeof sets[0] };

const gc_pack_loops *gc_pack_loops_at(int index)
{
    for (int set = 0; set < SETS; set++)
        if (sets[set].usable() && index-- == 0)
            return sets[set].loops;
    return NULL;
}

const gc_pack_loops *gc_pack_loops_chosen(void)
{
    const char *wanted = getenv("GCONV_INSTRUCTIONS");
    for (int set = 0; wanted != NULL && set < SETS; set++)
        if (strcmp(wanted, sets[set].name) == 0 && sets[set].usable())
            return sets[set].loops;
    return gc_pack_loops_at(0);
}
