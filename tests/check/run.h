/* One case against one implementation. */
#pragma once

#include "verdict.h"

/* Multiply-adds up to which a case is also judged by judge.c. */
#define CHECK_JUDGE_WORK 1e6

/* Output rows, without padding, that the judge found right: none are judged a second time. */
typedef struct check_found {
    unsigned char *rows; /* NULL: none yet */
    double bound;        /* on the chain values that they were judged by */
} check_found;

/* A case with its image and what must come out. */
typedef struct check_trial {
    check_case made;
    check_image input;
    unsigned char *input_copy; /* of its whole allocation */
    float *reference;          /* chain values of `reference`, without padding; NULL: it failed */
    check_image output;        /* what `reference` makes of them */
    bool exact;
    bool judged;          /* `reference` was itself compared with judge.c */
    check_found found[2]; /* the last ones: of samples by rule 5, and of those rounded once */
} check_trial;

/* Makes case `index` and has `reference` compute it, judged where it is small. */
check_verdict check_trial_create(check_trial *trial, uint64_t seed, int index);

/* The same of a case that is made, which check_trial_free frees. */
check_verdict check_trial_of(check_trial *trial, uint64_t seed, check_case made);
void check_trial_free(check_trial *trial);

/* Checks the implementation that `subject` names: chain values, output in memory, output by rows.
 * For `reference` itself the judge's verdict counts. */
check_verdict check_trial_run(check_trial *trial, check_subject *subject);
