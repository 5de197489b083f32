/* The edges of 8-bit images in one pass: the chain gauss5, laplace3 and the threshold, in 16-bit
 * integers. It goes from samples to flags, without rows of chain values in between. */
#ifndef GC_CPU_FAST_EDGES_H
#define GC_CPU_FAST_EDGES_H

#include "core/problem.h"
#include "cpu/instructions/instructions.h"

/* Rows of one thread. */
typedef struct gc_edges {
    uint16_t *smooth, *curve; /* at column 0 */
    uint8_t *flags;
    void *memory; /* that holds them */
} gc_edges;

/* Whether the problem is that chain, under a border that allows the filters to be exchanged. */
bool gc_edges_applies(const gc_problem *problem);

gconv_status gc_edges_create(gc_edges *edges, const gc_problem *problem, gconv_error *error);
void gc_edges_release(gc_edges *edges);

/* Output row y from rows of samples y - 3 to y + 3, those beyond the image as its border has
 * them. */
void gc_edges_run(const gc_edges *edges, const gc_edges_loops *loops, const gc_problem *problem,
                  const uint8_t *const rows[7], char *output);

/* Words for people. */
const char *gc_edges_describe(void);

#endif
