#include "cli/image/blur.h"

#include "base/status.h"

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

double gc_sigma_of(const gc_options *options, const gconv_shape *shape)
{
    const gc_draw_options *draw = &options->draw;
    double width = shape->width, height = shape->height;
    if (draw->sigma > 0)
        return draw->sigma_is_part ? draw->sigma / 100 * fmax(width, height) : draw->sigma;
    return fmin(fmax(sqrt(width * height) / sketch_side, sketch_usual_least), sketch_most);
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

/* ---- The filter of a sketch ------------------------------------------------------------------ */

/* The whole weights of a column and of a row add up to this: the chain is exact on 8-bit samples,
 * 255 * 255 * 255 < 2^24. */
enum { GAUSSIAN_SUM = 255, HALF_MOST = 30 };

/* The middle weights, up to `k` from the centre, add up to the odd number that is nearest to their
 * part of GAUSSIAN_SUM. `weights` has one side of the Gaussian, from its centre on. */
static gconv_status make_whole_gaussian(double sigma, int half, double *weights, gconv_error *error)
{
    gconv_filter *real;
    gconv_status status = load_gaussian(sigma, 2 * half + 1, &real, error);
    if (status != GCONV_OK)
        return status;
    const float *row = real->weights + half * real->width + half;
    double all = (double)row[0], part = (double)row[0], before = 0;
    for (int k = 1; k <= half; k++)
        all += 2 * (double)row[k];
    for (int k = 0; k <= half; k++) {
        part += k > 0 ? 2 * (double)row[k] : 0;
        double sum = k < half ? 2 * floor(GAUSSIAN_SUM * part / all / 2) + 1 : GAUSSIAN_SUM;
        weights[k] = k > 0 ? (sum - before) / 2 : sum;
        before = sum;
    }
    gconv_filter_free(real);
    return GCONV_OK;
}

static gconv_status make_sketch_filter(double sigma, gconv_filter **filter, gconv_error *error)
{
    double weights[HALF_MOST + 1];
    int half = (int)ceil(3 * sigma), side = 2 * half + 1;
    if (!(sigma >= sketch_least && sigma <= sketch_most))
        return gc_fail(error, GCONV_ERROR_ARGUMENT,
                       "--sigma is %g pixels here, and a sketch takes %g to %g", sigma,
                       sketch_least, sketch_most);
    gconv_status status = make_whole_gaussian(sigma, half, weights, error);
    if (status == GCONV_OK)
        status = gconv_filter_create(side, side, filter, error);
    if (status != GCONV_OK)
        return status;
    (*filter)->divisor = GAUSSIAN_SUM * GAUSSIAN_SUM;
    for (int k = 0; k < side * side; k++)
        (*filter)->weights[k] =
            (float)(weights[abs(k / side - half)] * weights[abs(k % side - half)]);
    return GCONV_OK;
}

/* ---- Chains ---------------------------------------------------------------------------------- */

gconv_status gc_own_chain_create(const gc_options *options, const gconv_shape *shape,
                                 gc_filter_chain *chain, gconv_error *error)
{
    bool draws = options->command == GC_COMMAND_SKETCH;
    double sigma = gc_sigma_of(options, shape);
    int count;
    const char *const *names = gconv_method_filters(&options->detector, &count);
    count = draws ? 1 : count;
    *chain = (gc_filter_chain){.filters = calloc((size_t)count, sizeof(gconv_filter *))};
    if (chain->filters == NULL)
        return gc_fail_memory(error, (size_t)count * sizeof(gconv_filter *));
    chain->count = count;
    gconv_status status = draws ? make_sketch_filter(sigma, &chain->filters[0], error)
                                : load_gaussian(sigma, 0, &chain->filters[0], error);
    for (int i = 1; status == GCONV_OK && i < count; i++)
        status = gconv_filter_load_builtin(names[i], &chain->filters[i], error);
    return status;
}
