#include "gpu/methods/fft/transforms.h"

#include "base/number.h"

/* Points of a transform that serves a share of the rows. It takes 0.7 GB for image, spectra and
 * work areas of float32, which every device has. It is large enough for the rows that neighbouring
 * transforms share to cost little. */
static const int64_t points_max = 1 << 25;

int64_t gc_transform_size(int64_t size)
{
    static const int primes[] = {2, 3, 5, 7};
    for (int64_t candidate = (size + 1) / 2 * 2;; candidate += 2) {
        int64_t rest = candidate;
        for (int i = 0; i < 4; i++)
            while (rest % primes[i] == 0)
                rest /= primes[i];
        if (rest == 1)
            return candidate;
    }
}

int64_t gc_transform_rows(const gc_step *step, int64_t rows)
{
    return gc_transform_size(rows + step->height - 1);
}

static int64_t columns_of(const gc_problem *problem, const gc_step *step)
{
    return gc_transform_size((int64_t)problem->chain.width + step->width - 1);
}

gc_slabs gc_transform_slabs(const gc_problem *problem, const gc_step *step)
{
    gc_slabs slabs = gc_slabs_of(problem, step, 1);
    if (problem->chain.exact)
        return slabs;
    int64_t all = slabs.last - slabs.first + 1, columns = columns_of(problem, step);
    slabs.rows = all;
    if (columns * gc_transform_rows(step, all) <= points_max)
        return slabs;
    /* At least three quarters of a transform's rows are of use. */
    int64_t rows = gc_larger(points_max / columns, 4 * (int64_t)step->height);
    int64_t useful = rows - step->height + 1, count = (all + useful - 1) / useful;
    slabs.rows = (all + count - 1) / count;
    return slabs;
}

double gc_transform_points(const gc_problem *problem, const gc_step *step)
{
    int64_t rows = gc_transform_slabs(problem, step).rows;
    if (problem->chain.exact) {
        rows = problem->chain.height;
        for (int s = 0; s < problem->chain.step_count; s++)
            rows += 3 * (int64_t)(problem->chain.steps[s].height - 1);
        return (double)columns_of(problem, step) * (double)gc_transform_size(rows);
    }
    return (double)columns_of(problem, step) * (double)gc_transform_rows(step, rows);
}
