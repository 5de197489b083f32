#include "mpi/packet.h"

#include <stdlib.h>
#include <string.h>

void gc_packet_put(gc_packet *packet, const void *bytes, size_t size)
{
    if (packet->size + size > packet->room) {
        size_t room = 2 * packet->room + size + 256;
        char *larger = packet->failed ? NULL : realloc(packet->bytes, room);
        packet->failed = larger == NULL;
        if (packet->failed)
            return;
        packet->bytes = larger;
        packet->room = room;
    }
    if (size > 0)
        memcpy(packet->bytes + packet->size, bytes, size);
    packet->size += size;
}

void gc_packet_put_text(gc_packet *packet, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    gc_packet_put(packet, &size, sizeof size);
    gc_packet_put(packet, text, size);
}

const char *gc_packet_take_place(gc_packet *packet, size_t size)
{
    if (packet->failed || size > packet->size - packet->at) {
        packet->failed = true;
        return NULL;
    }
    packet->at += size;
    return packet->bytes + (packet->at - size);
}

void gc_packet_take(gc_packet *packet, void *bytes, size_t size)
{
    const char *place = gc_packet_take_place(packet, size);
    if (place != NULL)
        memcpy(bytes, place, size);
    else
        memset(bytes, 0, size);
}

const char *gc_packet_take_text(gc_packet *packet)
{
    size_t size;
    gc_packet_take(packet, &size, sizeof size);
    return size > 0 ? gc_packet_take_place(packet, size) : NULL;
}

void gc_packet_free(gc_packet *packet)
{
    free(packet->bytes);
    *packet = (gc_packet){.bytes = NULL};
}
