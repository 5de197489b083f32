#include "cli/measure/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/measure/traffic.h"
#include "cli/terminal/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_MAX = 1000 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double gc_subject_progress(const gc_subject *subject, double part)
{
    return ((double)subject->entry + fmin(part, 1)) / (double)subject->entry_count;
}

void gc_subject_begin_progress(const gc_subject *subject, const char *name)
{
    gc_progress_begin(name, gc_subject_progress(subject, 0), subject->entry, subject->entry_count);
}

/* Whether the budget allows no further run, `spent` seconds after the first one began. */
static bool is_spent(gc_budget budget, int runs, double last, double spent)
{
    bool enough = runs >= budget.runs_min || last > budget.seconds;
    return runs > 0 && enough && spent + last > budget.seconds;
}

/* What runs fill: the output, the seconds of each, and what of them a GPU's transfers take. */
typedef struct run_results {
    void *output;
    size_t stride;
    double whole[RUNS_MAX], transfers[RUNS_MAX];
} run_results;

/* Runs the plan as often as the budget allows. Fills `results` and the number of runs. On a GPU the
 * first run is not timed: it makes the memory known to the driver. */
static gconv_status run_often(const gc_subject *subject, gconv_plan *plan,
                              const gc_picture *picture, gc_budget budget, run_results *results,
                              gc_point *point, gconv_error *error)
{
    double begin = gc_seconds();
    gconv_status status = GCONV_OK;
    point->runs = 0;
    if (gconv_plan_device(plan)->kind == GCONV_DEVICE_CUDA)
        status = gconv_plan_run_memory(plan, picture->samples, picture->stride, results->output,
                                       results->stride, NULL, error);
    while (status == GCONV_OK && point->runs < RUNS_MAX) {
        double start = gc_seconds(), spent = start - begin;
        if (is_spent(budget, point->runs, point->runs > 0 ? results->whole[point->runs - 1] : 0,
                     spent))
            break;
        double done = spent < budget.seconds ? spent / budget.seconds : 1;
        gc_progress_show(point->name, gc_subject_progress(subject, done), subject->entry,
                         subject->entry_count);
        gconv_timings parts = gconv_timings_default();
        start = gc_seconds();
        status = gconv_plan_run_memory(plan, picture->samples, picture->stride, results->output,
                                       results->stride, &parts, error);
        results->whole[point->runs] = gc_seconds() - start;
        results->transfers[point->runs++] = parts.upload + parts.download;
    }
    return status;
}

/* The value that a part (0 to 1) of the sorted times lies below, between two of them if
 * necessary. */
static double quantile(const double *times, int count, double part)
{
    double place = part * (count - 1);
    int below = (int)place, above = below + 1 < count ? below + 1 : below;
    return times[below] + (place - below) * (times[above] - times[below]);
}

void gc_take_runs(gc_point *point, double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare_doubles);
    point->runs = count;
    point->seconds = quantile(times, count, 0.5);
    point->shortest = times[0];
    point->lower_quartile = quantile(times, count, 0.25);
    point->upper_quartile = quantile(times, count, 0.75);
}

/* Times runs until the budget is spent, and takes their median. */
static gconv_status time_runs(const gc_subject *subject, gconv_plan *plan,
                              const gc_picture *picture, gc_budget budget, gc_point *point,
                              gconv_error *error)
{
    run_results results;
    double *whole = results.whole, *transfers = results.transfers;
    results.stride = gconv_shape_row_bytes(gconv_plan_output_shape(plan));
    results.output = gc_allocate_array(picture->shape.height, results.stride);
    GC_TRY_MEMORY(results.output != NULL, error, picture->shape.height * results.stride);
    gconv_status status = run_often(subject, plan, picture, budget, &results, point, error);
    if (status == GCONV_OK && subject->judge != NULL)
        status = subject->judge(subject, plan, picture, results.output, point, error);
    free(results.output);
    if (status != GCONV_OK || point->runs == 0)
        return status;
    gc_take_runs(point, whole, point->runs);
    qsort(transfers, (size_t)point->runs, sizeof *transfers, compare_doubles);
    point->transfer_seconds = quantile(transfers, point->runs, 0.5);
    return GCONV_OK;
}

/* Intensity by the published model, or else by the bytes that have to be moved. */
static void fill_roofline(const gc_subject *subject, gconv_plan *plan, const gc_picture *picture,
                          gc_point *point)
{
    const gc_filter_chain *chain = &subject->session->chain;
    const gc_traffic traffic = {.implementation = gconv_plan_implementation(plan),
                                .width = (int)picture->shape.width,
                                .height = (int)picture->shape.height,
                                .filter_width = chain->filters[0]->width,
                                .filter_height = chain->filters[0]->height,
                                .sample_bytes = picture->shape.depth / 8,
                                .exact = gconv_plan_is_exact(plan),
                                .planes = point->border_seconds > 0 || point->convert_seconds > 0};
    point->intensity = gconv_plan_intensity(plan);
    if (!(point->intensity > 0) && chain->count == 1)
        point->intensity = gc_traffic_intensity(&traffic);
    point->roofline = gc_roof_at(gc_roofs_of(gconv_plan_device(plan)), point->intensity);
}

void gc_fill_rates(const gc_subject *subject, gconv_plan *plan, const gc_picture *picture,
                   gc_point *point)
{
    if (subject->explanation != NULL)
        snprintf(subject->explanation, GC_EXPLANATION_BYTES, "%s", gconv_plan_explanation(plan));
    fill_roofline(subject, plan, picture, point);
    point->factor = gconv_plan_tiling_factor(plan);
    double values =
        (double)picture->shape.width * picture->shape.height * gconv_plan_chain_channels(plan);
    point->values_a_second = values / gc_point_seconds(point);
    point->flops = 2 * gc_filter_chain_taps(&subject->session->chain) * values /
                   gc_point_counted_seconds(point);
}

gconv_status gc_time_plan(const gc_subject *subject, gconv_plan *plan, const gc_picture *picture,
                          gc_budget budget, gc_point *point, gconv_error *error)
{
    if (gconv_plan_device(plan)->kind == GCONV_DEVICE_CUDA)
        budget.seconds /= 2;
    gconv_status status = time_runs(subject, plan, picture, budget, point, error);
    if (status != GCONV_OK || point->runs == 0)
        return status;
    gconv_device_times times;
    if (gconv_plan_time_device_parts(plan, picture->samples, picture->stride,
                                     fmax(budget.seconds, 0), &times, NULL) == GCONV_OK) {
        point->kernel_seconds = times.total;
        point->border_seconds = times.border;
        point->convert_seconds = times.conversion;
    }
    gc_fill_rates(subject, plan, picture, point);
    return GCONV_OK;
}
