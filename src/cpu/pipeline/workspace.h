/* A workspace: the buffers in which one thread computes an area of the output, the whole chain at a
 * time. */
#pragma once

#include "core/stream.h"
#include "cpu/pipeline/settle.h"
#include "cpu/pipeline/window.h"
#include "cpu/stages.h"

/* What one thread needs to compute areas, one after the other. */
typedef struct gc_workspace {
    const gc_problem *problem;
    const gc_stages *stages;
    gc_window *windows;    /* one a stage, on its input */
    int64_t *ready;        /* ready[p]: first row that is not yet in window p */
    int64_t *needed;       /* needed[p]: last row of window p that the next output rows read */
    int64_t first, end;    /* output columns [first, end) */
    float *result;         /* their chain values in stages->rows_at_once rows */
    size_t stride;         /* values from row to row of them */
    float *scratch;        /* of the stages */
    float **kept;          /* what each stage keeps from call to call */
    bool *begins;          /* whether a stage has not been called in this area */
    const float **rows;    /* the first values that taps read in the rows of a window of floats */
    const uint8_t **bytes; /* the same in a window of bytes */
    float **out;           /* the places of computed rows */
    void *pass;            /* what stages->pass needs for one thread; else NULL */
    gc_settler settler;    /* if stages->once */
    /* Rows that the first stage reads as they are, past its window; else NULL. */
    const gc_sample_rows *bare;
} gc_workspace;

/* For at most `columns` output columns at once. */
gconv_status gc_workspace_create(gc_workspace *workspace, const gc_problem *problem,
                                 const gc_stages *stages, int64_t columns, gconv_error *error);
void gc_workspace_destroy(gc_workspace *workspace);

/* Computes an area, as cpu/pipeline/division.h divides the image, and converts it. `output` is the
 * place of column 0 of row `top`; rows are `stride` bytes apart. */
void gc_workspace_compute(gc_workspace *workspace, const gc_stream *stream,
                          const gc_sample_rows *input, gc_area area, char *output, size_t stride);
