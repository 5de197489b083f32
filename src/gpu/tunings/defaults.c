/* The tunings of a device that was never tuned: rules that measurements on an H200 gave. */
#include "gpu/tunings/tuning.h"

#include "gpu/cost/costs.h"

/* Rows of output a thread for which the code of so many weights stays in the instruction cache. */
static int rows_in_code(int weights)
{
    const gc_costs *costs = gc_costs_of(NULL);
    return costs->code_bytes / (costs->code_of_a_weight * weights);
}

/* The code for the columns has to stay in the instruction cache. There is one buffer only, because
 * convolved rows take as much shared memory as the tile. */
static gc_tuning default_sum(gc_form form, int height)
{
    int rows = rows_in_code(gc_form_products(form) * height);
    return (gc_tuning){form, rows > 8 ? 8 : rows < 2 ? 2 : rows, 8, GC_ONE_TILE, 1};
}

/* Small blocks hide the latency of short sums, large ones share more of a tile's surroundings. */
static gc_tuning default_block(int weights)
{
    int rows = rows_in_code(weights);
    if (weights <= 49)
        return (gc_tuning){GC_FORM_BLOCK, 6, 4, GC_QUEUE, 1};
    if (weights <= 81)
        return (gc_tuning){GC_FORM_BLOCK, 4, 4, GC_QUEUE, 1};
    if (weights <= 121)
        return (gc_tuning){GC_FORM_BLOCK, 3, 8, GC_ONE_TILE, 1};
    return (gc_tuning){GC_FORM_BLOCK, rows > 1 || weights <= 512 ? 2 : 1, 8, GC_ONE_TILE, 1};
}

gc_tuning gc_tuning_default(gc_form form, int width, int height)
{
    if (form == GC_FORM_TILES)
        return (gc_tuning){GC_FORM_TILES, 8, 8, GC_ONE_TILE, width * height <= 25 ? 8 : 4};
    if (form == GC_FORM_WARP)
        return (gc_tuning){GC_FORM_WARP, 4, 4, GC_ONE_TILE, 1};
    if (form == GC_FORM_RANK1)
        return (gc_tuning){GC_FORM_RANK1, height > 5 ? 8 : 4, height > 13 ? 8 : 4, GC_ONE_TILE, 1};
    if (gc_form_products(form) > 1)
        return default_sum(form, height);
    return default_block(width * height);
}

/* 4 rows a thread leave registers for more than one block on a multiprocessor, and the code stays
 * in the instruction cache. Two buffers hide the loads of floats, as in GC_FORM_BLOCK; samples of 8
 * or 16 bits go through registers, so that one buffer is better: it leaves room for more blocks. */
gc_tuning gc_tuning_pair(const gc_layout *layout)
{
    return (gc_tuning){GC_FORM_PAIR, 4, 8, layout->input == GC_FLOAT ? GC_QUEUE : GC_ONE_TILE, 1};
}
