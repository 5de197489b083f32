#include "io/floats.h"

#include <math.h>
#include <string.h>

enum { DARK = 16 /* samples up to this are black, or nearly so, if 255 is white */ };

/* Many programs write 1 whatever white is, so only the two values that gconv writes count. */
gc_floats gc_floats_begin(double said, double wanted, const gconv_shape *shape)
{
    if (said != UINT8_MAX && said != UINT16_MAX)
        said = 0;
    if (wanted > 0)
        said = wanted;
    return (gc_floats){.white = said > 0 ? said : UINT8_MAX,
                       .white_is_said = said > 0,
                       .missing = NAN,
                       .samples = shape->channels,
                       .colours = (shape->channels - 1) | 1,
                       .largest = -INFINITY,
                       .brightest = said > 0 ? INFINITY : 0};
}

void gc_floats_narrow(gc_floats *floats, const void *numbers, void *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double number;
        memcpy(&number, (const char *)numbers + i * sizeof number, sizeof number);
        float sample = (float)number;
        floats->rounded |= (double)sample != number && !isnan(number);
        memcpy((char *)samples + i * sizeof sample, &sample, sizeof sample);
    }
}

void gc_floats_convert(gc_floats *floats, float *samples, size_t count)
{
    float brightest = floats->brightest, largest = floats->largest;
    for (size_t colour = 0; colour < (size_t)floats->colours && brightest <= DARK; colour++)
        for (size_t i = colour; i < count; i += (size_t)floats->samples) {
            float magnitude = fabsf(samples[i]);
            brightest = magnitude > brightest && magnitude < INFINITY ? magnitude : brightest;
        }
    bool has_missing = floats->has_missing;
    for (size_t i = 0; i < count; i++) {
        has_missing |= samples[i] == floats->missing;
        largest = samples[i] > largest && samples[i] < INFINITY ? samples[i] : largest;
        if (floats->white != UINT8_MAX)
            samples[i] = (float)(UINT8_MAX * (double)samples[i] / floats->white);
    }
    floats->brightest = brightest;
    floats->largest = largest;
    floats->has_missing = has_missing;
}

gconv_status gc_floats_finish(const gc_floats *floats, const gconv_reader_options *options,
                              const gc_warnings *warnings, gconv_error *error)
{
    double largest = (double)floats->largest;
    if (floats->rounded && warnings->whole && !options->any_precision)
        return gc_metadata_lose(warnings, GCONV_KEEP_NOTHING,
                                "the precision of 64 bits is not kept", error);
    if (floats->rounded)
        gc_warn_damage(warnings, "numbers of 64 bits were rounded to 32 bits");
    if (floats->has_missing)
        gc_warn(warnings,
                "samples of %g count like others, though GDAL_NODATA says that they are missing; "
                "make them NaN, in floats, and 'gconv filter --nan ignore' leaves them out",
                (double)floats->missing);
    if (options->any_white || floats->white <= 0)
        return GCONV_OK;
    if (floats->white_is_said) {
        if (largest > floats->white)
            gc_warn(warnings, "samples of up to %g, and white is %g", largest, floats->white);
        return GCONV_OK;
    }
    /* Neither the file nor an option gives the white: the assumed one may be wrong. */
    if (largest > floats->white)
        gc_warn_damage(warnings,
                       "samples of up to %g, and 255 is taken for white; --white V says what is",
                       largest);
    if (floats->brightest > 0 && floats->brightest <= DARK)
        gc_warn_damage(warnings,
                       "no sample exceeds %g in magnitude, which is black where 255 is white; give "
                       "--white 1 if 1 is white",
                       (double)floats->brightest);
    return GCONV_OK;
}
