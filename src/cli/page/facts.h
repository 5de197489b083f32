/* Where, when and by what something was measured. */
#ifndef GC_CLI_PAGE_FACTS_H
#define GC_CLI_PAGE_FACTS_H

#include "cli/measure/traffic.h"
#include "cli/options/options.h"

#include <stdbool.h>

enum { GC_FACT_BYTES = 512 };

typedef struct gc_facts {
    char program[GC_FACT_BYTES];  /* version and commit */
    char compiler[GC_FACT_BYTES]; /* and how it was used */
    char system[GC_FACT_BYTES];
    char processor[GC_FACT_BYTES];    /* of the host */
    char instructions[GC_FACT_BYTES]; /* vector instructions of the CPU */
    char clocks[GC_FACT_BYTES];       /* of the CPU while it measured; "" where not known */
    char gpu[GC_FACT_BYTES];          /* "" where none took part */
    char gpu_clocks[GC_FACT_BYTES];   /* of the GPU while it computed; "" where not known */
    char driver[GC_FACT_BYTES];       /* of the GPU; "" where none took part */
    char date[GC_FACT_BYTES];
    char command[4 * GC_FACT_BYTES];
    gc_roofs roofs;     /* of the GPU, as the driver describes it; 0 where none took part */
    gc_roofs cpu_roofs; /* of the processors, measured; 0 where they were not */
    /* Of a multiprocessor of the GPU, likewise: registers of 32 bits, resident threads, cores; and
     * threads of a warp. */
    int registers, threads, cores, warp;
} gc_facts;

/* Fills in the facts of this process. `with_gpu`: a GPU took part. */
void gc_facts_collect(const gc_options *options, bool with_gpu, gc_facts *facts);

#endif
