/* What the sample pictures are made of: colours, noise, and a picture as a function of a point. */
#pragma once

#include <stdint.h>

typedef struct colour {
    double r, g, b; /* linear light, 1 is white */
} colour;

/* Light at a point, x to the right and y down, in pixels. `sample` counts the samples of a pixel,
 * for pictures that choose lens and lamp positions by it. */
typedef colour (*picture_fn)(double x, double y, uint32_t sample);

extern const int harbour_width, harbour_height;
colour harbour(double x, double y, uint32_t sample);

extern const int still_life_width, still_life_height;
colour still_life(double x, double y, uint32_t sample);

extern const int craters_width, craters_height;
colour craters(double x, double y, uint32_t sample);

/* A number in [0, 1) that depends on the arguments alone. */
double noise_at(int32_t x, int32_t y, uint32_t seed);

/* Value noise: smooth, in [0, 1), features one unit apart. */
double noise_smooth(double x, double y, uint32_t seed);

/* `octaves` of smooth noise, each half as large and strong as the one before; in [0, 1). */
double noise_fractal(double x, double y, int octaves, uint32_t seed);

static inline double clamp01(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* 0 below `from`, 1 above `to`, smooth between. */
static inline double smooth_step(double from, double to, double value)
{
    double t = clamp01((value - from) / (to - from));
    return t * t * (3 - 2 * t);
}

static inline colour mix(colour a, colour b, double t)
{
    return (colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static inline colour dim(colour a, double factor)
{
    return (colour){a.r * factor, a.g * factor, a.b * factor};
}
