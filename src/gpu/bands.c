#include "gpu/bands.h"

#include <math.h>

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
    double samples = (double)gconv_shape_row_bytes(&problem->job.input);
    double row_unit = (double)problem->channels * sizeof(float);
    double plane_row = (double)gc_device_pitch(problem->width) * row_unit;
    double scratch_row = 0;
    double input_rows = (double)rows;
    for (int s = 0; s < problem->step_count; s++) {
        const gc_step *step = &problem->steps[s];
        int64_t pitch = gc_device_pitch((int64_t)problem->width + step->width - 1);
        scratch_row = fmax(scratch_row, (double)pitch * row_unit);
        /* A reflection may double what a step reaches on one side. */
        input_rows += 2 * (step->height - 1);
    }
    return input_rows * (samples + 2 * plane_row + scratch_row) +
           gc_problem_taps(problem) * sizeof(float);
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
