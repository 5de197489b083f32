/* The values of --sizes, --filters, --samples and --sample: what `bench` sweeps over. */
#pragma once

#include "cli/options/options.h"
#include "gconv.h"

#include <stddef.h>

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

/* Interleaved channels, and bits of a sample. */
typedef struct gc_sample_kind {
    const char *name;
    int channels, depth;
} gc_sample_kind;

/* Kind `index`, from 0 on; NULL if there is none. Kind 0 is grey with 8 bits, the default. */
const gc_sample_kind *gc_sample_kind_at(int index);

/* Reads names with commas between them, or "all". Bit i of *kinds becomes 1 for kind i. */
gconv_status gc_read_sample_kinds(const char *list, unsigned *kinds, gconv_error *error);

/* A part of something that can be counted. */
typedef struct gc_share {
    int count;      /* so many; 0: `percent` says it */
    double percent; /* above 0, at most 100; 0: `count` says it */
} gc_share;

/* Reads "N", at least 1, or a number and "%". */
gconv_status gc_read_share(const char *text, gc_share *share, gconv_error *error);

/* How many of `all` a share is: at least 1 of 1 or more, all of them if nothing is said. */
size_t gc_share_of(gc_share share, size_t all);

/* All of them. */
typedef struct gc_lists {
    gc_sweep_sizes sizes;
    gc_sweep_filters filters; /* none with --kernel */
    unsigned samples;         /* as of gc_read_sample_kinds */
    gc_share sample;
} gc_lists;

/* Reads the options, or what stands for those that are not given. A message names the option. */
gconv_status gc_lists_read(const gc_options *options, gc_lists *lists, gconv_error *error);
