/* Rounding once (contract.md, rule 99): which jobs the cpu implementation promises it for, and how
 * far from the true level a computed one may be. */
#pragma once

#include "cpu/solver/solver.h"

/* Steps of a chain that is rounded once. */
enum { GC_ONCE_STEPS_MAX = 16 };

/* What is known of the values that enter a step. */
typedef struct gc_entry {
    gc_extent extent; /* of the values and of those that float32 has in their place */
    double error;     /* how far the two are apart */
    double unit;      /* a true value in units of `terms` over the same in units of taps */
} gc_entry;

/* Of the first step. */
gc_entry gc_entry_first(const gc_problem *problem);

/* Adds the values of a constant border of the step. */
void gc_entry_meet_border(const gc_problem *problem, const gc_step *step, gc_entry *entry);

/* Makes it the entry of what follows the step, whose sums err by `error` themselves. */
void gc_entry_pass(const gc_step *step, double error, gc_entry *entry);

/* Levels are v of gc_rounding in levels of 8 bits. For edges they are the response, or minus that
 * for GCONV_RULE_NEGATIVE. */
typedef struct gc_levels {
    double divisor, scale, offset; /* offset + scale * (chain value / divisor) */
    bool absolute;                 /* of the quotient */
    double error;                  /* less than this far from the true level */
    bool has_boundary;             /* output depends on one boundary, not on ties */
    gc_boundary boundary;
} gc_levels;

/* `entry` is what leaves the last step. */
gc_levels gc_levels_of(const gc_problem *problem, const gc_entry *entry);

/* Whether doubtful samples are settled, so that the output is rounded once. Depends on the job
 * alone. Chains that rule 5 in double rounds once need nothing of this: false. */
bool gc_cpu_settles(const gc_problem *problem);

/* Whether every value of an exact chain is rounded by gc_round_once, since rule 5 in double may
 * round it twice and nothing is settled. */
bool gc_cpu_rounds_values(const gc_problem *problem);

/* Whether the output is rounded from sums of whole areas in double. */
bool gc_cpu_sums_in_double(const gc_problem *problem);

/* A power of 2. The whole multiples of it in a step's terms have a sum that double holds, and so
 * has the rest. 0 if there is none, or double holds the sum of both. */
double gc_cpu_split_at(const gc_problem *problem);
