/* The loops of `cpu` for programs that measure them: gconv_lab.h. */
#include "cpu/fast/loops/transform.h"
#include "cpu/instructions/instructions.h"
#include "gconv_lab.h"

#include <math.h>
#include <pthread.h>

_Static_assert((int)GCONV_CPU_LINES_MAX == (int)GC_LANES_MAX, "the header says so");

static const gc_transform_loops *loops_chosen;

static void choose(void)
{
    loops_chosen = gc_instructions_chosen()->transforms.loops;
}

/* Choosing takes longer than transforming a few short lines. */
static const gc_transform_loops *transform_loops(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return loops_chosen;
}

int gconv_cpu_lines(void)
{
    return transform_loops() != NULL ? transform_loops()->lanes : 0;
}

void gconv_cpu_transform_lines(int points, gconv_complex lines, gconv_complex roots,
                               gconv_complex room)
{
    const gc_transform_loops *loops = transform_loops();
    const gc_transform transform = {.side = points,
                                    .stride = (size_t)loops->lanes,
                                    .cosine = roots.real,
                                    .sine = roots.imaginary};
    loops->spectrum(&transform, (gc_complex){lines.real, lines.imaginary},
                    (gc_complex){room.real, room.imaginary});
}

double gconv_cpu_spin(size_t rounds)
{
    const gc_taps_loops *loops = gc_instructions_chosen()->taps;
    float sum = loops->spin(rounds, 0.5f); /* sums come near 1 */
    /* They are looked at, so that the loops are not left out. */
    return isfinite(sum) ? 2.0 * (double)rounds * loops->spin_lanes : 0;
}
