#include "gpu/plan/bands.h"

#include "base/number.h"

gc_slabs gc_slabs_of(const gc_problem *problem, const gc_step *step, int64_t rows)
{
    gc_slabs slabs = {.last = (int64_t)problem->chain.height - 1, .rows = rows};
    for (const gc_step *later = problem->chain.steps + problem->chain.step_count - 1; later > step;
         later--)
        gc_step_range(&problem->chain, later, slabs.first, slabs.last, &slabs.first, &slabs.last);
    return slabs;
}

/* Widens rows *first to *last to whole slabs. */
static void widen_to_slabs(const gc_slabs *slabs, int64_t *first, int64_t *last)
{
    int64_t before = (*first - slabs->first) / slabs->rows;
    int64_t after = (*last - slabs->first) / slabs->rows + 1;
    *first = slabs->first + before * slabs->rows;
    *last = gc_smaller(slabs->first + after * slabs->rows - 1, slabs->last);
}

void gc_band_steps(const gc_problem *problem, int64_t first, int64_t last, const gc_slabs *slabs,
                   gc_band_step *steps)
{
    for (int s = problem->chain.step_count - 1; s >= 0; s--) {
        if (slabs != NULL)
            widen_to_slabs(&slabs[s], &first, &last);
        steps[s].output_first = first;
        steps[s].output_last = last;
        if (s + 1 < problem->chain.step_count) { /* it reads all that this step computes */
            steps[s + 1].input_first = first;
            steps[s + 1].input_last = last;
        }
        gc_step_range(&problem->chain, &problem->chain.steps[s], first, last, &first, &last);
        steps[s].input_first = first;
        steps[s].input_last = last;
    }
}

int64_t gc_device_pitch(int64_t width)
{
    return (width + 31) / 32 * 32;
}

/* The most rows of slabs that hold `rows` neighbouring rows, wherever these begin. */
static int64_t rows_of_slabs(const gc_slabs *slabs, int64_t rows)
{
    int64_t count = (rows + slabs->rows - 2) / slabs->rows + 1;
    return gc_smaller(count * slabs->rows, slabs->last - slabs->first + 1);
}

int64_t gc_band_input_rows(const gc_problem *problem, int64_t rows, const gc_slabs *slabs)
{
    int64_t most = 0;
    for (int s = problem->chain.step_count - 1; s >= 0; s--) {
        if (slabs != NULL && s + 1 < problem->chain.step_count)
            rows = rows_of_slabs(&slabs[s], rows);
        /* A reflection may double the rows that a step reads on one side. */
        rows += 2 * (int64_t)(problem->chain.steps[s].height - 1);
        most = gc_larger(most, rows);
    }
    return most;
}

double gc_band_bytes(const gc_problem *problem, int64_t rows, const gc_slabs *slabs)
{
    double samples = (double)gconv_shape_row_bytes(&problem->job.input);
    double row_unit = (double)problem->chain.channels * sizeof(float);
    double plane_row = (double)gc_device_pitch(problem->chain.width) * row_unit;
    int64_t extended_pitch = 0;
    double input_rows = (double)gc_band_input_rows(problem, rows, slabs);
    for (int s = 0; s < problem->chain.step_count; s++)
        extended_pitch =
            gc_larger(extended_pitch, gc_device_pitch((int64_t)problem->chain.width +
                                                      problem->chain.steps[s].width - 1));
    return input_rows * (samples + 2 * plane_row + (double)extended_pitch * row_unit) +
           gc_chain_taps(&problem->chain) * sizeof(float);
}

int64_t gc_band_whole(const gc_problem *problem, int64_t rows, const gc_slabs *slabs)
{
    if (slabs == NULL || rows >= (int64_t)problem->chain.height)
        return gc_smaller(rows, problem->chain.height);
    int64_t unit = slabs[problem->chain.step_count - 1].rows;
    return rows / unit * unit;
}

int64_t gc_band_rows(const gc_problem *problem, double bytes, const gc_slabs *slabs,
                     double (*extra)(const gc_problem *problem, int64_t rows))
{
    int64_t fits = 0;
    int64_t too_many = (int64_t)problem->chain.height + 1;
    while (too_many - fits > 1) {
        int64_t rows = fits + (too_many - fits) / 2;
        double needed =
            gc_band_bytes(problem, rows, slabs) + (extra != NULL ? extra(problem, rows) : 0);
        if (needed <= bytes)
            fits = rows;
        else
            too_many = rows;
    }
    return gc_band_whole(problem, fits, slabs);
}
