/* THE table of methods. A new one is a file, a row here, and a line of CMakeLists.txt. */
#include "cpu/method/method.h"

#include "cpu/cost.h"

#include <math.h>

extern const gc_method gc_method_every_tap, gc_method_sparse, gc_method_bytes, gc_method_tiles,
    gc_method_products;

/* The first applies to every step. Of equally cheap methods the first is taken. Methods that need
 * long to find out what they cost come last: the limit of the others can end their search early. */
static const gc_method *const methods[] = {
    &gc_method_every_tap, &gc_method_sparse,   &gc_method_bytes,
    &gc_method_tiles,     &gc_method_products,
};
enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

void gc_method_choose(const gc_question *question, gc_offer *best)
{
    *best = (gc_offer){.method = methods[0]};
    best->seconds = methods[0]->seconds(question, HUGE_VAL, best);
    for (int m = 1; m < METHOD_COUNT; m++) {
        gc_offer offer = {.method = methods[m]};
        if (methods[m]->applies != NULL && !methods[m]->applies(question))
            continue;
        offer.seconds = methods[m]->seconds(question, best->seconds, &offer);
        if (offer.seconds < best->seconds)
            *best = offer;
    }
}

double gc_taps_seconds(const gc_instructions *instructions, double taps, int height)
{
    return GC_STAGE_SECONDS + taps * (height == 1 ? GC_FLAT_FACTOR : 1) * instructions->tap_seconds;
}
