#include "cli/draw/grid.h"

#include "cli/draw/chart.h"

#include <math.h>
#include <string.h>

void gc_numbers_add(gc_numbers *numbers, int number)
{
    int place = 0;
    while (place < numbers->count && numbers->at[place] < number)
        place++;
    bool there = place < numbers->count && numbers->at[place] == number;
    if (there || numbers->count == GC_NUMBERS_MAX)
        return;
    memmove(&numbers->at[place + 1], &numbers->at[place],
            (size_t)(numbers->count - place) * sizeof numbers->at[0]);
    numbers->at[place] = number;
    numbers->count++;
}

int gc_numbers_find(const gc_numbers *numbers, int number)
{
    for (int i = 0; i < numbers->count; i++)
        if (numbers->at[i] == number)
            return i;
    return -1;
}

void gc_grid_of(const gc_chart *chart, gc_numbers *columns, gc_numbers *rows)
{
    columns->count = rows->count = 0;
    for (size_t i = 0; i < chart->count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++) {
            gc_numbers_add(columns, (int)chart->series[i].dots[j].x);
            gc_numbers_add(rows, (int)chart->series[i].dots[j].y);
        }
}

bool gc_grid_has_gaps(const gc_chart *chart)
{
    gc_numbers columns, rows;
    gc_grid_of(chart, &columns, &rows);
    return gc_chart_dots(chart) < (size_t)columns.count * (size_t)rows.count;
}

const gc_dot *gc_grid_nearest(const gc_chart *chart, const gc_numbers *columns,
                              const gc_numbers *rows, int x, int y)
{
    const gc_dot *nearest = NULL;
    double least = HUGE_VAL;
    for (size_t i = 0; i < chart->series[0].count; i++) {
        const gc_dot *dot = &chart->series[0].dots[i];
        double right = (double)(gc_numbers_find(columns, (int)dot->x) - x) / columns->count;
        double up = (double)(gc_numbers_find(rows, (int)dot->y) - y) / rows->count;
        double away = right * right + up * up;
        if (away < least) {
            least = away;
            nearest = dot;
        }
    }
    return nearest;
}
