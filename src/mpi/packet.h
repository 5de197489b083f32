/* Bytes that go from one process to another of the same program. */
#ifndef GC_MPI_PACKET_H
#define GC_MPI_PACKET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gc_packet {
    char *bytes; /* owned */
    size_t size, room;
    size_t at;   /* bytes before this one were taken */
    bool failed; /* memory was out, or more was taken than there is */
} gc_packet;

void gc_packet_put(gc_packet *packet, const void *bytes, size_t size);

/* A text that gc_packet_take_text gives; NULL is allowed. */
void gc_packet_put_text(gc_packet *packet, const char *text);

/* Takes what was put, in this order. Where there is too little, `bytes` become 0. */
void gc_packet_take(gc_packet *packet, void *bytes, size_t size);

/* The text lies in the packet. */
const char *gc_packet_take_text(gc_packet *packet);

/* The next `size` bytes, which lie in the packet. NULL where there are fewer. */
const char *gc_packet_take_place(gc_packet *packet, size_t size);

void gc_packet_free(gc_packet *packet);

#endif
