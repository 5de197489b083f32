#include "io/resolution.h"

#include <math.h>

gc_resolution gc_resolution_convert(gc_resolution resolution, gc_resolution_unit unit,
                                    uint32_t largest)
{
    static const double per_metre[] = {
        [GC_RESOLUTION_PER_INCH] = 1 / 0.0254,
        [GC_RESOLUTION_PER_CENTIMETRE] = 100,
        [GC_RESOLUTION_PER_METRE] = 1,
    };
    if (resolution.unit == GC_RESOLUTION_NONE)
        return resolution;
    double x = resolution.x;
    double y = resolution.y;
    gc_resolution converted = resolution;
    if (resolution.unit != GC_RESOLUTION_RATIO) {
        double factor = per_metre[resolution.unit] / per_metre[unit];
        x = floor(x * factor + 0.5);
        y = floor(y * factor + 0.5);
        converted.unit = unit;
    }
    if (x < 1 || y < 1 || x > largest || y > largest)
        return (gc_resolution){.unit = GC_RESOLUTION_NONE};
    converted.x = (uint32_t)x;
    converted.y = (uint32_t)y;
    return converted;
}
