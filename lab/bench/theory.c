#include "lab/bench/theory.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { TRANSPOSED_FACTOR = 21 }; /* of both passes of twopass:transposed */

/* Whether a name is one of a list that ends with NULL. */
static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

double gc_kth_intensity(const char *implementation, int filter_width, int filter_height, int factor)
{
    static const char *const untiled[] = {"twopass:kth", "twopass:lecture", "twopass:lecture1d",
                                          NULL};
    static const char *const tiles[] = {"tiled", "adaptive", "adaptive:kth", NULL};
    static const char *const two_passes[] = {"twopass:transposed", "twopass:tiled", NULL};
    double taps = (double)filter_width * filter_height, sides = filter_width + filter_height;
    if (strcmp(implementation, "naive") == 0)
        return 2 * taps / (8 * taps);
    if (strcmp(implementation, "shared") == 0)
        return 2 * taps / (4 * 4 + 4 * taps);
    if (strcmp(implementation, "const") == 0 || strcmp(implementation, "const:kth") == 0)
        return 2 * taps / (4 * 4);
    if (is_one_of(implementation, untiled))
        return (2.0 * filter_width / (4 * 2) + 2.0 * filter_height / (4 * 2)) / 2;
    if (strcmp(implementation, "twopass:transposed") == 0)
        factor = TRANSPOSED_FACTOR;
    if (factor > 0 && is_one_of(implementation, tiles))
        return 2 * taps * factor / (4 * (2 * 4 + (factor - 2) * 2));
    if (factor > 0 && is_one_of(implementation, two_passes))
        return 2 * sides * factor / (4 * (2 * 2 + (factor - 2)));
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
