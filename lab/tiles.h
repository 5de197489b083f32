/* How often blocks and factors are the fastest of all that `gconv tune --impl adaptive:unrolled`
 * tried, as van Werkhoven et al. 2014 count them in sections 5 and 6. */
#pragma once

#include "gconv_lab.h"

typedef struct gc_tile_counts {
    int sizes; /* filters */
    int factor_2, factor_4, above_4;
    int wide_16, block_16x64;
    int factors, threads; /* sums */
} gc_tile_counts;

/* Counts a result; those of other implementations change nothing. */
void gc_tiles_count(gc_tile_counts *counts, const gconv_tuning_case *one,
                    const gconv_tuning_result *best);

/* Prints shares and means beside those of the paper. */
void gc_tiles_print(const gc_tile_counts *counts);
