/* Figures that the sources print: in tables, in the text, or beside a figure. None is read off a
 * curve. */
#ifndef GC_CLI_CHARTS_PUBLISHED_H
#define GC_CLI_CHARTS_PUBLISHED_H

#include <stddef.h>

typedef enum gc_quantity {
    GC_QUANTITY_SECONDS_100,  /* seconds for 100 images */
    GC_QUANTITY_MILLISECONDS, /* for one image */
    GC_QUANTITY_GFLOPS,       /* 10^9 floating-point operations a second, as measured */
    GC_QUANTITY_BOUND,        /* the same, as a formula of the source says */
    GC_QUANTITY_SPEED_UP,     /* over the implementation `over` */
    GC_QUANTITY_FACTOR        /* a tiling factor */
} gc_quantity;

typedef struct gc_published {
    const char *preset;         /* that repeats the experiment */
    const char *source, *where; /* "van Werkhoven et al. 2014", "section 9" */
    const char *device;         /* "" where the source does not name it */
    const char *step;           /* what the source calls it */
    /* The implementation of gconv that does the same; "" where there is none. Several with commas:
     * the first of these that was measured. */
    const char *implementation;
    const char *over; /* of a speed-up: the implementations that it is over, likewise; else "" */
    gc_quantity quantity;
    int image;                       /* side of the square image */
    int filter_width, filter_height; /* 0: any */
    double value;
} gc_published;

/* Entry `index`; NULL beyond the last one. */
const gc_published *gc_published_at(size_t index);

/* Takes the next name of a list with commas. Returns its length, 0 at the end of the list, and
 * moves *list behind it. */
size_t gc_published_name(const char **list, const char **name);

/* The unit of a value: "GFLOP/s"; "" for numbers without one. */
const char *gc_quantity_unit(gc_quantity quantity);

#endif
