/* What the ranks on one host share: its processors and its GPUs. */
#ifndef GC_MPI_RANKS_H
#define GC_MPI_RANKS_H

#include "cli/options/options.h"

typedef struct gc_ranks {
    int rank, count;
    int local, locals; /* this rank among those on its host, and their number */
} gc_ranks;

/* Finds this rank's place. All ranks call it. */
void gc_ranks_find(gc_ranks *ranks);

/* The threads of this rank: its part of the processors that the ranks on this host may run on, at
 * least 1. All ranks call it. */
int gc_ranks_share_processors(const gc_ranks *ranks);

/* Shows this rank its part of the GPUs, by CUDA_VISIBLE_DEVICES, before CUDA starts: different ones
 * for the ranks of a host as far as there are enough. Does nothing if the ranks were shown
 * different GPUs already, and if `options` name GPUs by numbers. All ranks call it. Fills `shown`
 * with the part, "" if nothing was changed. */
void gc_ranks_share_gpus(const gc_ranks *ranks, const gc_options *options, char *shown,
                         size_t size);

#endif
