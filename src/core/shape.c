#include "core/shape.h"

#include "base/memory.h"

size_t gconv_shape_row_bytes(const gconv_shape *shape)
{
    if (shape->width < 1 || shape->height < 1 || shape->width > INT32_MAX ||
        shape->height > INT32_MAX || shape->channels < 1 || shape->channels > GC_CHANNELS_MAX)
        return 0;
    size_t samples;
    if (!gc_multiply(shape->width, (size_t)shape->channels, &samples))
        return 0;
    switch (shape->depth) {
    case 1:
        return (samples + 7) / 8;
    case 8:
        return samples;
    case 16:
        return gc_multiply(samples, 2, &samples) ? samples : 0;
    case 32:
        return gc_multiply(samples, 4, &samples) ? samples : 0;
    default:
        return 0;
    }
}
