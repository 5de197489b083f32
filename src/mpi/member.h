/* A rank other than 0: computes the images that rank 0 hands out. */
#ifndef GC_MPI_MEMBER_H
#define GC_MPI_MEMBER_H

#include "cli/image/session.h"

/* Computes until rank 0 says that no task follows. `places` is how many images at one time.
 * session->journal is set here if the options name one. */
void gc_member_run(gc_session *session, int places);

#endif
