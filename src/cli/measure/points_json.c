#include "cli/measure/points.h"

#include "base/status.h"
#include "cli/measure/figures.h"
#include "cli/report/json.h"
#include "cli/report/json_reader.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The keys of a point --------------------------------------------------------------------- */

typedef enum field_kind { TEXT, WHOLE, REAL, FLAG, VERDICT } field_kind;

/* When a field is written: where it has a value, or else always, or always where there are
 * times. */
typedef enum field_presence { KNOWN, ALWAYS, TIMED } field_presence;

typedef struct field {
    const char *key;
    field_kind kind;
    field_presence presence;
    size_t offset, size;
} field;

#define FIELD(member) offsetof(gc_point, member), sizeof((gc_point *)NULL)->member

static const field fields[] = {
    {"width", WHOLE, KNOWN, FIELD(width)},
    {"height", WHOLE, KNOWN, FIELD(height)},
    {"filter", TEXT, ALWAYS, FIELD(filter)},
    {"filter_width", WHOLE, KNOWN, FIELD(filter_width)},
    {"filter_height", WHOLE, KNOWN, FIELD(filter_height)},
    {"rank1", FLAG, KNOWN, FIELD(rank1)},
    {"samples", TEXT, KNOWN, FIELD(samples)},
    {"name", TEXT, ALWAYS, FIELD(name)},
    {"implementation", TEXT, ALWAYS, FIELD(implementation)},
    {"verdict", VERDICT, ALWAYS, FIELD(verdict)},
    {"reason", TEXT, KNOWN, FIELD(reason)},
    {"largest_error", REAL, KNOWN, FIELD(largest_error)},
    {"bound", REAL, KNOWN, FIELD(bound)},
    {"runs", WHOLE, TIMED, FIELD(runs)},
    {"seconds", REAL, TIMED, FIELD(seconds)},
    {"shortest_seconds", REAL, TIMED, FIELD(shortest)},
    {"lower_quartile_seconds", REAL, TIMED, FIELD(lower_quartile)},
    {"upper_quartile_seconds", REAL, TIMED, FIELD(upper_quartile)},
    {"kernel_seconds", REAL, KNOWN, FIELD(kernel_seconds)},
    {"border_seconds", REAL, KNOWN, FIELD(border_seconds)},
    {"transfer_seconds", REAL, KNOWN, FIELD(transfer_seconds)},
    {"convert_seconds", REAL, KNOWN, FIELD(convert_seconds)},
    {"compile_seconds", REAL, KNOWN, FIELD(compile_seconds)},
    {"pixels_per_second", REAL, TIMED, FIELD(values_a_second)},
    {"flops", REAL, TIMED, FIELD(flops)},
    {"intensity", REAL, KNOWN, FIELD(intensity)},
    {"roofline_flops", REAL, KNOWN, FIELD(roofline)},
    {"factor", WHOLE, KNOWN, FIELD(factor)},
    {"theory_flops", REAL, KNOWN, FIELD(theory)},
    {"speed_up", REAL, KNOWN, FIELD(speed_up)},
    {"step_speed_up", REAL, KNOWN, FIELD(step_speed_up)},
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_field(const field *f, const char *at, bool always)
{
    int whole = f->kind == WHOLE ? *(const int *)(const void *)at : 0;
    double real = f->kind == REAL ? *(const double *)(const void *)at : 0;
    if (f->kind == TEXT && (always || at[0] != '\0'))
        gc_json_string(f->key, at);
    else if (f->kind == WHOLE && (always || whole != 0))
        gc_json_integer(f->key, whole);
    else if (f->kind == REAL && (always || real != 0))
        gc_json_number(f->key, real);
    else if (f->kind == FLAG && *(const bool *)at)
        gc_json_bool(f->key, true);
    else if (f->kind == VERDICT)
        gc_json_string(f->key, gc_verdict_name(*(const gc_verdict *)(const void *)at));
}

void gc_point_json(const gc_point *point)
{
    gc_json_open(NULL, '{');
    for (int i = 0; i < FIELD_COUNT; i++) {
        bool always = fields[i].presence != KNOWN;
        if (fields[i].presence != TIMED || point->runs > 0)
            write_field(&fields[i], (const char *)point + fields[i].offset, always);
    }
    if (point->runs > 0)
        gc_json_number("spread_seconds", gc_point_spread(point));
    if (gc_is_noisy(point->seconds, gc_point_spread(point)))
        gc_json_bool("noisy", true);
    if (point->has_baseline)
        gc_json_number("change_percent", point->change);
    if (point->slower)
        gc_json_bool("slower", true);
    gc_json_close('}');
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct point_reader {
    gc_points *points;
    const char *preset;
    gc_point point;   /* that is being read */
    bool has_verdict; /* only points have one */
} point_reader;

static bool read_verdict(const char *text, gc_verdict *verdict)
{
    for (gc_verdict one = GC_VERDICT_EXACT; one <= GC_VERDICT_UNUSABLE; one++)
        if (strcmp(text, gc_verdict_name(one)) == 0) {
            *verdict = one;
            return true;
        }
    return false;
}

static bool read_field(const field *f, const gc_json_value *value, char *at)
{
    bool is_text = f->kind == TEXT || f->kind == VERDICT;
    if (is_text != (value->text != NULL))
        return false;
    if (f->kind == VERDICT)
        return read_verdict(value->text, (gc_verdict *)(void *)at);
    if (f->kind == TEXT)
        return snprintf(at, f->size, "%s", value->text) < (int)f->size;
    if (!(value->number >= 0 && value->number <= (f->kind == WHOLE ? INT_MAX : HUGE_VAL)))
        return false;
    if (f->kind == WHOLE)
        *(int *)(void *)at = (int)value->number;
    else if (f->kind == REAL)
        *(double *)(void *)at = value->number;
    else
        *(bool *)at = value->number != 0;
    return true;
}

static void open_object(void *user)
{
    point_reader *r = user;
    r->has_verdict = false;
    r->point = (gc_point){.width = 0};
    snprintf(r->point.preset, sizeof r->point.preset, "%s", r->preset);
}

static gconv_status take_value(void *user, const gc_json_value *value, gconv_error *error)
{
    point_reader *r = user;
    for (int i = 0; i < FIELD_COUNT; i++) {
        const field *f = &fields[i];
        if (strcmp(f->key, value->key) != 0)
            continue;
        if (!read_field(f, value, (char *)&r->point + f->offset))
            return gc_fail(error, GCONV_ERROR_FORMAT, "a measurement has a wrong value of '%s'",
                           f->key);
        r->has_verdict = r->has_verdict || f->kind == VERDICT;
    }
    return GCONV_OK;
}

static gconv_status close_object(void *user, gconv_error *error)
{
    point_reader *r = user;
    bool is_point = r->has_verdict;
    r->has_verdict = false;
    return is_point ? gc_points_add(r->points, &r->point, error) : GCONV_OK;
}

gconv_status gc_points_read(const char *text, size_t size, const char *preset, gc_points *points,
                            gconv_error *error)
{
    point_reader r = {.points = points, .preset = preset};
    const gc_json_events events = {open_object, take_value, close_object, &r};
    return gc_json_read(text, size, &events, error);
}
