/* The search for the fastest tuning, on the device: plain C, no CUDA types. In a build without CUDA
 * the same functions answer that there is none (unavailable.c). */
#ifndef GC_GPU_TUNE_TUNE_H
#define GC_GPU_TUNE_TUNE_H

#include "gpu/tune/candidates.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Planes of random samples on a device, larger together than twice its cache, and what timing takes. */
typedef struct gc_tuner gc_tuner;

/* How far a search is. */
typedef struct gc_tune_progress {
    int done, count; /* candidates; more may be added */
} gc_tune_progress;

/* Asked before each candidate, which takes about a second; false ends the search. */
typedef bool gc_tune_goes_on(void *user, const gc_tune_progress *progress);

typedef struct gc_tune_result {
    bool finished; /* else goes_on ended it, and nothing is known */
    gc_tuned best;
    double untuned_microseconds; /* of what would be taken untuned; 0 where that was left out */
    int tried;
    int left_out; /* of these: what failed or was wrong */
} gc_tune_result;

/* Makes the device current. Needs NVRTC (gc_jit_available). */
gconv_status gc_tuner_create(const gconv_device_info *device, gc_tuner **tuner, gconv_error *error);

/* Side of the square planes that are timed. */
int gc_tuner_side(const gc_tuner *tuner);

/* Compiles, checks and times the candidates for a gc_candidate_layout of float32 or 8 bits. Every
 * kernel's outputs, those at the borders too, are compared with sums in double before it is timed. */
gconv_status gc_tuner_search(gc_tuner *tuner, const gc_layout *layout, gc_tune_goes_on *goes_on,
                             void *user, gc_tune_result *result, gconv_error *error);

/* Null is fine. */
void gc_tuner_destroy(gc_tuner *tuner);

#ifdef __cplusplus
}
#endif

#endif
