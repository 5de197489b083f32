/* Under what circumstances something is measured: program, machine, device, options. */
#pragma once

#include "cli/image/session.h"
#include "cli/measure/traffic.h"
#include "gconv.h"

#include <stddef.h>

/* What measures. */
typedef struct gc_machine {
    char system[256]; /* "Linux 6.1.0 x86_64" */
    gconv_device_info processor;
    gconv_device_info gpu; /* its name is "" if none takes part */
    gc_roofs cpu;          /* of the processors, measured; 0 if they were not */
} gc_machine;

/* Describes the machine. Asks about GPUs only if one of these implementations may run on one;
 * then it is the GPU of --device, else the first. */
void gc_machine_describe(const gc_session *session, const char *const *names, int name_count,
                         gc_machine *machine);

/* The value of "command" in the line below. */
#define GC_CIRCUMSTANCES_COMMAND "bench --resume"

/* A line of JSON, one object of texts and numbers, that says what is measured by which program on
 * which machine: equal lines stand for equal circumstances. free releases it. NULL if memory is
 * short. */
char *gc_circumstances_line(const gc_session *session, const gc_machine *machine, size_t *size);
