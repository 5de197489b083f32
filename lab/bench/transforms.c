#include "lab/bench/transforms.h"

#include "base/clock.h"
#include "base/status.h"
#include "cli/measure/measure.h"
#include "gconv_lab.h"
#include "lab/bench/theory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 8, RUNS_MAX = 1000 };

struct gc_transforms {
    int threads, device;     /* of the CPU, and the N of cuda:N */
    gc_locality *by_cpu;     /* NULL before the first pass */
    gconv_gpu_lines *by_gpu; /* likewise */
};

/* The names on a GPU, in the order of gconv_lines_way. */
static const char *const gpu_names[] = {"fft", "contiguous", "contiguous:ahead",
                                        "contiguous:ranges"};

int gc_transforms_names(const char *implementation, const char *names[GC_TRANSFORM_NAMES])
{
    names[0] = "cpu";
    if (strcmp(implementation, "cpu") == 0)
        return 1;
    memcpy(names, gpu_names, sizeof gpu_names);
    return strcmp(implementation, "fft") == 0 ? GC_TRANSFORM_NAMES : 0;
}

static bool is_on_gpu(const char *name)
{
    return strcmp(name, "cpu") != 0;
}

static gconv_lines_way way_of(const char *name)
{
    int way = 0;
    while (strcmp(name, gpu_names[way]) != 0)
        way++;
    return (gconv_lines_way)way;
}

bool gc_transforms_wants(const char *name, int points)
{
    return points > 1 || !is_on_gpu(name) || way_of(name) == GCONV_LINES_CUFFT;
}

gconv_status gc_transforms_create(const gconv_job *job, gc_transforms **transforms,
                                  gconv_error *error)
{
    gconv_device_choice choice = gconv_device_choice_default();
    *transforms = NULL;
    GC_TRY(gconv_device_parse(job->device, &choice, error));
    gc_transforms *t = calloc(1, sizeof *t);
    GC_TRY_MEMORY(t != NULL, error, sizeof *t);
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
    gconv_gpu_lines_free(transforms->by_gpu);
    free(transforms);
}

_Static_assert(sizeof gpu_names / sizeof gpu_names[0] == GC_TRANSFORM_NAMES, "all are named");

/* ---- On a GPU -------------------------------------------------------------------------------- */

static gconv_status take_gpu(gc_transforms *t, gconv_error *error)
{
    float *numbers = malloc((size_t)GC_LOCALITY_NUMBERS * NUMBER_BYTES);
    GC_TRY_MEMORY(numbers != NULL, error, (size_t)GC_LOCALITY_NUMBERS * NUMBER_BYTES);
    for (size_t i = 0; i < GC_LOCALITY_NUMBERS; i++) {
        numbers[2 * i] = gc_locality_value(i);
        numbers[2 * i + 1] = gc_locality_value(i + GC_LOCALITY_NUMBERS);
    }
    gconv_status status =
        gconv_gpu_lines_create(t->device, numbers, GC_LOCALITY_NUMBERS, &t->by_gpu, error);
    free(numbers);
    return status;
}

static gconv_status read_number(const void *from, size_t index, float number[2], gconv_error *error)
{
    return gconv_gpu_lines_read(from, index, 1, number, error);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static gconv_status begin(gc_transforms *t, const char *name, int points, gconv_error *error)
{
    gconv_status status = GCONV_OK;
    double seconds;
    if (!is_on_gpu(name) && gconv_cpu_lines() == 0)
        return gc_fail(error, GCONV_ERROR_DEVICE, "'%s' has no transforms in this build", name);
    if (!is_on_gpu(name))
        return t->by_cpu != NULL ? GCONV_OK : gc_locality_create(t->threads, &t->by_cpu, error);
    if (t->by_gpu == NULL)
        status = take_gpu(t, error);
    GC_THEN(status, gconv_gpu_lines_plan(t->by_gpu, points, way_of(name), error));
    return status == GCONV_OK ? gconv_gpu_lines_pass(t->by_gpu, &seconds, error) : status;
}

static gconv_status pass(gc_transforms *t, const char *name, int points, double *seconds,
                         gconv_error *error)
{
    if (is_on_gpu(name))
        return gconv_gpu_lines_pass(t->by_gpu, seconds, error);
    *seconds = gc_locality_pass(t->by_cpu, points);
    return GCONV_OK;
}

static gconv_status judge(const gc_transforms *t, int points, gc_point *point, gconv_error *error)
{
    gconv_difference *difference = &point->difference;
    gconv_status status = GCONV_OK;
    difference->bound = gc_locality_bound(points);
    if (is_on_gpu(point->name))
        status = gc_spectra_judge(&(gc_spectra){points, 1, true, read_number, t->by_gpu},
                                  &difference->largest, error);
    else
        difference->largest = gc_locality_error(t->by_cpu);
    GC_TRY(status);
    difference->within = difference->largest <= difference->bound;
    point->verdict = !difference->within ? GC_VERDICT_WRONG
                     : points == 1       ? GC_VERDICT_EXACT
                                         : GC_VERDICT_WITHIN;
    if (point->verdict == GC_VERDICT_WRONG)
        gc_fail(&point->reason, GCONV_ERROR_DEVICE, "a transform of %d points is wrong by %g",
                points, difference->largest);
    return GCONV_OK;
}

gconv_status gc_time_transforms(gc_transforms *transforms, int points, gc_budget budget,
                                gc_point *point, gconv_error *error)
{
    double times[RUNS_MAX];
    int runs = 0;
    snprintf(point->implementation, sizeof point->implementation, "%s",
             is_on_gpu(point->name) ? gpu_names[0] : point->name);
    gconv_status status = begin(transforms, point->name, points, &point->reason);
    if (status != GCONV_OK) {
        point->verdict = GC_VERDICT_UNUSABLE;
        return GCONV_OK;
    }
    double start = gc_seconds();
    while (status == GCONV_OK && runs < RUNS_MAX &&
           (runs < 1 || runs < budget.runs_min ||
            (gc_seconds() - start) * (runs + 1) / runs < budget.seconds))
        status = pass(transforms, point->name, points, &times[runs++], error);
    GC_THEN(status, judge(transforms, points, point, error));
    if (status != GCONV_OK || point->verdict == GC_VERDICT_WRONG)
        return status;
    gc_take_runs(point, times, runs);
    point->kernel_seconds = is_on_gpu(point->name) ? point->seconds : 0;
    point->values_a_second = GC_LOCALITY_NUMBERS / point->seconds;
    point->flops = gc_locality_factor(points) * point->values_a_second;
    return GCONV_OK;
}

double gc_transforms_bandwidth(double numbers_a_second)
{
    return 2 * NUMBER_BYTES * numbers_a_second;
}
