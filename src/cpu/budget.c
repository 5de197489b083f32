#include "cpu/budget.h"

#include "base/number.h"

/* Bytes that the rings may hold if the chain reaches far: a part of the memory of a run. */
enum { RING_BYTES_MIN = 20 << 20, RING_BYTES_A_COLUMN = 2560 };

static int64_t ring_bytes(const gc_problem *problem)
{
    return gc_larger(RING_BYTES_MIN, (int64_t)RING_BYTES_A_COLUMN * problem->chain.width);
}

/* Bytes that one row of every band takes in the rings: of samples in two neighbours and `moving`
 * other bands, of output in `moving` bands. */
static int64_t row_bytes(const gc_problem *problem, int64_t moving)
{
    int64_t input = (int64_t)gconv_shape_row_bytes(&problem->conversion.input);
    int64_t output = (int64_t)gconv_shape_row_bytes(&problem->conversion.output);
    return (2 + moving) * input + moving * output;
}

int64_t gc_budget_rows(const gc_problem *problem, int64_t reach, int64_t moving)
{
    int64_t input = (int64_t)gconv_shape_row_bytes(&problem->conversion.input);
    /* Neighbours are whole bands: on either side they hold fewer than `reach` + 1 rows and a
     * band. */
    return (ring_bytes(problem) - 2 * (reach + 1) * input) / row_bytes(problem, moving);
}

bool gc_budget_holds(const gc_problem *problem, int64_t rows)
{
    const int64_t moving = 1 + GC_BANDS_AHEAD_OF_PANELS; /* all threads share a band */
    return rows * row_bytes(problem, moving) <= ring_bytes(problem);
}
