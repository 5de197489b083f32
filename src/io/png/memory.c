#include "io/png/memory.h"

#include "base/status.h"

#include <stdlib.h>

png_voidp gc_png_allocate(png_structp png, png_alloc_size_t size)
{
    gc_png_memory *memory = png_get_mem_ptr(png);
    void *bytes = malloc(size);
    if (bytes == NULL)
        memory->refused_bytes = size;
    return bytes;
}

void gc_png_release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

gconv_status gc_png_check_memory(const gc_png_memory *memory, gconv_error *error)
{
    return memory->refused_bytes == 0 ? GCONV_OK : gc_fail_memory(error, memory->refused_bytes);
}
