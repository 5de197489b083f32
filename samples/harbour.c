/* A harbour in the evening: sky, hills, a row of houses, a lighthouse and boats, and all of it
 * again in the water, bent by the waves. */
#include "picture.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const int harbour_width = 640;
const int harbour_height = 480;

enum { HORIZON = 262, SUN_X = 205, SUN_Y = 150, QUAY = 7 };

static colour sky(double x, double y)
{
    double up = clamp01((HORIZON - y) / HORIZON);
    colour light = mix((colour){0.95, 0.66, 0.38}, (colour){0.16, 0.30, 0.55}, pow(up, 0.6));
    double away = hypot(x - SUN_X, y - SUN_Y);
    light = mix(light, (colour){1.6, 1.15, 0.6}, 0.75 * exp(-away / 70));
    light = mix(light, (colour){4, 3.4, 2.4}, smooth_step(21, 19, away));

    /* Clouds flatten towards the horizon. */
    double far = 60 / (HORIZON + 40 - y);
    double cloud = noise_fractal((x - 320) * far / 42, 14 * far, 6, 5);
    double cover = smooth_step(0.5, 0.72, cloud);
    colour lit = mix((colour){0.50, 0.42, 0.45}, (colour){1.25, 0.85, 0.6}, exp(-away / 190));
    return mix(light, lit, 0.85 * cover * smooth_step(0, 0.25, up));
}

/* The ridge of a chain of hills, and its colour with the haze before it. */
static bool hills(double x, double y, double height, uint32_t seed, double haze, colour *light)
{
    double ridge = HORIZON - height * (0.35 + 0.9 * noise_fractal(x / 140, 0.5, 6, seed));
    if (y < ridge)
        return false;
    double woods = noise_fractal(x / 7, y / 5, 4, seed + 20);
    colour ground = mix((colour){0.05, 0.08, 0.05}, (colour){0.20, 0.20, 0.10}, woods);
    *light = mix(ground, (colour){0.62, 0.48, 0.42}, haze);
    return true;
}

/* ---- The town -----------------------------------------------------------------------------------
 */

typedef struct house {
    double left, width, height;
    colour wall;
} house;

static const house houses[] = {
    {300, 34, 42, {0.62, 0.42, 0.18}}, {334, 28, 56, {0.55, 0.16, 0.12}},
    {362, 40, 47, {0.70, 0.64, 0.55}}, {402, 30, 66, {0.20, 0.36, 0.40}},
    {432, 36, 52, {0.66, 0.33, 0.20}}, {468, 44, 60, {0.60, 0.52, 0.32}},
    {512, 30, 45, {0.34, 0.42, 0.28}}, {542, 38, 70, {0.72, 0.60, 0.48}},
    {580, 32, 54, {0.50, 0.20, 0.16}}, {612, 44, 62, {0.58, 0.48, 0.22}},
};

static colour house_wall(const house *h, double across, double up)
{
    uint32_t seed = (uint32_t)h->left;
    double stain = noise_fractal(across / 5, up / 9, 4, seed);
    colour wall = dim(h->wall, 0.55 + 0.5 * stain);

    double columns = floor(h->width / 11);
    double cell_width = h->width / columns;
    double u = fmod(across, cell_width) / cell_width;
    double v = fmod(up, 14) / 14;
    bool window = u > 0.3 && u < 0.72 && v > 0.3 && v < 0.82 && up < h->height - 4;
    bool frame = u > 0.24 && u < 0.78 && v > 0.24 && v < 0.88 && up < h->height - 4;
    if (!window)
        return frame ? (colour){0.72, 0.68, 0.62} : wall;
    if (fabs(u - 0.51) < 0.03 || fabs(v - 0.56) < 0.025)
        return (colour){0.6, 0.57, 0.52};
    int32_t number = (int32_t)(across / cell_width) + 16 * (int32_t)(up / 14);
    if (noise_at(number, 0, seed) < 0.24)
        return (colour){1.5, 1.0, 0.42};
    return mix((colour){0.03, 0.04, 0.06}, (colour){0.35, 0.33, 0.36},
               v * noise_at(number, 1, seed));
}

