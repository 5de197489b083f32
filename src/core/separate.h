/* Filters of rank 1: the product of a column and a row. */
#ifndef GC_CORE_SEPARATE_H
#define GC_CORE_SEPARATE_H

#include "core/problem.h"

/* Finds row[width] and column[height] such that taps[j][i] = column[j] * row[i]. Where all taps are
 * integers this is exact, and row and column are integers too, so that computing them one after the
 * other keeps rule 3. Else it is so near that this stays within the bound of rule 4, and float32
 * has room for the sums (core/range.h), columns first or rows first. False where the step is of
 * higher rank, or not in range. Both arrays hold GCONV_FILTER_SIDE_MAX values. */
bool gc_step_separate(const gc_step *step, float *row, float *column);

/* Multiplies a row and a column by powers of two, the column by the reciprocal of the row's, so
 * that the sums of the magnitudes of their weights are about equal. The values between rows and
 * columns are then within the range of input and output. Returns the sums in *across and *down. */
void gc_balance_factors(const gc_step *step, float *row, float *column, double *across,
                        double *down);

#endif
