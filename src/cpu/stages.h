/* What the cpu implementation makes of a chain: one stage for each step, by the solver that is
 * expected to be fastest. */
#pragma once

#include "cpu/once.h"
#include "cpu/pass.h"
#include "cpu/solver/solver.h"

typedef struct gc_stages {
    const gc_instructions *instructions;
    const gc_pass *pass; /* computes the job in the place of the stages; else NULL */
    void *shared;        /* of the pass */
    gc_stage *list;
    int count;
    bool once;                /* output is settled to be rounded once: see cpu/once.h */
    bool in_double;           /* gc_cpu_sums_in_double: stages are for chain values alone */
    bool rounds_values;       /* all of it: gc_cpu_rounds_values */
    gc_levels levels;         /* if `once` and not all */
    int rows_at_once;         /* the largest of all stages */
    size_t scratch;           /* floats that a stage needs to work in, the most of all */
    size_t scratch_of_column; /* and for each column of its output, the most of all */
} gc_stages;

/* Whether every step can be computed: GCONV_ERROR_UNSUPPORTED if the job names a solver that
 * cannot. */
gconv_status gc_stages_check(const gc_problem *problem, gconv_error *error);

gconv_status gc_stages_create(gc_stages *stages, const gc_problem *problem, gconv_error *error);
void gc_stages_destroy(gc_stages *stages);

/* Expected seconds of an image on one thread, without start-up. */
double gc_stages_seconds(const gc_problem *problem);

/* Terms that the summation of a step adds to the bound of rule 4: the most of all steps. */
double gc_stages_extra_terms(const gc_problem *problem);

/* Lines of text: what was chosen for each step. */
void gc_stages_describe(const gc_stages *stages, char *text, size_t size);
