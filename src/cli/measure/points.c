#include "cli/measure/points.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double gc_point_spread(const gc_point *point)
{
    return point->upper_quartile - point->lower_quartile;
}

double gc_point_counted_seconds(const gc_point *point)
{
    double alone = point->kernel_seconds - point->border_seconds - point->convert_seconds;
    if (alone > 0)
        return alone;
    return point->kernel_seconds > 0 ? point->kernel_seconds : point->seconds;
}

bool gc_point_is_same(const gc_point *a, const gc_point *b)
{
    return a->width == b->width && a->height == b->height && strcmp(a->filter, b->filter) == 0 &&
           strcmp(a->name, b->name) == 0 && strcmp(a->samples, b->samples) == 0 &&
           strcmp(a->preset, b->preset) == 0;
}

/* Why there are no times; "" where there is nothing to say. */
static const char *reason_of(const gc_measurement *row)
{
    return row->verdict == GC_VERDICT_UNUSABLE || row->verdict == GC_VERDICT_WRONG
               ? row->reason.message
           : row->too_long ? "one run takes longer than --time"
                           : "";
}

void gc_point_take(gc_point *point, const gc_measurement *row)
{
    snprintf(point->name, sizeof point->name, "%s", row->name);
    snprintf(point->implementation, sizeof point->implementation, "%s", row->implementation);
    point->verdict = row->verdict;
    point->largest_error = row->difference.largest;
    point->bound = row->difference.bound;
    snprintf(point->reason, sizeof point->reason, "%s", reason_of(row));
    point->runs = row->runs;
    point->seconds = row->seconds;
    point->shortest = row->shortest;
    point->lower_quartile = row->lower_quartile;
    point->upper_quartile = row->upper_quartile;
    point->kernel_seconds = row->kernel_seconds;
    point->border_seconds = row->border_seconds;
    point->convert_seconds = row->conversion_seconds;
    point->transfer_seconds = row->transfer_seconds;
    point->compile_seconds = row->compile_seconds;
    point->values_a_second = row->values_a_second;
    point->flops = row->flops;
    point->intensity = row->intensity;
    point->roofline = row->roofline;
    point->factor = row->factor;
}

gconv_status gc_points_add(gc_points *points, const gc_point *point, gconv_error *error)
{
    gc_point *room = gc_make_room(points->at, points->count, &points->capacity, sizeof *room);
    if (room == NULL)
        return gc_fail_memory(error, sizeof *room);
    points->at = room;
    points->at[points->count++] = *point;
    return GCONV_OK;
}

void gc_points_destroy(gc_points *points)
{
    free(points->at);
    *points = (gc_points){.at = NULL};
}

bool gc_points_have_gpu(const gc_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        if (points->at[i].kernel_seconds > 0)
            return true;
    return false;
}
