/* The edges of 8-bit images in one pass: the chain gauss5, laplace3, threshold in 16-bit integers,
 * from samples to flags, without rows of chain values in between. */
#ifndef GC_CPU_METHOD_EDGES_H
#define GC_CPU_METHOD_EDGES_H

#include "core/problem.h"

/* What is compiled for every instruction set. Sums are modulo 2^16. */
typedef struct gc_edges_kernel {
    /* Of seven rows of samples, smooth[x] = the Gaussian's column, curve[x] = the column of the
     * Gaussian's second difference. */
    void (*columns)(const uint8_t *const rows[7], size_t count, uint16_t *smooth, uint16_t *curve);
    /* flags[x] = whether |response| > threshold, inverted where `invert` is 1. smooth and curve can
     * be read from -3 to count + 2. */
    void (*find)(const uint16_t *smooth, const uint16_t *curve, size_t count, uint16_t threshold,
                 uint8_t invert, uint8_t *flags);
} gc_edges_kernel;

/* Seconds a pixel takes on one thread, measured (docs/performance/cpu.md). */
#define GC_EDGES_SECONDS 0.3e-9

/* Rows of one thread. */
typedef struct gc_edges {
    uint16_t *smooth, *curve; /* at column 0 */
    uint8_t *flags;
    void *memory; /* that holds them */
} gc_edges;

/* Whether the problem is that chain, under a border that the fusion keeps. */
bool gc_edges_apply(const gc_problem *problem);

gconv_status gc_edges_create(gc_edges *edges, const gc_problem *problem, gconv_error *error);
void gc_edges_destroy(gc_edges *edges);

/* Output row y from rows of samples y - 3 to y + 3, the border's taken into account. */
void gc_edges_row(const gc_edges *edges, const gc_edges_kernel *kernel, const gc_problem *problem,
                  const uint8_t *const rows[7], char *output);

#endif
