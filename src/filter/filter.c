#include "filter/filter.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gc_fits_float(double value)
{
    /* FLT_MAX plus half a unit in the last place: from here on rounding gives infinity. */
    return fabs(value) < 0x1.ffffffp127;
}

gconv_status gc_filter_set_name(gconv_filter *filter, const char *name, gconv_error *error)
{
    char *copy = NULL;
    if (name != NULL && (copy = gc_copy_string(name)) == NULL)
        return gc_fail_memory(error, strlen(name) + 1);
    free(filter->name);
    filter->name = copy;
    return GCONV_OK;
}

gconv_status gconv_filter_create(int width, int height, gconv_filter **filter, gconv_error *error)
{
    *filter = NULL;
    if (width < 1 || width > GCONV_FILTER_SIDE_MAX || height < 1 || height > GCONV_FILTER_SIDE_MAX)
        return gc_fail(error, GCONV_ERROR_ARGUMENT, "a filter of %d x %d (sides are 1 to %d)",
                       width, height, GCONV_FILTER_SIDE_MAX);
    size_t count = (size_t)width * (size_t)height;
    gconv_filter *made = calloc(1, sizeof *made);
    float *weights = calloc(count, sizeof *weights);
    if (made == NULL || weights == NULL) {
        free(made);
        free(weights);
        return gc_fail_memory(error, sizeof *made + count * sizeof *weights);
    }
    *made = (gconv_filter){.width = width,
                           .height = height,
                           .anchor_x = width / 2,
                           .anchor_y = height / 2,
                           .divisor = 1,
                           .weights = weights};
    *filter = made;
    return GCONV_OK;
}

void gconv_filter_free(gconv_filter *filter)
{
    if (filter == NULL)
        return;
    free(filter->name);
    free(filter->weights);
    free(filter);
}

double gconv_filter_gain(const gconv_filter *filter)
{
    double sum = 0;
    size_t count = (size_t)filter->width * (size_t)filter->height;
    for (size_t i = 0; i < count; i++)
        sum += filter->weights[i];
    return sum / filter->divisor;
}
