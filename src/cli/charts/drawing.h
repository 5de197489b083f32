/* What the makers of charts share: the points that are drawn, names, colours and notes. */
#ifndef GC_CLI_CHARTS_DRAWING_H
#define GC_CLI_CHARTS_DRAWING_H

#include "cli/charts/published.h"
#include "cli/charts/select.h"
#include "cli/draw/chart.h"
#include "cli/measure/traffic.h"

typedef struct gc_drawing {
    const gc_points *points;
    gc_roofs gpu, cpu;  /* 0 where not known */
    const char *preset; /* "" where there is none */
    gc_names names;
    gc_charts *charts;
} gc_drawing;

/* The name of the implementation that stands for a published step: the first that was measured,
 * else the first of the row, else the step's own name. Returns `name`. */
const char *gc_drawing_name(const gc_drawing *d, const gc_published *row, char *name, size_t size);

/* The colour of an implementation: the same in all charts. Published steps that were not measured
 * come behind the measured ones. */
int gc_drawing_colour(const gc_drawing *d, const char *name);

/* What rates and times on a GPU hold, for the notes of charts; "" where no GPU took part. */
const char *gc_rate_note(const gc_drawing *d);
const char *gc_time_note(const gc_drawing *d);

/* What the bars at marks are; "" where a chart has none. */
const char *gc_bars_note(const gc_chart *chart);

#endif
