/* A cratered plain under a low sun: fractal ground, craters of many sizes, lit by its slope. */
#include "picture.h"

#include <math.h>

const int craters_width = 400;
const int craters_height = 400;

/* Height of one crater's bowl and rim at `distance` radii from its centre. */
static double crater_profile(double distance)
{
    double bowl = distance < 1 ? (distance * distance - 1) * 0.33 : 0;
    double rim = 0.13 * exp(-18 * (distance - 1) * (distance - 1));
    return bowl + rim;
}

/* At most one crater in each cell of a grid; those of the neighbour cells reach into this one. */
static double crater_layer(double x, double y, double cell, double chance, uint32_t seed)
{
    int32_t column = (int32_t)floor(x / cell);
    int32_t row = (int32_t)floor(y / cell);
    double height = 0;
    for (int32_t j = row - 1; j <= row + 1; j++) {
        for (int32_t i = column - 1; i <= column + 1; i++) {
            if (noise_at(i, j, seed) > chance)
                continue;
            double radius = cell * (0.18 + 0.3 * noise_at(i, j, seed + 1));
            double dx = x - (i + noise_at(i, j, seed + 2)) * cell;
            double dy = y - (j + noise_at(i, j, seed + 3)) * cell;
            double wobble = 0.12 * (noise_smooth(x / 6, y / 6, seed + 4) - 0.5);
            height += radius * crater_profile(sqrt(dx * dx + dy * dy) / radius + wobble);
        }
    }
    return height;
}

static double ground(double x, double y)
{
    double height = 20 * noise_fractal(x / 110, y / 110, 7, 11);
    height += crater_layer(x, y, 210, 0.6, 21);
    height += crater_layer(x, y, 80, 0.55, 31);
    height += crater_layer(x, y, 34, 0.45, 41);
    height += crater_layer(x, y, 14, 0.35, 51);
    return height;
}

/* How much of the sun is seen: the ground towards it is walked along. */
static double sunlight(double x, double y, double height)
{
    double seen = 1;
    for (double distance = 2; distance < 60; distance *= 1.25) {
        double ray = height + 0.52 * distance;
        double above = ray - ground(x - 0.86 * distance, y - 0.5 * distance);
        seen = fmin(seen, smooth_step(-0.03, 0.05, above / distance));
    }
    return seen;
}

colour craters(double x, double y, uint32_t sample)
{
    (void)sample;
    const double step = 0.7;
    double height = ground(x, y);
    double slope_x = (ground(x + step, y) - height) / step;
    double slope_y = (ground(x, y + step) - height) / step;
    double facing = (-0.86 * -slope_x + 0.5 * slope_y + 0.52) /
                    sqrt(1 + slope_x * slope_x + slope_y * slope_y) / 1.12;
    double light = fmax(facing, 0) * sunlight(x, y, height);
    double albedo = 0.55 + 0.5 * noise_fractal(x / 60, y / 60, 3, 71);
    double value = albedo * (0.035 + 1.0 * light);
    return (colour){value, value, value};
}
