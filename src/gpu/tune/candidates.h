/* What a search for the fastest tuning tries: tunings that can run and that measurements have shown to
 * be near the best somewhere. Plain C: needs no GPU. */
#ifndef GC_GPU_TUNE_CANDIDATES_H
#define GC_GPU_TUNE_CANDIDATES_H

#include "gpu/tune/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both lists together hold at most so many. */
enum { GC_CANDIDATES_MAX = 32 };

/* What is searched for: filters of this size, with their anchor in the middle, from samples of a type to
 * samples of the same; as many products as the form has. */
gc_layout gc_candidate_layout(gc_form form, int width, int height, gc_sample_type type);

/* First: what would be taken untuned, then sizes of threads and blocks, each under one schedule, 
 * for such a layout. Returns how many; none where not even the first can run. */
int gc_candidates(const gconv_device_info *device, const gc_layout *layout,
                  gc_tuning list[GC_CANDIDATES_MAX]);

/* Then: the other schedules of the fastest of them that is not GC_FORM_WARP. Adds to the `count` tunings in `list` those that it
 * does not hold yet, and returns how many there are. */
int gc_candidates_like(const gconv_device_info *device, const gc_layout *layout,
                       const gc_tuning *fastest, gc_tuning list[GC_CANDIDATES_MAX], int count);

#ifdef __cplusplus
}
#endif

#endif
