/* A chain as one filter: the filters of its steps, convolved with each other. Near the image's
 * border other filters are needed, because each step meets the border of its own input. */
#pragma once

#include "gpu/methods/fused/bytes_units.h"

extern "C" {
#include "base/status.h"
#include "core/problem.h"
}

struct gc_combined {
    int width, height, left, top; /* as of a gc_step */
    double taps[GC_BYTES_SIDE_MAX * GC_BYTES_SIDE_MAX];
};

/* False if the filter is too large, or its weights are not whole numbers that fit in 8 bits. */
bool gc_combined_make(const gc_problem *problem, gc_combined *total);

/* Whether all of `count` weights are whole numbers from -128 to 127. */
bool gc_combined_fits_bytes(const double *taps, size_t count);

/* Whether the filter gives the chain's values at the border too. */
bool gc_combined_holds_at_border(const gc_problem *problem);

/* Whether the outputs of the ring, those near the border, have filters that gc_ring_filters_make
 * can make. An output's distances from the sides decide its filter. No such filter may be larger
 * than the combined filter. */
bool gc_combined_has_ring(const gc_problem *problem);

/* The filters of all outputs, by zone. Columns fewer than `ring` from the left or right side are a
 * zone each. All columns in between are one zone. Rows make zones likewise. Zones are numbered
 * row by row. Without a ring there is one zone. With a ring of 2:
 *
 *     columns   0     1     2 to width - 3     width - 2     width - 1
 *     zone     0     1           2                3             4 */
struct gc_ring_filters {
    int ring;
    double *taps; /* of each zone, as many as the combined filter has; freed with free */
    double *sums; /* of each zone: what a constant border adds; in the memory of `taps` */
};

/* Zones in a row, which are as many as in a column. */
static inline int gc_zones_across(int ring)
{
    return 2 * ring + 1;
}

gconv_status gc_ring_filters_make(const gc_problem *problem, const gc_combined &total,
                                  gc_ring_filters *all, gconv_error *error);

/* GCONV_ERROR_UNSUPPORTED if their weights do not fit in 8 bits, or their sums in a float. */
gconv_status gc_ring_filters_check(const gc_problem *problem, const gc_combined &total,
                                   gconv_error *error);
