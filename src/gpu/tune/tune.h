/* The search for the fastest tuning, on the device. Plain C, no CUDA types. In a build without CUDA
 * the same functions fail and say so (unavailable.c). */
#ifndef GC_GPU_TUNE_TUNE_H
#define GC_GPU_TUNE_TUNE_H

#include "gpu/tune/candidates.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Planes of random samples on a device, together larger than twice its cache, and events for
 * timing. */
typedef struct gc_tuner gc_tuner;

/* How far a search is. */
typedef struct gc_tune_progress {
    int done, count; /* candidates; `count` may grow */
} gc_tune_progress;

/* Called before each candidate, which takes about a second. False ends the search. */
typedef bool gc_tune_goes_on(void *user, const gc_tune_progress *progress);

typedef struct gc_tune_result {
    bool finished; /* false if goes_on ended the search: the other members are not set then */
    gc_tuned best;
    double untuned_microseconds; /* of the tuning that is used untuned; 0 if it was left out */
    int tried;
    int left_out; /* of those tried: kernels that failed or gave wrong results */
} gc_tune_result;

/* Needs NVRTC (gc_jit_available). Makes the device current. */
gconv_status gc_tuner_create(const gconv_device_info *device, gc_tuner **tuner, gconv_error *error);

/* Side of the square planes that are timed. */
int gc_tuner_side(const gc_tuner *tuner);

/* Compiles, checks and times the candidates for a gc_candidate_layout of float32 or 8 bits. Every
 * kernel's outputs, those at the borders too, are compared with sums in double before it is
 * timed. */
gconv_status gc_tuner_search(gc_tuner *tuner, const gc_layout *layout, gc_tune_goes_on *goes_on,
                             void *user, gc_tune_result *result, gconv_error *error);

/* `tuner` may be null. */
void gc_tuner_destroy(gc_tuner *tuner);

#ifdef __cplusplus
}
#endif

#endif
