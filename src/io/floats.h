/* Samples of float32 in files: what is white, and whether samples fit it (contract.md, rules 29
 * and 66). */
#pragma once

#include "io/metadata.h"

typedef struct gc_floats {
    double white; /* the sample that becomes 255; 0: there are no floats */
    bool white_is_said;
    int samples, colours; /* of a pixel, whose first ones are colours */
    float largest;        /* of the samples so far, as stored */
    float brightest;      /* magnitude of colours, as stored, up to one that is not dark */
    bool rounded;         /* numbers of 64 bits were changed */
    float missing;        /* the sample, as stored, that the file says is none */
    bool has_missing;     /* such a sample was met, or whole samples may be it */
} gc_floats;

/* `said` is what the file says of white: UINT8_MAX and UINT16_MAX count. `wanted` is above 0 if the
 * caller says what is white. Pixels have the channels of `shape`. */
gc_floats gc_floats_begin(double said, double wanted, const gconv_shape *shape);

/* Makes samples of numbers of 64 bits, which may lie at the same place. */
void gc_floats_narrow(gc_floats *floats, const void *numbers, void *samples, size_t count);

/* Converts samples of whole pixels in place. The reader judges them later. */
void gc_floats_convert(gc_floats *floats, float *samples, size_t count);

/* After the last sample: warns if samples were rounded, are missing, or do not fit the white, as
 * far as the options say that this matters. Fails if they were rounded and the caller wants all
 * that the file has. */
gconv_status gc_floats_finish(const gc_floats *floats, const gconv_reader_options *options,
                              const gc_warnings *warnings, gconv_error *error);
