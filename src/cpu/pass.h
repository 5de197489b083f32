/* Passes compute a whole job from samples to output, without stages and chain values in between.
 * Each is a file of cpu/fast. stages.c has the table of them and takes the cheapest, if it is
 * cheaper than the stages. */
#pragma once

#include "core/stream.h"

/* Rows of input samples: row y, 0 <= y < height, at samples + y % capacity * stride. */
typedef struct gc_sample_rows {
    const char *samples;
    size_t stride;
    int64_t capacity;
} gc_sample_rows;

static inline const char *gc_sample_row(const gc_sample_rows *rows, int64_t y)
{
    return rows->samples + (size_t)(y % rows->capacity) * rows->stride;
}

/* Columns [first, end) of rows top to bottom - 1. */
typedef struct gc_area {
    int64_t top, bottom;
    int64_t first, end;
} gc_area;

/* An area of all columns. */
typedef struct gc_pass_job {
    gc_sample_rows input;
    gc_area area;
    char *output; /* the place of column 0 of row area.top */
    size_t stride;
    bool chain_only; /* chain values are wanted in place of output */
    bool is_large;   /* more output than caches hold, which stays in memory */
    /* Has the stages give chain values of an area; `out` is the place of column 0 of its first
     * row. */
    void (*chain)(void *workspace, const gc_sample_rows *input, gc_area area, float *out,
                  size_t stride);
    void *workspace;
} gc_pass_job;

typedef struct gc_pass {
    /* Seconds that the image takes on one thread; HUGE_VAL if the pass cannot compute the job,
     * which names no solver. */
    double (*seconds)(const gc_problem *problem);
    /* Makes what all threads share. *shared is NULL if the pass turns out not to pay. NULL: they
     * share the problem alone. */
    gconv_status (*create)(const gc_problem *problem, void **shared, gconv_error *error);
    void (*release)(void *shared); /* NULL: nothing */
    /* Makes what one thread needs. */
    gconv_status (*open)(const void *shared, void **own, gconv_error *error);
    void (*close)(void *own);
    /* False: it computed nothing, because it does not give these chain values. The stages do. */
    bool (*run)(void *own, const gc_pass_job *job);
    /* Writes the output, which depends on the whole image, once all areas were run. NULL: they have
     * put it into its place. */
    gconv_status (*finish)(void *shared, gc_stream *stream, gconv_error *error);
    const char *words; /* for people; NULL: `describe` tells them */
    void (*describe)(const void *shared, char *text, size_t size);
    bool goes_in_strips; /* of columns: bands in memory may be larger than caches */
} gc_pass;
