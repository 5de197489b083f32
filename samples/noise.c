#include "picture.h"

#include <math.h>

static uint32_t scramble(uint32_t value)
{
    value ^= value >> 16;
    value *= 0x7feb352du;
    value ^= value >> 15;
    value *= 0x846ca68bu;
    return value ^ value >> 16;
}

double noise_at(int32_t x, int32_t y, uint32_t seed)
{
    uint32_t hash = scramble((uint32_t)x + scramble((uint32_t)y + scramble(seed)));
    return hash / 4294967296.0;
}

double noise_smooth(double x, double y, uint32_t seed)
{
    int32_t column = (int32_t)floor(x);
    int32_t row = (int32_t)floor(y);
    double s = smooth_step(0, 1, x - column);
    double t = smooth_step(0, 1, y - row);
    double top = noise_at(column, row, seed) * (1 - s) + noise_at(column + 1, row, seed) * s;
    double bottom =
        noise_at(column, row + 1, seed) * (1 - s) + noise_at(column + 1, row + 1, seed) * s;
    return top * (1 - t) + bottom * t;
}

double noise_fractal(double x, double y, int octaves, uint32_t seed)
{
    double sum = 0;
    double strength = 0.5;
    for (int octave = 0; octave < octaves; octave++) {
        sum += strength * noise_smooth(x, y, seed + (uint32_t)octave);
        strength /= 2;
        /* An odd turn and ratio keep the lattices of the octaves apart. */
        double turned = 1.6 * x + 1.2 * y;
        y = 1.6 * y - 1.2 * x;
        x = turned;
    }
    return sum / (1 - 2 * strength);
}
