/* What a thread computes at a time, and the samples that it needs for that. */
#ifndef GC_CPU_PIPELINE_AREA_H
#define GC_CPU_PIPELINE_AREA_H

#include <stddef.h>
#include <stdint.h>

/* Rows of input samples: row y, 0 <= y < height, at samples + y % capacity * stride. */
typedef struct gc_sample_rows {
    const char *samples;
    size_t stride;
    int64_t capacity;
} gc_sample_rows;

/* Output of columns [first, end) in rows top to bottom - 1. */
typedef struct gc_area {
    int64_t top, bottom;
    int64_t first, end;
} gc_area;

#endif
