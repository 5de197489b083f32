#include "gpu/bands.h"

void gc_band_steps(const gc_problem *problem, int64_t first, int64_t last, gc_band_step *steps)
{
    for (int s = problem->step_count - 1; s >= 0; s--) {
        steps[s].output_first = first;
        steps[s].output_last = last;
        gc_step_range(problem, &problem->steps[s], first, last, &first, &last);
        steps[s].input_first = first;
        steps[s].input_last = last;
    }
}

int64_t gc_device_pitch(int64_t width)
{
    return (width + 31) / 32 * 32;
}

double gc_band_bytes(const gc_problem *problem, int64_t rows)
{
    double samples = (double)problem->width * problem->job.input.channels *
                     (problem->job.input.depth == 16 ? 2 : 1);
    double plane_row = (double)gc_device_pitch(problem->width) * problem->channels * sizeof(float);
    double most_scratch = 0;
    double reach = 0;
    for (int s = problem->step_count - 1; s >= 0; s--) {
        const gc_step *step = &problem->steps[s];
        double pitch = (double)gc_device_pitch((int64_t)problem->width + step->width - 1);
        double scratch =
            ((double)rows + reach + step->height - 1) * pitch * problem->channels * sizeof(float);
        most_scratch = scratch > most_scratch ? scratch : most_scratch;
        /* A reflection may double what a step reaches on one side. */
        reach += 2 * (step->height - 1);
    }
    return ((double)rows + reach) * (samples + 2 * plane_row) + most_scratch;
}

int64_t gc_band_rows(const gc_problem *problem, double bytes,
                     double (*extra)(const gc_problem *problem, int64_t rows))
{
    int64_t fits = 0;
    int64_t too_many = (int64_t)problem->height + 1;
    while (too_many - fits > 1) {
        int64_t rows = fits + (too_many - fits) / 2;
        double needed = gc_band_bytes(problem, rows) + (extra != NULL ? extra(problem, rows) : 0);
        if (needed <= bytes)
            fits = rows;
        else
            too_many = rows;
    }
    return fits;
}
