#include "gpu/tune/tune.h"

#include "gpu/cost/costs.h"

typedef struct candidates {
    const gconv_device_info *device;
    gc_layout layout;
    gc_tuning *list;
    int count;
} candidates;

/* Adds a tuning that can run and is not there. */
static void add(candidates *c, gc_tuning tuning)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].form == tuning.form && c->list[i].rows == tuning.rows &&
            c->list[i].warps == tuning.warps && c->list[i].schedule == tuning.schedule &&
            c->list[i].tiles == tuning.tiles)
            return;
    c->layout.tuning = tuning;
    if (c->count < GC_CANDIDATES_MAX && gc_tuning_fits(c->device, &c->layout))
        c->list[c->count++] = tuning;
}

/* Whether a thread has enough to do, and its code stays in the instruction cache. */
static bool is_of_use(const candidates *c, int rows)
{
    int weights = rows * c->layout.width * c->layout.height;
    const gc_costs *costs = gc_costs_of(c->device);
    return weights >= costs->candidate_weights &&
           weights * costs->code_of_a_weight <= costs->candidate_bytes;
}

/* Rows and warps that are tried with each other; both end with 0. */
typedef struct grid {
    int rows[7], warps[6];
} grid;

static void add_grid(candidates *c, gc_form form, gc_schedule schedule, const grid *all)
{
    for (const int *rows = all->rows; *rows > 0; rows++)
        for (const int *warps = all->warps; *warps > 0; warps++)
            if (gc_form_products(form) > 0 || is_of_use(c, *rows))
                add(c, (gc_tuning){form, *rows, *warps, schedule, 1});
}

/* The 110 kernels of van Werkhoven et al. 2014, section 5: 11 blocks by 10 factors. Blocks have 16
 * to 64 columns and 4 to 64 rows, powers of two. Twelve such blocks have at most 1024 threads; the
 * paper does not say which one it leaves out, and this is the smallest. */
static void add_tiles(candidates *c)
{
    for (int width = 16; width <= 64; width *= 2)
        for (int rows = 4; rows <= 64; rows *= 2)
            for (int tiles = 1; tiles <= 10 && width * rows > 64; tiles++)
                add(c, (gc_tuning){GC_FORM_TILES, rows, width * rows / 32, GC_ONE_TILE, tiles});
}

gc_layout gc_candidate_layout(gc_form form, int width, int height, gc_sample_type type)
{
    return (gc_layout){.tuning = {.form = form},
                       .width = width,
                       .height = height,
                       .left = form == GC_FORM_TILES ? 0 : width / 2,
                       .top = form == GC_FORM_TILES ? 0 : height / 2,
                       .input = type,
                       .output = type,
                       .finish = type == GC_FLOAT ? GC_FINISH_NONE : GC_FINISH_QUOTIENT,
                       .border = GC_PASS_MIRROR,
                       .channels = 1};
}

int gc_candidates(const gconv_device_info *device, const gc_layout *layout,
                  gc_tuning list[GC_CANDIDATES_MAX])
{
    candidates c = {.device = device, .layout = *layout, .list = list};
    add(&c, gc_tuning_untuned(device, layout));
    if (c.count == 0)
        return 0;
    static const grid in_warps = {{2, 4, 6, 8}, {2, 4, 8}},
                      in_blocks = {{1, 2, 3, 4, 6, 8}, {4, 8}};
    static const grid of_rank1 = {{4, 8}, {4, 8, 16}};
    static const grid of_sums = {{4, 6, 8}, {4, 6, 8, 12, 16}};
    gc_form form = layout->tuning.form;
    int products = gc_form_products(form);
    if (form == GC_FORM_TILES) {
        add_tiles(&c);
    } else if (products > 0) {
        add_grid(&c, form, GC_ONE_TILE, products > 1 ? &of_sums : &of_rank1);
    } else {
        add_grid(&c, GC_FORM_WARP, GC_ONE_TILE, &in_warps);
        add_grid(&c, GC_FORM_BLOCK, GC_QUEUE, &in_blocks);
    }
    return c.count;
}

int gc_candidates_like(const gconv_device_info *device, const gc_layout *layout,
                       const gc_tuning *fastest, gc_tuning list[GC_CANDIDATES_MAX], int count)
{
    candidates c = {.device = device, .layout = *layout, .list = list, .count = count};
    if (fastest->form == GC_FORM_TILES)
        return count;
    gc_tuning other = *fastest;
    other.tiles = 1;
    other.schedule = GC_ONE_TILE;
    add(&c, other);
    other.schedule = GC_QUEUE;
    add(&c, other);
    return c.count;
}
