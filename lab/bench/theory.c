#include "lab/bench/theory.h"

#include <math.h>
#include <string.h>

/* Equation 14: a column and a row, each with `factor` tiles. */
static double separable_intensity(int filter_width, int filter_height, int factor)
{
    return 2.0 * (filter_width + filter_height) * factor / (4 * (2 * 2 + (factor - 2)));
}

double gc_kth_intensity(const char *implementation, int filter_width, int filter_height, int factor)
{
    double taps = (double)filter_width * filter_height;
    if (strcmp(implementation, "naive") == 0)
        return 2 * taps / (8 * taps);
    if (strcmp(implementation, "shared") == 0)
        return 2 * taps / (4 * 4 + 4 * taps);
    if (strcmp(implementation, "const") == 0)
        return 2 * taps / (4 * 4);
    if (strcmp(implementation, "twopass") == 0)
        return (2.0 * filter_width / (4 * 2) + 2.0 * filter_height / (4 * 2)) / 2;
    if (strcmp(implementation, "tiled") == 0 || strcmp(implementation, "adaptive") == 0 ||
        strcmp(implementation, "adaptive:kth") == 0)
        return 2 * taps * factor / (4 * (2 * 4 + (factor - 2) * 2));
    if (strcmp(implementation, "twopass:tiled") == 0)
        return separable_intensity(filter_width, filter_height, factor);
    return 0;
}

double gc_locality_factor(int points)
{
    return 5 * log2(points);
}

double gc_locality_flops(int points, double bandwidth)
{
    return gc_locality_factor(points) * bandwidth / 8;
}
