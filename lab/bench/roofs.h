/* What the processors of this machine reach at most: the roofs of a roofline. */
#pragma once

#include "cli/measure/traffic.h"
#include "gconv.h"

/* Measures both with all `threads` of a job and the vectors of `cpu`: the best of some short runs.
 * Bandwidth is of a memory larger than the caches, read and written. Takes about a second, and
 * 256 MiB. */
gconv_status gc_cpu_measure_roofs(int threads, gc_roofs *roofs, gconv_error *error);
