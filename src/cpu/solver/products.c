/* A filter of low rank as a sum of products of a column and a row (core/products.h).
 *
 * First the columns, on a segment and what the rows reach beside it. Then the rows, all products in
 * one sum, while the segment is in the first-level cache. */
#include "cpu/solver/solver.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct own_steps {
    gc_step columns[GC_PRODUCTS_MAX]; /* one a product */
    gc_step rows;                     /* the rows of all products, one below the other */
    size_t stride;                    /* values of a segment of sums of columns */
    float *taps;                      /* of all these steps */
} own_steps;

/* A filter of one row or column has nothing to separate. */
static bool applies(const gc_question *question)
{
    const gc_step *step = question->step;
    return step->taps != NULL && step->width > 1 && step->height > 1;
}

static double seconds_of(const gc_question *question, int count)
{
    const gc_step *step = question->step;
    return gc_taps_seconds(question, step->width * count, 1) +
           gc_taps_seconds(question, step->height, step->height) * count;
}

static double seconds(const gc_question *question, gc_estimate *estimate)
{
    int most = 0;
    while (most < GC_PRODUCTS_MAX && seconds_of(question, most + 1) < estimate->seconds)
        most++;
    if (most == 0 || !gc_step_products(question->step, question->problem->chain.exact, most,
                                       &estimate->products))
        return HUGE_VAL;
    return seconds_of(question, estimate->products.count);
}

/* The reach and slack of a segment included: a multiple of the alignment. */
static size_t segment_stride(const gc_stage *stage)
{
    const size_t align = GC_ALIGNMENT / sizeof(float);
    size_t reach = (size_t)(stage->step->width - 1) * (size_t)stage->channels;
    return (GC_SEGMENT_VALUES + reach + 2 * GC_ROW_SLACK + align - 1) / align * align;
}

static void set_taps(own_steps *own, const gc_step *step, const gc_products *products)
{
    size_t width = (size_t)step->width, height = (size_t)step->height;
    float *taps = own->taps;
    own->rows = *step;
    own->rows.taps = taps;
    own->rows.height = products->count;
    for (int p = 0; p < products->count; p++, taps += width)
        memcpy(taps, products->row[p], width * sizeof *taps);
    for (int p = 0; p < products->count; p++, taps += height) {
        own->columns[p] = *step;
        own->columns[p].width = 1;
        own->columns[p].taps = taps;
        memcpy(taps, products->column[p], height * sizeof *taps);
    }
}

static gconv_status create(gc_stage *stage, const gc_question *question,
                           const gc_estimate *estimate, gconv_error *error)
{
    const gc_step *step = stage->step;
    size_t count = (size_t)estimate->products.count;
    size_t taps = count * (size_t)(step->width + step->height);
    (void)question;
    own_steps *own = stage->own;
    own->taps = gc_allocate_aligned(taps, sizeof *own->taps);
    GC_TRY_MEMORY(own->taps != NULL, error, taps * sizeof *own->taps);
    set_taps(own, step, &estimate->products);
    own->stride = segment_stride(stage);
    stage->scratch = count * GC_ROWS_TOGETHER * own->stride;
    return GCONV_OK;
}

static double error_of(const gc_question *question, const gc_estimate *estimate)
{
    return gc_products_error(question->step, question->input, &estimate->products);
}

static void run(const gc_stage *stage, const gc_stage_input *input, size_t values, int row_count,
                float *const *out)
{
    const own_steps *own = stage->own;
    const gc_taps_loops *loops = stage->instructions->taps;
    size_t channels = (size_t)stage->channels;
    size_t reach = (size_t)(stage->step->width - 1) * channels;
    int products = own->rows.height;
    const float *from[GCONV_FILTER_SIDE_MAX + GC_ROWS_TOGETHER];
    const float *between[GC_ROWS_TOGETHER * GC_PRODUCTS_MAX];
    float *columns[GC_PRODUCTS_MAX][GC_ROWS_TOGETHER], *to[GC_ROWS_TOGETHER];
    /* For a single product both loops do the same; `every` is 4 % faster. */
    gc_taps_function *sum_rows = products == 1 ? loops->every : loops->apart;
    for (int n = 0; n < GC_ROWS_TOGETHER * products; n++)
        between[n] = columns[n % products][n / products] = input->scratch + (size_t)n * own->stride;
    for (size_t first = 0; first < values; first += GC_SEGMENT_VALUES) {
        size_t count = values - first < GC_SEGMENT_VALUES ? values - first : GC_SEGMENT_VALUES;
        for (int r = 0; r < stage->step->height + GC_ROWS_TOGETHER - 1; r++)
            from[r] = input->rows[r] + first;
        for (int o = 0; o < row_count; o++)
            to[o] = out[o] + first;
        for (int p = 0; p < products; p++)
            loops->every(&own->columns[p], from, channels, count + reach, row_count, columns[p]);
        sum_rows(&own->rows, between, channels, count, row_count, to);
    }
}

static const char *describe(const gc_stage *stage)
{
    static const char *const words[] = {"a column and a row", "a sum of 2 separable filters",
                                        "a sum of 3 separable filters"};
    const own_steps *own = stage->own;
    return words[own->rows.height - 1];
}

static void release(void *own)
{
    free(((own_steps *)own)->taps);
}

const gc_solver gc_solver_products = {
    .name = "products",
    .applies = applies,
    .seconds = seconds,
    .own_bytes = sizeof(own_steps),
    .create = create,
    .run = run,
    .describe = describe,
    .error = error_of,
    .release = release,
};
