/* One filter from samples of 8 bits to samples of 8 bits, without rows of chain values in between:
 * rows are summed in integers, columns in float32. All samples are those of the reference. */
#ifndef GC_CPU_SOLVER_LEVELS_H
#define GC_CPU_SOLVER_LEVELS_H

#include "core/problem.h"
#include "cpu/instructions/instructions.h"

/* The longest side of a filter; values that are computed side by side. */
enum { GC_LEVELS_SIDE_MAX = 31, GC_LEVELS_GROUP = 8 };

typedef struct gc_levels {
    const gc_problem *problem;
    const gc_step *step;
    int channels; /* of a row of samples, alpha that is kept among them */
    gc_levels_row row;
    gc_levels_column column;
    double *weights; /* the step's, in reading order */
    bool backwards;  /* the reference adds products from the last one to the first */
    uint8_t border[GC_CHANNELS_MAX];
} gc_levels;

/* Whether the problem is one filter of rank 1 from 8 bits to 8 bits. Cheap. */
bool gc_levels_applies(const gc_problem *problem);

/* Seconds that a value of the image takes on one thread, conversion included. */
double gc_levels_seconds(const gc_problem *problem, const gc_instructions *instructions);

/* Makes what loops need. Where too many values would be near a tie, `step` is NULL afterwards. */
gconv_status gc_levels_create(gc_levels *levels, const gc_problem *problem, gconv_error *error);
void gc_levels_destroy(gc_levels *levels);

/* Chain values of the reference: values i in [0, count) of a row, where tap (j, k) reads sample
 * rows[j][i + k * channels]. sums has room for `count`. */
void gc_levels_sum(const gc_levels *levels, const uint8_t *const *rows, size_t count, double *sums,
                   float *values);

/* The same of values anywhere in the image: tap (j, k) of value g reads rows[j][g][k * channels]. */
void gc_levels_sum_places(const gc_levels *levels, const uint8_t *const (*rows)[GC_LEVELS_GROUP],
                          float values[GC_LEVELS_GROUP]);

/* Words for people. */
const char *gc_levels_describe(const gc_levels *levels);

#endif
