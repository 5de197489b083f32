#include "cli/draw/chart.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/draw/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gc_series *gc_chart_series(gc_chart *chart, const char *name, gc_series_role role, int colour)
{
    gc_series *room = gc_make_room(chart->series, chart->count, &chart->capacity, sizeof *room);
    if (room == NULL) {
        chart->failed = true;
        return NULL;
    }
    chart->series = room;
    gc_series *series = &chart->series[chart->count++];
    *series = (gc_series){.role = role, .colour = colour};
    snprintf(series->name, sizeof series->name, "%s", name);
    return series;
}

void gc_chart_dot(gc_chart *chart, gc_series *series, gc_dot dot)
{
    if (series == NULL)
        return;
    gc_dot *room = gc_make_room(series->dots, series->count, &series->capacity, sizeof *room);
    if (room == NULL) {
        chart->failed = true;
        return;
    }
    series->dots = room;
    series->dots[series->count++] = dot;
}

size_t gc_chart_dots(const gc_chart *chart)
{
    size_t count = 0;
    for (size_t i = 0; i < chart->count; i++)
        count += chart->series[i].count;
    return count;
}

void gc_chart_destroy(gc_chart *chart)
{
    for (size_t i = 0; i < chart->count; i++)
        free(chart->series[i].dots);
    free(chart->series);
    *chart = (gc_chart){.series = NULL};
}

/* Takes the series without dots away. */
static void drop_empty_series(gc_chart *chart)
{
    size_t kept = 0;
    for (size_t i = 0; i < chart->count; i++)
        if (chart->series[i].count > 0)
            chart->series[kept++] = chart->series[i];
    chart->count = kept;
}

static void add_note(gc_chart *chart, const char *sentence)
{
    size_t used = strlen(chart->note);
    const char *space = used > 0 && chart->note[used - 1] != ' ' ? " " : "";
    snprintf(chart->note + used, sizeof chart->note - used, "%s%s", space, sentence);
}

static bool has_empty_cells(const gc_chart *chart)
{
    for (size_t i = 0; i < chart->series[0].count; i++)
        if (isnan(chart->series[0].dots[i].value))
            return true;
    return false;
}

/* Says which cells of a thinned map were measured, and why others are empty. */
static void note_gaps(gc_chart *chart)
{
    if (!gc_chart_has_cells(chart))
        return;
    if (gc_grid_has_gaps(chart))
        add_note(chart, chart->kind == GC_CHART_CLASSES
                            ? "Empty cells were not measured."
                            : "Cells with a dot or a number were measured. Others have the colour "
                              "of the nearest one.");
    if (has_empty_cells(chart))
        add_note(chart, "Empty cells have no right result: the table of all results says why.");
}

gconv_status gc_charts_add(gc_charts *charts, gc_chart *chart, gconv_error *error)
{
    bool failed = chart->failed, empty = gc_chart_dots(chart) == 0;
    gc_chart *room = NULL;
    if (!failed && !empty) {
        room = gc_make_room(charts->at, charts->count, &charts->capacity, sizeof *room);
        failed = room == NULL;
    }
    if (failed || empty) {
        gc_chart_destroy(chart);
        return failed ? gc_fail_memory(error, sizeof *chart) : GCONV_OK;
    }
    charts->at = room;
    drop_empty_series(chart);
    note_gaps(chart);
    charts->at[charts->count++] = *chart;
    *chart = (gc_chart){.series = NULL};
    return GCONV_OK;
}

void gc_charts_destroy(gc_charts *charts)
{
    for (size_t i = 0; i < charts->count; i++)
        gc_chart_destroy(&charts->at[i]);
    free(charts->at);
    *charts = (gc_charts){.at = NULL};
}

bool gc_chart_has_cells(const gc_chart *chart)
{
    return chart->kind != GC_CHART_LINES && chart->kind != GC_CHART_ROWS;
}
