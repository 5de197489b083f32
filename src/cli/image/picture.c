#include "cli/image/picture.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

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

static gconv_status read_rows(void *user, uint32_t count, void *rows, size_t stride,
                              gconv_error *error)
{
    gc_picture_rows *source = user;
    const gc_picture *picture = source->picture;
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)rows + i * stride,
               picture->samples + (size_t)source->given++ * picture->stride, picture->stride);
    return GCONV_OK;
}

gconv_source gc_picture_source(gc_picture_rows *rows)
{
    return (gconv_source){read_rows, rows};
}
