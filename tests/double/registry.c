/* Replaces src/core/registry.c in the program that runs on the double. The table is the same, but
 * `auto` takes a GPU for every image. Of the GPU's implementations it takes naive, which the double
 * can run. */
#define gc_implementation_at gc_listed_implementation_at
#include "core/registry.c"
#undef gc_implementation_at

#include "core/gpu.h"

#include <pthread.h>
#include <string.h>

const gc_implementation *gc_implementation_at(int index);

#define FAST_SECONDS 1e-3 /* the cost of a GPU */

/* The cost of the CPU. It is above the least that a GPU could take, so that one is asked, and above
 * the cost of the double's kernels. But nothing is started for one pixel, as anywhere. */
static double slow(const gc_problem *problem, const gconv_device_info *device)
{
    (void)device;
    if (problem->chain.width == 1 && problem->chain.height == 1)
        return 0;
    return 2 * (gc_gpu_least_seconds(problem, 0) + FAST_SECONDS);
}

static double fast(const gc_problem *problem, const gconv_device_info *device)
{
    (void)problem;
    (void)device;
    return FAST_SECONDS;
}

static double fairly_fast(const gc_problem *problem, const gconv_device_info *device)
{
    return 2 * fast(problem, device); /* auto prefers naive though others round once */
}

static gc_operations operations[IMPLEMENTATION_COUNT];
static gc_implementation table[IMPLEMENTATION_COUNT];

static void fill_table(void)
{
    for (int i = 0; i < IMPLEMENTATION_COUNT; i++) {
        table[i] = implementations[i];
        operations[i] = table[i].kind == GCONV_DEVICE_CPU ? *table[i].operations
                                                          : *gc_gpu_operations(table[i].name);
        operations[i].cost = table[i].kind == GCONV_DEVICE_CPU     ? slow
                             : strcmp(table[i].name, "naive") == 0 ? fast
                                                                   : fairly_fast;
        table[i].operations = &operations[i];
    }
}

const gc_implementation *gc_implementation_at(int index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_table);
    return index >= 0 && index < IMPLEMENTATION_COUNT ? &table[index] : NULL;
}
