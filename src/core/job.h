/* What a caller may put into a gconv_job. */
#pragma once

#include "gconv.h"

/* Copies a caller's job, whose structure may be of an older, shorter version. On failure *job holds
 * the defaults. */
gconv_status gc_job_read(const gconv_job *given, gconv_job *job, gconv_error *error);

/* Refuses values outside their ranges, and filters that cannot be applied. Fills *tiling and
 * *detector with what the job says. */
gconv_status gc_job_check(const gconv_job *job, gconv_tiling *tiling, gconv_detector *detector,
                          gconv_error *error);
