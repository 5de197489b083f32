/* Which instructions an x86 processor has, and the system lets programs use. */
#pragma once

#if __has_include(<sys/platform/x86.h>)
/* glibc has asked the processor before the program begins. With __builtin_cpu_supports libgcc asks
 * again, 13 questions at the start of the program that take 4 us each in a virtual machine. */
#include <sys/platform/x86.h>
#define gc_x86_has(glibc_name, gcc_name) CPU_FEATURE_ACTIVE(glibc_name)
#else
#define gc_x86_has(glibc_name, gcc_name) __builtin_cpu_supports(gcc_name)
#endif
