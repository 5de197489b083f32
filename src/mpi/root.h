/* What ranks do: rank 0 lends tasks of its batch to the others, and settles their results. */
#ifndef GC_MPI_ROOT_H
#define GC_MPI_ROOT_H

#include "cli/image/session.h"

/* Runs a batch, and returns the exit code. `places[r]` is how many images rank r computes at one
 * time. */
int gc_root_run(const gc_options *options, int ranks, const int *places);

/* Another rank. Computes the images that rank 0 hands out, `places` at one time, until no task
 * follows. session->journal is set here if the options name one. */
void gc_member_run(gc_session *session, int places);

#endif
