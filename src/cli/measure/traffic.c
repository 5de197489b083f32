#include "cli/measure/traffic.h"

#include <stddef.h>
#include <string.h>

enum { FLOAT_BYTES = 4, DOUBLE_BYTES = 8 };

/* Whether a name is one of these, or a variant of one. */
static bool is_one_of(const char *name, const char *const *families, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(families[i]);
        if (strncmp(name, families[i], length) == 0 &&
            (name[length] == '\0' || name[length] == ':'))
            return true;
    }
    return false;
}

static double bytes_of_transforms(const gc_traffic *t)
{
    double points = (double)(t->width + t->filter_width - 1) * (t->height + t->filter_height - 1);
    double number = t->exact ? DOUBLE_BYTES : FLOAT_BYTES;
    return points / ((double)t->width * t->height) * (2 * FLOAT_BYTES + 13 * number);
}

double gc_traffic_bytes(const gc_traffic *traffic)
{
    static const char *const one_pass[] = {"cpu",   "reference", "direct", "separable",
                                           "fused", "tensor",    "tilefft"};
    static const char *const transforms[] = {"fft"};
    const char *name = traffic->implementation;
    if (is_one_of(name, one_pass, sizeof one_pass / sizeof one_pass[0]))
        return 2.0 * (traffic->planes ? FLOAT_BYTES : traffic->sample_bytes);
    return is_one_of(name, transforms, 1) ? bytes_of_transforms(traffic) : 0;
}

double gc_traffic_intensity(const gc_traffic *traffic)
{
    double bytes = gc_traffic_bytes(traffic);
    return bytes > 0 ? 2.0 * traffic->filter_width * traffic->filter_height / bytes : 0;
}

gc_roofs gc_roofs_of(const gconv_device_info *device)
{
    return (gc_roofs){device->memory_bandwidth, gconv_device_peak(device)};
}

double gc_roof_at(gc_roofs roofs, double intensity)
{
    double flops = intensity * roofs.bandwidth;
    return roofs.peak > 0 && flops > roofs.peak ? roofs.peak : flops;
}
