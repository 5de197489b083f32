/* A job made ready to compute: checked, with everything derived that implementations share.
 *
 * Rule 3 of the contract is built in here: steps use undivided weights, the product of the divisors
 * waits for the final conversion, the border constant of a step is multiplied by the divisors
 * before it, and `exact` says when the arithmetic therefore cannot round. */
#ifndef GC_CORE_PROBLEM_H
#define GC_CORE_PROBLEM_H

#include "gconv.h"

enum { GC_CHANNELS_MAX = 4 };

/* One filter of the chain in reading order of its input, so that convolution and correlation look
 * alike: out(x,y) = sum_j sum_i taps[j*width+i] * in(x + i - left, y + j - top). */
typedef struct gc_step {
    const gconv_filter *filter; /* as the user gave it */
    float *taps;
    int width, height;
    int left, top;
    float border[GC_CHANNELS_MAX]; /* constant border of this step's input, per chain channel */
    double absolute_sum;           /* sum of |taps| */
    double largest_input;          /* that |value| of its input is never above */
    double largest_value;          /* the same with what rule 4 allows implementations to round */
    double least_scale; /* what max|in| of rule 4 is where an image's largest sample is 1 */
} gc_step;

typedef struct gc_problem {
    gconv_job job; /* a copy; `filters` is the caller's */
    gc_step *steps;
    int step_count;
    uint32_t width, height;
    int channels;       /* chain channels, interleaved: colours, and alpha unless it is kept */
    bool keeps_alpha;   /* alpha is not in the chain and is copied at the end */
    bool premultiplies; /* chain channels are colour * alpha and, last, alpha */
    bool bilevel;       /* output is black or white: edges, or depth 1 of filter */
    gconv_shape output;
    double sample_max; /* 255 or 65535: the input's white */
    double divisor;    /* product of all divisors */
    double offset;     /* of the final conversion, in samples of the input's depth */
    double threshold;  /* edges: in chain values, not negative for a threshold that is not */
    gconv_rule rule;   /* edges: as it applies to chain values (a negative divisor flips it) */
    bool exact;
    bool gpu_in_use; /* gc_gpu_started, when the problem was made */
} gc_problem;

/* Checks `job` and fills `problem`. */
gconv_status gc_problem_create(const gconv_job *job, gc_problem *problem, gconv_error *error);
void gc_problem_destroy(gc_problem *problem);

/* Bound on |chain value - reference's| (rule 4): of a step 4 n (2^-24 sum|w| max|in| + 2^-150), the
 * second term being half of the smallest float32, and each step's error propagated through the later
 * ones. `largest_input` is the largest |value| that enters the chain, `extra_terms` what an
 * implementation's summation adds to a step's n = w*h. 0 where the chain is exact. */
double gc_problem_bound(const gc_problem *problem, double largest_input, double extra_terms);

/* Bound on how far a step of an exact chain, computed through Fourier transforms in double of
 * 2^log2_points values, ends from the integer it stands for: rounding to the nearest integer is
 * exact where this is under 1/2. */
double gc_transform_error(double log2_points);

/* Rows *from to *to of a step's input are what its output rows `first` to `last` read. Under wrap,
 * and only there, they may lie outside the image: row y then is row y modulo the height, of every
 * step's output alike, since wrapping commutes with convolution. */
void gc_step_range(const gc_problem *problem, const gc_step *step, int64_t first, int64_t last,
                   int64_t *from, int64_t *to);

/* Rows above and below an output row that a step reads. */
int64_t gc_step_above(const gc_step *step);
int64_t gc_step_below(const gc_step *step);

/* True where a row may read any other: a reflection passes the far end, because the filter is
 * larger than the image. */
bool gc_step_reads_any_row(const gc_problem *problem, const gc_step *step);

/* Weights over all steps: the multiply-adds a chain value takes. */
double gc_problem_taps(const gc_problem *problem);

#endif
