/* Sums of 8-bit samples times small whole weights in integers: exact, and four products to a
 * lane. */
#include "cpu/fast/bytes.h"

#include "base/status.h"
#include "cpu/cost.h"
#include "cpu/solver/solver.h"

#include <math.h>
#include <stdlib.h>

/* Only for the first step of a chain, which samples of 8 bits enter as they are. Weights are whole
 * and fit signed bytes. The chain is exact, so that all sums stay below 2^24. */
static bool applies(const gc_question *question)
{
    const gc_step *step = question->step;
    if (question->instructions->bytes == NULL || step->taps == NULL ||
        !question->problem->chain.exact || !gc_question_of_bytes(question))
        return false;
    for (int i = 0; i < step->width * step->height; i++)
        if (step->taps[i] != truncf(step->taps[i]) || step->taps[i] < INT8_MIN ||
            step->taps[i] > INT8_MAX)
            return false;
    return true;
}

/* Elements of a row of the step. */
static int row_elements(const gc_step *step, int channels)
{
    int bytes = (step->width - 1) * channels + 1;
    return (bytes + GC_BYTES_GROUP - 1) / GC_BYTES_GROUP;
}

static double seconds(const gc_question *question, gc_estimate *estimate)
{
    const gc_step *step = question->step;
    int width = row_elements(step, question->problem->chain.channels);
    (void)estimate;
    return GC_STAGE_SECONDS + (double)width * step->height * question->instructions->tap_seconds;
}

gconv_status gc_byte_step_create(gc_byte_step *bytes, const gc_step *step, int channels,
                                 gconv_error *error)
{
    *bytes = (gc_byte_step){.width = row_elements(step, channels), .height = step->height};
    size_t count = (size_t)bytes->width * (size_t)bytes->height;
    bytes->taps = calloc(count, sizeof *bytes->taps);
    GC_TRY_MEMORY(bytes->taps != NULL, error, count * sizeof *bytes->taps);
    for (int j = 0; j < step->height; j++) {
        int8_t *row = (int8_t *)(bytes->taps + j * bytes->width);
        for (int i = 0; i < step->width; i++)
            row[i * channels] = (int8_t)step->taps[j * step->width + i];
    }
    return GCONV_OK;
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    (void)question;
    (void)estimate;
    stage->takes_bytes = true;
    return gc_byte_step_create(stage->own, stage->step, stage->channels, error);
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    stage->instructions->bytes->every(stage->own, input->bytes, GC_BYTES_GROUP, values, row_count,
                                      out);
}

static void release(void *own)
{
    free(((gc_byte_step *)own)->taps);
}

const gc_solver gc_solver_bytes = {
    .name = "bytes",
    .applies = applies,
    .seconds = seconds,
    .own_bytes = sizeof(gc_byte_step),
    .create = create,
    .run = run,
    .words = "every tap in integers",
    .release = release,
};
