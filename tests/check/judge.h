/* The independent judge: contract.md, rules 1 to 7, a second time, written differently from the
 * library, so that an error shared by the reference and its relatives is still caught. */
#pragma once

#include "gconv.h"
#include "image.h"

/* Multiply-adds that judging this job takes. */
double judge_work(const gconv_job *job);

/* Channels in the chain, and the product of the divisors. */
int judge_channels(const gconv_job *job);
double judge_divisor(const gconv_job *job);

/* Chain values of an image, `judge_channels` interleaved, without padding. Sums are kept in long
 * double and never rounded between steps; whole numbers are exact. Freed with free. */
float *judge_chain(const gconv_job *job, const check_image *input);

/* Values that an output sample may have. */
typedef struct judge_range {
    double low, high;
} judge_range;

/* The final conversion (rules 5 to 7): output channel `channel` of the pixel whose chain values are
 * `chain`, each up to `bound` off, and whose own alpha is `alpha`. At depth 1 white is 1. */
judge_range judge_output(const gconv_job *job, const float *chain, double bound, double alpha,
                         int channel);

/* The sample of an exact chain value, rounded once. Alpha multiplies no colours. */
double judge_once(const gconv_job *job, float value);
