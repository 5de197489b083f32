/* What bench has measured: a point for each implementation on a filter and an image. Tables, files
 * and reports are made of points. */
#ifndef GC_CLI_MEASURE_POINTS_H
#define GC_CLI_MEASURE_POINTS_H

#include "cli/measure/measure.h"
#include "cli/options/implementations.h"
#include "gconv.h"

#include <stdbool.h>
#include <stddef.h>

enum { GC_POINT_WORD_BYTES = 32, GC_POINT_REASON_BYTES = 512 };

/* Times are in seconds. A number is 0, and a text "", where it is not known or where there is none
 * such. */
typedef struct gc_point {
    /* What was measured. */
    char preset[GC_POINT_WORD_BYTES];
    char samples[GC_POINT_WORD_BYTES];  /* as --samples names them; "": all kinds */
    int width, height;                  /* of the image; 0: all images */
    char filter[GC_POINT_WORD_BYTES];   /* "5x3", "9x9 rank 1", "kernel", "edges" or "all" */
    int filter_width, filter_height;    /* 0 for a chain, and for all filters */
    bool rank1;                         /* the filter was made of a column and a row */
    char name[GC_NAME_BYTES];           /* as the user or the preset gave it */
    char implementation[GC_NAME_BYTES]; /* what ran: the name, or what auto chose */

    /* How the result was judged. */
    gc_verdict verdict;
    double largest_error, bound;        /* in samples of the input */
    char reason[GC_POINT_REASON_BYTES]; /* why there are no times */

    /* Times of whole runs, from samples in memory to samples in memory. */
    int runs;       /* how many were timed; 0: none, and no times and rates */
    double seconds; /* the median */
    double shortest;
    double lower_quartile, upper_quartile;

    /* Parts of a run, each a median. */
    double kernel_seconds;   /* on a GPU, from samples to samples in its memory */
    double border_seconds;   /* the part of kernel_seconds that makes the bordered image */
    double transfer_seconds; /* to a GPU and back */
    double convert_seconds;  /* samples to chain values and back */
    double compile_seconds;  /* before the clock started; in no other time */

    /* Rates, by kernel_seconds where that is known, else by `seconds`. */
    double values_a_second; /* samples convolved */
    double flops;           /* floating-point operations a second: 2 w h for a sample and step */
    double intensity;       /* operations for a byte by the published model */
    double roofline;        /* operations a second that the model allows here */
    int factor;             /* the tiling factor */
    double theory;          /* operations a second that the source of the preset predicts here */

    /* Beside others on the same image and filter, by gc_point_counted_seconds. */
    double speed_up;      /* over the reference */
    double step_speed_up; /* over the implementation before it */

    /* Beside an earlier measurement, where there is one. */
    double change; /* by how many per cent it takes longer; negative: it is faster */
    bool has_baseline;
    bool slower; /* beyond the limit of --fail-above, and beyond noise */
} gc_point;

/* From the first to the third quartile. */
double gc_point_spread(const gc_point *point);

/* What ratios between implementations are of: the convolution alone on a GPU where that is known,
 * else kernel_seconds, else `seconds`. */
double gc_point_counted_seconds(const gc_point *point);

/* Whether both were measured with the same preset, image, filter and name. */
bool gc_point_is_same(const gc_point *a, const gc_point *b);

/* Copies what a measurement says to a point. What was measured stays as it is, but for the
 * names. */
void gc_point_take(gc_point *point, const gc_measurement *row);

/* Points in the order in which they were measured. Begins as {0}. */
typedef struct gc_points {
    gc_point *at;
    size_t count, capacity;
} gc_points;

/* Adds a copy of the point. Pointers to points become invalid. */
gconv_status gc_points_add(gc_points *points, const gc_point *point, gconv_error *error);

void gc_points_destroy(gc_points *points);

/* Whether a GPU has taken part. */
bool gc_points_have_gpu(const gc_points *points);

/* Adds an object with what is known of the point to the JSON that is built. */
void gc_point_json(const gc_point *point);

/* Adds every point that JSON holds: objects of gc_point_json, wherever they stand. `preset` is that
 * of all points. GCONV_ERROR_FORMAT where the text is not JSON, or a point has a value that cannot
 * be. */
gconv_status gc_points_read(const char *text, size_t size, const char *preset, gc_points *points,
                            gconv_error *error);

#endif
