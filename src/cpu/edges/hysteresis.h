/* Following edges: pixels that may be edges are edges if a chain of neighbours, eight to a pixel,
 * connects them with one. The result is reachability, and so depends on no order.
 *
 * A row is words of 64 pixels. In memory the first pixel is the most significant bit of the first
 * byte, as in output of one bit. */
#pragma once

#include "gconv.h"

typedef struct gc_edge_bits {
    uint64_t *weak;   /* pixels that may be edges, and all edges */
    uint64_t *strong; /* edges */
    size_t words;     /* of a row */
    int64_t height;
} gc_edge_bits;

/* Words whose neighbours are still to be looked at. */
typedef struct gc_edge_stack {
    size_t *words;
    size_t count, room;
    bool grows;  /* else words that find no room are forgotten */
    bool failed; /* a word was forgotten */
} gc_edge_stack;

/* Follows edges from those in rows [first, end), within rows [top, bottom). */
void gc_follow_edges(const gc_edge_bits *bits, int64_t first, int64_t end, int64_t top,
                     int64_t bottom, gc_edge_stack *stack);
