/* What gconv bench measures: a synthetic image, and filters of many sizes. */
#pragma once

#include "cli/image/picture.h"
#include "gconv.h"
#include "lab/bench/lists.h"

/* Makes the filter. Weights of full rank are random numbers from 0 to 1, so that nothing is gained
 * by taking the filter apart. Those of rank 1 are products of whole numbers from 1 to 7. */
gconv_status gc_timed_filter_make(gc_timed_filter wanted, gconv_filter **filter,
                                  gconv_error *error);

/* Makes an image of random samples. */
gconv_status gc_synthetic_picture(uint32_t width, uint32_t height, const gc_sample_kind *kind,
                                  gc_picture *picture, gconv_error *error);
