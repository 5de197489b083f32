/* A filter whose weights are all equal, by running sums: with each row of output the sums of
 * columns lose a row and gain one; the sum along a row does the same with columns. A value of
 * output takes the same time whatever the filter's size. Sums that begin anew take longer for
 * larger filters.
 *
 * Whole samples are summed in integers, modulo 2^32. These sums run on from call to call, as long
 * as the rows of an area follow each other. Other samples are summed in double. Their sums begin
 * anew with each call, so that their rounding depends on the place of a row alone: an addition errs
 * by 2^-53 of a sum, and there are as many of them as values in a row. Rule 4 allows 2^-22 of it
 * and more. */
#include "cpu/solver/solver.h"

#include "cpu/cost.h"
#include "cpu/fast/loops/loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct own_box {
    bool whole;    /* sums in integers */
    double weight; /* of every tap */
} own_box;

/* Output rows of a call: enough that what a call takes beside them counts little. Sums in double
 * begin with a sum of as many rows as the filter has. */
enum { WHOLE_ROWS = 8, REAL_ROWS_MIN = 32, REAL_ROWS_MAX = 128 };

/* Sums that loops read before the first one. */
enum { ZEROS = 16 };

/* Rows of an area, about. */
enum { BEGIN_ROWS = 512 };

static bool border_is_whole(const gc_question *question)
{
    for (int c = 0; c < question->problem->chain.channels; c++)
        if (question->step->border[c] != truncf(question->step->border[c]))
            return false;
    return true;
}

/* Whether the samples are whole and int32_t has room for their sums. */
static bool sums_are_whole(const gc_question *question)
{
    const gc_problem *problem = question->problem;
    const gc_step *step = question->step;
    bool samples = step == problem->chain.steps && problem->conversion.input.depth != 32;
    bool whole = problem->chain.exact || (samples && border_is_whole(question));
    double taps = (double)step->width * step->height;
    return whole && step->largest_input * taps < 0x1p31;
}

/* float32 holds the weight with all its digits. */
static bool applies(const gc_question *question)
{
    double weight = fabs(gc_common_weight(question->step));
    return weight >= (double)FLT_MIN && weight <= (double)FLT_MAX;
}

