/* Rank 0: lends tasks of its batch to the other ranks, and settles their results. */
#ifndef GC_MPI_ROOT_H
#define GC_MPI_ROOT_H

#include "cli/image/batch.h"

typedef struct gc_root gc_root;

/* `places[r]` is how many images rank r computes at one time. NULL where memory is out. */
gc_root *gc_root_create(int ranks, const int *places);

/* What gc_run_images_with takes. Valid while `root` lives. */
gc_borrowers gc_root_borrowers(gc_root *root);

void gc_root_free(gc_root *root);

#endif