static bool town(double x, double y, colour *light)
{
    double base = HORIZON - QUAY;
    for (size_t i = 0; i < sizeof houses / sizeof houses[0]; i++) {
        const house *h = &houses[i];
        double across = x - h->left;
        double up = base - y;
        if (across < 0 || across >= h->width || up < 0)
            continue;
        double centre = fabs(across / h->width - 0.5) * 2;
        double roof = h->height + (1 - centre) * 0.62 * h->width * 0.7;
        bool chimney = across > 0.62 * h->width && across < 0.62 * h->width + 4;
        if (up < h->height) {
            /* The neighbour to the left takes the light. */
            double shade = 0.55 + 0.45 * smooth_step(0, 5, across);
            *light = dim(house_wall(h, across, up), shade);
            return true;
        }
        if (up < roof || (chimney && up < h->height + 0.36 * h->width + 6)) {
            double tile = 0.7 + 0.3 * sin(up * 2.2) * (noise_at((int32_t)across, (int32_t)up, 3));
            colour clay =
                across < h->width / 2 ? (colour){0.46, 0.22, 0.14} : (colour){0.24, 0.11, 0.08};
            *light = dim(clay, tile);
            return true;
        }
    }
    return false;
}

static bool quay(double x, double y, colour *light)
{
    double end = 268 + 3 * noise_smooth(y, 0, 9);
    if (x < end || y < HORIZON - QUAY || y > HORIZON)
        return false;
    double course = fmod(x + (fmod(y, 4) < 2 ? 4 : 0), 9);
    bool joint = course < 0.8 || fmod(y, 2.4) < 0.5;
    double stone = 0.20 + 0.22 * noise_fractal(x / 4, y / 3, 3, 77);
    *light = dim((colour){1, 0.86, 0.7}, joint ? 0.08 : stone);
    return true;
}

static bool lighthouse(double x, double y, colour *light)
{
    double up = HORIZON - y;
    double rock =
        17 * smooth_step(1, 0.2, fabs(x - 92) / 62) + 9 * (noise_fractal(x / 9, 1, 4, 31) - 0.5);
    if (up < rock && fabs(x - 92) < 60) {
        double face = noise_fractal(x / 5, y / 4, 4, 33);
        *light = mix((colour){0.05, 0.04, 0.04}, (colour){0.42, 0.30, 0.2}, face * face * 1.4);
        return true;
    }
    double half = 11 - 0.038 * up;
    double side = (x - 92) / half;
    double round = 0.28 + 0.72 * sqrt(fmax(0, 1 - (side - 0.45) * (side - 0.45)));
    if (up < 112 && fabs(side) < 1) {
        bool red = fmod(up + 2 * side * side, 40) < 20;
        colour paint = red ? (colour){0.62, 0.09, 0.07} : (colour){0.95, 0.90, 0.82};
        *light = dim(paint, round * (0.85 + 0.2 * noise_fractal(x / 3, y / 11, 3, 35)));
        return true;
    }
    if (up >= 112 && up < 115 && fabs(x - 92) < 11) {
        *light = (colour){0.06, 0.05, 0.05};
        return true;
    }
    if (up >= 115 && up < 128 && fabs(x - 92) < 6) {
        *light = fmod(x - 86, 4) < 0.8 ? (colour){0.08, 0.07, 0.07} : (colour){1.9, 1.5, 0.8};
        return true;
    }
    if (up >= 128 && up < 137 && fabs(x - 92) < 7 * sqrt((137 - up) / 9)) {
        *light = dim((colour){0.5, 0.1, 0.08}, round);
        return true;
    }
    return false;
}

static colour land(double x, double y)
{
    colour light;
    if (lighthouse(x, y, &light) || quay(x, y, &light) || town(x, y, &light))
        return light;
    if (hills(x, y, 64, 61, 0.42, &light) || hills(x + 300, y, 120, 66, 0.74, &light))
        return light;
    return sky(x, y);
}

/* ---- Boats and water ----------------------------------------------------------------------------
 */

typedef struct boat {
    double x, waterline, size;
    colour hull, sail;
} boat;

static const boat boats[] = {
    {196, 296, 46, {0.75, 0.74, 0.70}, {1.0, 0.90, 0.74}},
    {352, 318, 66, {0.10, 0.20, 0.34}, {0.98, 0.82, 0.62}},
    {520, 372, 104, {0.52, 0.12, 0.08}, {1.05, 0.96, 0.84}},
};

