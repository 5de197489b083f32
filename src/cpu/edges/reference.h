/* Detectors as contract.md, rules 100 to 104, has them, for the reference. */
#ifndef GC_CPU_EDGES_REFERENCE_H
#define GC_CPU_EDGES_REFERENCE_H

#include "core/sums.h"

/* *flags becomes a flag for each pixel, 1 for white, of the sums of the chain. The caller frees
 * them. */
gconv_status gc_reference_detect(const gc_problem *problem, const gc_word *sums, uint8_t **flags,
                                 gconv_error *error);

#endif
