/* The page of a report: what stands around the charts. */
#ifndef GC_CLI_PAGE_PAGE_H
#define GC_CLI_PAGE_PAGE_H

#include "cli/draw/chart.h"
#include "cli/page/study.h"

#include <stdio.h>

/* A chart and what became of it. */
typedef struct gc_panel {
    const gc_chart *chart;
    char *script;  /* owned */
    char *image;   /* as gnuplot wrote it, owned; NULL where it was not drawn */
    char *data;    /* lines of values with commas, owned */
    char name[32]; /* "chart-1" */
} gc_panel;

typedef struct gc_page {
    const gc_study *study;
    const gc_panel *panels;
    size_t count;
    gconv_error missing;   /* why charts are missing; its message is "" where none is */
    const char *directory; /* where the data were written then; NULL where nowhere */
} gc_page;

void gc_page_print(FILE *page, const gc_page *content);

/* ---- Parts of the page ----------------------------------------------------------------------- */

/* The rules of style: light, dark, print. */
void gc_style_print(FILE *page);

/* A table of what a chart shows. */
void gc_chart_table_print(FILE *page, const gc_chart *chart);

/* Lines of values with commas: what a chart shows. */
void gc_chart_csv_print(FILE *stream, const gc_chart *chart);

/* A table of all points, and the implementations that cannot run here. */
void gc_results_print(FILE *page, const gc_points *points);
void gc_refused_print(FILE *page, const gc_points *points);

/* What De Smet 2011 prints of registers beside those of this machine. Nothing for other presets. */
void gc_registers_print(FILE *page, const gc_study *study);

/* Published panels beside measured ones. Nothing where the sources print none for this preset. */
void gc_published_print(FILE *page, const gc_points *points);

#endif
