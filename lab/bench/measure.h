/* Checks an implementation on one image and times it on another. */
#pragma once

#include "cli/measure/measure.h"

/* Checks an implementation on `picture`. `name` may be "auto": then it is the implementation that
 * auto chooses for `timed`. Fills names and verdict of the point. An implementation that cannot run
 * or breaks down is a verdict, not a failure. */
gconv_status gc_check(const gc_subject *subject, const char *name, const gc_picture *picture,
                      const gc_picture *timed, const gc_expectation *expectation, gc_point *point,
                      gconv_error *error);

/* Times on `picture` the implementation that was checked for the point. A run that will take longer
 * than `limit` seconds is given up, and the point is too long. */
gconv_status gc_time(const gc_subject *subject, const gc_picture *picture, gc_budget budget,
                     double limit, gc_point *point, gconv_error *error);

/* Pixels of the timed image at which results are checked. */
enum { GC_SPOTS_MAX = 192 };

typedef struct gc_spots {
    gconv_pixel at[GC_SPOTS_MAX];
    size_t count;
} gc_spots;

/* Chooses pixels at which results go wrong: the corners, on the edges, beside boundaries of tiles
 * and bands, and all over the image. The same image has the same pixels. `taps` is how many weights
 * a value takes: there are fewer pixels if each of them takes long. */
void gc_spots_choose(uint32_t width, uint32_t height, double taps, gc_spots *spots);

/* A gc_last_judge, with the spots as the subject's `user`: if the output is wrong at one of them,
 * the verdict becomes so, and the point has no times. */
gc_last_judge gc_judge_spots;
