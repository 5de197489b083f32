/* Filters of rank 1: the product of a column and a row. */
#ifndef GC_CORE_SEPARATE_H
#define GC_CORE_SEPARATE_H

#include "core/problem.h"

/* Finds row[width] and column[height] such that taps[j][i] = column[j] * row[i]: exactly where all
 * taps are integers (row and column are then integers too, so that two passes keep rule 3 of the
 * contract), else so nearly that two passes stay within the bound of rule 4. False where the step
 * is of higher rank. Both arrays hold GCONV_FILTER_SIDE_MAX values. */
bool gc_step_separate(const gc_step *step, float *row, float *column);

#endif
