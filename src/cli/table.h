/* Tables on standard output that fit the line. */
#ifndef GC_CLI_TABLE_H
#define GC_CLI_TABLE_H

#include <stdbool.h>

enum { GC_CELL_BYTES = 48 };

typedef struct gc_column {
    const char *head;
    int width; /* of its cells; one blank stands between two columns */
    int rank;  /* where the line is too short, columns of the highest rank go first; 0 stays */
    bool left; /* cells stand at its left */
    bool hidden;
    char cell[GC_CELL_BYTES]; /* of the row that is printed next */
} gc_column;

/* Columns of the terminal that standard output is, else of COLUMNS, else 80. */
int gc_line_width(void);

/* Hides columns until the line holds the others and, two blanks after them, `rest` more. */
void gc_table_fit(gc_column *columns, int count, int rest);

/* Prints the heads, and the cells; `rest` ends the line. */
void gc_table_print_heads(const gc_column *columns, int count, const char *rest);
void gc_table_print_row(const gc_column *columns, int count, const char *rest);

#endif
