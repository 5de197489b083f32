/* What the processors of this machine reach at most: the roofs of a roofline. For measurements
 * alone. */
#ifndef GC_LAB_BENCH_ROOFS_H
#define GC_LAB_BENCH_ROOFS_H

#include "gconv.h"

typedef struct gc_cpu_roofs {
    double bandwidth; /* bytes a second, read and written, of a memory larger than the caches */
    double peak;      /* float32 operations a second; a multiply-add is two */
} gc_cpu_roofs;

/* Measures both with all `threads` of a job and the vectors of `cpu`: the best of some short runs.
 * Takes about a second, and 256 MiB. */
gconv_status gc_cpu_measure_roofs(int threads, gc_cpu_roofs *roofs, gconv_error *error);

#endif
