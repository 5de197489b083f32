/* What comparing whole images and comparing single pixels share. */
#ifndef GC_CORE_COMPARE_H
#define GC_CORE_COMPARE_H

#include "gconv.h"

/* A bound of |chain value - reference's|, as rule 4 has it for the brightest image of its depth.
 * For float32 it is that of this image. */
gconv_status gc_plan_bound(const gconv_plan *plan, const void *input, size_t input_stride,
                           double *bound, gconv_error *error);

#endif
