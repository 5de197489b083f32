/* Rows of bytes that lie in memory, as the source or sink of a plan. */
#pragma once

#include "gconv.h"

/* Gives rows from memory. */
typedef struct gc_memory_source {
    const char *next; /* the next row */
    size_t row_bytes;
    size_t stride;  /* bytes from row to row */
    uint32_t count; /* rows given so far */
} gc_memory_source;

/* Takes rows into memory. */
typedef struct gc_memory_sink {
    char *next; /* where the next row goes */
    size_t row_bytes;
    size_t stride;
    uint32_t count; /* rows taken so far */
} gc_memory_sink;

/* The source and the sink of `rows`. They never fail, and do not know where the image ends. `rows`
 * must live as long as the result. */
gconv_source gc_source_of_memory(gc_memory_source *rows);
gconv_sink gc_sink_of_memory(gc_memory_sink *rows);

/* How the rows of an input and those of an output lie in memory. */
typedef enum gc_overlap {
    GC_OVERLAP_NONE,
    /* Output rows overlap their own input row, and rows above it: a run that reads each row once,
     * from top to bottom, may write them. */
    GC_OVERLAP_ABOVE,
    GC_OVERLAP_BELOW /* an output row overlaps an input row below it */
} gc_overlap;

/* `from` and `to` have the first rows, their bytes and strides. */
gc_overlap gc_rows_overlap(const gc_memory_source *from, const gc_memory_sink *to, uint32_t height);

/* Whether samples of `depth` bits are aligned: address and stride are multiples of the sample's
 * size. */
bool gc_rows_are_aligned(const void *rows, size_t stride, int depth);

bool gc_is_same_shape(const gconv_shape *a, const gconv_shape *b);
