/* Tables on standard output that fit the width of the terminal. */
#pragma once

#include <stdbool.h>

enum { GC_CELL_BYTES = 48 };

typedef struct gc_column {
    const char *head;
    int width; /* of its cells; columns are one blank apart */
    int rank;  /* a narrow terminal hides columns of the highest rank first; 0: never hidden */
    bool left; /* cells are aligned to the left */
    bool hidden;
    char cell[GC_CELL_BYTES]; /* of the row that is printed next */
} gc_column;

/* Columns of the terminal that standard output is; else the value of COLUMNS; else 80. */
int gc_line_width(void);

/* Hides columns until the others fit the line. Two blanks and `rest` characters follow them. */
void gc_table_fit(gc_column *columns, int count, int rest);

/* Prints the heads, or the cells of one row. `rest` is the text at the end of the line. */
void gc_table_print(const gc_column *columns, int count, bool heads, const char *rest);
