/* Filters of rank 1: the product of a column and a row. */
#pragma once

#include "core/problem.h"

/* Finds row[width] and column[height] such that tap(j,i) = column[j] * row[i]. If all taps are
 * integers this is exact, and row and column are integers too, so that computing them one after the
 * other keeps rule 3. (For a filter of two vectors, both must be integers and the chain exact.)
 * Otherwise computing them in float32, columns first or rows first, keeps the bound of rule 4.
 * float32 has room for the sums (core/range.h). False if the step is of higher rank, or not in
 * range. For two vectors it is false only if small numbers would lose digits. */
bool gc_step_separate(const gc_step *step, float *row, float *column);

/* The sum of the magnitudes. */
double gc_magnitude(const float *weights, int count);
double gc_magnitude_of(const double *values, int count);

/* Multiplies a row by a power of two and divides a column by it, so that the sums of the magnitudes
 * of their weights are about equal. The values between rows and columns are then within the range
 * of input and output. Returns the sums in *across and *down. */
void gc_balance_factors(const gc_step *step, float *row, float *column, double *across,
                        double *down);