/* A boat around the origin, one unit high, `v` upwards from the waterline. */
static bool boat_shape(const boat *b, double u, double v, colour *light)
{
    double stem = 0.40 + 0.28 * v;
    if (v >= 0 && v < 0.13 + 0.10 * u * u && u > -0.36 - 0.1 * v && u < stem) {
        double planks = fmod(v, 0.03) < 0.005 ? 0.6 : 1;
        bool stripe = v > 0.095 && v < 0.112;
        *light = stripe ? (colour){0.85, 0.8, 0.7} : dim(b->hull, planks * (0.45 + 2.6 * v));
        return true;
    }
    if (u > -0.2 && u < 0.06 && v >= 0.1 && v < 0.22) {
        bool port = fabs(fmod(u + 0.2, 0.085) - 0.042) < 0.02 && v > 0.15 && v < 0.19;
        *light = port ? (colour){0.05, 0.06, 0.08} : (colour){0.55, 0.48, 0.4};
        return true;
    }
    if (fabs(u - 0.08) < 0.009 && v >= 0.1 && v < 1.04) {
        *light = (colour){0.22, 0.14, 0.08};
        return true;
    }
    double main_edge = 0.065 - 0.42 * (1 - v) * sqrt(fmax(0, 1.02 - v));
    double jib_edge = 0.095 + 0.36 * (0.9 - v) + 0.05 * sin(3.5 * v);
    bool main_sail = v > 0.26 + 0.05 * u && v < 1.0 && u < 0.066 && u > main_edge;
    bool jib = v > 0.2 + 0.12 * (0.44 - u) && v < 0.88 && u > 0.1 && u < jib_edge;
    if (!main_sail && !jib)
        return false;
    double seam = fmod(v + 0.1 * u, 0.14) < 0.007 ? 0.8 : 1;
    double belly = main_sail ? 0.62 + 1.1 * (0.07 - u) : 1.05 - 1.1 * (u - 0.1);
    *light = dim(b->sail, seam * belly * (0.94 + 0.12 * noise_smooth(9 * u, 5 * v, 81)));
    return true;
}

/* Slope of the waves, across and along, larger near by. */
static void waves(double x, double y, double *across, double *along)
{
    double depth = y - HORIZON + 3;
    double u = (x - 320) / (depth * 0.32 + 6);
    double v = 240 / depth;
    double ripple = noise_fractal(1.3 * u, 3.2 * v + 40, 5, 91) - 0.5;
    double chop = noise_fractal(4.5 * u + 9, 9.5 * v + 7, 3, 95) - 0.5;
    *across = (0.5 * ripple + 0.3 * chop) * (3 + 0.14 * depth);
    *along = (ripple + 0.7 * chop) * (5 + 0.42 * depth);
}

static bool boats_at(double x, double y, colour *light)
{
    for (size_t i = sizeof boats / sizeof boats[0]; i-- > 0;) {
        const boat *b = &boats[i];
        if (boat_shape(b, (x - b->x) / b->size, (b->waterline - y) / b->size, light))
            return true;
    }
    return false;
}

static bool boats_mirrored(double x, double y, double across, double along, colour *light)
{
    for (size_t i = sizeof boats / sizeof boats[0]; i-- > 0;) {
        const boat *b = &boats[i];
        double down = y - b->waterline;
        double bend = smooth_step(0, 14, down);
        double u = (x - b->x + 0.8 * bend * across) / b->size;
        if (down > 0 && boat_shape(b, u, (down + 0.45 * bend * along) / b->size, light))
            return true;
    }
    return false;
}

static colour water(double x, double y)
{
    double across;
    double along;
    waves(x, y, &across, &along);
    colour mirrored;
    if (!boats_mirrored(x, y, across, along, &mirrored)) {
        double up = fmin(2.0 * HORIZON - y + along, HORIZON - 0.5);
        mirrored = land(x + across, fmax(up, 2));
    }
    /* Steeper sight sees deeper: less mirror, more sea. */
    double depth = (y - HORIZON) / (harbour_height - HORIZON);
    colour sea = {0.02, 0.075, 0.10};
    return mix(mirrored, sea, 0.18 + 0.46 * depth + 0.008 * along);
}

colour harbour(double x, double y, uint32_t sample)
{
    (void)sample;
    colour light;
    if (!boats_at(x, y, &light))
        light = y < HORIZON ? land(x, y) : water(x, y);
    double corner = hypot((x - 320) / 400, (y - 240) / 300);
    return dim(light, 1.05 - 0.38 * corner * corner);
}
