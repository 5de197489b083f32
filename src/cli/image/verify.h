/* What plans give of a picture, beside what the reference gives. */
#pragma once

#include "cli/image/image.h"
#include "cli/image/picture.h"

/* Makes room for output and chain values of the plan. On failure, too, gc_results_free follows. */
gconv_status gc_results_allocate(const gconv_plan *plan, const gc_picture *picture,
                                 gconv_expectation *results, gconv_error *error);
void gc_results_free(gconv_expectation *results);

/* Compares chain values, then outputs: a plan may compute them by different code. */
gconv_status gc_results_compare(const gconv_plan *plan, const gc_picture *picture,
                                const gconv_expectation *own, const gconv_expectation *expected,
                                gconv_difference *chain, gconv_difference *output,
                                gconv_error *error);
