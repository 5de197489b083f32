/* The product of two filters: the one filter that does what they do in sequence. */

#include "base/number.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

static double weight_at(const gconv_filter *filter, int j, int i)
{
    return filter->weights != NULL ? (double)filter->weights[j * filter->width + i]
                                   : filter->column[j] * filter->row[i];
}

/* Adds the second filter, times a weight of the first, to sums of `width` columns. */
static void add_shifted(const gconv_filter *second, double weight, double *sums, int width)
{
    for (int l = 0; weight != 0 && l < second->height; l++)
        for (int k = 0; k < second->width; k++)
            sums[l * width + k] += weight * weight_at(second, l, k);
}

static gconv_status multiply(const gconv_filter *first, const gconv_filter *second,
                             gconv_filter *product, gconv_error *error)
{
    int width = product->width, count = width * product->height;
    double *sums = calloc((size_t)count, sizeof *sums);
    GC_TRY_MEMORY(sums != NULL, error, (size_t)count * sizeof *sums);
    for (int j = 0; j < first->height; j++)
        for (int i = 0; i < first->width; i++)
            add_shifted(second, weight_at(first, j, i), sums + j * width + i, width);
    bool fits = true;
    for (int i = 0; i < count; i++) {
        fits = fits && gc_fits_float(sums[i]);
        product->weights[i] = fits ? (float)sums[i] : 0;
    }
    free(sums);
    return fits ? GCONV_OK : gc_fail(error, GCONV_ERROR_FILTER, "a weight is infinite in float32");
}

gconv_status gconv_filter_compose(const gconv_filter *first, const gconv_filter *second,
                                  gconv_filter **product, gconv_error *error)
{
    gconv_filter *made = NULL;
    *product = NULL;
    if (first->has_offset)
        return gc_fail(error, GCONV_ERROR_FILTER, "only the last filter may have an offset");
    GC_TRY(gconv_filter_create(first->width + second->width - 1, first->height + second->height - 1,
                               &made, error));
    made->anchor_x = first->anchor_x + second->anchor_x;
    made->anchor_y = first->anchor_y + second->anchor_y;
    made->divisor = first->divisor * second->divisor;
    made->offset = second->offset;
    made->offset_denominator = second->offset_denominator;
    made->has_offset = second->has_offset;
    gconv_status status = multiply(first, second, made, error);
    if (status == GCONV_OK && (!isfinite(made->divisor) || made->divisor == 0))
        status =
            gc_fail(error, GCONV_ERROR_FILTER, "the product of the divisors is zero or not finite");
    if (status == GCONV_OK)
        *product = made;
    else
        gconv_filter_free(made);
    return status;
}
