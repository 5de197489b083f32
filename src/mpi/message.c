#include "mpi/message.h"

#include "base/memory.h"

#include <string.h>

void gc_message_put_number(gc_message *message, uint64_t number)
{
    gc_buffer_add(&message->bytes, &number, sizeof number);
}

void gc_message_put_text(gc_message *message, const char *text)
{
    gc_buffer_add(&message->bytes, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

/* NULL if fewer bytes are left. They lie in the message. */
static const void *take_bytes(gc_message *message, size_t size)
{
    message->failed = message->failed || size > message->bytes.size - message->at;
    if (message->failed)
        return NULL;
    message->at += size;
    return message->bytes.bytes + (message->at - size);
}

uint64_t gc_message_take_number(gc_message *message)
{
    uint64_t number = 0;
    const void *place = take_bytes(message, sizeof number);
    if (place != NULL)
        memcpy(&number, place, sizeof number);
    return number;
}

/* The bytes end in a NUL of their own, which is none of the message's. */
const char *gc_message_take_text(gc_message *message)
{
    size_t length = message->bytes.bytes != NULL ? strlen(message->bytes.bytes + message->at) : 0;
    const char *text = take_bytes(message, length + 1);
    return text != NULL ? text : "";
}

void gc_message_free(gc_message *message)
{
    gc_buffer_free(&message->bytes);
    *message = (gc_message){.at = 0};
}

void gc_message_put_task(gc_message *message, const gc_task *task)
{
    gc_message_put_text(message, task->input);
    gc_message_put_text(message, task->output);
    gc_message_put_text(message, task->refused);
    gc_message_put_number(message, (uint64_t)task->format);
    gc_message_put_number(message, (uint64_t)task->unlisted);
    gc_message_put_number(message, (uint64_t)task->unknown);
    gc_message_put_number(message, task->either_pnm);
    gc_message_put_number(message, task->collides);
    gc_message_put_number(message, task->repeated);
    gc_message_put_number(message, task->is_list);
}

void gc_message_take_task(gc_message *message, gc_task *task)
{
    *task = (gc_task){.input = gc_copy_string(gc_message_take_text(message))};
    task->output = gc_copy_string(gc_message_take_text(message));
    const char *refused = gc_message_take_text(message);
    task->refused = refused[0] != '\0' ? gc_copy_string(refused) : NULL;
    task->format = (gconv_format)gc_message_take_number(message);
    task->unlisted = (int)gc_message_take_number(message);
    task->unknown = (int)gc_message_take_number(message);
    task->either_pnm = gc_message_take_number(message) != 0;
    task->collides = gc_message_take_number(message) != 0;
    task->repeated = gc_message_take_number(message) != 0;
    task->is_list = gc_message_take_number(message) != 0;
}

void gc_message_put_result(gc_message *message, const gc_result *result, const char *said,
                           const char *json)
{
    gc_message_put_number(message, (uint64_t)result->outcome);
    gc_message_put_number(message, result->recorded);
    gc_message_put_number(message, result->met);
    gc_message_put_number(message, (uint64_t)(1e9 * result->timings.total));
    gc_message_put_text(message, said);
    gc_message_put_text(message, json);
}

void gc_message_take_result(gc_message *message, gc_result *result)
{
    *result = (gc_result){.timings = gconv_timings_default()};
    result->outcome = (gc_outcome)gc_message_take_number(message);
    result->recorded = gc_message_take_number(message) != 0;
    result->met = (unsigned)gc_message_take_number(message);
    result->timings.total = 1e-9 * (double)gc_message_take_number(message);
    result->notes = gc_copy_string(gc_message_take_text(message));
    result->json = gc_copy_string(gc_message_take_text(message));
}
