/* The charts that fit points. */
#ifndef GC_CLI_CHARTS_CHARTS_H
#define GC_CLI_CHARTS_CHARTS_H

#include "cli/draw/chart.h"
#include "cli/measure/points.h"
#include "cli/measure/traffic.h"

/* Makes all charts of points. Roofs are 0 where they are not known. */
gconv_status gc_charts_make(const gc_points *points, gc_roofs gpu, gc_roofs cpu, gc_charts *charts,
                            gconv_error *error);

#endif
