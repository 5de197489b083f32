/* Rows of the values that a detector works on, computed from rows of samples when they are asked
 * for. A ring of each step's rows holds as many as the next step needs for one row. */
#ifndef GC_CPU_EDGES_ROWS_H
#define GC_CPU_EDGES_ROWS_H

#include "cpu/edges/loops.h"
#include "cpu/pass.h"

/* Rows of one kind: samples as numbers, what a step makes of them, or the detector's values. They
 * reach `left` columns beyond the first one, and `right` beyond the last. */
typedef struct gc_row_ring {
    const gc_step *step; /* that computes a row from the ring before; NULL for samples */
    const void **terms;  /* of a sum: room for the most */
    void *column, *row;  /* weights; of a matrix of a higher rank those that are not 0 in `row` */
    int64_t capacity, left, right;
    size_t pitch;    /* bytes of a row with its margins */
    size_t size;     /* of an entry */
    char *memory;    /* the rows, and behind them that of the border constant */
    int64_t *held;   /* the row in each place; GC_NO_ROW: none */
    double constant; /* outside the image, under a constant border */
} gc_row_ring;

typedef struct gc_value_rows {
    const gc_problem *problem;
    const gc_detector_loops *loops;
    const gc_blur_loops *blur;
    gc_sample_rows input;
    gc_row_ring *rings; /* of samples, one for each step, and of values */
    int count;
    void *between; /* a row of sums of columns */
} gc_value_rows;

/* On failure the rows are destroyed by gc_value_rows_destroy, too. */
gconv_status gc_value_rows_create(gc_value_rows *rows, const gc_problem *problem,
                                  const gc_detector_loops *loops, gconv_error *error);
void gc_value_rows_destroy(gc_value_rows *rows);

/* Begins an image, or a part of one. */
void gc_value_rows_begin(gc_value_rows *rows, const gc_sample_rows *input);

/* Column 0 of the values of row y, which may lie outside the image. It is valid until rows that are
 * farther away than the detector reaches are asked for. */
const int32_t *gc_value_row(gc_value_rows *rows, int64_t y);

#endif
