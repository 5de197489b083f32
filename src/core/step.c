#include "core/step.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

static gconv_status copy_matrix(const gconv_filter *filter, bool correlate, gc_step *step,
                                gconv_error *error)
{
    size_t count = (size_t)filter->width * (size_t)filter->height;
    step->taps = gc_allocate_aligned(count, sizeof *step->taps);
    GC_TRY_MEMORY(step->taps != NULL, error, count * sizeof *step->taps);
    for (size_t i = 0; i < count; i++) {
        step->taps[i] = filter->weights[correlate ? i : count - 1 - i];
        step->absolute_sum += fabs((double)step->taps[i]);
    }
    return GCONV_OK;
}

/* Returns the sum of the magnitudes. */
static double copy_vector(const double *values, int count, bool correlate, double *to)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        to[i] = values[correlate ? i : count - 1 - i];
        sum += fabs(to[i]);
    }
    return sum;
}

static gconv_status copy_vectors(const gconv_filter *filter, bool correlate, gc_step *step,
                                 gconv_error *error)
{
    size_t count = (size_t)filter->width + (size_t)filter->height;
    step->column = gc_allocate_array(count, sizeof *step->column);
    GC_TRY_MEMORY(step->column != NULL, error, count * sizeof *step->column);
    step->row = step->column + filter->height;
    step->absolute_sum = copy_vector(filter->column, filter->height, correlate, step->column) *
                         copy_vector(filter->row, filter->width, correlate, step->row);
    return GCONV_OK;
}

static gconv_status set_terms(const gconv_filter *filter, bool correlate, gc_step *step,
                              gconv_error *error)
{
    size_t count = gc_step_term_count(step);
    step->terms = gc_allocate_array(count, sizeof *step->terms);
    GC_TRY_MEMORY(step->terms != NULL, error, count * sizeof *step->terms);
    int first = step->column != NULL ? step->height : (int)count;
    if (filter->terms != NULL) {
        copy_vector(filter->terms, first, correlate, step->terms);
        copy_vector(filter->terms + first, (int)count - first, correlate, step->terms + first);
    }
    for (size_t i = 0; filter->terms == NULL && i < count; i++)
        step->terms[i] = step->column != NULL ? step->column[i] : (double)step->taps[i];
    return GCONV_OK;
}

/* Weights in reading order. True convolution reads the filter backwards (contract.md, rule 1). */
gconv_status gc_step_create(const gconv_filter *filter, bool correlate, gc_step *step,
                            gconv_error *error)
{
    *step = (gc_step){.filter = filter, .width = filter->width, .height = filter->height};
    step->left = correlate ? filter->anchor_x : filter->width - 1 - filter->anchor_x;
    step->top = correlate ? filter->anchor_y : filter->height - 1 - filter->anchor_y;
    GC_TRY(filter->weights != NULL ? copy_matrix(filter, correlate, step, error)
                                   : copy_vectors(filter, correlate, step, error));
    return set_terms(filter, correlate, step, error);
}

void gc_step_destroy(gc_step *step)
{
    free(step->taps);
    free(step->column);
    free(step->terms);
}

int64_t gc_step_above(const gc_step *step)
{
    return step->top;
}

int64_t gc_step_below(const gc_step *step)
{
    return step->height - 1 - step->top;
}
