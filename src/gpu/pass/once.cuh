/* gc_round_once (core/rounding.h) as kernels compute it. */
#ifndef GC_GPU_PASS_ONCE_CUH
#define GC_GPU_PASS_ONCE_CUH

#include "gpu/pass/types.h"

#include <math.h>

/* The sign of a S + b - boundary * c. The five numbers of its expansion are added one after the
 * other, so that their parts do not overlap: the sign is that of the last part that is not 0
 * (Shewchuk 1997, Grow-Expansion). The products must not become part of multiply-adds. */
static __device__ inline int gc_once_side(const gc_once *once, double sum, double boundary)
{
    double scaled = __dmul_rn(once->a, sum), limit = __dmul_rn(-boundary, once->c);
    double parts[5] = {fma(once->a, sum, -scaled), scaled, once->b, fma(-boundary, once->c, -limit),
                       limit};
    for (int k = 1; k < 5; k++)
        for (int i = 0; i < k; i++) {
            double total = parts[k] + parts[i], taken = total - parts[k];
            parts[i] = (parts[k] - (total - taken)) + (parts[i] - taken);
            parts[k] = total;
        }
    for (int k = 4; k >= 0; k--)
        if (parts[k] != 0)
            return parts[k] > 0 ? 1 : -1;
    return 0;
}

/* The integer sample for the exact sum S; of GC_FINISH_SIDE `largest` or 0. The estimate is off by
 * less than 2^-40. Beyond white and below black it decides alone. */
static __device__ inline unsigned gc_once_sample(const gc_finish *f, double sum)
{
    sum = f->absolute ? fabs(sum) : sum;
    if (f->kind == GC_FINISH_SIDE) {
        int side = gc_once_side(&f->once, sum, f->bilevel ? 128 : 0);
        int white = f->bilevel ? side >= 0 : (side > 0) != (f->invert != 0);
        return white ? (unsigned)f->largest : 0;
    }
    double v = fma(f->once.a, sum, f->once.b) * f->once.inverse;
    if (!(v > 0 && v < f->largest))
        return v > 0 ? (unsigned)f->largest : 0;
    double low = floor(v), rest = v - (low + 0.5);
    int side = fabs(rest) > 0x1p-20 ? (rest > 0 ? 1 : -1) : gc_once_side(&f->once, sum, low + 0.5);
    unsigned sample = (unsigned)low;
    return sample + (side > 0 || (side == 0 && sample % 2 == 1) ? 1 : 0);
}

#endif
