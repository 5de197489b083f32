/* A job made ready to compute: checked, with everything derived that implementations share. */
#ifndef GC_CORE_PROBLEM_H
#define GC_CORE_PROBLEM_H

#include "core/chain.h"
#include "core/conversion.h"

typedef struct gc_problem {
    gconv_job job;            /* a copy of the caller's; `input` is what enters the chain */
    gconv_tiling tiling;      /* that of `job`, and what the name of the implementation says */
    gconv_filter **filters;   /* copies, which `job` and `chain` refer to */
    gconv_shape given;        /* of the rows that a source gives: colours, if `to_grey` */
    bool to_grey;             /* edges of colours: rows become grey when they are read */
    gc_chain chain;           /* what is computed */
    gc_conversion conversion; /* how samples become chain values, and chain values output */
    bool gpu_in_use;          /* gc_gpu_started, when the problem was made */
} gc_problem;

/* Checks `job` and fills `problem`, which keeps neither filters nor their array. It keeps the
 * strings. */
gconv_status gc_problem_create(const gconv_job *job, gc_problem *problem, gconv_error *error);
void gc_problem_destroy(gc_problem *problem);

#endif
