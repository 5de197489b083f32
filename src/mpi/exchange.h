/* Messages are sent and received without waiting: MPI would keep a processor busy while it waits,
 * and images need it. One thread of a rank calls these functions. */
#pragma once

#include "mpi/message.h"

/* Sends a message and takes over its bytes. Ends all ranks if memory is out. */
void gc_exchange_send(int rank, gc_message_kind kind, gc_message *message);

/* Receives a message that has arrived; the caller frees it. False if there is none. */
bool gc_exchange_receive(int *rank, gc_message_kind *kind, gc_message *message);

/* Frees what was sent. True if nothing is left to be sent. */
bool gc_exchange_clear(void);

/* Ends all ranks for lack of memory, and does not return. Any thread. */
_Noreturn void gc_exchange_give_up(void);

/* ---- What ranks do: rank 0 lends tasks of its batch, and settles their results --------------- */

/* Runs a batch, and returns the exit code. `places[r]` is how many images rank r computes at one
 * time. */
int gc_root_run(const gc_options *options, int ranks, const int *places);

/* Another rank. Computes the images that rank 0 hands out, `places` at one time, until no task
 * follows. session->journal is set here if the options name one. */
void gc_member_run(gc_session *session, int places);
