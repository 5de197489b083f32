/* What bench sweeps over: a case is a filter, or the chain of the command line, on an image. Every
 * implementation is measured on it. */
#pragma once

#include "cli/image/session.h"
#include "cli/measure/point.h"
#include "cli/options/options.h"
#include "gconv.h"
#include "lab/bench/lists.h"

typedef struct gc_case {
    int width, height; /* of the image; of transforms the points of a line, and how many lines */
    const gc_sample_kind *kind;
    bool is_transform; /* transforms.h: no image, and no filter */
    bool is_chain;     /* the chain of the command line, else `filter` */
    gc_timed_filter filter;
} gc_case;

/* In the order in which they are measured: all cases of one image come together. */
typedef struct gc_cases {
    gc_case *at; /* owned */
    size_t count;
} gc_cases;

/* Lists every case that the options name. Without --kernel and --filters, images of one channel
 * also take the chain of edges. */
gconv_status gc_cases_list(const gc_options *options, const gc_lists *lists, gc_cases *cases,
                           gconv_error *error);

/* Lists transforms of lines of all lengths. */
gconv_status gc_cases_list_transforms(gc_cases *cases, gconv_error *error);

/* Keeps `wanted` of the cases: those that lie evenly in the sweep, the same ones each time. The
 * first one is the first of the sweep. Each further one is as far as possible from those before it:
 * the places of image, kind, width and height in the sorted lists of all are its coordinates. */
gconv_status gc_cases_thin(gc_cases *cases, size_t wanted, gconv_error *error);

void gc_cases_destroy(gc_cases *cases);

/* Writes to a point what is measured in a case. `chain` is that of the command line. */
void gc_case_describe(const gc_case *one, const gc_options *options, const gc_filter_chain *chain,
                      gc_point *point);
