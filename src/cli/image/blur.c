#include "cli/image/blur.h"

#include "base/status.h"
#include "cli/options/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool gc_has_own_chain(const gc_options *options)
{
    return options->command == GC_COMMAND_SKETCH || options->draw.sigma > 0;
}

/* ---- Standard deviations --------------------------------------------------------------------- */

/* Of a sketch. The limits keep its filter within whole numbers that are fine enough. */
static const double sketch_least = 0.3, sketch_most = 10, sketch_usual_least = 0.7;

/* A picture of 1300x1300 pixels is drawn with a standard deviation of 1. */
static const double sketch_side = 1300;

/* Thin lines take a wider one, which draws less of hair and grass. */
static const double thin_part = 1.5;

double gc_sigma_of(const gc_options *options, const gconv_shape *shape)
{
    const gc_draw_options *draw = &options->draw;
    double width = shape->width, height = shape->height;
    if (draw->sigma > 0)
        return draw->sigma_is_part ? draw->sigma / 100 * fmax(width, height) : draw->sigma;
    return fmin(fmax(sqrt(width * height) / sketch_side, sketch_usual_least), sketch_most) *
           (draw->lines == GC_LINES_THIN ? thin_part : 1);
}

/* Loads gaussian:SIGMA,SIZE; a size of 0 is that of the generator. */
static gconv_status load_gaussian(double sigma, int size, gconv_filter **filter, gconv_error *error)
{
    char name[64], sides[16] = "";
    if (size > 0)
        snprintf(sides, sizeof sides, ",%d", size);
    snprintf(name, sizeof name, "gaussian:%.17g%s", sigma, sides);
    return gconv_filter_load_builtin(name, filter, error);
}

/* A Gaussian whose weights are products of whole numbers: its chain is exact on 8-bit samples. */
static gconv_status make_sketch_filter(double sigma, gconv_filter **filter, gconv_error *error)
{
    enum { SUM = 255 /* SUM * SUM * 255 < 2^24 */, SIDE_MOST = 61 };
    double whole[SIDE_MOST], all = 0;
    int half = (int)ceil(3 * sigma), side = 2 * half + 1;
    if (!(sigma >= sketch_least && sigma <= sketch_most))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--sigma is %g pixels here, and a sketch takes %g to %g", sigma,
                       sketch_least, sketch_most);
    GC_TRY(load_gaussian(sigma, side, filter, error));
    float *weights = (*filter)->weights, *middle = weights + half * side;
    for (int k = 0; k < side; k++)
        all += (double)middle[k];
    whole[half] = SUM;
    for (int k = 0; k < half; k++) {
        whole[k] = whole[side - 1 - k] = floor(SUM * (double)middle[k] / all + 0.5);
        whole[half] -= 2 * whole[k];
    }
    for (int k = 0; k < side * side; k++)
        weights[k] = (float)(whole[k / side] * whole[k % side]);
    (*filter)->divisor = SUM * SUM;
    return GCONV_OK;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

gconv_status gc_own_chain_create(const gc_options *options, const gconv_shape *shape,
                                 gc_filter_chain *chain, gconv_error *error)
{
    bool draws = !gc_finds_edges(options);
    double sigma = gc_sigma_of(options, shape);
    int count;
    const char *const *names = gconv_method_filters(&options->detector, &count);
    count = draws ? 1 : count;
    *chain = (gc_filter_chain){.filters = calloc((size_t)count, sizeof(gconv_filter *))};
    GC_TRY_MEMORY(chain->filters != NULL, error, (size_t)count * sizeof(gconv_filter *));
    chain->count = count;
    GC_TRY(draws ? make_sketch_filter(sigma, &chain->filters[0], error)
                 : load_gaussian(sigma, 0, &chain->filters[0], error));
    for (int i = 1; i < count; i++)
        GC_TRY(gconv_filter_load_builtin(names[i], &chain->filters[i], error));
    return GCONV_OK;
}
