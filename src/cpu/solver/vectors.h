/* Filters of two vectors, a column and a row, in float32. */
#pragma once

#include "cpu/solver/solver.h"

/* Column and row, and the sums of the magnitudes of their weights. */
typedef struct gc_factors {
    float column[GCONV_FILTER_VECTOR_MAX], row[GCONV_FILTER_VECTOR_MAX];
    double down, across;
} gc_factors;

/* False if float32 has no room for column and row. */
bool gc_factors_of(const gc_step *step, gc_factors *factors);

/* Whether the step is two vectors. */
bool gc_vectors_apply(const gc_question *question);

/* Column and row as steps of their own. */
typedef struct gc_vectors {
    bool in_double; /* float32 has no room for them */
    gc_step column, row;
    float *taps; /* of both */
} gc_vectors;

gconv_status gc_vectors_create(gc_vectors *vectors, const gc_step *step, gconv_error *error);
void gc_vectors_destroy(gc_vectors *vectors);

/* Values of the input's width that a column computes for each value of the output's. */
double gc_vectors_extension(const gc_question *question);

/* Sums every tap of a column or of a row: a gc_taps_function for any number of rows. */
void gc_vectors_sum(const gc_stage *stage, const gc_step *vector, const float *const *rows,
                    size_t values, int row_count, float *const *out);

/* Adds to the stage's scratch what these rows take. They are as long as an area is wide and the
 * filter reaches. */
void gc_between_reserve(gc_stage *stage, bool in_double);

/* The rows between column and row, in the scratch of a call for `row_count` rows of `values`
 * values. Loops may read more rows than `row_count`: these are all the last row. *rest is the
 * scratch behind them. */
float **gc_between_rows(const gc_stage *stage, const gc_stage_input *input, size_t values,
                        int row_count, float **rest);
