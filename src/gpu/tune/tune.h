/* The search for the fastest tuning, on the device. Plain C, no CUDA types. Without the
 * CUDA module the functions of its last section fail and say so (gpu/load.c). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
#include "gconv_lab.h"
#include "gpu/tunings/tuning.h"

/* ---- What is tried (candidates.c), which needs no GPU ---------------------------------------- */

/* At most so many tunings are in both lists together. */
enum { GC_CANDIDATES_MAX = 112 };

/* The layout to search for: filters of this size with their anchor in the middle, from samples of a
 * type to samples of the same type, by as many products as the form has. GC_FORM_TILES reads
 * extended images: the first sample lies under the first weight. */
gc_layout gc_candidate_layout(gc_form form, int width, int height, gc_sample_type type);

/* The first list, for such a layout: the tuning that is used untuned, then rows a thread and warps
 * a block, each with one schedule; for GC_FORM_TILES all pairs of a block and a factor. Returns
 * their number, 0 if not even the first tuning can run. */
int gc_candidates(const gconv_device_info *device, const gc_layout *layout,
                  gc_tuning list[GC_CANDIDATES_MAX]);

/* The second list: both schedules for the fastest tuning of the first list that is not
 * GC_FORM_WARP; none for GC_FORM_TILES. Adds the tunings that are not among the `count` ones of
 * `list` yet, and returns how many there are then. */
int gc_candidates_like(const gconv_device_info *device, const gc_layout *layout,
                       const gc_tuning *fastest, gc_tuning list[GC_CANDIDATES_MAX], int count);

/* ---- On the device --------------------------------------------------------------------------- */

/* Planes of random samples on a device, together larger than twice its cache, and events for
 * timing. */
typedef struct gc_tuner gc_tuner;

/* Needs NVRTC (gc_jit_available). Makes the device current. *side becomes the side of the square
 * planes that are timed. */
gconv_status gc_tuner_create(const gconv_device_info *device, gc_tuner **tuner, int *side,
                             gconv_error *error);

/* Compiles, checks and times the candidates for a gc_candidate_layout of float32 or 8 bits. Every
 * kernel's outputs, those at the borders too, are compared with sums in double before it is
 * timed. *best is set if result->finished. */
gconv_status gc_tuner_search(gc_tuner *tuner, const gc_layout *layout,
                             gconv_tuning_goes_on *goes_on, void *user, gconv_tuning_result *result,
                             gc_tuned *best, gconv_error *error);

/* `tuner` may be null. */
void gc_tuner_destroy(gc_tuner *tuner);

#ifdef __cplusplus
}
#endif
