/* The bound of rule 4, for comparing whole images and single pixels. */
#ifndef GC_CORE_COMPARE_H
#define GC_CORE_COMPARE_H

#include "gconv.h"

/* A bound of |chain value - reference's|. For integers it is rule 4's bound for the brightest image
 * of this depth, for float32 the bound for this image. */
gconv_status gc_plan_bound(const gconv_plan *plan, const void *input, size_t input_stride,
                           double *bound, gconv_error *error);

#endif
