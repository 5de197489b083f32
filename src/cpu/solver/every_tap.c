/* Every tap of the filter for every value. Applies to any matrix. */
#include "cpu/solver/solver.h"

static bool applies(const gc_question *question)
{
    return question->step->taps != NULL;
}

static double seconds(const gc_question *question, double limit, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    (void)limit;
    (void)estimate;
    return gc_taps_seconds(question, (double)step->width * step->height, step->height);
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
    stage->instructions->taps->every(stage->step, input->rows, (size_t)stage->channels, values,
                                     row_count, out);
}

static const char *describe(const gc_stage *stage)
{
    (void)stage;
    return "every tap";
}

const gc_solver gc_solver_every_tap = {
    .name = "taps",
    .applies = applies,
    .seconds = seconds,
    .run = run,
    .describe = describe,
    .error = error_of,
};
