/* Balls on a tiled floor before a brick wall: rays through a lens of some width to a lamp of some
 * size, so that shadows and what is out of focus are soft. */
#include "picture.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const int still_life_width = 420;
const int still_life_height = 315;

typedef struct vector {
    double x, y, z; /* to the right, up, away from the camera */
} vector;

static vector add(vector a, vector b)
{
    return (vector){a.x + b.x, a.y + b.y, a.z + b.z};
}

static vector scaled(vector a, double factor)
{
    return (vector){a.x * factor, a.y * factor, a.z * factor};
}

static double dot(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vector unit(vector a)
{
    return scaled(a, 1 / sqrt(dot(a, a)));
}

static vector towards(vector from, vector to)
{
    return add(to, scaled(from, -1));
}

typedef struct ball {
    vector centre;
    double radius;
    colour paint;
    double mirror; /* part of the light that is reflected as by a mirror */
    double relief; /* roughness of the surface */
} ball;

static const ball balls[] = {
    {{-1.15, 1.0, 6.3}, 1.0, {0.90, 0.90, 0.92}, 0.72, 0},
    {{0.85, 0.72, 5.2}, 0.72, {0.86, 0.36, 0.05}, 0.03, 0.30},
    {{-0.35, 0.36, 4.3}, 0.36, {0.10, 0.34, 0.16}, 0.22, 0},
    {{2.25, 0.9, 7.4}, 0.9, {0.16, 0.22, 0.55}, 0.12, 0.06},
    {{1.75, 0.27, 4.1}, 0.27, {0.70, 0.07, 0.09}, 0.25, 0},
    {{-2.5, 0.5, 5.0}, 0.5, {0.80, 0.68, 0.30}, 0.05, 0.12},
};

enum { BALLS = sizeof balls / sizeof balls[0] };

static const double wall = 8.6; /* distance of the brick wall */

typedef struct hit {
    double distance;
    vector point, normal;
    colour paint;
    double mirror;
} hit;

/* Distance along a ray to a ball; negative where it misses. */
static double meet(const ball *b, vector origin, vector direction)
{
    vector to = towards(b->centre, origin);
    double half = dot(to, direction);
    double root = half * half - dot(to, to) + b->radius * b->radius;
    return root < 0 ? -1 : -half - sqrt(root);
}

/* ---- Surfaces -----------------------------------------------------------------------------------
 */

static colour floor_paint(vector p)
{
    double u = p.x / 0.9 + 0.2;
    double v = p.z / 0.9;
    double edge = fmin(fmin(u - floor(u), ceil(u) - u), fmin(v - floor(v), ceil(v) - v));
    if (edge < 0.018)
        return (colour){0.10, 0.09, 0.08};
    double vein = fabs(noise_fractal(1.4 * p.x + 9, 1.4 * p.z, 6, 3) - 0.5);
    double marble = smooth_step(0, 0.06, vein);
    bool dark = ((int)floor(u) + (int)floor(v)) % 2 != 0;
    return dark ? mix((colour){0.30, 0.26, 0.24}, (colour){0.09, 0.07, 0.07}, marble)
                : mix((colour){0.46, 0.42, 0.38}, (colour){0.78, 0.73, 0.66}, marble);
}

/* Bricks, and how far they stand out of the mortar. */
static colour wall_paint(vector p, double *height)
{
    double row = floor(p.y / 0.3);
    double u = p.x / 0.82 + (fmod(row, 2) == 0 ? 0 : 0.5);
    double v = p.y / 0.3;
    double from_side = fmin(u - floor(u), ceil(u) - u) * 0.82;
    double from_bed = fmin(v - floor(v), ceil(v) - v) * 0.3;
    double rough = noise_fractal(9 * p.x, 9 * p.y, 4, 17);
    double brick = smooth_step(0.012, 0.034, fmin(from_side, from_bed) + 0.018 * (rough - 0.5));
    double tone = noise_at((int32_t)floor(u), (int32_t)row, 23);
    colour clay = mix((colour){0.34, 0.12, 0.07}, (colour){0.62, 0.27, 0.15}, tone);
    *height = 0.05 * brick + 0.03 * rough;
    return mix((colour){0.46, 0.43, 0.39}, dim(clay, 0.6 + 0.7 * rough), brick);
}

static void finish_wall(hit *h)
{
    double here;
    double right;
    double above;
    vector p = h->point;
    h->paint = wall_paint(p, &here);
    wall_paint((vector){p.x + 0.01, p.y, p.z}, &right);
    wall_paint((vector){p.x, p.y + 0.01, p.z}, &above);
    h->normal = unit((vector){(here - right) * 40, (here - above) * 40, -1});
}

static void finish_ball(const ball *b, hit *h)
{
    vector n = scaled(towards(b->centre, h->point), 1 / b->radius);
    h->paint = b->paint;
    h->mirror = b->mirror;
    h->normal = n;
    if (b->relief > 0) {
        double u = 14 * atan2(n.x, -n.z);
        double v = 14 * asin(fmin(fmax(n.y, -1), 1));
        double bump = noise_fractal(u, v, 2, 41);
        vector tilt = {noise_fractal(u + 0.2, v, 2, 41) - bump,
                       noise_fractal(u, v + 0.2, 2, 41) - bump, 0};
        h->normal = unit(add(n, scaled(tilt, -8 * b->relief)));
        h->paint = dim(h->paint, 0.85 + 0.3 * bump);
    }
}

/* ---- Light --------------------------------------------------------------------------------------
 */

static hit trace(vector origin, vector direction)
{
    int nearest = -1;
    hit h = {.distance = 1e9};
    for (int i = 0; i < BALLS; i++) {
        double distance = meet(&balls[i], origin, direction);
        if (distance > 1e-4 && distance < h.distance) {
            h.distance = distance;
            nearest = i;
        }
    }
    double to_floor = direction.y < 0 ? -origin.y / direction.y : 1e9;
    double to_wall = direction.z > 0 ? (wall - origin.z) / direction.z : 1e9;
    bool floor_first = to_floor < h.distance && to_floor <= to_wall;
    bool wall_first = to_wall < h.distance && to_wall < to_floor;
    if (floor_first || wall_first)
        h.distance = floor_first ? to_floor : to_wall;
    h.point = add(origin, scaled(direction, h.distance));
    if (floor_first) {
        h.normal = (vector){0, 1, 0};
        h.paint = floor_paint(h.point);
        h.mirror = 0.07;
    } else if (wall_first) {
        finish_wall(&h);
    } else if (nearest >= 0) {
        finish_ball(&balls[nearest], &h);
    }
    return h;
}

/* The sky light that nearby balls leave to a point: darkest where a ball touches the floor. */
static double openness(vector point, vector normal)
{
    double open = 1;
    for (int i = 0; i < BALLS; i++) {
        vector to = towards(point, balls[i].centre);
        double distance = sqrt(dot(to, to));
        double facing = dot(to, normal) / distance;
        double size = balls[i].radius / distance;
        if (distance > 1.01 * balls[i].radius && facing > 0)
            open *= 1 - facing * size * size;
    }
    return open;
}

static bool in_shadow(vector point, vector to_lamp)
{
    for (int i = 0; i < BALLS; i++)
        if (meet(&balls[i], point, to_lamp) > 1e-4)
            return true;
    return false;
}

/* `a` and `b` choose the place on the lamp. */
static colour lit(const hit *h, vector direction, double a, double b)
{
    vector lamp = {-4.2 + 1.3 * a, 6.2 + 1.3 * b, 1.2};
    vector to_lamp = towards(h->point, lamp);
    double distance = sqrt(dot(to_lamp, to_lamp));
    to_lamp = scaled(to_lamp, 1 / distance);
    vector start = add(h->point, scaled(h->normal, 1e-3));

    colour ambient = {0.17, 0.19, 0.24};
    double open = openness(h->point, h->normal) * (0.65 + 0.35 * h->normal.y);
    double strength = 0;
    double gloss = 0;
    if (!in_shadow(start, to_lamp)) {
        vector half = unit(towards(direction, to_lamp));
        strength = 92 * fmax(dot(h->normal, to_lamp), 0) / (distance * distance);
        gloss = h->mirror > 0 ? 1.6 * pow(fmax(dot(h->normal, half), 0), 90) : 0;
    }
    return (colour){h->paint.r * (ambient.r * open + 1.0 * strength) + gloss,
                    h->paint.g * (ambient.g * open + 0.90 * strength) + gloss,
                    h->paint.b * (ambient.b * open + 0.74 * strength) + gloss};
}

/* What comes along a ray, seen in up to `depth` mirrors. */
static colour seen(vector origin, vector direction, double a, double b, int depth)
{
    hit h = trace(origin, direction);
    if (h.distance >= 1e9)
        return (colour){0.30, 0.32, 0.38};
    colour light = lit(&h, direction, a, b);
    if (h.mirror <= 0 || depth == 0)
        return light;
    double facing = fmax(-dot(direction, h.normal), 0);
    double mirror = h.mirror + (1 - h.mirror) * pow(1 - facing, 5);
    vector bounced = add(direction, scaled(h.normal, -2 * dot(direction, h.normal)));
    vector start = add(h.point, scaled(h.normal, 1e-3));
    return mix(light, seen(start, unit(bounced), a, b, depth - 1), mirror);
}

colour still_life(double x, double y, uint32_t sample)
{
    /* Four numbers in [-1, 1) of this sample: a place on the lens and one on the lamp. */
    double place[4];
    for (uint32_t i = 0; i < 4; i++)
        place[i] = 2 * noise_at((int32_t)x, (int32_t)y, 7000 + 4 * sample + i) - 1;

    const double focus = 5.6;
    const vector eye = {0.1, 1.75, -0.4};
    double scale = 1.02 / still_life_width;
    vector direction = {(x - still_life_width / 2.0) * scale,
                        (still_life_height / 2.0 - y) * scale - 0.16, 1};
    vector lens = {0.06 * place[0], 0.06 * place[1], 0};
    vector target = add(scaled(direction, focus), scaled(lens, -1));
    colour light = seen(add(eye, lens), unit(target), place[2], place[3], 3);
    double corner = hypot(x / still_life_width - 0.5, y / still_life_height - 0.5);
    return dim(light, 1.05 - 0.6 * corner * corner);
}
