#include "lab/bench/kept.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/status.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 << 20, BLOCK = 1 << 16 };

bool gc_point_is_same(const gc_point *a, const gc_point *b)
{
    return a->width == b->width && a->height == b->height && strcmp(a->filter, b->filter) == 0 &&
           strcmp(a->name, b->name) == 0 && strcmp(a->samples, b->samples) == 0 &&
           strcmp(a->preset, b->preset) == 0;
}

const gc_point *gc_points_find(const gc_points *points, const gc_point *wanted, bool timed)
{
    for (size_t i = 0; i < points->count; i++)
        if ((points->at[i].runs > 0 || !timed) && gc_point_is_same(&points->at[i], wanted))
            return &points->at[i];
    return NULL;
}

gconv_status gc_read_kept(int descriptor, char **text, size_t *size, gconv_error *error)
{
    *text = NULL;
    *size = 0;
    for (size_t got = BLOCK; got == BLOCK; *size += got) {
        if (*size >= FILE_BYTES_MAX)
            return gc_fail(error, GCONV_ERROR_ARGUMENT, "larger than any file of gconv bench");
        char *room = realloc(*text, *size + BLOCK);
        GC_TRY_MEMORY(room != NULL, error, *size + BLOCK);
        *text = room;
        got = 0;
        if (!gc_read_all(descriptor, *text + *size, BLOCK, &got))
            return gc_fail_errno(error, GCONV_ERROR_READ, errno, "cannot read");
    }
    return GCONV_OK;
}

size_t gc_whole_lines(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] != '\n')
        size--;
    return size;
}

/* ---- Points ---------------------------------------------------------------------------------- */

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

static bool read_field(const gc_point_field *f, const gc_json_value *value, void *at)
{
    bool is_text = f->kind == GC_FIELD_TEXT || f->kind == GC_FIELD_VERDICT;
    double most = f->kind == GC_FIELD_WHOLE ? INT_MAX : f->kind == GC_FIELD_COUNT ? 1e18 : HUGE_VAL;
    if (is_text != (value->text != NULL))
        return false;
    if (f->kind == GC_FIELD_VERDICT)
        return read_verdict(value->text, at);
    if (f->kind == GC_FIELD_TEXT)
        return snprintf(at, f->size, "%s", value->text) < (int)f->size;
    if (!(value->number >= 0 && value->number <= most))
        return false;
    if (f->kind == GC_FIELD_WHOLE)
        *(int *)at = (int)value->number;
    else if (f->kind == GC_FIELD_COUNT)
        *(uint64_t *)at = (uint64_t)value->number;
    else if (f->kind == GC_FIELD_REAL)
        *(double *)at = value->number;
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
    const gc_point_field *f;
    if (strcmp(value->key, "memory_bandwidth") == 0)
        r->points->gpu.bandwidth = value->number;
    if (strcmp(value->key, "peak_flops") == 0)
        r->points->gpu.peak = value->number;
    for (int i = 0; (f = gc_point_field_at(i)) != NULL; i++) {
        if (strcmp(f->key, value->key) != 0)
            continue;
        if (!read_field(f, value, (char *)&r->point + f->offset))
            return gc_fail(error, GCONV_ERROR_FORMAT, "a measurement has a wrong value of '%s'",
                           f->key);
        r->has_verdict = r->has_verdict || f->kind == GC_FIELD_VERDICT;
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
