/* --with: results of another machine beside those of this one. */
#ifndef GC_LAB_BENCH_BESIDE_H
#define GC_LAB_BENCH_BESIDE_H

#include "cli/options/options.h"
#include "lab/bench/kept.h"

/* Reads the results that --with names, if it is given: "h200", which come with gconv for each
 * preset, or a file that --resume or --json made. Their names get "@h200" or "@with" behind them,
 * so that they are none of this machine. On failure *subject is the path of a file that is
 * wrong. */
gconv_status gc_beside_read(const gc_options *options, gc_points *points, const char **subject,
                            gconv_error *error);

#endif
