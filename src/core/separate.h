/* Filters of rank 1: the product of a column and a row. */
#ifndef GC_CORE_SEPARATE_H
#define GC_CORE_SEPARATE_H

#include "core/problem.h"

/* Finds row[width] and column[height] such that taps[j][i] = column[j] * row[i]: exactly where all
 * taps are integers (row and column are then integers too, so that two passes keep rule 3), else
 * so nearly that two passes stay within the bound of rule 4, and with sums that float32 has room
 * for (core/range.h), columns first or rows first. False where the step is of higher rank, or
 * not in range. Both arrays hold GCONV_FILTER_SIDE_MAX values. */
bool gc_step_separate(const gc_step *step, float *row, float *column);

/* Multiplies a row and a column by powers of two, one over the other, so that the sums of the magnitudes of
 * their weights are about the same: what stands between two passes is then no larger than the larger of
 * input and output, nor smaller than the smaller one. Returns those sums in *across and *down. */
void gc_balance_factors(const gc_step *step, float *row, float *column, double *across,
                        double *down);

#endif
