/* Tasks and results as packets. */
#ifndef GC_MPI_MESSAGES_H
#define GC_MPI_MESSAGES_H

#include "cli/image/result.h"
#include "cli/tasks/tasks.h"
#include "mpi/packet.h"

/* Kinds of messages, which are tags of MPI. */
typedef enum gc_message {
    /* From rank 0 */
    GC_MESSAGE_TASK = 1, /* number of the loan, images left, task, line of the journal */
    GC_MESSAGE_RESULTS,  /* a part of a gc_results, before the first task */
    GC_MESSAGE_ANSWER,   /* to an intent: its token, a gconv_error */
    GC_MESSAGE_END,      /* no task follows */
    /* To rank 0 */
    GC_MESSAGE_RESULT, /* number of the loan, line for the journal, lost devices, result */
    GC_MESSAGE_INTENT, /* a token, a line for the journal that has to be on the disk */
    GC_MESSAGE_BYE     /* no message follows */
} gc_message;

void gc_packet_put_task(gc_packet *packet, const gc_task *task);

/* The strings of the task are its own; NULL where memory is out. */
void gc_packet_take_task(gc_packet *packet, gc_task *task);

void gc_packet_put_result(gc_packet *packet, const gc_result *result);

/* The last part of a packet: its bytes become result->storage. */
void gc_packet_take_result(gc_packet *packet, gc_result *result);

#endif
