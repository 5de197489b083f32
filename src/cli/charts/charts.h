/* The charts that fit points. */
#ifndef GC_CLI_CHARTS_CHARTS_H
#define GC_CLI_CHARTS_CHARTS_H

#include "cli/draw/chart.h"
#include "cli/measure/points.h"

/* Makes all charts of points. `bandwidth` and `peak` are those of the GPU that took part, in bytes
 * and operations a second; 0 where there is none. */
gconv_status gc_charts_make(const gc_points *points, double bandwidth, double peak,
                            gc_charts *charts, gconv_error *error);

#endif
