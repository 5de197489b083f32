/* The script that makes gnuplot draw a chart as SVG. It holds the data, so that it can be run by
 * itself: gnuplot FILE.gp >FILE.svg */
#ifndef GC_CLI_DRAW_SCRIPT_H
#define GC_CLI_DRAW_SCRIPT_H

#include "cli/draw/chart.h"

#include <stdio.h>

/* Pixels of the page that a chart is made for. */
enum { GC_CHART_WIDTH = 960, GC_CHART_HEIGHT = 460, GC_CELLS_WIDTH = 600, GC_CELLS_HEIGHT = 480 };

void gc_script_print(FILE *script, const gc_chart *chart);

/* ---- For the parts of the script ------------------------------------------------------------- */

/* A text in quotes, as gnuplot reads it. */
void gc_script_text(FILE *script, const char *text);

/* "set xlabel 'TEXT' textcolor ..." and the like; `what` is "xlabel". */
void gc_script_label(FILE *script, const char *what, const char *text);

/* The script of a chart of cells, behind the common head. */
void gc_script_cells(FILE *script, const gc_chart *chart);

#endif
