/* Every tap of the filter for every value. Applies to any matrix. */
#include "cpu/solver/solver.h"

bool gc_question_of_matrix(const gc_question *question)
{
    return question->step->taps != NULL;
}

static double seconds(const gc_question *question, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    (void)estimate;
    double taps = (double)step->width * step->height * question->instructions->matrix_factor;
    return gc_taps_seconds(question, taps, step->height);
}

double gc_matrix_error(const gc_question *question, const gc_estimate *estimate)
{
    const gc_step *step = question->step;
    (void)estimate;
    return gc_taps_error(question->input, step->taps, (size_t)step->width * (size_t)step->height);
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    stage->instructions->taps->every(stage->step, input->rows, (size_t)stage->channels, values,
                                     row_count, out);
}

const gc_solver gc_solver_every_tap = {
    .name = "taps",
    .applies = gc_question_of_matrix,
    .seconds = seconds,
    .run = run,
    .words = "every tap",
    .error = gc_matrix_error,
};
