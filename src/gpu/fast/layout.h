/* How a pass is laid out over threads: what can be chosen, what is chosen unasked, what it takes. Plain
 * C: needs no GPU. */
#ifndef GC_GPU_FAST_LAYOUT_H
#define GC_GPU_FAST_LAYOUT_H

#include "core/problem.h"
#include "gpu/kernels/jit/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gc_form {
    GC_FORM_WARP,  /* kernels/jit/warp.cuh */
    GC_FORM_BLOCK, /* kernels/jit/block.cuh */
    GC_FORM_RANK1, /* kernels/jit/products.cuh: a column times a row */
    GC_FORM_RANK2, /* the same: a sum of two such products */
    GC_FORM_RANK3, /* of three */
    GC_FORM_PAIR,  /* kernels/jit/pair.cuh: two steps; not searched */
    GC_FORM_COUNT
} gc_form;

/* What a search may vary. */
typedef struct gc_tuning {
    gc_form form;
    int rows;             /* of output a thread */
    int warps;            /* a block */
    gc_schedule schedule; /* of the forms of blocks */
    int tiles;            /* of GC_STRIP */
} gc_tuning;

/* A filter without its weights, as in gc_step. */
typedef struct gc_extent {
    int width, height, left, top;
} gc_extent;

/* Everything about a kernel but its weights. */
typedef struct gc_layout {
    gc_tuning tuning;
    int width, height, left, top; /* of the filter, of GC_FORM_PAIR the first one */
    gc_extent second;             /* of GC_FORM_PAIR, else zeros */
    gc_sample_type input, output;
    int finish; /* gc_finish_kind */
    int border;
} gc_layout;

/* Products of a column and a row whose sum is the filter; 0 for forms that take every weight. */
int gc_form_products(gc_form form);

/* The form of sums of 1 to GC_PRODUCTS_MAX products. */
gc_form gc_form_of_products(int products);

/* Weights that a kernel is given: the matrix, or of each product the row, then the column. */
int gc_form_weights(gc_form form, int width, int height);

/* What a kernel takes, in weights of a filter for which GC_FORM_BLOCK takes as long. */
double gc_form_work(gc_form form, int width, int height);

/* Whether a sum of products is faster than every weight. */
bool gc_form_pays(gc_form form, int width, int height);

const char *gc_form_name(gc_form form);
const char *gc_schedule_name(gc_schedule schedule);

/* The layout of a step whose tuning is still open. */
gc_layout gc_layout_of(const gc_problem *problem, const gc_step *step);

/* The choice for a device that was never tuned: rules from measurements on an H200. */
gc_tuning gc_tuning_default(gc_form form, int width, int height);

/* The same for GC_FORM_PAIR. */
gc_tuning gc_tuning_pair(const gc_layout *layout);

/* Whether the form can serve this filter at all. */
bool gc_form_fits(gc_form form, const gc_layout *layout);

/* Whether what a pass reads as bytes is bytes at the border, too. */
bool gc_border_is_byte(const gc_problem *problem, const gc_step *step);

/* Columns and rows of output a block, and dynamic shared memory that it takes. */
void gc_layout_tile(const gc_layout *layout, int *width, int *height);

/* What a block of GC_FORM_PAIR computes of the first step's output. */
void gc_layout_middle(const gc_layout *layout, int *width, int *height);

size_t gc_layout_shared_bytes(const gc_layout *layout);

#ifdef __cplusplus
}
#endif

#endif
