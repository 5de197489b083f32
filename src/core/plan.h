/* The members of a plan, for the files of src/core that work on plans. */
#pragma once

#include "core/choose.h"
#include "gconv_lab.h"

struct gconv_plan {
    gc_problem problem;
    gc_choice choice;
    char *implementation_name; /* copies: the job's strings need not outlive creation */
    char *device_name;
    void *state;          /* of the implementation */
    gconv_error fallback; /* why another device took over; status GCONV_OK if none did */
    gc_device_set failed; /* CUDA devices that failed in runs of this plan */
    char *description;    /* explanation and what the implementation chose */
    gc_watch watch;       /* of its runs; may be changed between them */
    gc_waiter waiter;     /* likewise */
    char *chain_too;      /* of gconv_plan_run_reference, as long as it runs */
    size_t chain_too_stride;
};
