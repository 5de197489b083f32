/* Which instructions an x86 processor has, and the system lets programs use. */
#pragma once

#include <stdbool.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#ifdef CPU_FEATURE_ACTIVE
/* glibc has asked the processor before the program begins. With __builtin_cpu_supports libgcc asks
 * again, 13 questions at the start of the program that take 4 us each in a virtual machine.
 * CPU_FEATURE_ACTIVE itself shifts bits into the sign. */
static inline bool gc_x86_active(unsigned feature)
{
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(feature / 128);
    return (leaf->active_array[feature / 32 % 4] >> feature % 32 & 1) != 0;
}
#define gc_x86_has(glibc_name, gcc_name) gc_x86_active(x86_cpu_##glibc_name)
#else
#define gc_x86_has(glibc_name, gcc_name) __builtin_cpu_supports(gcc_name)
#endif
