/* Rows of the values that a detector works on, computed when they are asked for, some together. The
 * stages give the values of an exact chain. Other sums are made in double. */
#pragma once

#include "cpu/pipeline/settle.h"

typedef struct gc_value_rows {
    const gc_problem *problem;
    const gc_pass_job *job;
    gc_settler sums; /* unless the chain is exact */
    float *whole;    /* else rows of its values */
    int32_t *memory; /* `capacity` rows in turn, and behind them one outside a constant border */
    size_t pitch;    /* values from row to row */
    int64_t capacity;
    int64_t ready, last; /* the row to be summed next, and the last one that is needed */
} gc_value_rows;

/* On failure the rows are destroyed by gc_value_rows_destroy, too. */
gconv_status gc_value_rows_create(gc_value_rows *rows, const gc_problem *problem,
                                  gconv_error *error);
void gc_value_rows_destroy(gc_value_rows *rows);

/* Begins the area of a job. */
void gc_value_rows_begin(gc_value_rows *rows, const gc_pass_job *job);

/* Column 0 of the values of row y, which may lie outside the image. The values reach as far beyond
 * both ends as the detector does. Later calls ask for rows that are at most as far above. */
const int32_t *gc_value_row(gc_value_rows *rows, int64_t y);
