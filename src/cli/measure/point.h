/* A point: what is known of one implementation on one image and filter. Tables, JSON and files are
 * made of points. */
#pragma once

#include "cli/measure/traffic.h"
#include "cli/options/implementations.h"
#include "gconv_lab.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum gc_verdict {
    GC_VERDICT_EXACT,   /* the reference's bits */
    GC_VERDICT_ONCE,    /* the same in the output, chain values within the bound of rule 4 */
    GC_VERDICT_WITHIN,  /* within the bound of rule 4 */
    GC_VERDICT_WRONG,   /* beyond the bound: not timed, not ranked */
    GC_VERDICT_UNUSABLE /* cannot run here, or refuses this job; `reason` says why */
} gc_verdict;

enum { GC_POINT_WORD_BYTES = 32 };

/* Times are in seconds. A number is 0, and a text "", if it is not known or there is none such. */
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
    gconv_difference difference;
    gconv_error reason; /* why there are no times */

    /* Times of whole runs, from samples in memory to samples in memory. */
    int runs;       /* how many were timed; 0: none, and no times and rates */
    bool too_long;  /* not timed, because one run takes longer than the time for all */
    double seconds; /* the median */
    double shortest;
    double lower_quartile, upper_quartile;

    /* Parts of a run, each a median. */
    double kernel_seconds;   /* on a GPU, from samples to samples in its memory */
    double border_seconds;   /* the part of kernel_seconds that makes extended images */
    double convert_seconds;  /* the part that turns samples into chain values and back */
    double transfer_seconds; /* copies to a GPU and back, which may overlap others */
    double compile_seconds;  /* of kernels, before any clock was started; in no other time */

    /* Rates. */
    double values_a_second; /* samples convolved, by gc_point_seconds */
    double flops;           /* floating-point operations a second: 2 w h for a sample and step, by
                       * gc_point_counted_seconds */
    double intensity;       /* operations for a byte by the published model */
    double roofline;        /* operations a second that the model allows here */
    int factor;             /* the tiling factor */
    double theory;          /* operations a second that the source of the preset predicts here */

    /* Beside others on the same image and filter. */
    double speed_up;       /* over the reference */
    double naive_speed_up; /* over naive */
    double step_speed_up;  /* over the implementation before it */

    /* Beside an earlier measurement. */
    double change; /* by how many per cent it takes longer; negative: it is faster */
    bool has_baseline;
    bool slower; /* beyond the limit of --fail-above, and beyond noise */
} gc_point;

/* "exact", "within bound", "WRONG", "not usable". */
const char *gc_verdict_name(gc_verdict verdict);

/* Whether the result was judged and is right. */
bool gc_point_is_right(const gc_point *point);

/* Makes `name` the name of the point, and of what runs. */
void gc_point_set_name(gc_point *point, const char *name);

/* From the first to the third quartile. */
double gc_point_spread(const gc_point *point);

/* Whether the runs are spread over more than a tenth of their median. */
bool gc_point_is_noisy(const gc_point *point);

/* By what rates are computed: kernel_seconds if it is known, else `seconds`. */
double gc_point_seconds(const gc_point *point);

/* What ratios between implementations are of: the convolution alone on a GPU if that is known, else
 * gc_point_seconds. */
double gc_point_counted_seconds(const gc_point *point);

/* Points in the order in which they were measured. Begins as {0}. */
typedef struct gc_points {
    gc_point *at;
    size_t count, capacity;
    gc_roofs gpu; /* of the GPU that their file names; 0: none */
} gc_points;

/* Adds a copy of the point. Pointers to points become invalid. */
gconv_status gc_points_add(gc_points *points, const gc_point *point, gconv_error *error);

void gc_points_destroy(gc_points *points);

/* Whether a GPU has taken part. */
bool gc_points_have_gpu(const gc_points *points);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Adds an object with what is known of the point to the JSON that is built. `explanation`: how the
 * implementation was chosen; NULL if nobody asked. */
void gc_point_json(const gc_point *point, const char *explanation);

typedef enum gc_field_kind {
    GC_FIELD_TEXT,
    GC_FIELD_WHOLE,
    GC_FIELD_COUNT, /* uint64_t */
    GC_FIELD_REAL,
    GC_FIELD_FLAG,
    GC_FIELD_VERDICT
} gc_field_kind;

/* A member of a point that its object has. */
typedef struct gc_point_field {
    const char *key;
    gc_field_kind kind;
    /* When it is written. KNOWN: if it has a value. ALWAYS. JUDGED: if the result was judged.
     * TIMED: if there are times. */
    enum { GC_FIELD_KNOWN, GC_FIELD_ALWAYS, GC_FIELD_JUDGED, GC_FIELD_TIMED } when;
    size_t offset, size;
} gc_point_field;

/* The fields from which a point is read again. NULL behind the last one. */
const gc_point_field *gc_point_field_at(int index);
