/* What is shipped: `benchmarks/shipped_tuning.sh` makes the rows of a device from the file that
 * `gconv tune` keeps there. */
#include "gpu/tuning.h"

#include <string.h>

/* `gconv tune` at commit 72f3e86, driver 580.159.04, CUDA 13.0. */
static const gc_tuned h200[] = {
    {3, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_WARP, 2, 8, GC_ONE_TILE, 1}, 36.960, "2026-11-21"},
    {3, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 4, GC_QUEUE, 1}, 40.672, "2026-11-21"},
    {3, 3, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 29.888, "2026-11-21"},
    {3, 3, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 30.400, "2026-11-21"},
    {5, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 3, 8, GC_QUEUE, 1}, 39.968, "2026-11-21"},
    {5, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 8, GC_QUEUE, 1}, 40.736, "2026-11-21"},
    {5, 5, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 39.360, "2026-11-21"},
    {5, 5, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 33.120, "2026-11-21"},
    {7, 7, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1}, 46.688, "2026-11-21"},
    {7, 7, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 42.368, "2026-11-21"},
    {7, 7, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 52.064, "2026-11-21"},
    {7, 7, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 36.480, "2026-11-21"},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 3, 8, GC_QUEUE, 1}, 63.680, "2026-11-21"},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 8, GC_QUEUE, 1}, 41.152, "2026-11-21"},
    {9, 9, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 69.440, "2026-11-21"},
    {9, 9, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 39.616, "2026-11-21"},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 3, 8, GC_STRIP, 2}, 87.584, "2026-11-21"},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 42.464, "2026-11-21"},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 3, 8, GC_ONE_TILE, 1}, 95.104, "2026-11-21"},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 44.448, "2026-11-21"},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 114.912, "2026-11-21"},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 44.288, "2026-11-21"},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 124.640, "2026-11-21"},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 46.496, "2026-11-21"},
    {15, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 144.416, "2026-11-21"},
    {15, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 46.528, "2026-11-21"},
    {15, 15, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 155.072, "2026-11-21"},
    {15, 15, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 49.248, "2026-11-21"},
    {17, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 178.208, "2026-11-21"},
    {17, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 50.112, "2026-11-21"},
    {17, 17, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 187.392, "2026-11-21"},
    {17, 17, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 52.000, "2026-11-21"},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 234.912, "2026-11-21"},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 57.376, "2026-11-21"},
    {19, 19, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 241.024, "2026-11-21"},
    {19, 19, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 57.152, "2026-11-21"},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 286.624, "2026-11-21"},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 59.424, "2026-11-21"},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 294.144, "2026-11-21"},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 59.328, "2026-11-21"},
    {3, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1}, 48.224, "2026-11-21"},
    {3, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 44.096, "2026-11-21"},
    {3, 15, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 6, 8, GC_ONE_TILE, 1}, 52.544, "2026-11-21"},
    {3, 15, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 41.856, "2026-11-21"},
    {15, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 6, 4, GC_STRIP, 2}, 47.104, "2026-11-21"},
    {15, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 38.816, "2026-11-21"},
    {15, 3, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 4, GC_ONE_TILE, 1}, 50.688, "2026-11-21"},
    {15, 3, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 38.720, "2026-11-21"},
    {5, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 8, GC_QUEUE, 1}, 67.584, "2026-11-21"},
    {5, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_QUEUE, 1}, 44.800, "2026-11-21"},
    {5, 17, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 73.952, "2026-11-21"},
    {5, 17, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 16, GC_ONE_TILE, 1}, 43.872, "2026-11-21"},
    {17, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 4, GC_STRIP, 2}, 65.408, "2026-11-21"},
    {17, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 40.928, "2026-11-21"},
    {17, 5, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1}, 72.448, "2026-11-21"},
    {17, 5, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 8, GC_ONE_TILE, 1}, 41.568, "2026-11-21"},
};

static const struct {
    const char *device;
    const gc_tuned *entries;
    int count;
} devices[] = {
    {"NVIDIA H200", h200, sizeof h200 / sizeof h200[0]},
};

const gc_tuned *gc_tuning_shipped(const gconv_device_info *device, int *count)
{
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strcmp(devices[i].device, device->name) == 0) {
            *count = devices[i].count;
            return devices[i].entries;
        }
    *count = 0;
    return NULL;
}
