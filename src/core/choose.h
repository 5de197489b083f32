/* Which implementation computes a problem, and where. */
#pragma once

#include "core/device.h"
#include "core/implementation.h"

/* The result of choosing. */
typedef struct gc_choice {
    const gc_implementation *implementation;
    gconv_device_info device;
    bool for_now;      /* the CPU computes until a GPU has started */
    bool counted;      /* the device counts the plan of this choice: see gc_device_take */
    char *explanation; /* lines of text; owned */
} gc_choice;

/* Appends a line to an explanation. Drops the line if memory is out. */
void gc_explain(char **text, const char *format, ...) GC_PRINTF(2, 3);

/* Follows job->implementation and job->device. What they name must be usable. `auto` takes the
 * implementation that is expected to be fastest among those that support the problem. Devices of
 * `excluded` are not chosen. */
gconv_status gc_choose(const gc_problem *problem, gc_device_set excluded, gc_choice *choice,
                       gconv_error *error);

/* gconv_device_foresee of a problem. */
bool gc_foresee(const gc_problem *problem);

/* Takes the plan off the device's count. */
void gc_choice_leave_device(gc_choice *choice);
void gc_choice_destroy(gc_choice *choice);
