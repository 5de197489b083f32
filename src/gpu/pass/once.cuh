/* gc_round_once (core/rounding.h) as kernels compute it. */
#pragma once

#include "gpu/pass/types.h"

/* The boundary that a sum is near: for bytes the one below `made`, which is 1 at least. */
static __device__ inline double gc_once_boundary(const gc_finish *f, int kind, unsigned made)
{
    return kind != GC_FINISH_SIDE ? made - 0.5 : f->bilevel ? 128 : 0;
}

/* The sign of a S + b - boundary * c, S or its magnitude; 0 if its estimate, which is off by less
 * than 2^-40 of c, does not decide. */
static __device__ inline int gc_once_estimate(const gc_finish *f, double sum, double boundary)
{
    const gc_once *once = &f->once;
    sum = f->absolute ? fabs(sum) : sum;
    double estimate = fma(-boundary, once->c, fma(once->a, sum, once->b));
    return fabs(estimate) <= once->c * 0x1p-30 ? 0 : estimate > 0 ? 1 : -1;
}

/* The same without an error. The five numbers of an expansion are added one after the other, so
 * that their parts do not overlap: the sign is that of the last part that is not 0 (Shewchuk 1997,
 * Grow-Expansion). The products must not become part of multiply-adds. */
static __device__ inline int gc_once_side(const gc_finish *f, double sum, double boundary)
{
    const gc_once *once = &f->once;
    sum = f->absolute ? fabs(sum) : sum;
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

/* The output on this side of the boundary: for bytes `made` or one less. */
static __device__ inline unsigned gc_once_beside(const gc_finish *f, int kind, int side,
                                                 unsigned made)
{
    if (kind != GC_FINISH_SIDE)
        return made - (side < 0 || (side == 0 && made % 2 == 1) ? 1 : 0);
    bool white = f->bilevel ? side >= 0 : (side > 0) != (f->invert != 0);
    return white ? (unsigned)f->largest : 0;
}

static __device__ inline unsigned gc_once_output(const gc_finish *f, int kind, double sum,
                                                 unsigned made)
{
    return gc_once_beside(f, kind, gc_once_side(f, sum, gc_once_boundary(f, kind, made)), made);
}
