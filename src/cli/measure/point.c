#include "cli/measure/point.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

const char *gc_verdict_name(gc_verdict verdict)
{
    static const char *const names[] = {
        [GC_VERDICT_EXACT] = "exact",         [GC_VERDICT_ONCE] = "rounded once",
        [GC_VERDICT_WITHIN] = "within bound", [GC_VERDICT_WRONG] = "WRONG",
        [GC_VERDICT_UNUSABLE] = "not usable",
    };
    return names[verdict];
}

bool gc_point_is_right(const gc_point *point)
{
    return point->verdict < GC_VERDICT_WRONG;
}

void gc_point_set_name(gc_point *point, const char *name)
{
    snprintf(point->name, sizeof point->name, "%s", name);
    snprintf(point->implementation, sizeof point->implementation, "%s", name);
}

double gc_point_spread(const gc_point *point)
{
    return point->upper_quartile - point->lower_quartile;
}

bool gc_point_is_noisy(const gc_point *point)
{
    const double most = 0.1;
    return gc_point_spread(point) > most * point->seconds;
}

double gc_point_seconds(const gc_point *point)
{
    return point->kernel_seconds > 0 ? point->kernel_seconds : point->seconds;
}

double gc_point_counted_seconds(const gc_point *point)
{
    double alone = point->kernel_seconds - point->border_seconds - point->convert_seconds;
    return alone > 0 ? alone : gc_point_seconds(point);
}

gconv_status gc_points_add(gc_points *points, const gc_point *point, gconv_error *error)
{
    gc_point *room = gc_make_room(points->at, points->count, &points->capacity, sizeof *room);
    GC_TRY_MEMORY(room != NULL, error, sizeof *room);
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

/* ---- JSON ------------------------------------------------------------------------------------ */

#define FIELD(member) offsetof(gc_point, member), sizeof((gc_point *)NULL)->member

static const gc_point_field fields[] = {
    {"width", GC_FIELD_WHOLE, GC_FIELD_KNOWN, FIELD(width)},
    {"height", GC_FIELD_WHOLE, GC_FIELD_KNOWN, FIELD(height)},
    {"filter", GC_FIELD_TEXT, GC_FIELD_KNOWN, FIELD(filter)},
    {"filter_width", GC_FIELD_WHOLE, GC_FIELD_KNOWN, FIELD(filter_width)},
    {"filter_height", GC_FIELD_WHOLE, GC_FIELD_KNOWN, FIELD(filter_height)},
    {"rank1", GC_FIELD_FLAG, GC_FIELD_KNOWN, FIELD(rank1)},
    {"samples", GC_FIELD_TEXT, GC_FIELD_KNOWN, FIELD(samples)},
    {"name", GC_FIELD_TEXT, GC_FIELD_ALWAYS, FIELD(name)},
    {"implementation", GC_FIELD_TEXT, GC_FIELD_ALWAYS, FIELD(implementation)},
    {"verdict", GC_FIELD_VERDICT, GC_FIELD_ALWAYS, FIELD(verdict)},
    {"reason", GC_FIELD_TEXT, GC_FIELD_KNOWN, FIELD(reason.message)},
    {"largest_error", GC_FIELD_REAL, GC_FIELD_JUDGED, FIELD(difference.largest)},
    {"bound", GC_FIELD_REAL, GC_FIELD_JUDGED, FIELD(difference.bound)},
    {"mismatches", GC_FIELD_COUNT, GC_FIELD_JUDGED, FIELD(difference.mismatches)},
    {"runs", GC_FIELD_WHOLE, GC_FIELD_TIMED, FIELD(runs)},
    {"seconds", GC_FIELD_REAL, GC_FIELD_TIMED, FIELD(seconds)},
    {"shortest_seconds", GC_FIELD_REAL, GC_FIELD_TIMED, FIELD(shortest)},
    {"lower_quartile_seconds", GC_FIELD_REAL, GC_FIELD_TIMED, FIELD(lower_quartile)},
    {"upper_quartile_seconds", GC_FIELD_REAL, GC_FIELD_TIMED, FIELD(upper_quartile)},
    {"kernel_seconds", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(kernel_seconds)},
    {"border_seconds", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(border_seconds)},
    {"transfer_seconds", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(transfer_seconds)},
    {"convert_seconds", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(convert_seconds)},
    {"compile_seconds", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(compile_seconds)},
    {"pixels_per_second", GC_FIELD_REAL, GC_FIELD_TIMED, FIELD(values_a_second)},
    {"flops", GC_FIELD_REAL, GC_FIELD_TIMED, FIELD(flops)},
    {"intensity", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(intensity)},
    {"roofline_flops", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(roofline)},
    {"factor", GC_FIELD_WHOLE, GC_FIELD_KNOWN, FIELD(factor)},
    {"theory_flops", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(theory)},
    {"speed_up", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(speed_up)},
    {"speed_up_over_naive", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(naive_speed_up)},
    {"step_speed_up", GC_FIELD_REAL, GC_FIELD_KNOWN, FIELD(step_speed_up)},
};

const gc_point_field *gc_point_field_at(int index)
{
    return index < (int)(sizeof fields / sizeof fields[0]) ? &fields[index] : NULL;
}

static void write_field(const gc_point_field *f, const void *at, bool always)
{
    switch (f->kind) {
    case GC_FIELD_TEXT:
        if (always || *(const char *)at != '\0')
            gc_json_string(f->key, at);
        break;
    case GC_FIELD_WHOLE:
        if (always || *(const int *)at != 0)
            gc_json_integer(f->key, *(const int *)at);
        break;
    case GC_FIELD_COUNT:
        if (always)
            gc_json_integer(f->key, (int64_t) * (const uint64_t *)at);
        break;
    case GC_FIELD_REAL:
        if (always || *(const double *)at != 0)
            gc_json_number(f->key, *(const double *)at);
        break;
    case GC_FIELD_FLAG:
        if (*(const bool *)at)
            gc_json_bool(f->key, true);
        break;
    case GC_FIELD_VERDICT:
        gc_json_string(f->key, gc_verdict_name(*(const gc_verdict *)at));
    }
}

void gc_point_json(const gc_point *point, const char *explanation)
{
    gc_json_open(NULL, '{');
    for (const gc_point_field *f = fields; f < fields + sizeof fields / sizeof fields[0]; f++) {
        bool judged = f->when == GC_FIELD_JUDGED && point->verdict != GC_VERDICT_UNUSABLE;
        bool timed = f->when == GC_FIELD_TIMED && point->runs > 0;
        bool always = f->when == GC_FIELD_ALWAYS || judged || timed;
        if (always || f->when == GC_FIELD_KNOWN)
            write_field(f, (const char *)point + f->offset, always);
    }
    if (point->runs > 0)
        gc_json_number("spread_seconds", gc_point_spread(point));
    if (gc_point_is_noisy(point))
        gc_json_bool("noisy", true);
    if (point->has_baseline)
        gc_json_number("change_percent", point->change);
    if (point->slower)
        gc_json_bool("slower", true);
    if (explanation != NULL)
        gc_json_string("explanation", explanation);
    gc_json_close('}');
}
