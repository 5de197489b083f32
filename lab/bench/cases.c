#include "lab/bench/cases.h"

#include "base/memory.h"
#include "base/status.h"
#include "lab/bench/transforms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The chain of edges is for grey images. */
static bool takes_chain(const gc_options *options, const gc_sample_kind *kind)
{
    return options->kernel_count > 0 || (options->measure.filters == NULL && kind->channels == 1);
}

/* Adds the cases of one image. Its size and kind are those of `one`. */
static void add_image(gc_cases *cases, const gc_options *options, gc_case one,
                      const gc_sweep_filters *filters)
{
    if (takes_chain(options, one.kind)) {
        one.is_chain = true;
        cases->at[cases->count++] = one;
        one.is_chain = false;
    }
    for (int i = 0; i < filters->count; i++) {
        one.filter = filters->at[i];
        cases->at[cases->count++] = one;
    }
}

gconv_status gc_cases_list(const gc_options *options, const gc_lists *lists, gc_cases *cases,
                           gconv_error *error)
{
    const gc_sample_kind *kind;
    size_t most = 0;
    for (int i = 0; gc_sample_kind_at(i) != NULL; i++)
        most += (size_t)lists->sizes.count * ((size_t)lists->filters.count + 1);
    *cases = (gc_cases){.at = gc_allocate_array(most, sizeof(gc_case))};
    GC_TRY_MEMORY(cases->at != NULL, error, most * sizeof(gc_case));
    for (int i = 0; i < lists->sizes.count; i++)
        for (int j = 0; (kind = gc_sample_kind_at(j)) != NULL; j++)
            if ((lists->samples >> j & 1) != 0)
                add_image(cases, options,
                          (gc_case){.width = lists->sizes.at[i].width,
                                    .height = lists->sizes.at[i].height,
                                    .kind = kind},
                          &lists->filters);
    return GCONV_OK;
}

gconv_status gc_cases_list_transforms(gc_cases *cases, gconv_error *error)
{
    static const gc_sample_kind complex = {"complex", 2, 32};
    *cases = (gc_cases){.at = gc_allocate_array(GC_TRANSFORM_LENGTHS, sizeof(gc_case))};
    GC_TRY_MEMORY(cases->at != NULL, error, GC_TRANSFORM_LENGTHS * sizeof(gc_case));
    for (int i = 0; i < GC_TRANSFORM_LENGTHS; i++)
        cases->at[cases->count++] = (gc_case){.width = 1 << i,
                                              .height = GC_LOCALITY_NUMBERS >> i,
                                              .kind = &complex,
                                              .is_transform = true,
                                              .filter = {1 << i, 1, false}};
    return GCONV_OK;
}

/* ---- Thinning -------------------------------------------------------------------------------- */

enum { AXES = 6 };

/* What places a case in the sweep. */
static void read_axes(const gc_case *one, double axes[AXES])
{
    axes[0] = (double)one->width * one->height;
    axes[1] = one->kind->channels * one->kind->depth;
    axes[2] = one->is_chain;
    axes[3] = one->is_chain ? 0 : one->filter.width;
    axes[4] = one->is_chain ? 0 : one->filter.height;
    axes[5] = !one->is_chain && one->filter.separates;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Replaces values, AXES apart, by their places in the sorted list of all of them, from 0 to 1.
 * `sorted` is room for `count` values. */
static void rank_values(double *values, size_t count, double *sorted)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i * AXES];
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || sorted[i] > sorted[different - 1])
            sorted[different++] = sorted[i];
    for (size_t i = 0; i < count; i++) {
        double *value = &values[i * AXES];
        const double *found = bsearch(value, sorted, different, sizeof *sorted, compare_doubles);
        *value = different > 1 ? (double)(found - sorted) / (double)(different - 1) : 0;
    }
}

/* The square of the distance. */
static double distance(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < AXES; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Makes away[i] -1 for the cases that are kept. For others it is the distance from the nearest one
 * of these. */
static void choose(const double *places, size_t count, size_t wanted, double *away)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++)
        away[i] = HUGE_VAL;
    for (size_t chosen = 0; chosen < wanted; chosen++) {
        size_t last = next;
        away[last] = -1;
        for (size_t i = 0; i < count; i++) {
            away[i] = fmin(away[i], distance(places + i * AXES, places + last * AXES));
            if (away[i] > away[next])
                next = i;
        }
    }
}

gconv_status gc_cases_thin(gc_cases *cases, size_t wanted, gconv_error *error)
{
    size_t count = cases->count, kept = 0;
    if (wanted >= count)
        return GCONV_OK;
    double *places = gc_allocate_array(count, (AXES + 1) * sizeof *places);
    GC_TRY_MEMORY(places != NULL, error, count * (AXES + 1) * sizeof *places);
    double *away = places + count * AXES;
    for (size_t i = 0; i < count; i++)
        read_axes(&cases->at[i], places + i * AXES);
    for (size_t i = 0; i < AXES; i++)
        rank_values(places + i, count, away);
    choose(places, count, wanted, away);
    for (size_t i = 0; i < count; i++)
        if (away[i] < 0)
            cases->at[kept++] = cases->at[i];
    cases->count = kept;
    free(places);
    return GCONV_OK;
}

void gc_cases_destroy(gc_cases *cases)
{
    free(cases->at);
    *cases = (gc_cases){.at = NULL};
}

void gc_case_describe(const gc_case *one, const gc_options *options, const gc_filter_chain *chain,
                      gc_point *point)
{
    const char *preset = options->measure.preset;
    *point = (gc_point){.width = one->width, .height = one->height};
    snprintf(point->preset, sizeof point->preset, "%s", preset != NULL ? preset : "");
    snprintf(point->samples, sizeof point->samples, "%s", one->kind->name);
    point->filter_width = one->filter.width;
    point->filter_height = one->filter.height;
    if (one->is_transform) {
        snprintf(point->filter, sizeof point->filter, one->width > 1 ? "%d points" : "memory",
                 one->width);
        return;
    }
    if (one->is_chain) {
        point->filter_width = chain->count == 1 ? chain->filters[0]->width : 0;
        point->filter_height = chain->count == 1 ? chain->filters[0]->height : 0;
        snprintf(point->filter, sizeof point->filter, "%s",
                 options->kernel_count > 0 ? "kernel" : "edges");
        return;
    }
    point->rank1 = one->filter.separates;
    snprintf(point->filter, sizeof point->filter, "%dx%d%s", point->filter_width,
             point->filter_height, point->rank1 ? " rank 1" : "");
}
