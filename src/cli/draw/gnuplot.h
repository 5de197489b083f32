/* Runs gnuplot, the program that draws. */
#ifndef GC_CLI_DRAW_GNUPLOT_H
#define GC_CLI_DRAW_GNUPLOT_H

#include "gconv.h"

/* Has gnuplot run a script. *image becomes what it writes, which free releases. GCONV_ERROR_OPEN
 * where there is no such program; GCONV_ERROR_WRITE where it fails; GCONV_ERROR_CANCELLED where it
 * takes longer than a minute and is killed. */
gconv_status gc_gnuplot_draw(const char *script, char **image, gconv_error *error);

#endif
