/* CPU threads of a plan: of an image alone, and of one of several that are computed at one time. */
#ifndef GC_CORE_PLAN_THREADS_H
#define GC_CORE_PLAN_THREADS_H

#include "core/problem.h"

/* The value of job.threads while an implementation is chosen, and for the plan of an image alone. 0
 * means all processors that affinity and quota allow. */
int gc_threads_alone(const gc_problem *problem);

/* Threads of one of `images` images on the CPU, all of which share `threads`; 0 means as above. At
 * least 1. */
int gc_threads_shared(int threads, int images);

#endif
