/* Sorted numbers, each once: the columns, rows or ticks of a chart. */
#ifndef GC_CLI_DRAW_GRID_H
#define GC_CLI_DRAW_GRID_H

enum { GC_NUMBERS_MAX = 512 };

typedef struct gc_numbers {
    int at[GC_NUMBERS_MAX];
    int count;
} gc_numbers;

/* Adds a number where it is not there yet. Numbers beyond GC_NUMBERS_MAX are left out. */
void gc_numbers_add(gc_numbers *numbers, int number);

/* The place of a number, -1 where it is not there. */
int gc_numbers_find(const gc_numbers *numbers, int number);

#endif
