/* Who takes part in the benchmark of the CPU, and in what: a float image of one channel, correlated
 * with a filter of odd side under the border `mirror`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct contest {
    int width, height; /* of the image */
    int side;          /* of the filter */
    int threads;
    const uint8_t *levels;   /* the image in 8 bits */
    const uint16_t *samples; /* the same values in 16 bits */
    const float *floats;     /* the same values as floats */
    const float *weights;    /* side * side */
    const float *row;        /* of a separable filter: side weights, those of the column too */
    float *out;              /* width * height */
    uint8_t *levels_out;
} contest;

/* Each runs once and puts its result into race->out (or levels_out). What has to be made ready for
 * a size is made in the first call for that size. */
void opencv_filter2d(const contest *race);
void opencv_filter2d_levels(const contest *race);
void opencv_separable(const contest *race);
void fftw_tiles(const contest *race);
void plain_loop(const contest *race);

/* Floating-point operations a second that multiply-adds reach in `threads` threads. */
double multiply_add_peak(int threads);

#ifdef __cplusplus
}
#endif
