#include "mpi/messages.h"

#include "base/memory.h"

#include <stdlib.h>

static char *take_copy(gc_packet *packet)
{
    const char *text = gc_packet_take_text(packet);
    return text != NULL ? gc_copy_string(text) : NULL;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

void gc_packet_put_task(gc_packet *packet, const gc_task *task)
{
    gc_packet_put(packet, task, sizeof *task);
    gc_packet_put_text(packet, task->input);
    gc_packet_put_text(packet, task->output);
    gc_packet_put_text(packet, task->refused);
}

void gc_packet_take_task(gc_packet *packet, gc_task *task)
{
    gc_packet_take(packet, task, sizeof *task);
    task->input = take_copy(packet);
    task->output = take_copy(packet);
    task->refused = take_copy(packet);
}

/* ---- Results --------------------------------------------------------------------------------- */

void gc_packet_put_result(gc_packet *packet, const gc_result *result)
{
    const gc_warning_list *warnings = &result->warnings;
    gc_packet_put(packet, result, sizeof *result);
    gc_packet_put_text(packet, result->skipped);
    gc_packet_put_text(packet, result->blamed);
    gc_packet_put_text(packet, result->implementation);
    gc_packet_put_text(packet, result->decoder);
    gc_packet_put_text(packet, result->decode_fallback);
    gc_packet_put_text(packet, result->explanation);
    gc_packet_put_text(packet, result->fallback);
    gc_packet_put_text(packet, result->notes);
    for (size_t i = 0; i < warnings->count; i++)
        gc_packet_put_text(packet, warnings->texts[i]);
}

static void take_warnings(gc_packet *packet, gc_warning_list *list)
{
    list->texts = list->count > 0 ? calloc(list->count, sizeof *list->texts) : NULL;
    if (list->texts == NULL)
        list->count = 0;
    for (size_t i = 0; i < list->count; i++)
        list->texts[i] = take_copy(packet);
}

void gc_packet_take_result(gc_packet *packet, gc_result *result)
{
    gc_packet_take(packet, result, sizeof *result);
    result->skipped = gc_packet_take_text(packet);
    result->blamed = gc_packet_take_text(packet);
    result->implementation = gc_packet_take_text(packet);
    result->decoder = gc_packet_take_text(packet);
    result->decode_fallback = gc_packet_take_text(packet);
    result->explanation = take_copy(packet);
    result->fallback = take_copy(packet);
    result->notes = take_copy(packet);
    take_warnings(packet, &result->warnings);
    result->storage = packet->bytes;
    packet->bytes = NULL;
}
