/* Every tap of the filter for every value. Applies to any step. */
#include "cpu/method/method.h"

static bool applies(const gc_question *question)
{
    (void)question;
    return true;
}

static double seconds(const gc_question *question, double limit, gc_offer *offer)
{
    const gc_step *step = question->step;
    (void)limit;
    (void)offer;
    return gc_taps_seconds(question->instructions, (double)step->width * step->height,
                           step->height);
}

static gconv_status create(gc_stage *stage, const gc_question *question, const gc_offer *offer,
                           gconv_error *error)
{
    (void)question;
    (void)offer;
    (void)error;
    stage->rows_at_once = GC_ROWS_TOGETHER;
    return GCONV_OK;
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

static void release(gc_stage *stage)
{
    (void)stage;
}

const gc_method gc_method_every_tap = {
    .applies = applies,
    .seconds = seconds,
    .create = create,
    .run = run,
    .describe = describe,
    .release = release,
};
