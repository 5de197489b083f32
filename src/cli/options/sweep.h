/* --sizes and --filters: what `bench` sweeps over. */
#ifndef GC_CLI_OPTIONS_SWEEP_H
#define GC_CLI_OPTIONS_SWEEP_H

#include "gconv.h"

enum { GC_SWEEP_SIZES_MAX = 64, GC_SWEEP_FILTERS_MAX = 1024 };

/* Sides of images. */
typedef struct gc_sweep_sizes {
    struct {
        int width, height;
    } at[GC_SWEEP_SIZES_MAX];
    int count;
} gc_sweep_sizes;

/* A filter that is timed. */
typedef struct gc_timed_filter {
    int width, height;
    bool separates; /* rank 1: a column times a row; else full rank */
} gc_timed_filter;

typedef struct gc_sweep_filters {
    gc_timed_filter at[GC_SWEEP_FILTERS_MAX];
    int count;
} gc_sweep_filters;

/* Reads "N" or "WxH", several with commas. Sides are 16 to 32768, and an image has 2^30 pixels at
 * most. */
gconv_status gc_read_sizes(const char *text, gc_sweep_sizes *sizes, gconv_error *error);

/* Reads sides of filters: "N" for a square, "WxH", "A..B" for squares with every second side from A
 * to B, "A..BxC..D" for a grid of both, and "rank1:" before any of these for filters of rank 1.
 * Several with commas. Sides are 1 to GCONV_FILTER_SIDE_MAX. */
gconv_status gc_read_filters(const char *text, gc_sweep_filters *filters, gconv_error *error);

#endif
