#include "lab/bench/roofs.h"

#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "lab/bench/locality.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

/* A piece of work takes some tenths of a millisecond, so that threads which come late do not
 * matter. */
enum { ROUNDS = 1 << 15, PIECES = 256, RUNS = 5 };

typedef struct spinning {
    int pieces;
    atomic_int next;
    atomic_llong operations, nanoseconds; /* of processors */
} spinning;

/* Nanoseconds for which this thread had a processor: on a busy machine fewer than passed. */
static long long thread_nanoseconds(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

static void spin(void *user, int member)
{
    spinning *s = user;
    long long start = thread_nanoseconds();
    (void)member;
    while (atomic_fetch_add(&s->next, 1) < s->pieces)
        atomic_fetch_add(&s->operations, (long long)gconv_cpu_spin(ROUNDS));
    atomic_fetch_add(&s->nanoseconds, thread_nanoseconds() - start);
}

/* Operations a second of one run by all threads, if each has a processor. */
static double measure_peak(int threads)
{
    spinning s = {.pieces = threads * PIECES};
    gc_team_run(threads, true, spin, &s);
    return 1e9 * threads * (double)atomic_load(&s.operations) / (double)atomic_load(&s.nanoseconds);
}

gconv_status gc_cpu_measure_roofs(int threads, gc_roofs *roofs, gconv_error *error)
{
    const double bytes = 2.0 * 8 * GC_LOCALITY_NUMBERS; /* numbers of 8 bytes, read and written */
    gc_locality *memory;
    *roofs = (gc_roofs){.peak = 0};
    GC_TRY(gc_locality_create(threads, &memory, error));
    for (int i = 0; i < RUNS; i++) {
        roofs->bandwidth = fmax(roofs->bandwidth, bytes / gc_locality_pass(memory, 1));
        roofs->peak = fmax(roofs->peak, measure_peak(gc_thread_count(threads)));
    }
    gc_locality_free(memory);
    return GCONV_OK;
}
