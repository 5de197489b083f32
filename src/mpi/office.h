/* Messages between ranks. They are sent and received without waiting: MPI would keep a processor
 * busy while it waits, and images need it. One thread of a rank calls these functions. */
#ifndef GC_MPI_OFFICE_H
#define GC_MPI_OFFICE_H

#include "mpi/messages.h"

typedef struct gc_office {
    struct gc_letter *letters; /* that MPI has not sent yet */
} gc_office;

/* Sends a packet and takes over its bytes. Ends all ranks where memory is out. */
void gc_office_send(gc_office *office, int rank, gc_message kind, gc_packet *packet);

/* Receives a packet that has arrived; the caller frees it. False where there is none. */
bool gc_office_receive(int *rank, gc_message *kind, gc_packet *packet);

/* Frees what was sent. True where nothing is left to be sent. */
bool gc_office_clear(gc_office *office);

/* Ends all ranks for lack of memory. */
void gc_office_give_up(void);

#endif
