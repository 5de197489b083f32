#include "lab/bench/transforms.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/measure/clocks.h"
#include "cli/measure/steps.h"
#include "gpu/probe/probe.h"
#include "lab/bench/theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 8, RUNS_MAX = 1000 };

struct gc_transforms {
    int threads, device;  /* of the CPU, and the N of cuda:N */
    gc_locality *by_cpu;  /* NULL before the first pass */
    gc_gpu_lines *by_gpu; /* likewise */
};

bool gc_transforms_lines(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "fft") == 0;
}

static bool is_on_gpu(const char *name)
{
    return strcmp(name, "fft") == 0;
}

gconv_status gc_transforms_create(const gconv_job *job, gc_transforms **transforms,
                                  gconv_error *error)
{
    gconv_device_choice choice = gconv_device_choice_default();
    *transforms = NULL;
    gconv_status status = gconv_device_parse(job->device, &choice, error);
    if (status != GCONV_OK)
        return status;
    gc_transforms *t = calloc(1, sizeof *t);
    if (t == NULL)
        return gc_fail_memory(error, sizeof *t);
    t->threads = job->threads;
    t->device = choice.any ? 0 : choice.index;
    *transforms = t;
    return GCONV_OK;
}

void gc_transforms_free(gc_transforms *transforms)
{
    if (transforms == NULL)
        return;
    gc_locality_free(transforms->by_cpu);
    gc_gpu_lines_free(transforms->by_gpu);
    free(transforms);
}

/* ---- On a GPU -------------------------------------------------------------------------------- */

static gconv_status take_gpu(gc_transforms *t, gconv_error *error)
{
    float *numbers = malloc((size_t)GC_LOCALITY_NUMBERS * NUMBER_BYTES);
    if (numbers == NULL)
        return gc_fail_memory(error, (size_t)GC_LOCALITY_NUMBERS * NUMBER_BYTES);
    for (size_t i = 0; i < GC_LOCALITY_NUMBERS; i++) {
        numbers[2 * i] = gc_locality_value(i);
        numbers[2 * i + 1] = gc_locality_value(i + GC_LOCALITY_NUMBERS);
    }
    gconv_status status =
        gc_gpu_lines_create(t->device, numbers, GC_LOCALITY_NUMBERS, &t->by_gpu, error);
    free(numbers);
    return status;
}

/* Compares some lines of the last pass, at some frequencies, with sums in double. */
static gconv_status judge_gpu(const gc_transforms *t, int points, double *largest,
                              gconv_error *error)
{
    enum { FREQUENCIES = 16 };
    const size_t lines[] = {0, GC_LOCALITY_NUMBERS / 2, GC_LOCALITY_NUMBERS - (size_t)points};
    *largest = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (int k = 0; k < FREQUENCIES; k++) {
            int frequency = (int)((int64_t)k * (points - 1) / (FREQUENCIES - 1));
            float number[2];
            double real, imaginary;
            gconv_status status =
                gc_gpu_lines_read(t->by_gpu, lines[i] + (size_t)frequency, 1, number, error);
            if (status != GCONV_OK)
                return status;
            gc_locality_sum(lines[i], 1, points, frequency, &real, &imaginary);
            *largest = fmax(*largest, fmax(fabs((double)number[0] - real),
                                           fabs((double)number[1] - imaginary)));
        }
    return GCONV_OK;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static gconv_status begin(gc_transforms *t, const char *name, int points, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    double seconds;
    if (!is_on_gpu(name))
        return t->by_cpu != NULL ? GCONV_OK : gc_locality_create(t->threads, &t->by_cpu, error);
    if (t->by_gpu == NULL)
        status = take_gpu(t, error);
    if (status == GCONV_OK)
        status = gc_gpu_lines_plan(t->by_gpu, points, error);
    return status == GCONV_OK ? gc_gpu_lines_pass(t->by_gpu, &seconds, error) : status;
}

static gconv_status pass(gc_transforms *t, const char *name, int points, double *seconds,
                         gconv_error *error)
{
    if (is_on_gpu(name))
        return gc_gpu_lines_pass(t->by_gpu, seconds, error);
    *seconds = gc_locality_pass(t->by_cpu, points);
    return GCONV_OK;
}

static gconv_status judge(const gc_transforms *t, int points, gc_measurement *row,
                          gconv_error *error)
{
    gconv_difference *difference = &row->difference;
    gconv_status status = GCONV_OK;
    difference->bound = gc_locality_bound(points);
    if (is_on_gpu(row->name))
        status = judge_gpu(t, points, &difference->largest, error);
    else
        difference->largest = gc_locality_judge(t->by_cpu);
    if (status != GCONV_OK)
        return status;
    difference->within = difference->largest <= difference->bound;
    row->verdict = !difference->within ? GC_VERDICT_WRONG
                   : points == 1       ? GC_VERDICT_EXACT
                                       : GC_VERDICT_WITHIN;
    if (row->verdict == GC_VERDICT_WRONG)
        gc_fail(&row->reason, GCONV_ERROR_DEVICE, "a transform of %d points is wrong by %g", points,
                difference->largest);
    return GCONV_OK;
}

gconv_status gc_time_transforms(gc_transforms *transforms, int points, gc_budget budget,
                                gc_measurement *row, gconv_error *error)
{
    double times[RUNS_MAX];
    int runs = 0;
    gconv_status status = begin(transforms, row->name, points, &row->reason);
    if (status != GCONV_OK) {
        row->verdict = GC_VERDICT_UNUSABLE;
        return GCONV_OK;
    }
    double start = gc_seconds();
    while (status == GCONV_OK && runs < RUNS_MAX &&
           (runs < 1 || runs < budget.runs_min ||
            (gc_seconds() - start) * (runs + 1) / runs < budget.seconds))
        status = pass(transforms, row->name, points, &times[runs++], error);
    gc_clocks_sample(is_on_gpu(row->name) ? transforms->device : -1);
    if (status == GCONV_OK)
        status = judge(transforms, points, row, error);
    if (status != GCONV_OK || row->verdict == GC_VERDICT_WRONG)
        return status;
    gc_take_runs(row, times, runs);
    row->kernel_seconds = is_on_gpu(row->name) ? row->seconds : 0;
    row->values_a_second = GC_LOCALITY_NUMBERS / row->seconds;
    row->flops = gc_locality_factor(points) * row->values_a_second;
    return GCONV_OK;
}

double gc_transforms_bandwidth(double numbers_a_second)
{
    return 2 * NUMBER_BYTES * numbers_a_second;
}
