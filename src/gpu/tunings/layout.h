/* The layout of a kernel: how a pass is spread over threads, and what that takes of a device. Plain
 * C: needs no GPU. */
#pragma once

#include "core/problem.h"
#include "gpu/pass/types.h"
#include "gpu/tunings/tiling.h"

/* How a kernel computes, and the file that has the kernel. */
typedef enum gc_form {
    GC_FORM_WARP,  /* methods/direct/warp.cuh: every weight, from registers */
    GC_FORM_BLOCK, /* pass/block.cuh: every weight, from shared memory */
    GC_FORM_RANK1, /* methods/separable/products.cuh: a column times a row */
    GC_FORM_RANK2, /* the same: a sum of two such products */
    GC_FORM_RANK3, /* of three */
    GC_FORM_PAIR,  /* methods/fused/pair.cuh: two steps; `gconv tune` does not vary it */
    GC_FORM_TILES, /* methods/ladder/tile_kernel.cuh: the tiles of adaptive:unrolled */
    GC_FORM_COUNT
} gc_form;

/* What `gconv tune` may vary. A block of GC_FORM_TILES has `rows` rows of threads in `warps`
 * warps. */
typedef struct gc_tuning {
    gc_form form;
    int rows;             /* rows of output that a thread computes */
    int warps;            /* warps of a block */
    gc_schedule schedule; /* in which order blocks take tiles; GC_ONE_TILE for GC_FORM_WARP */
    int tiles;            /* of GC_FORM_TILES: that a block computes side by side; else 1 */
} gc_tuning;

/* A filter without its weights, as in gc_step. */
typedef struct gc_extent {
    int width, height, left, top;
} gc_extent;

/* Everything that a kernel is made for, except the weights. */
typedef struct gc_layout {
    gc_tuning tuning;
    int width, height, left, top; /* of the filter; of GC_FORM_PAIR of the first filter */
    gc_extent second;             /* of GC_FORM_PAIR, else zeros */
    gc_sample_type input, output;
    int finish; /* gc_finish_kind */
    int border;
    int channels; /* of a pixel of interleaved samples, which one block takes; 1: there are none */
    int alpha;    /* gc_pass_alpha of these channels */
} gc_layout;

/* Channels whose values a block computes. */
int gc_layout_planes(const gc_layout *layout);

/* How many products of a column and a row make the filter; 0 for forms that take every weight. */
int gc_form_products(gc_form form);

/* The form for 1 to GC_PRODUCTS_MAX products. */
gc_form gc_form_of_products(int products);

/* Whether one of both forms is chosen for a filter, by what is faster: both take every weight, or
 * both take as many products. GC_FORM_TILES stands alone. */
bool gc_forms_compete(gc_form a, gc_form b);

/* Weights of a kernel: the matrix, or of each product the row, then the column. */
int gc_form_weights(gc_form form, int width, int height);

/* The time of a kernel, as a number of weights: GC_FORM_BLOCK takes as long for a filter of so
 * many. */
double gc_form_work(gc_form form, int width, int height);

/* Whether products of a column and a row are faster than every weight. */
bool gc_form_pays(gc_form form, int width, int height);

/* The words for a gc_form and a gc_schedule. */
const char *gc_form_name(int form);
const char *gc_schedule_name(int schedule);

/* The layout of a step without its tuning. It reads and stores chain values. */
gc_layout gc_layout_of(const gc_problem *problem, const gc_step *step);

/* Whether the form can serve this filter at all. */
bool gc_form_fits(gc_form form, const gc_layout *layout);

/* Whether the border of a step that reads bytes can be read as bytes, too. */
bool gc_border_is_byte(const gc_problem *problem, const gc_step *step);

/* The tiling of GC_FORM_TILES. */
gc_tiling gc_tuning_tiling(const gc_tuning *tuning, int filter_width, int filter_height);

/* Columns and rows of a tile; not of GC_FORM_TILES. */
void gc_layout_tile(const gc_layout *layout, int *width, int *height);

/* Columns and rows that a block of GC_FORM_PAIR computes of the first step's output. */
void gc_layout_middle(const gc_layout *layout, int *width, int *height);

/* Dynamic shared memory of a block. */
size_t gc_layout_shared_bytes(const gc_layout *layout);
