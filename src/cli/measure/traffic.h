/* Arithmetic intensity: operations that a filter asks for over the bytes that an implementation has
 * to move to and from memory. */
#pragma once

#include "gconv_lab.h"

#include <stdbool.h>

/* Roofs of a device. 0 if they are not known. */
typedef struct gc_roofs {
    double bandwidth; /* bytes a second */
    double peak;      /* float32 operations a second */
} gc_roofs;

/* What is known of a device: of a GPU what it is rated for. */
gc_roofs gc_roofs_of(const gconv_device_info *device);

/* One filter on one image. */
typedef struct gc_traffic {
    const char *implementation; /* without a block and a factor */
    int width, height;          /* of the image */
    int filter_width, filter_height;
    int sample_bytes; /* of the input and of the output */
    bool exact;       /* the result has the bits of the reference */
    bool planes;      /* passes of their own turn samples into floats and back */
} gc_traffic;

/* Bytes that each sample moves to and from memory at least, even if caches serve all repeated
 * reads: - in one pass (direct, separable, fused, tensor, tilefft, all that runs on the CPU): the
 * sample is read and written, as a float of 4 bytes if other passes convert it; - fft, for each
 * point of the extended image: the image is copied to that of the transform; each of two
 * transforms, in two dimensions, takes two passes; the product reads two spectra and writes one;
 * the result is copied. 15 numbers: 60 bytes in float32. In exact chains 13 of them are doubles:
 * 112. 0 for the steps of the papers: gconv_plan_intensity has their published models. */
double gc_traffic_bytes(const gc_traffic *traffic);

/* 2 operations for each weight, however an implementation saves some of them, over these bytes; 0
 * likewise. */
double gc_traffic_intensity(const gc_traffic *traffic);

/* Operations a second that roofs allow; 0 if they are not known. */
double gc_roof_at(gc_roofs roofs, double intensity);
