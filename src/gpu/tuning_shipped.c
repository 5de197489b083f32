/* What is shipped. `benchmarks/shipped_tuning.sh` makes the rows of a device from the file that
 * `gconv tune` keeps there; those of the H200 say what gc_tuning_default does, whose rules were measured
 * on it, until a search takes their place. */
#include "gpu/tuning.h"

#include <string.h>

/* From gc_tuning_default. */
static const gc_tuned h200[] = {
    {3, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {5, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {7, 7, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1}, 0, ""},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 4, 4, GC_QUEUE, 1}, 0, ""},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 3, 8, GC_STRIP, 2}, 0, ""},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_STRIP, 3}, 0, ""},
    {15, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_STRIP, 3}, 0, ""},
    {17, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 0, ""},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 0, ""},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 0, ""},
    {3, 3, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {5, 5, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {7, 7, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {9, 9, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {11, 11, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {13, 13, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {15, 15, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {17, 17, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {19, 19, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {21, 21, GC_FLOAT, GC_FLOAT, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {3, 3, GC_BYTE, GC_BYTE, {GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {5, 5, GC_BYTE, GC_BYTE, {GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {7, 7, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1}, 0, ""},
    {9, 9, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 4, 4, GC_QUEUE, 1}, 0, ""},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 3, 8, GC_STRIP, 2}, 0, ""},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_STRIP, 3}, 0, ""},
    {15, 15, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_STRIP, 3}, 0, ""},
    {17, 17, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 0, ""},
    {19, 19, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 0, ""},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_BLOCK, 2, 8, GC_ONE_TILE, 1}, 0, ""},
    {3, 3, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {5, 5, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 4, 4, GC_ONE_TILE, 1}, 0, ""},
    {7, 7, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {9, 9, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {11, 11, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {13, 13, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 4, GC_ONE_TILE, 1}, 0, ""},
    {15, 15, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {17, 17, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {19, 19, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
    {21, 21, GC_BYTE, GC_BYTE, {GC_FORM_RANK1, 8, 8, GC_ONE_TILE, 1}, 0, ""},
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
