/* gc_round_once (core/rounding.h) as kernels compute it. */
#ifndef GC_GPU_PASS_ONCE_CUH
#define GC_GPU_PASS_ONCE_CUH

#include "gpu/pass/types.h"

/* The sign of a S + b - boundary * c. The estimate is off by less than 2^-40 of c. If it does not
 * decide, the five numbers of an expansion are added one after the other, so that their parts do
 * not overlap: the sign is that of the last part that is not 0 (Shewchuk 1997, Grow-Expansion). The
 * products must not become part of multiply-adds. */
static __device__ inline int gc_once_side(const gc_once *once, double sum, double boundary)
{
    double estimate = fma(-boundary, once->c, fma(once->a, sum, once->b));
    if (fabs(estimate) > once->c * 0x1p-30)
        return estimate > 0 ? 1 : -1;
    double scaled = __dmul_rn(once->a, sum), limit = __dmul_rn(-boundary, once->c);
    double parts[5] = {fma(once->a, sum, -scaled), scaled, once->b, fma(-boundary, once->c, -limit),
                       limit};
#pragma unroll 1 /* few registers, and little code: this is rare */
    for (int k = 1; k < 5; k++)
#pragma unroll 1
        for (int i = 0; i < k; i++) {
            double total = parts[k] + parts[i], taken = total - parts[k];
            parts[i] = (parts[k] - (total - taken)) + (parts[i] - taken);
            parts[k] = total;
        }
#pragma unroll 1
    for (int k = 4; k >= 0; k--)
        if (parts[k] != 0)
            return parts[k] > 0 ? 1 : -1;
    return 0;
}

/* The output for the exact sum S. Of bytes it is `made`, from 1 on, or one less. */
static __device__ inline unsigned gc_once_output(const gc_finish *f, int kind, double sum,
                                                 unsigned made)
{
    bool sides = kind == GC_FINISH_SIDE;
    sum = f->absolute ? fabs(sum) : sum;
    int side = gc_once_side(&f->once, sum, !sides ? made - 0.5 : f->bilevel ? 128 : 0);
    bool white = f->bilevel ? side >= 0 : (side > 0) != (f->invert != 0);
    if (sides)
        return white ? (unsigned)f->largest : 0;
    return made - (side < 0 || (side == 0 && made % 2 == 1) ? 1 : 0);
}

#endif
