/* Measures Fourier transforms of lines on the CPU, for the preset that repeats De Smet 2011. */
#ifndef GC_CLI_MEASURE_TRANSFORMS_H
#define GC_CLI_MEASURE_TRANSFORMS_H

#include "cli/measure/measure.h"
#include "cpu/locality.h"

/* Lines of these lengths are transformed: 1, 2, 4 and so on to GC_LOCALITY_POINTS_MAX. With one point
 * nothing is transformed, and the time is that of crossing the memory. */
enum { GC_TRANSFORM_LENGTHS = 15 };

/* Makes passes over `locality` until the budget is spent, and judges the last one. Fills the row; a
 * wrong result has no times. */
void gc_time_transforms(gc_locality *locality, int points, gc_budget budget, gc_measurement *row);

/* Bytes a second that cross the memory where so many numbers a second are read and written. */
double gc_transforms_bandwidth(double numbers_a_second);

#endif
