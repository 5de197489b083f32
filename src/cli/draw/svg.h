/* Makes an image that gnuplot has written a part of a page. */
#ifndef GC_CLI_DRAW_SVG_H
#define GC_CLI_DRAW_SVG_H

#include <stddef.h>
#include <stdio.h>

/* Names of colours in the scripts for gnuplot, as "#rrggbb". In the page they follow its theme. */
#define GC_COLOUR_INK "#1a1a19"   /* text */
#define GC_COLOUR_QUIET "#5c5b57" /* axes */
#define GC_COLOUR_LINE "#dedcd7"  /* the grid */
#define GC_COLOUR_PAPER "#fffffd" /* the page */

/* The colour of a series; -1 is that of text. */
const char *gc_colour(int index);

/* Writes the colours as properties of CSS, `dark` those for a dark page. */
void gc_colours_print(FILE *page, int dark);

/* Writes the image. Identifiers get `prefix`, so that several images fit in one page. Colours
 * become properties of the page. `title` is what a screen reader says. */
void gc_svg_print(FILE *page, const char *image, const char *prefix, const char *title);

#endif
