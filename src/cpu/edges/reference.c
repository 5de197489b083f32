/* Detectors, written down: textbook loops over whole images. */
#include "cpu/edges/reference.h"

#include "base/memory.h"
#include "base/status.h"
#include "core/border.h"

#include <stdlib.h>

typedef struct image {
    const gc_problem *problem;
    const gc_detector *detector;
    int64_t width, height;
    const gc_word *sums;
    int64_t *across, *down, *magnitudes; /* of gradients */
    int64_t *found;                      /* flags, or magnitudes */
} image;

/* What the detector works on, at any (x, y). */
static int64_t value(const image *m, int64_t x, int64_t y)
{
    x = gc_border_index(m->problem->chain.border, x, m->width);
    y = gc_border_index(m->problem->chain.border, y, m->height);
    if (x < 0 || y < 0)
        return m->detector->border;
    return gc_detector_value(m->detector, m->sums[y * m->width + x].real);
}

static bool is_inside(const image *m, int64_t x, int64_t y)
{
    return x >= 0 && x < m->width && y >= 0 && y < m->height;
}

/* ---- Gradients ------------------------------------------------------------------------------- */

static int64_t sixteenth(int64_t sum)
{
    int64_t quotient = sum >> 4, rest = sum - 16 * quotient;
    return quotient + (rest > 8 || (rest == 8 && quotient % 2 != 0));
}

static void find_gradient(image *m, int64_t x, int64_t y)
{
    const gc_detector *d = m->detector;
    int64_t across = 0, down = 0;
    for (int j = 0; j < d->side; j++)
        for (int i = 0; i < d->side; i++) {
            int64_t v = value(m, x + i - d->side / 2, y + j - d->side / 2);
            across += v * d->smooth[j] * d->slope[i];
            down += v * d->slope[j] * d->smooth[i];
        }
    int64_t at = y * m->width + x;
    m->across[at] = d->by_16 ? sixteenth(across) : across;
    m->down[at] = d->by_16 ? sixteenth(down) : down;
    across = m->across[at];
    down = m->down[at];
    m->magnitudes[at] = d->asked.norm == GCONV_NORM_L2 ? across * across + down * down
                                                       : llabs(across) + llabs(down);
}

static int64_t magnitude(const image *m, int64_t x, int64_t y)
{
    return is_inside(m, x, y) ? m->magnitudes[y * m->width + x] : 0;
}

/* ---- Canny ----------------------------------------------------------------------------------- */

/* Whether no neighbour in the direction of the gradient has a larger magnitude. Of two that are
 * equal the first in reading order is the largest; like OpenCV neither is, on a diagonal. */
static bool is_peak(const image *m, int64_t x, int64_t y)
{
    const gc_detector *d = m->detector;
    int64_t across = m->across[y * m->width + x], down = m->down[y * m->width + x];
    int64_t a = llabs(across), b = llabs(down), own = magnitude(m, x, y);
    if (b * d->across < a * d->tangent)
        return own > magnitude(m, x - 1, y) && own >= magnitude(m, x + 1, y);
    if (b * d->across > a * (d->tangent + 2 * d->across))
        return own > magnitude(m, x, y - 1) && own >= magnitude(m, x, y + 1);
    int64_t step = (across < 0) == (down < 0) ? 1 : -1;
    int64_t before = magnitude(m, x - step, y - 1), after = magnitude(m, x + step, y + 1);
    return own > before && (d->asked.like == GCONV_LIKE_OPENCV ? own > after : own >= after);
}

enum { NOTHING, EDGE, MAYBE }; /* flags, until all are 0 or 1 */

