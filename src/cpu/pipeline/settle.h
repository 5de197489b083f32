/* Settles what float32 leaves in doubt: computes the sums of a chain from samples of the image,
 * without an error, and rounds them once. */
#pragma once

#include "cpu/instructions/instructions.h"
#include "cpu/once.h"
#include "cpu/pass.h"

/* Values of a row that are settled in one call, at most. */
enum { GC_SETTLE_VALUES = 1024 };

/* Rows of an area that are summed together. */
enum { GC_AREA_ROWS = 16 };

/* Of one thread. */
typedef struct gc_settler {
    const gc_problem *problem;
    const gc_taps_loops *loops;
    const gc_sample_rows *input; /* the rows that the chain reads */
    gc_levels levels;
    gc_double_taps taps;    /* the composition of a short chain, with zeros: for `dot` */
    int left, top;          /* of the composition */
    const double **vectors; /* of each step: a column and a row whose product it is, or NULL */
    gc_area *areas;         /* what each step reads, and what is wanted */
    double *extended, *columns;
    double *plane;           /* sums of an area */
    size_t extended_stride;  /* values from row to row of `extended` */
    size_t stride;           /* and of `plane` and `columns` */
    int height;              /* of the composition */
    int64_t columns_at_once; /* of an area, at most */
    int64_t chunk;           /* pixels of a row of `extended` */
    bool in_areas;           /* settles whole areas */
    gc_double_levels in_double;
    gc_double_taps lacking; /* what `taps` lack, if double does not hold all sums; else none */
    const void **rows;
    void *memory; /* that holds all */
    double sum;   /* the one settled last, what double lacks of it, and what it gave */
    double rest;
    uint32_t sample;
    bool has_sum;
} gc_settler;

/* Settles what is doubtful in `levels`, or if that is NULL whole areas. */
gconv_status gc_settler_create(gc_settler *settler, const gc_problem *problem,
                               const gc_taps_loops *loops, const gc_levels *levels,
                               gconv_error *error);
void gc_settler_destroy(gc_settler *settler);

/* Sets bit i % 64 of near[i / 64] if value i of a row of chain values is doubtful; of bilevel
 * output, flags[i] to the side of its boundary. `count` is at most GC_SETTLE_VALUES. */
void gc_find_doubtful(const gc_settler *settler, const float *values, size_t count, uint64_t *near,
                      uint8_t *flags);

/* Stores the true output for values from value `first` of row y on whose bits in `near` are set:
 * these are `values` in float32. A row has the values of the whole image, and `output` is its
 * place. */
void gc_settle(gc_settler *settler, int64_t y, size_t first, size_t count, const float *values,
               const uint64_t *near, char *output);

/* Sums of the chain for an area of at most GC_AREA_ROWS rows and columns_at_once columns. */
void gc_settler_sum(gc_settler *settler, gc_area area);

/* Stores the true output of an area, alpha too. */
void gc_settle_area(gc_settler *settler, gc_area area, char *output, size_t stride);
