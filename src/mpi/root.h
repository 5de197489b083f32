/* Rank 0: lends tasks of its batch to the other ranks, and settles their results. */
#ifndef GC_MPI_ROOT_H
#define GC_MPI_ROOT_H

#include "cli/options/options.h"

/* Runs a batch, and returns the exit code. `places[r]` is how many images rank r computes at one
 * time. */
int gc_root_run(const gc_options *options, int ranks, const int *places);

#endif
