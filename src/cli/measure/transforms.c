#include "cli/measure/transforms.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/measure/clocks.h"
#include "cli/measure/steps.h"
#include "cli/measure/theory.h"

enum { NUMBER_BYTES = 8, RUNS_MAX = 1000 };

void gc_time_transforms(gc_locality *locality, int points, gc_budget budget, gc_measurement *row)
{
    double times[RUNS_MAX], begin = gc_seconds();
    int runs = 0;
    do
        times[runs++] = gc_locality_pass(locality, points);
    while (runs < RUNS_MAX &&
           (runs < budget.runs_min || (gc_seconds() - begin) * (runs + 1) / runs < budget.seconds));
    gc_clocks_sample(-1);
    gc_locality_judge(locality, &row->difference.largest, &row->difference.bound);
    row->difference.within = row->difference.largest <= row->difference.bound;
    row->verdict = !row->difference.within ? GC_VERDICT_WRONG
                   : points == 1           ? GC_VERDICT_EXACT
                                           : GC_VERDICT_WITHIN;
    if (row->verdict == GC_VERDICT_WRONG) {
        gc_fail(&row->reason, GCONV_ERROR_DEVICE, "a transform of %d points is wrong by %g", points,
                row->difference.largest);
        return;
    }
    gc_take_runs(row, times, runs);
    row->values_a_second = GC_LOCALITY_NUMBERS / row->seconds;
    row->flops = gc_locality_factor(points) * row->values_a_second;
}

double gc_transforms_bandwidth(double numbers_a_second)
{
    return 2 * NUMBER_BYTES * numbers_a_second;
}
