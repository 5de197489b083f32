#include "core/shape.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>

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

gconv_status gc_depth_check(int depth, int depths, const char *of, gconv_error *error)
{
    char possible[32] = "";
    size_t used = 0;
    if (depth > 0 && (depth & (depth - 1)) == 0 && (depth & depths) != 0)
        return GCONV_OK;
    for (int bit = 1; bit <= depths; bit *= 2) {
        const char *before = used == 0 ? "" : 2 * bit > depths ? " or " : ", ";
        if ((bit & depths) != 0)
            used += (size_t)snprintf(possible + used, sizeof possible - used, "%s%d", before, bit);
    }
    return gc_fail(error, GCONV_ERROR_ARGUMENT, "%sdepth %d: %s %s possible", of, depth, possible,
                   (depths & (depths - 1)) != 0 ? "are" : "is");
}

gconv_status gc_shape_check(const gconv_shape *shape, int depths, const char *of,
                            gconv_error *error)
{
    uint32_t sides[] = {shape->width, shape->height};
    for (int i = 0; i < 2; i++)
        if (sides[i] < 1 || sides[i] > INT32_MAX)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "%s%s %lu: 1 to %ld are possible", of,
                           i == 0 ? "width" : "height", (unsigned long)sides[i], (long)INT32_MAX);
    if (shape->channels < 1 || shape->channels > GC_CHANNELS_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "%schannels %d: 1 to %d are possible", of,
                       shape->channels, GC_CHANNELS_MAX);
    gconv_status status = gc_depth_check(shape->depth, depths, of, error);
    if (status == GCONV_OK && gconv_shape_row_bytes(shape) == 0)
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "%swidth %lu: a row exceeds this machine's memory", of,
                       (unsigned long)shape->width);
    return status;
}
