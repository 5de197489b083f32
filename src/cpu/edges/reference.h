/* Detectors as contract.md, rules 100 to 104, has them, for the reference. */
#pragma once

#include "core/sums.h"

/* *found becomes what gc_detector_store takes, for each pixel: 1 for white or a magnitude, of the
 * sums of the chain. The caller frees it. */
gconv_status gc_reference_detect(const gc_problem *problem, const gc_word *sums, int64_t **found,
                                 gconv_error *error);
