#include "mpi/office.h"

#include "base/status.h"
#include "cli/report/exit.h"
#include "cli/report/messages.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

typedef struct gc_letter {
    MPI_Request request;
    gc_packet packet;
    struct gc_letter *next;
} gc_letter;

void gc_office_give_up(void)
{
    gconv_error error;
    gc_fail(&error, GCONV_ERROR_MEMORY, "out of memory for messages between ranks");
    gc_report(NULL, &error);
    MPI_Abort(MPI_COMM_WORLD, GC_EXIT_FAILED);
}

void gc_office_send(gc_office *office, int rank, gc_message kind, gc_packet *packet)
{
    gc_letter *letter = malloc(sizeof *letter);
    if (letter == NULL || packet->failed || packet->size > INT_MAX) {
        gc_office_give_up();
        return;
    }
    *letter = (gc_letter){.packet = *packet, .next = office->letters};
    *packet = (gc_packet){.bytes = NULL};
    office->letters = letter;
    MPI_Isend(letter->packet.bytes, (int)letter->packet.size, MPI_BYTE, rank, (int)kind,
              MPI_COMM_WORLD, &letter->request);
}

bool gc_office_receive(int *rank, gc_message *kind, gc_packet *packet)
{
    MPI_Status status;
    int arrived, size;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    if (!arrived)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    *packet = (gc_packet){.bytes = malloc((size_t)size + 1), .size = (size_t)size};
    if (packet->bytes == NULL)
        gc_office_give_up();
    *rank = status.MPI_SOURCE;
    *kind = (gc_message)status.MPI_TAG;
    MPI_Recv(packet->bytes, size, MPI_BYTE, *rank, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return true;
}

bool gc_office_clear(gc_office *office)
{
    for (gc_letter **at = &office->letters; *at != NULL;) {
        gc_letter *letter = *at;
        int sent;
        MPI_Test(&letter->request, &sent, MPI_STATUS_IGNORE);
        if (!sent) {
            at = &letter->next;
            continue;
        }
        *at = letter->next;
        gc_packet_free(&letter->packet);
        free(letter);
    }
    return office->letters == NULL;
}
