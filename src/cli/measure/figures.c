#include "cli/measure/figures.h"

#include "cli/terminal/messages.h"

#include <stdio.h>
#include <string.h>

void gc_number_print(double value, const char *unit, int decimals, char cell[GC_CELL_BYTES])
{
    if (unit[0] == 'x') /* a ratio has three digits */
        decimals = value < 9.995 ? 2 : value < 99.95;
    if (value > 0)
        snprintf(cell, GC_CELL_BYTES, "%.*f%s", decimals, value, unit);
    else
        snprintf(cell, GC_CELL_BYTES, "-");
}

void gc_figure_print(const gc_figure *figure, const gc_point *point, char cell[GC_CELL_BYTES])
{
    double value = *(const double *)(const void *)((const char *)point + figure->at);
    gc_number_print(figure->factor * value, figure->unit, figure->decimals, cell);
}

void gc_spread_print(const gc_point *point, char cell[GC_CELL_BYTES])
{
    double percent = point->seconds > 0 ? 100 * gc_point_spread(point) / point->seconds : 0;
    gc_number_print(percent, gc_point_is_noisy(point) ? "!" : "", 1, cell);
}

void gc_total_print(const gc_point *point, bool marks, char cell[GC_CELL_BYTES])
{
    const char *mark = marks && gc_point_is_noisy(point) ? "!" : "";
    gc_number_print(1e3 * point->seconds, mark, 3, cell);
}

void gc_label_print(const gc_point *point, char cell[GC_CELL_BYTES])
{
    if (strcmp(point->name, "auto") == 0 && strcmp(point->implementation, "auto") != 0)
        snprintf(cell, GC_CELL_BYTES, "auto: %.41s", point->implementation);
    else
        snprintf(cell, GC_CELL_BYTES, "%.47s", point->name);
}

int gc_label_width(const char *const *names, int count)
{
    size_t width = strlen("name"); /* the head of the column */
    for (int i = 0; i < count; i++) {
        bool is_auto = strcmp(names[i], "auto") == 0; /* chooses no variant */
        if (!is_auto && strlen(names[i]) > width)
            width = strlen(names[i]);
        for (int j = 0; is_auto && j < gconv_implementation_count(); j++) {
            const char *one = gconv_implementation_name(j);
            if (strchr(one, ':') == NULL && strlen("auto: ") + strlen(one) > width)
                width = strlen("auto: ") + strlen(one);
        }
    }
    return (int)width;
}

static bool is_usable_on_gpu(int index)
{
    gconv_implementation_info info = gconv_implementation_info_default();
    return gconv_implementation_describe(index, &info, NULL) == GCONV_OK &&
           info.kind == GCONV_DEVICE_CUDA && info.usable;
}

bool gc_may_use_device(const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        int found = gconv_implementation_find(names[i]);
        bool may = found >= 0 && is_usable_on_gpu(found);
        for (int j = 0; strcmp(names[i], "auto") == 0 && j < gconv_implementation_count(); j++)
            may = may || is_usable_on_gpu(j);
        if (may)
            return true;
    }
    return false;
}

void gc_note_compilation(const gc_point *point)
{
    if (point->compile_seconds > 0)
        gc_note(NULL, "%s: its kernels took %.0f ms to compile, which is not counted", point->name,
                1e3 * point->compile_seconds);
}

/* ---- What cannot run ------------------------------------------------------------------------- */

/* A reason without the name of the implementation that it begins with. */
static const char *reason_alone(const char *name, const char *reason)
{
    int found = gconv_implementation_find(name); /* reasons leave out blocks and factors */
    name = found >= 0 ? gconv_implementation_name(found) : name;
    size_t length = strlen(name);
    bool begins = reason[0] == '\'' && strncmp(reason + 1, name, length) == 0 &&
                  strncmp(reason + 1 + length, "' ", 2) == 0;
    return begins ? reason + length + 3 : reason;
}

/* Prints the first with all that share its reason, and keeps the others. */
static void print_reason(gc_unusable *unusable)
{
    const gconv_error reason = unusable->reasons[0];
    const char *first = unusable->names[0], *shared = reason_alone(first, reason.message);
    int left = 0, taken = 0;
    for (int i = 0; i < unusable->count; i++) {
        const char *name = unusable->names[i];
        if (strcmp(reason_alone(name, unusable->reasons[i].message), shared) != 0) {
            unusable->names[left] = name;
            unusable->reasons[left++] = unusable->reasons[i];
            continue;
        }
        if (taken++ == 1)
            printf("not usable: %s", first);
        if (taken > 1)
            printf(", %s", name);
    }
    if (taken == 1)
        printf("%s not usable: %s\n", first, reason.message);
    else
        printf(": each %s\n", shared);
    unusable->count = left;
}

void gc_print_unusable(gc_unusable *unusable)
{
    while (unusable->count > 0)
        print_reason(unusable);
}

void gc_drop_unusable(const gc_session *session, const char **names, int *count,
                      gc_unusable *unusable)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        gconv_error *reason = &unusable->reasons[unusable->count];
        bool drops = unusable->count < GC_UNUSABLE_MAX &&
                     gc_session_check(session, names[i], reason) == GCONV_ERROR_DEVICE;
        if (drops)
            unusable->names[unusable->count++] = names[i];
        else
            names[kept++] = names[i];
    }
    *count = kept;
}

gconv_status gc_unusable_add(const gc_unusable *unusable, int count, gc_point point,
                             gc_points *points, gconv_error *error)
{
    point.verdict = GC_VERDICT_UNUSABLE;
    for (int i = 0; i < count; i++) {
        gc_point_set_name(&point, unusable->names[i]);
        point.reason = unusable->reasons[i];
        GC_TRY(gc_points_add(points, &point, error));
    }
    return GCONV_OK;
}
