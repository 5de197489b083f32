/* What the cpu implementation makes of a chain: passes over rows, each like a step, each by the
 * method that is expected to be fastest. A step of rank 1 becomes two passes. */
#ifndef GC_CPU_PASSES_H
#define GC_CPU_PASSES_H

#include "core/problem.h"
#include "cpu/rows.h"
#include "cpu/tiles.h"

typedef enum gc_method { GC_METHOD_SWEEP, GC_METHOD_SPARSE, GC_METHOD_TILES } gc_method;

typedef struct gc_pass {
    gc_step step; /* its taps are its own; `filter` is that of the chain's step */
    gc_method method;
    int rows_at_once; /* output rows that are cheapest together */
    gc_tiles tiles;   /* where the method is GC_METHOD_TILES */
} gc_pass;

typedef struct gc_passes {
    const gc_instructions *instructions;
    bool fused; /* cpu/edges.h does it all, but where chain values are wanted */
    gc_pass *list;
    int count;
    int rows_at_once; /* the largest of all */
    size_t scratch;   /* floats that gc_tiles_convolve needs, the most of all */
} gc_passes;

gconv_status gc_passes_create(gc_passes *passes, const gc_problem *problem, gconv_error *error);
void gc_passes_destroy(gc_passes *passes);

/* Seconds that a value of the chain is expected to take on one thread. */
double gc_passes_estimate(const gc_problem *problem);

/* Terms that the summation of a step adds to the bound of rule 4: those of the transforms. */
double gc_passes_extra_terms(const gc_problem *problem);

/* Lines of text: what was chosen for each step. */
void gc_passes_describe(const gc_passes *passes, char *text, size_t size);

#endif
