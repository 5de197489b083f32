/* --baseline and --fail-above: whether something has become slower than it was. */
#pragma once

#include "lab/bench/kept.h"

/* Reads the points of a file that --resume or --json made. `preset` is that of all points. */
gconv_status gc_baseline_read(const char *path, const char *preset, gc_points *points,
                              gconv_error *error);

/* By how many per cent `now` takes longer than `before`: by the medians on a GPU alone if both are
 * known, else by those of whole runs. Negative if it is faster. */
double gc_baseline_change(const gc_point *now, const gc_point *before);

/* Whether `now` takes more than `percent` per cent longer than `before`, and noise does not explain
 * it: the median and the shortest run do, and the middle halves of the runs do not overlap. On a
 * GPU alone only medians are known, and either is enough: whole runs or the GPU alone. */
bool gc_baseline_is_slower(const gc_point *now, const gc_point *before, double percent);
