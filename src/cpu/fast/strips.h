/* The pass of fast/rank1_bytes.h through an area, from rows of samples to rows of output. It goes
 * in strips of columns, whose sums stay in the first-level cache. */
#ifndef GC_CPU_FAST_STRIPS_H
#define GC_CPU_FAST_STRIPS_H

#include "cpu/fast/rank1_bytes.h"
#include "cpu/pipeline/area.h"

/* A value that may be near a tie: value `at` of output row y. */
typedef struct gc_near_value {
    int64_t y;
    size_t at;
} gc_near_value;

/* What one thread needs. */
typedef struct gc_strips {
    size_t values;        /* of a strip */
    size_t stride;        /* of `sums`, from row to row */
    float *sums;          /* of rows: height + 1 of them in turn */
    float *scratch;       /* of the loops that sum a row */
    uint8_t *extended;    /* rows of a strip with what the border puts beside them */
    size_t extended_row;  /* bytes of one of them */
    const uint8_t **rows; /* of samples, for values that are computed by the reference's sums */
    double *reference_sums;
    float *reference_values;
    gc_near_value *near;
    int near_count;
    void *memory; /* that holds all */
} gc_strips;

gconv_status gc_strips_create(gc_strips *strips, const gc_rank1 *rank1, gconv_error *error);
void gc_strips_destroy(gc_strips *strips);

/* An area of all columns. */
typedef struct gc_strip_job {
    gc_sample_rows input;
    gc_area area;
    char *output; /* where column 0 of row area.top goes */
    size_t stride;
    bool is_large; /* more output than caches hold, which stays in memory */
} gc_strip_job;

void gc_strips_compute(gc_strips *strips, const gc_rank1 *rank1, const gc_instructions *set,
                       const gc_strip_job *job);

/* Computes the chain values of the area, those of the reference, in place of samples. */
void gc_strips_compute_chain(gc_strips *strips, const gc_rank1 *rank1, const gc_strip_job *job);

#endif
