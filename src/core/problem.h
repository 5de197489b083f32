/* A job made ready to compute: checked, with everything derived that implementations share. */
#pragma once

#include "core/chain.h"
#include "core/conversion.h"
#include "core/detector.h"
#include "core/rounding.h"

typedef struct gc_problem {
    gconv_job job;            /* a copy of the caller's; `input` is what enters the chain */
    gconv_tiling tiling;      /* that of `job`, and what the name of the implementation says */
    gconv_filter **filters;   /* copies, which `job` and `chain` refer to */
    gconv_shape given;        /* of the rows that a source gives: colours, if `to_grey` */
    bool to_grey;             /* edges of colours: rows become grey when they are read */
    gc_chain chain;           /* what is computed */
    gc_conversion conversion; /* how samples become chain values, and chain values output */
    gc_rounding rounding;     /* of exact sums to output */
    gc_detector detector;     /* what finds edges in chain values */
    bool gpu_in_use;          /* gc_gpu_started, when the problem was made */
} gc_problem;

/* Checks `job` and fills `problem`, which keeps neither filters nor their array. It keeps the
 * strings. */
gconv_status gc_problem_create(const gconv_job *job, gc_problem *problem, gconv_error *error);
void gc_problem_destroy(gc_problem *problem);

/* Whether output can be rounded once from sums in double, by gc_round_once and gc_passes_threshold:
 * double holds the sums S of the chain, and samples enter the chain unscaled. */
static inline bool gc_problem_may_round_once(const gc_problem *problem)
{
    return problem->rounding.once && problem->chain.sums_fit && problem->chain.denominator == 1 &&
           problem->conversion.output.depth != 32;
}

/* Whether all implementations give the same bits, whatever they promise. They do if a detector
 * finds edges. They also do if the sums are exact, and rule 5 in double rounds them as
 * gc_round_once does or gc_round_once is not used. */
static inline bool gc_problem_is_same_everywhere(const gc_problem *problem)
{
    return gc_detects(&problem->detector) ||
           (problem->chain.exact && (problem->rounding.plain || !problem->rounding.once));
}
