#include "mpi/exchange.h"

#include "base/status.h"
#include "cli/terminal/messages.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* A message that MPI may not have sent yet. */
typedef struct sent_message {
    MPI_Request request;
    gc_message message;
    struct sent_message *next;
} sent_message;

static sent_message *all_sent;

_Noreturn void gc_exchange_give_up(void)
{
    gconv_error error;
    gc_fail(&error, GCONV_ERROR_MEMORY, "out of memory for messages between ranks");
    gc_report(NULL, &error);
    MPI_Abort(MPI_COMM_WORLD, GC_EXIT_FAILED);
    abort();
}

void gc_exchange_send(int rank, gc_message_kind kind, gc_message *message)
{
    sent_message *sent = malloc(sizeof *sent);
    if (sent == NULL || message->bytes.failed || message->bytes.size > INT_MAX)
        gc_exchange_give_up();
    *sent = (sent_message){.message = *message, .next = all_sent};
    *message = (gc_message){.at = 0};
    all_sent = sent;
    MPI_Isend(sent->message.bytes.bytes, (int)sent->message.bytes.size, MPI_BYTE, rank, (int)kind,
              MPI_COMM_WORLD, &sent->request);
}

bool gc_exchange_receive(int *rank, gc_message_kind *kind, gc_message *message)
{
    MPI_Status status;
    int arrived, size;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    if (!arrived)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    char *bytes = calloc((size_t)size + 1, 1);
    if (bytes == NULL)
        gc_exchange_give_up();
    *message = (gc_message){.bytes = {.bytes = bytes, .size = (size_t)size}};
    *rank = status.MPI_SOURCE;
    *kind = (gc_message_kind)status.MPI_TAG;
    MPI_Recv(bytes, size, MPI_BYTE, *rank, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}

bool gc_exchange_clear(void)
{
    for (sent_message **at = &all_sent; *at != NULL;) {
        sent_message *sent = *at;
        int is_done;
        MPI_Test(&sent->request, &is_done, MPI_STATUS_IGNORE);
        if (!is_done) {
            at = &sent->next;
            continue;
        }
        *at = sent->next;
        gc_message_free(&sent->message);
        free(sent);
    }
    return all_sent == NULL;
}
