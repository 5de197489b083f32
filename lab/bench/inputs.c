#include "lab/bench/inputs.h"

#include "base/memory.h"
#include "base/status.h"
#include "lab/bench/random.h"

gconv_status gc_synthetic_picture(uint32_t width, uint32_t height, const gc_sample_kind *kind,
                                  gc_picture *picture, gconv_error *error)
{
    picture->shape = (gconv_shape){
        .width = width, .height = height, .channels = kind->channels, .depth = kind->depth};
    picture->stride = gconv_shape_row_bytes(&picture->shape);
    picture->samples = gc_allocate_array(height, picture->stride);
    GC_TRY_MEMORY(picture->samples != NULL, error, (size_t)height * picture->stride);
    uint64_t state = 1;
    for (size_t i = 0; i < (size_t)height * picture->stride; i++)
        picture->samples[i] = (unsigned char)(gc_next_random(&state) >> 7);
    return GCONV_OK;
}

gconv_status gc_timed_filter_make(gc_timed_filter wanted, gconv_filter **filter, gconv_error *error)
{
    int width = wanted.width, height = wanted.height;
    GC_TRY(gconv_filter_create(width, height, filter, error));
    uint64_t state = (uint64_t)width;
    float whole[2 * GCONV_FILTER_SIDE_MAX]; /* of the column, then of the row */
    for (int i = 0; i < height + width; i++)
        whole[i] = (float)(1 + gc_next_random(&state) % 7);
    for (int i = 0; i < width * height; i++)
        (*filter)->weights[i] = wanted.separates
                                    ? whole[i / width] * whole[height + i % width]
                                    : (float)gc_next_random(&state) / (float)(1u << 31);
    (*filter)->divisor = width * height;
    return GCONV_OK;
}
