#include "base/buffer.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a NUL. */
static bool reserve(gc_buffer *b, size_t more)
{
    enum { FIRST_ROOM = 256 };
    size_t room;
    if (b->failed)
        return false;
    if (more < b->room - b->size)
        return true;
    bool fits = gc_add(b->size, more, &room) && gc_multiply(room, 2, &room) &&
                gc_add(room, FIRST_ROOM, &room);
    char *larger = fits ? realloc(b->bytes, room) : NULL;
    b->failed = larger == NULL;
    if (b->failed)
        return false;
    b->bytes = larger;
    b->room = room;
    return true;
}

void gc_buffer_add(gc_buffer *buffer, const void *bytes, size_t size)
{
    if (!reserve(buffer, size))
        return;
    if (size > 0)
        memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

void gc_buffer_put(gc_buffer *buffer, const char *text)
{
    gc_buffer_add(buffer, text, strlen(text));
}

void gc_buffer_print(gc_buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        buffer->failed = true;
    else if (reserve(buffer, (size_t)length))
        buffer->size +=
            (size_t)vsnprintf(buffer->bytes + buffer->size, (size_t)length + 1, format, again);
    va_end(again);
}

char *gc_buffer_take(gc_buffer *buffer, size_t *size)
{
    gc_buffer_add(buffer, NULL, 0); /* a string, too, if nothing was added */
    char *bytes = buffer->failed ? NULL : buffer->bytes;
    if (size != NULL)
        *size = bytes != NULL ? buffer->size : 0;
    if (bytes == NULL)
        free(buffer->bytes);
    *buffer = (gc_buffer){.bytes = NULL};
    return bytes;
}

void gc_buffer_free(gc_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (gc_buffer){.bytes = NULL};
}
