#include "filter/filter.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

gconv_status gc_filter_set_name(gconv_filter *filter, const char *name, gconv_error *error)
{
    char *copy = NULL;
    if (name != NULL && (copy = gc_copy_string(name)) == NULL)
        return gc_fail_memory(error, strlen(name) + 1);
    free(filter->name);
    filter->name = copy;
    return GCONV_OK;
}

/* Makes a filter whose sides are at most `most`, with a matrix, or with a column and a row. */
static gconv_status create(int width, int height, int most, bool has_matrix, gconv_filter **filter,
                           gconv_error *error)
{
    *filter = NULL;
    if (width < 1 || width > most || height < 1 || height > most)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a filter of %d x %d (sides are 1 to %d)",
                       width, height, most);
    size_t columns = (size_t)width, rows = (size_t)height;
    gconv_filter *made = calloc(1, sizeof *made);
    if (made != NULL)
        *made = (gconv_filter){.width = width,
                               .height = height,
                               .anchor_x = width / 2,
                               .anchor_y = height / 2,
                               .divisor = 1,
                               .weights = has_matrix ? calloc(columns * rows, sizeof *made->weights)
                                                     : NULL,
                               .column = has_matrix ? NULL : calloc(rows, sizeof *made->column),
                               .row = has_matrix ? NULL : calloc(columns, sizeof *made->row)};
    *filter = made;
    if (made != NULL && (made->weights != NULL || (made->column != NULL && made->row != NULL)))
        return GCONV_OK;
    gconv_filter_free(made);
    *filter = NULL;
    return gc_fail_memory(error, has_matrix ? columns * rows * sizeof(float)
                                            : (columns + rows) * sizeof(double));
}

gconv_status gconv_filter_create(int width, int height, gconv_filter **filter, gconv_error *error)
{
    return create(width, height, GCONV_FILTER_SIDE_MAX, true, filter, error);
}

gconv_status gconv_filter_create_vectors(int width, int height, gconv_filter **filter,
                                         gconv_error *error)
{
    return create(width, height, GCONV_FILTER_VECTOR_MAX, false, filter, error);
}

gconv_status gc_filter_create_like(const gconv_filter *filter, gconv_filter **made,
                                   gconv_error *error)
{
    return (filter->weights != NULL ? gconv_filter_create : gconv_filter_create_vectors)(
        filter->width, filter->height, made, error);
}

uint64_t gc_filter_hash(const gconv_filter *filter)
{
    size_t width = (size_t)filter->width, height = (size_t)filter->height;
    gc_hash hash = gc_hash_bytes(gc_hash_start(), &filter->divisor, sizeof filter->divisor);
    if (filter->weights != NULL)
        return gc_hash_bytes(hash, filter->weights, width * height * sizeof *filter->weights).low;
    hash = gc_hash_bytes(hash, filter->column, height * sizeof *filter->column);
    return gc_hash_bytes(hash, filter->row, width * sizeof *filter->row).low;
}

static bool is_unchanged(const gconv_filter *filter)
{
    return filter->terms != NULL && gc_filter_hash(filter) == filter->whole_hash;
}

const gconv_filter *gc_filter_computed(const gconv_filter *filter)
{
    return filter->whole != NULL && is_unchanged(filter) ? filter->whole : filter;
}

gconv_status gc_filter_copy(const gconv_filter *filter, gconv_filter **copy, gconv_error *error)
{
    const gconv_filter *computed = gc_filter_computed(filter);
    size_t width = (size_t)filter->width, height = (size_t)filter->height;
    GC_TRY(gc_filter_create_like(filter, copy, error));
    gconv_filter *made = *copy;
    made->anchor_x = filter->anchor_x;
    made->anchor_y = filter->anchor_y;
    made->divisor = computed->divisor;
    made->offset = filter->offset;
    made->offset_denominator = filter->offset_denominator;
    made->has_offset = filter->has_offset;
    if (made->weights != NULL) {
        memcpy(made->weights, computed->weights, width * height * sizeof *made->weights);
    } else {
        memcpy(made->column, computed->column, height * sizeof *made->column);
        memcpy(made->row, computed->row, width * sizeof *made->row);
    }
    if (!is_unchanged(filter))
        return GCONV_OK;
    size_t count = made->weights != NULL ? width * height : height + width;
    made->terms = gc_allocate_array(count, sizeof *made->terms);
    GC_TRY_MEMORY(made->terms != NULL, error, count * sizeof *made->terms);
    memcpy(made->terms, filter->terms, count * sizeof *made->terms);
    made->terms_divisor = filter->terms_divisor;
    return GCONV_OK;
}

void gconv_filter_free(gconv_filter *filter)
{
    if (filter == NULL)
        return;
    gconv_filter_free(filter->whole);
    free(filter->name);
    free(filter->weights);
    free(filter->column);
    free(filter->row);
    free(filter->terms);
    free(filter);
}

double gc_sum_of(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

double gconv_filter_gain(const gconv_filter *filter)
{
    double sum = 0;
    if (filter->weights == NULL)
        return gc_sum_of(filter->column, filter->height) * gc_sum_of(filter->row, filter->width) /
               filter->divisor;
    size_t count = (size_t)filter->width * (size_t)filter->height;
    for (size_t i = 0; i < count; i++)
        sum += filter->weights[i];
    return sum / filter->divisor;
}
