/* The taps that are not 0, one output row after the other. Each load of samples serves one tap
 * alone, so this pays only if most weights are 0. */
#include "cpu/solver/solver.h"

#include "cpu/cost.h"

static double seconds(const gc_question *question, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    int taps = 0;
    (void)estimate;
    for (int i = 0; i < step->width * step->height; i++)
        taps += step->taps[i] != 0;
    return gc_products_seconds(question, taps * GC_SPARSE_FACTOR);
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    stage->instructions->taps->sparse(stage->step, input->rows, (size_t)stage->channels, values,
                                      row_count, out);
}

const gc_solver gc_solver_sparse = {
    .name = "sparse",
    .applies = gc_question_of_matrix,
    .seconds = seconds,
    .run = run,
    .words = "taps that are not 0",
    .error = gc_matrix_error,
};
