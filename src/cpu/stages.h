/* What the cpu implementation makes of a chain: passes over rows, one a step, each by the
 * method that is expected to be fastest. */
#ifndef GC_CPU_STAGES_H
#define GC_CPU_STAGES_H

#include "core/problem.h"
#include "core/products.h"
#include "cpu/instructions/instructions.h"
#include "cpu/method/tiles.h"

typedef enum gc_method {
    GC_METHOD_SWEEP,
    GC_METHOD_SPARSE,
    GC_METHOD_PRODUCTS,
    GC_METHOD_TILES,
    GC_METHOD_BYTES
} gc_method;

/* Values of a row that go from one part of the work to the next: few enough that six rows of them stay
 * in a first-level cache of 32 KiB. 512 and 2048 were measured to be no better. */
enum { GC_PIECE_VALUES = 1024 };

typedef struct gc_pass {
    gc_step step; /* its taps are its own; `filter` is that of the chain's step */
    gc_method method;
    int rows_at_once; /* output rows that are cheapest together */
    /* Of GC_METHOD_PRODUCTS: a column for each product, and their rows one below the other; taps are
     * the pass's own. */
    gc_step columns[GC_PRODUCTS_MAX], rows;
    gc_tiles tiles;     /* where the method is GC_METHOD_TILES */
    gc_byte_step bytes; /* where it is GC_METHOD_BYTES: of the first pass only */
} gc_pass;

typedef struct gc_passes {
    const gc_instructions *instructions;
    bool fused; /* cpu/method/edges.h does it all, but where chain values are wanted */
    gc_pass *list;
    int count;
    int rows_at_once; /* the largest of all */
    size_t scratch;   /* floats that a pass needs to work in, the most of all */
} gc_passes;

gconv_status gc_passes_create(gc_passes *passes, const gc_problem *problem, gconv_error *error);
void gc_passes_destroy(gc_passes *passes);

/* Seconds that a value of the chain is expected to take on one thread. */
double gc_passes_estimate(const gc_problem *problem);

/* Values of a piece between a column and a row of a product, its reach and slack included: a multiple
 * of the alignment. */
size_t gc_pass_between(const gc_pass *pass, int channels);

/* Terms that the summation of a step adds to the bound of rule 4: those of the transforms. */
double gc_passes_extra_terms(const gc_problem *problem);

/* Lines of text: what was chosen for each step. */
void gc_passes_describe(const gc_passes *passes, char *text, size_t size);

#endif
