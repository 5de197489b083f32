#include "gpu/methods/fused/combined.cuh"

#include "gpu/device/check.cuh"

extern "C" {
#include "core/border.h"
}

#include <algorithm>
#include <cmath>
#include <cstdlib>

/* ---- The filter of a whole chain ------------------------------------------------------------- */

/* Convolves the filter with another step's; false if it grows too large. */
static bool add_step(gc_combined *total, const gc_step *step)
{
    gc_combined old = *total;
    total->width = old.width + step->width - 1;
    total->height = old.height + step->height - 1;
    total->left = old.left + step->left;
    total->top = old.top + step->top;
    if (total->left > GC_BYTES_MARGIN || total->width - 1 - total->left > GC_BYTES_MARGIN ||
        total->height > GC_BYTES_SIDE_MAX)
        return false;
    std::fill(total->taps, total->taps + total->width * total->height, 0.0);
    for (int j = 0; j < old.height; j++)
        for (int i = 0; i < old.width; i++)
            for (int m = 0; m < step->height; m++)
                for (int k = 0; k < step->width; k++)
                    total->taps[(j + m) * total->width + i + k] +=
                        old.taps[j * old.width + i] * (double)step->taps[m * step->width + k];
    return true;
}

bool gc_combined_fits_bytes(const double *taps, size_t count)
{
    return std::all_of(taps, taps + count,
                       [](double tap) { return tap >= -128 && tap <= 127 && tap == rint(tap); });
}

bool gc_combined_make(const gc_problem *problem, gc_combined *total)
{
    *total = {1, 1, 0, 0, {1}};
    for (int s = 0; s < problem->chain.step_count; s++)
        if (!add_step(total, &problem->chain.steps[s]))
            return false;
    return gc_combined_fits_bytes(total->taps, (size_t)(total->width * total->height));
}

static bool is_symmetric(const gc_step *step)
{
    if (2 * step->left != step->width - 1 || 2 * step->top != step->height - 1)
        return false;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            float tap = step->taps[j * step->width + i];
            if (tap != step->taps[j * step->width + step->width - 1 - i] ||
                tap != step->taps[(step->height - 1 - j) * step->width + i])
                return false;
        }
    return true;
}

/* A symmetric filter turns a reflected image into a reflected image. */
bool gc_combined_holds_at_border(const gc_problem *problem)
{
    gconv_border border = problem->job.border;
    if (problem->chain.step_count == 1 || border == GCONV_BORDER_WRAP)
        return true;
    if (border != GCONV_BORDER_MIRROR && border != GCONV_BORDER_MIRROR101)
        return false;
    for (int s = 0; s + 1 < problem->chain.step_count; s++)
        if (!is_symmetric(&problem->chain.steps[s]))
            return false;
    return true;
}

/* ---- The ring -------------------------------------------------------------------------------- */

/* The width of the ring: outputs this near to a side may make the second step read beyond the
 * image. */
static int ring_of(const gc_problem *problem)
{
    const gc_step *step = &problem->chain.steps[1];
    return std::max(std::max(step->left, step->width - 1 - step->left),
                    std::max(step->top, step->height - 1 - step->top));
}

/* Position `at` of a line reads positions at - before to at + after. Some lie outside the line.
 * Whether the border takes each of these from a position that is read anyway, or from a
 * constant. */
static bool stays_in_reach(gconv_border border, int at, int size, int before, int after)
{
    for (int k = -before; k <= after; k++) {
        int64_t index = gc_border_index(border, at + k, size);
        if (index >= 0 && (index - at < -before || index - at > after))
            return false;
    }
    return true;
}

bool gc_combined_has_ring(const gc_problem *problem)
{
    if (problem->chain.step_count != 2)
        return false;
    const gc_step *step = &problem->chain.steps[1];
    int size = 2 * ring_of(problem) + 1;
    for (int at = 0; at < size; at++)
        if (!stays_in_reach(problem->job.border, at, size, step->left,
                            step->width - 1 - step->left) ||
            !stays_in_reach(problem->job.border, at, size, step->top, step->height - 1 - step->top))
            return false;
    return (int)std::min(problem->chain.width, problem->chain.height) >= size;
}

/* Adds up the filter of the zone of output (x, y). The border of the second step says which of the
 * first step's outputs that step reads. */
static void make_filter(const gc_problem *problem, const gc_combined &total, int ring, int x, int y,
                        double *taps, double *constant)
{
    const gc_step *first = &problem->chain.steps[0], *second = &problem->chain.steps[1];
    int size = gc_zones_across(ring); /* a larger image gives the same filter */
    for (int m = 0; m < second->height; m++)
        for (int k = 0; k < second->width; k++) {
            double tap = second->taps[m * second->width + k];
            int64_t column = gc_border_index(problem->job.border, x + k - second->left, size);
            int64_t row = gc_border_index(problem->job.border, y + m - second->top, size);
            if (column < 0 || row < 0) {
                *constant += tap * (double)second->border[0];
                continue;
            }
            int left = (int)column - x - first->left + total.left;
            int top = (int)row - y - first->top + total.top;
            for (int j = 0; j < first->height; j++)
                for (int i = 0; i < first->width; i++)
                    taps[(top + j) * total.width + left + i] +=
                        tap * (double)first->taps[j * first->width + i];
        }
}

gconv_status gc_ring_filters_make(const gc_problem *problem, const gc_combined &total,
                                  gc_ring_filters *all, gconv_error *error)
{
    *all = {};
    all->ring = gc_combined_holds_at_border(problem) ? 0 : ring_of(problem);
    int across = gc_zones_across(all->ring);
    size_t zones = (size_t)(across * across), area = (size_t)(total.width * total.height);
    all->taps = (double *)calloc(zones * (area + 1), sizeof *all->taps);
    GC_TRY_MEMORY(all->taps != nullptr, error, zones * (area + 1) * sizeof *all->taps);
    all->sums = all->taps + zones * area;
    if (all->ring == 0)
        std::copy(total.taps, total.taps + area, all->taps);
    for (int zone = 0; zone < across * across && all->ring > 0; zone++)
        make_filter(problem, total, all->ring, zone % across, zone / across,
                    all->taps + (size_t)zone * area, &all->sums[zone]);
    return GCONV_OK;
}

gconv_status gc_ring_filters_check(const gc_problem *problem, const gc_combined &total,
                                   gconv_error *error)
{
    gc_ring_filters all;
    GC_TRY(gc_ring_filters_make(problem, total, &all, error));
    size_t zones = (size_t)(gc_zones_across(all.ring) * gc_zones_across(all.ring));
    bool fits = gc_combined_fits_bytes(all.taps, zones * (size_t)(total.width * total.height)) &&
                std::all_of(all.sums, all.sums + zones,
                            [](double sum) { return fabs(sum) < 0x1p24 && sum == rint(sum); });
    free(all.taps);
    return fits ? GCONV_OK
                : gc_fail(error, GCONV_ERROR_UNSUPPORTED,
                          "the chain's weights at this border do not fit in 8 bits");
}
