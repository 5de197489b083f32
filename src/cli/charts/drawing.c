#include "cli/charts/drawing.h"

#include <stdio.h>
#include <string.h>

const char *gc_drawing_name(const gc_drawing *d, const gc_published *row, char *name, size_t size)
{
    const char *list = row->implementation, *next;
    for (size_t length; (length = gc_published_name(&list, &next)) > 0;) {
        snprintf(name, size, "%.*s", (int)length, next);
        if (gc_names_find(&d->names, name) >= 0)
            return name;
    }
    list = row->implementation;
    size_t length = gc_published_name(&list, &next);
    snprintf(name, size, "%.*s", length > 0 ? (int)length : (int)strlen(row->step),
             length > 0 ? next : row->step);
    return name;
}

int gc_drawing_colour(const gc_drawing *d, const char *name)
{
    int colour = gc_names_find(&d->names, name);
    if (colour >= 0)
        return colour;
    char others[GC_SCENES_MAX][GC_SERIES_NAME_BYTES], step[GC_SERIES_NAME_BYTES];
    int count = 0;
    const gc_published *row;
    for (size_t i = 0; (row = gc_published_at(i)) != NULL && count < GC_SCENES_MAX; i++) {
        if (strcmp(row->preset, d->preset) != 0)
            continue;
        gc_drawing_name(d, row, step, sizeof step);
        bool known = gc_names_find(&d->names, step) >= 0;
        for (int j = 0; !known && j < count; j++)
            known = strcmp(others[j], step) == 0;
        if (known)
            continue;
        if (strcmp(step, name) == 0)
            break;
        memcpy(others[count++], step, sizeof step);
    }
    return d->names.count + count;
}

const char *gc_rate_note(const gc_drawing *d)
{
    return gc_points_have_gpu(d->points) ? "On a GPU only the convolution counts: no transfers, "
                                           "and no passes that extend the "
                                           "image for the border or convert samples. "
                                         : "";
}

const char *gc_time_note(const gc_drawing *d)
{
    return gc_points_have_gpu(d->points) ? "On a GPU the kernels count, without transfers. " : "";
}

const char *gc_bars_note(const gc_chart *chart)
{
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++)
            if (chart->series[i].dots[j].high > 0)
                return "Bars reach from quartile to quartile of the runs, where these are known. ";
    return "";
}
