/* Measures Fourier transforms of lines, for the preset that repeats De Smet 2011: by `cpu`, with
 * the loops of its convolutions; on a GPU by cuFFT, `fft`, and by the paper's own strategy
 * (gconv_lines_way). */
#pragma once

#include "cli/measure/measure.h"
#include "lab/bench/locality.h"

/* Lines of these lengths are transformed: 1, 2, 4 and so on to GC_LOCALITY_POINTS_MAX. With one
 * point nothing is transformed, and the time is that of crossing the memory. */
enum { GC_TRANSFORM_LENGTHS = 15 };

/* Sets `names` to those that an implementation is measured by, itself the first. Returns their
 * number, 0 if it transforms no lines. */
enum { GC_TRANSFORM_NAMES = 4 };
int gc_transforms_names(const char *implementation, const char *names[GC_TRANSFORM_NAMES]);

/* Whether lines of so many points are measured by a name. The memory is crossed in one way only. */
bool gc_transforms_wants(const char *name, int points);

/* The memory of transforms. */
typedef struct gc_transforms gc_transforms;

/* Transforms with the threads and on the device of a job. Memory is taken when it is first
 * needed. */
gconv_status gc_transforms_create(const gconv_job *job, gc_transforms **transforms,
                                  gconv_error *error);
void gc_transforms_free(gc_transforms *transforms);

/* Sets the point's implementation. Makes passes by point->name over lines of so many points until
 * the budget is spent, and judges the last one. Fills the point; a wrong result, and what cannot
 * run here, has no times. Times on a GPU are between events, from its memory to its memory. */
gconv_status gc_time_transforms(gc_transforms *transforms, int points, gc_budget budget,
                                gc_point *point, gconv_error *error);

/* Bytes a second that cross the memory if so many numbers a second are read and written. */
double gc_transforms_bandwidth(double numbers_a_second);
