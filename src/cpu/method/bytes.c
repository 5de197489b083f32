#include "cpu/method/bytes.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static bool fits(float value, float least, float most)
{
    return value == truncf(value) && value >= least && value <= most;
}

bool gc_bytes_apply(const gc_problem *problem)
{
    const gc_step *step = &problem->chain.steps[0];
    if (!problem->chain.exact || problem->conversion.input.depth != 8 ||
        problem->conversion.premultiplies || problem->conversion.keeps_alpha)
        return false;
    for (int c = 0; c < problem->chain.channels; c++)
        if (!fits(step->border[c], 0, UINT8_MAX))
            return false;
    for (int i = 0; i < step->width * step->height; i++)
        if (!fits(step->taps[i], INT8_MIN, INT8_MAX))
            return false;
    return true;
}

int gc_bytes_width(const gc_step *step, int channels)
{
    int bytes = (step->width - 1) * channels + 1;
    return (bytes + GC_BYTES_GROUP - 1) / GC_BYTES_GROUP;
}

gconv_status gc_byte_step_create(gc_byte_step *bytes, const gc_step *step, int channels,
                                 gconv_error *error)
{
    *bytes = (gc_byte_step){.width = gc_bytes_width(step, channels), .height = step->height};
    size_t count = (size_t)bytes->width * (size_t)bytes->height;
    bytes->taps = gc_allocate_array(count, sizeof *bytes->taps);
    if (bytes->taps == NULL)
        return gc_fail_memory(error, count * sizeof *bytes->taps);
    memset(bytes->taps, 0, count * sizeof *bytes->taps);
    for (int j = 0; j < step->height; j++) {
        int8_t *row = (int8_t *)(bytes->taps + j * bytes->width);
        for (int i = 0; i < step->width; i++)
            row[i * channels] = (int8_t)step->taps[j * step->width + i];
    }
    return GCONV_OK;
}
