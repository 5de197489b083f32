/* The taps that are not 0, one output row after the other. A vector of samples that is loaded meets
 * one tap alone, so that it takes many zeros for this to pay. */
#include "cpu/solver/solver.h"

#include "cpu/cost.h"

static bool applies(const gc_question *question)
{
    return question->step->taps != NULL;
}

static double seconds(const gc_question *question, double limit, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    int taps = 0;
    (void)limit;
    (void)estimate;
    for (int i = 0; i < step->width * step->height; i++)
        taps += step->taps[i] != 0;
    return gc_products_seconds(question, taps * GC_SPARSE_FACTOR);
}

static double error_of(const gc_question *question, const gc_estimate *estimate)
{
    const gc_step *step = question->step;
    (void)estimate;
    return gc_taps_error(question->input, step->taps, (size_t)step->width * (size_t)step->height);
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    stage->instructions->taps->sparse(stage->step, input->rows, (size_t)stage->channels, values,
                                      row_count, out);
}

static const char *describe(const gc_stage *stage)
{
    (void)stage;
    return "taps that are not 0";
}

const gc_solver gc_solver_sparse = {
    .name = "sparse",
    .applies = applies,
    .seconds = seconds,
    .run = run,
    .describe = describe,
    .error = error_of,
};
