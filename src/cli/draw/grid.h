/* Sorted numbers, each once: the columns, rows or ticks of a chart. */
#ifndef GC_CLI_DRAW_GRID_H
#define GC_CLI_DRAW_GRID_H

#include <stdbool.h>

struct gc_chart;
struct gc_dot;

enum { GC_NUMBERS_MAX = 512 };

typedef struct gc_numbers {
    int at[GC_NUMBERS_MAX];
    int count;
} gc_numbers;

/* Adds a number where it is not there yet. Numbers beyond GC_NUMBERS_MAX are left out. */
void gc_numbers_add(gc_numbers *numbers, int number);

/* The place of a number, -1 where it is not there. */
int gc_numbers_find(const gc_numbers *numbers, int number);

/* Columns and rows of the cells of a chart. */
void gc_grid_of(const struct gc_chart *chart, gc_numbers *columns, gc_numbers *rows);

/* Whether a column and a row of a chart of cells meet where no cell is. */
bool gc_grid_has_gaps(const struct gc_chart *chart);

/* The dot whose cell is nearest to that of column `x` and row `y`, counted from 0: by shares of all
 * columns and of all rows. The first series counts. */
const struct gc_dot *gc_grid_nearest(const struct gc_chart *chart, const gc_numbers *columns,
                                     const gc_numbers *rows, int x, int y);

#endif