/* Flags the pixels that are connected with an edge. `queue` has room for all pixels. */
static void follow(image *m, int64_t *queue)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m->width * m->height; i++)
        if (m->found[i] == EDGE)
            queue[count++] = i;
    for (int64_t next = 0; next < count; next++)
        for (int64_t y = queue[next] / m->width - 1; y <= queue[next] / m->width + 1; y++)
            for (int64_t x = queue[next] % m->width - 1; x <= queue[next] % m->width + 1; x++)
                if (is_inside(m, x, y) && m->found[y * m->width + x] == MAYBE) {
                    m->found[y * m->width + x] = EDGE;
                    queue[count++] = y * m->width + x;
                }
    for (int64_t i = 0; i < m->width * m->height; i++)
        m->found[i] = m->found[i] == EDGE;
}

static int classify(const image *m, int64_t x, int64_t y)
{
    int64_t own = magnitude(m, x, y);
    if (own <= m->detector->low || !is_peak(m, x, y))
        return NOTHING;
    return own > m->detector->high ? EDGE : MAYBE;
}

/* ---- Zero crossings -------------------------------------------------------------------------- */

/* A value outside the image is 0, and crosses nothing. */
static int64_t response(const image *m, int64_t x, int64_t y)
{
    return is_inside(m, x, y) ? value(m, x, y) : 0;
}

static bool are_opposite(int64_t a, int64_t b)
{
    return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/* Whether the response crosses 0 at `own`, between the neighbours on one line: at a 0 between
 * opposite signs, else at the nearer to 0 of two opposite neighbours, the first of equal ones. */
static bool crosses(const gc_detector *d, int64_t before, int64_t own, int64_t after)
{
    if (own == 0)
        return are_opposite(before, after) && llabs(before - after) > d->high;
    return (are_opposite(before, own) && llabs(own - before) > d->low &&
            llabs(own) < llabs(before)) ||
           (are_opposite(own, after) && llabs(own - after) > d->low && llabs(own) <= llabs(after));
}

static bool is_crossing(const image *m, int64_t x, int64_t y)
{
    int64_t own = response(m, x, y);
    return crosses(m->detector, response(m, x - 1, y), own, response(m, x + 1, y)) ||
           crosses(m->detector, response(m, x, y - 1), own, response(m, x, y + 1));
}

/* ---- Images ---------------------------------------------------------------------------------- */

static int64_t find(const image *m, int64_t x, int64_t y)
{
    const gc_detector *d = m->detector;
    if (!m->problem->conversion.finds_edges)
        return magnitude(m, x, y);
    return d->asked.method == GCONV_METHOD_CANNY      ? classify(m, x, y)
           : d->asked.method == GCONV_METHOD_GRADIENT ? magnitude(m, x, y) > d->low
                                                      : is_crossing(m, x, y);
}

static void detect(image *m, int64_t *queue)
{
    for (int64_t y = 0; y < m->height && m->detector->side > 1; y++)
        for (int64_t x = 0; x < m->width; x++)
            find_gradient(m, x, y);
    for (int64_t y = 0; y < m->height; y++)
        for (int64_t x = 0; x < m->width; x++)
            m->found[y * m->width + x] = find(m, x, y);
    if (gc_detects_canny(m->detector))
        follow(m, queue);
    const gc_conversion *conversion = &m->problem->conversion;
    for (int64_t i = 0; i < m->width * m->height && conversion->finds_edges; i++)
        m->found[i] ^= conversion->invert;
}

gconv_status gc_reference_detect(const gc_problem *problem, const gc_word *sums, int64_t **found,
                                 gconv_error *error)
{
    size_t pixels = (size_t)problem->chain.width * problem->chain.height;
    int64_t *numbers = gc_allocate_array(pixels, 4 * sizeof *numbers);
    *found = gc_allocate_array(pixels, sizeof **found);
    if (numbers == NULL || *found == NULL) {
        free(numbers);
        return gc_fail_memory(error, pixels * 4 * sizeof *numbers);
    }
    image m = {.problem = problem,
               .detector = &problem->detector,
               .width = problem->chain.width,
               .height = problem->chain.height,
               .sums = sums,
               .across = numbers,
               .down = numbers + pixels,
               .magnitudes = numbers + 2 * pixels,
               .found = *found};
    detect(&m, numbers + 3 * pixels);
    free(numbers);
    return GCONV_OK;
}
