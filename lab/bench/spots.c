#include "lab/bench/measure.h"

#include "base/status.h"
#include "lab/bench/random.h"

/* Multiply-adds that all pixels of an image may take: some tens of milliseconds. */
static const double work_max = 3e7;

typedef struct chooser {
    uint32_t width, height;
    uint64_t state;
    gc_spots *spots;
    size_t most; /* pixels */
} chooser;

static void add(chooser *c, uint32_t x, uint32_t y)
{
    if (x < c->width && y < c->height && c->spots->count < c->most)
        c->spots->at[c->spots->count++] = (gconv_pixel){x, y};
}

static uint32_t random_below(chooser *c, uint32_t limit)
{
    return gc_next_random(&c->state) % limit;
}

static void add_corners(chooser *c)
{
    add(c, 0, 0);
    add(c, c->width - 1, c->height - 1);
    add(c, c->width - 1, 0);
    add(c, 0, c->height - 1);
}

/* A pixel on each edge, or beside it. */
static void add_edges(chooser *c)
{
    uint32_t beside = random_below(c, 4);
    add(c, random_below(c, c->width), beside);
    add(c, random_below(c, c->width), c->height - 1 - beside);
    add(c, beside, random_below(c, c->height));
    add(c, c->width - 1 - beside, random_below(c, c->height));
}

/* The last column or row of a tile, and the first of the next one. */
static void add_boundary(chooser *c, uint32_t tile)
{
    if (tile < c->width) {
        uint32_t x = tile * (1 + random_below(c, (c->width - 1) / tile));
        uint32_t y = random_below(c, c->height);
        add(c, x - 1, y);
        add(c, x, y);
    }
    if (tile < c->height) {
        uint32_t y = tile * (1 + random_below(c, (c->height - 1) / tile));
        uint32_t x = random_below(c, c->width);
        add(c, x, y - 1);
        add(c, x, y);
    }
}

void gc_spots_choose(uint32_t width, uint32_t height, double taps, gc_spots *spots)
{
    enum { LEAST = 24, TILE_MIN = 16, TILE_MAX = 1024 };
    double affordable = work_max / taps;
    chooser c = {.width = width, .height = height, .state = 1, .spots = spots};
    c.most = affordable >= GC_SPOTS_MAX ? GC_SPOTS_MAX
             : affordable > LEAST       ? (size_t)affordable
                                        : LEAST;
    spots->count = 0;
    add_corners(&c);
    for (uint32_t tile = TILE_MIN; spots->count < c.most;) {
        add_edges(&c);
        add_boundary(&c, tile);
        add(&c, random_below(&c, width), random_below(&c, height));
        add(&c, random_below(&c, width), random_below(&c, height));
        tile = tile < TILE_MAX ? 2 * tile : TILE_MIN;
    }
}

gconv_status gc_judge_spots(const gc_subject *subject, const gconv_plan *plan,
                            const gc_picture *picture, const void *output, gc_point *point,
                            gconv_error *error)
{
    size_t stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    const gc_spots *spots = subject->user;
    gconv_difference difference;
    gconv_status status =
        gconv_plan_compare_pixels(plan, picture->samples, picture->stride, output, stride,
                                  spots->at, spots->count, &difference, error);
    if (status != GCONV_OK || difference.within)
        return status;
    point->verdict = GC_VERDICT_WRONG;
    point->difference = difference;
    gc_fail(&point->reason, GCONV_ERROR_DEVICE, "the timed image is wrong at x %u, y %u, by %g",
            difference.x, difference.y, difference.largest);
    point->runs = 0;
    return GCONV_OK;
}
