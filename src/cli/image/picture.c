#include "cli/image/picture.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

gconv_status gc_picture_read(gconv_reader *reader, gc_picture *picture, gconv_error *error)
{
    picture->shape = *gconv_reader_shape(reader);
    picture->stride = gconv_shape_row_bytes(&picture->shape);
    picture->samples = gc_allocate_array(picture->shape.height, picture->stride);
    if (picture->samples == NULL)
        return gc_fail(error, GCONV_ERROR_MEMORY, "out of memory for %ux%u pixels",
                       picture->shape.width, picture->shape.height);
    gconv_status status =
        gconv_reader_read(reader, picture->shape.height, picture->samples, picture->stride, error);
    return status == GCONV_OK ? gconv_reader_finish(reader, error) : status;
}

void gc_picture_destroy(gc_picture *picture)
{
    free(picture->samples);
    *picture = (gc_picture){.samples = NULL};
}

bool gc_picture_is_opaque(const gc_picture *picture)
{
    return gconv_shape_is_opaque(&picture->shape, picture->samples, picture->shape.height,
                                 picture->stride);
}

gconv_source gc_picture_source(const gc_picture *picture, gc_memory_source *rows)
{
    *rows = (gc_memory_source){.next = (const char *)picture->samples,
                               .row_bytes = picture->stride,
                               .stride = picture->stride};
    return gc_source_of_memory(rows);
}