/* An area begins with a sum of as many rows as the filter has. */
static double seconds(const gc_question *question, gc_estimate *estimate)
{
    const gc_chain *chain = &question->problem->chain;
    double width = chain->width, height = chain->height;
    double extended = (width + question->step->width - 1) / width;
    bool whole = sums_are_whole(question);
    double most = whole ? BEGIN_ROWS : REAL_ROWS_MAX;
    double beginnings = question->step->height / fmin(height, most);
    (void)estimate;
    return GC_STAGE_SECONDS +
           extended * ((whole ? chain->channels == 1 ? GC_BOX_SECONDS : GC_BOX_CHANNELS_SECONDS
                              : GC_BOX_REAL_SECONDS) +
                       beginnings * GC_BOX_ROW_SECONDS);
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    (void)estimate;
    (void)error;
    own_box *own = stage->own;
    *own = (own_box){.whole = sums_are_whole(question), .weight = gc_common_weight(stage->step)};
    stage->takes_bytes = own->whole && gc_question_of_bytes(question);
    int height = stage->step->height;
    int rows = height < REAL_ROWS_MIN ? REAL_ROWS_MIN : height;
    stage->rows_at_once = own->whole ? WHOLE_ROWS : rows < REAL_ROWS_MAX ? rows : REAL_ROWS_MAX;
    stage->tile_columns = GC_SEGMENT_VALUES / 32;
    /* Whole: sums of columns are kept. Real: GC_BOX_ROWS + 1 rows of double. A vector more is read
     * and written. */
    size_t reach = (size_t)stage->step->width * (size_t)stage->channels + GC_ROW_SLACK;
    size_t floats = own->whole ? 0 : 2 * (GC_BOX_ROWS + 1);
    stage->scratch = floats * reach;
    stage->scratch_of_column = floats * (size_t)stage->channels;
    stage->kept = own->whole ? ZEROS + reach : 0;
    stage->kept_of_column = own->whole ? (size_t)stage->channels : 0;
    return GCONV_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Adds a row of the input to the sums of columns, and takes one away; -1: none. */
static void slide(const gc_stage *stage, const gc_stage_input *input, int added, int removed,
                  size_t count)
{
    const gc_box_loops *loops = stage->instructions->box;
    uint32_t *sums = (uint32_t *)(void *)input->kept + ZEROS;
    if (stage->takes_bytes)
        loops->slide_bytes(sums, added < 0 ? NULL : input->bytes[added],
                           removed < 0 ? NULL : input->bytes[removed], count);
    else
        loops->slide_whole(sums, added < 0 ? NULL : input->rows[added],
                           removed < 0 ? NULL : input->rows[removed], count);
}

/* Between calls, the sums hold the rows that the previous and the next row of output share. */
static void run_whole(const gc_stage *stage, const gc_stage_input *input, size_t values,
                      int row_count, float *const *out)
{
    size_t channels = (size_t)stage->channels;
    const gc_box box = {.kind = GC_BOX_NUMBERS,
                        .channels = channels,
                        .span = (size_t)stage->step->width * channels,
                        .factor = (float)((const own_box *)stage->own)->weight};
    size_t count = values + box.span - channels;
    int last = stage->step->height - 1;
    if (input->begins)
        memset(input->kept, 0, (ZEROS + count + GC_ROW_SLACK) * sizeof *input->kept);
    for (int j = 0; j < last && input->begins; j++)
        slide(stage, input, j, -1, count);
    for (int o = 0; o < row_count; o++) {
        slide(stage, input, o + last, o - 1, count);
        stage->instructions->box->store(&box, (uint32_t *)(void *)input->kept + ZEROS, values, NULL,
                                        out[o]);
    }
    slide(stage, input, -1, row_count - 1, count);
}

/* Sums of columns for GC_BOX_ROWS rows of output, then sums along these rows. */
static void run_real(const gc_stage *stage, const gc_stage_input *input, size_t values,
                     int row_count, float *const *out)
{
    const gc_box_loops *loops = stage->instructions->box;
    size_t channels = (size_t)stage->channels, span = (size_t)stage->step->width * channels;
    size_t count = values + span - channels, stride = values + span + GC_ROW_SLACK;
    int last = stage->step->height - 1;
    double *sums = (double *)(void *)input->scratch;
    const double *between[GC_BOX_ROWS];
    float *to[GC_BOX_ROWS];
    memset(sums, 0, (GC_BOX_ROWS + 1) * stride * sizeof *sums);
    for (int j = 0; j < last; j++)
        loops->add_real(sums, input->rows[j], count);
    for (int first = 0; first < row_count; first += GC_BOX_ROWS) {
        for (int o = 0; o < GC_BOX_ROWS; o++) {
            int row = first + o < row_count ? first + o : row_count - 1;
            double *copy = sums + (size_t)(o + 1) * stride;
            between[o] = copy;
            to[o] = out[row];
            if (first + o >= row_count) {
                between[o] = between[o - 1]; /* the last row, computed again */
                continue;
            }
            loops->slide_real(sums, input->rows[row + last], input->rows[row], count, copy);
        }
        loops->sum_real(between, values, span, channels, ((const own_box *)stage->own)->weight, to);
    }
}

static double error_of(const gc_question *question, const gc_estimate *estimate)
{
    const gc_chain *chain = &question->problem->chain;
    (void)estimate;
    return gc_box_error(question->step, question->input, chain->width);
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    if (((const own_box *)stage->own)->whole)
        run_whole(stage, input, values, row_count, out);
    else
        run_real(stage, input, values, row_count, out);
}

static const char *describe(const gc_stage *stage)
{
    return ((const own_box *)stage->own)->whole ? "running sums" : "running sums in double";
}

const gc_solver gc_solver_box = {
    .name = "box",
    .applies = applies,
    .seconds = seconds,
    .own_bytes = sizeof(own_box),
    .create = create,
    .run = run,
    .describe = describe,
    .error = error_of,
    .tiled = true,
};
