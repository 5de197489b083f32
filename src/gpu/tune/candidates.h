/* The tunings that a search tries: those that can run, and that were near the fastest in some
 * measurement. Plain C: needs no GPU. */
#ifndef GC_GPU_TUNE_CANDIDATES_H
#define GC_GPU_TUNE_CANDIDATES_H

#include "gpu/tunings/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At most so many tunings are in both lists together. */
enum { GC_CANDIDATES_MAX = 32 };

/* The layout to search for: filters of this size with their anchor in the middle, from samples of a
 * type to samples of the same type, by as many products as the form has. GC_FORM_TILES reads
 * extended images: the first sample lies under the first weight. */
gc_layout gc_candidate_layout(gc_form form, int width, int height, gc_sample_type type);

/* The first list, for such a layout: the tuning that is used untuned, then rows a thread and warps
 * a block, each with one schedule; of GC_FORM_TILES blocks, with one factor. Returns their number,
 * 0 if not even the first tuning can run. */
int gc_candidates(const gconv_device_info *device, const gc_layout *layout,
                  gc_tuning list[GC_CANDIDATES_MAX]);

/* The second list: all schedules for the fastest tuning of the first list that is not GC_FORM_WARP,
 * of GC_FORM_TILES factors for the fastest block.
 * Adds the tunings that are not among the `count` ones of `list` yet, and returns how many there
 * are then. */
int gc_candidates_like(const gconv_device_info *device, const gc_layout *layout,
                       const gc_tuning *fastest, gc_tuning list[GC_CANDIDATES_MAX], int count);

#ifdef __cplusplus
}
#endif

#endif
