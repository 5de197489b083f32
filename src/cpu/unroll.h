/* How inner loops are compiled. */
#pragma once

/* Before a loop over registers: it has to be unrolled, or the registers become memory. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif
