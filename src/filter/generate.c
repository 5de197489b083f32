/* Filters made from a formula (contract.md, rule 27): gaussian, box, log. (`identity` is a file of
 * filters/.) */
#include "filter/filter.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* The side if the specification has none: three standard deviations each way, at most `most`. */
static gconv_status default_size(double sigma, int most, int *size, gconv_error *error)
{
    const int half_max = (most - 1) / 2;
    double half = ceil(3 * sigma);
    if (half > half_max)
        return gc_fail(
            error, GCONV_ERROR_FILTER,
            "SIGMA %g needs a side above %d (3 SIGMA each way): SIGMA is at most %.2f, or "
            "SIZE says where to cut, as in SIGMA,%d",
            sigma, most, floor(100 * half_max / 3.0) / 100, most);
    *size = 2 * (int)half + 1;
    return GCONV_OK;
}

/* Reads SIGMA[,SIZE]. SIZE is at most `most`. */
static gconv_status read_sigma(const char *parameters, int most, double *sigma, int *size,
                               gconv_error *error)
{
    size_t length = strlen(parameters);
    const char *comma = memchr(parameters, ',', length);
    size_t sigma_length = comma == NULL ? length : (size_t)(comma - parameters);
    size_t used = gc_read_number(parameters, sigma_length, sigma);
    if (used == 0 || used != sigma_length || !isfinite(*sigma) || *sigma <= 0)
        return gc_fail(error, GCONV_ERROR_FILTER, "SIGMA '%.*s' is not a finite number above 0",
                       (int)(sigma_length < 100 ? sigma_length : 100), parameters);
    if (comma == NULL)
        return default_size(*sigma, most, size, error);
    long long side;
    if (!gc_parse_integer(comma + 1, 1, most, &side) || side % 2 == 0)
        return gc_fail(error, GCONV_ERROR_FILTER, "SIZE '%.100s' is not an odd number from 1 to %d",
                       comma + 1, most);
    *size = (int)side;
    return GCONV_OK;
}

/* exp(-t^2/2) at the integers over sigma, symmetric around the middle of `profile`. */
static void sample_gaussian(double sigma, int size, double *profile)
{
    for (int i = 0; i <= size / 2; i++) {
        double t = (size / 2 - i) / sigma;
        profile[i] = profile[size - 1 - i] = gc_exponential_of_minus(0.5 * t * t);
    }
}

/* A matrix if it may be so large, else two vectors. */
static gconv_status create(int width, int height, gconv_filter **filter, gconv_error *error)
{
    bool fits = width <= GCONV_FILTER_SIDE_MAX && height <= GCONV_FILTER_SIDE_MAX;
    return fits ? gconv_filter_create(width, height, filter, error)
                : gconv_filter_create_vectors(width, height, filter, error);
}

static void fill_product(gconv_filter *filter, const double *column, const double *row)
{
    if (filter->weights == NULL) {
        memcpy(filter->column, column, (size_t)filter->height * sizeof *column);
        memcpy(filter->row, row, (size_t)filter->width * sizeof *row);
        return;
    }
    for (int y = 0; y < filter->height; y++)
        for (int x = 0; x < filter->width; x++)
            filter->weights[y * filter->width + x] = (float)(column[y] * row[x]);
}

static gconv_status make_gaussian(const char *parameters, gconv_filter **filter, gconv_error *error)
{
    double sigma;
    int size;
    GC_TRY(read_sigma(parameters, GCONV_FILTER_VECTOR_MAX, &sigma, &size, error));
    GC_TRY(create(size, size, filter, error));
    double profile[GCONV_FILTER_VECTOR_MAX];
    sample_gaussian(sigma, size, profile);
    double sum = gc_sum_of(profile, size);
    for (int i = 0; i < size; i++)
        profile[i] /= sum;
    fill_product(*filter, profile, profile);
    return GCONV_OK;
}

/* Samples of the Laplacian of the Gaussian 1/(2 pi sigma^2) exp(-r^2/(2 sigma^2)), less their
 * mean. */
static void sample_log(double sigma, int size, double *samples)
{
    double profile[GCONV_FILTER_SIDE_MAX], sum = 0;
    sample_gaussian(sigma, size, profile);
    double scale = 1 / (2 * pi * sigma * sigma * sigma * sigma);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            double s = (x - size / 2) / sigma, t = (y - size / 2) / sigma;
            double gaussian = profile[x] * profile[y];
            double sample = gaussian > 0 ? scale * (s * s + t * t - 2) * gaussian : 0;
            samples[y * size + x] = sample;
            sum += sample;
        }
    for (int i = 0; i < size * size; i++)
        samples[i] -= sum / (size * size);
}

static gconv_status make_log(const char *parameters, gconv_filter **filter, gconv_error *error)
{
    double sigma;
    int size;
    gconv_status status = read_sigma(parameters, GCONV_FILTER_SIDE_MAX, &sigma, &size, error);
    GC_TRY(status);
    size_t count = (size_t)size * (size_t)size;
    double *samples = gc_allocate_array(count, sizeof *samples);
    GC_TRY_MEMORY(samples != NULL, error, count * sizeof *samples);
    sample_log(sigma, size, samples);
    double centre = samples[count / 2];
    if (!gc_fits_float(centre) || (float)centre >= 0)
        status = gc_fail(error, GCONV_ERROR_FILTER,
                         "SIGMA %g and SIZE %d give no usable weights (all 0, or too large for "
                         "float32)",
                         sigma, size);
    else
        status = gconv_filter_create(size, size, filter, error);
    for (size_t i = 0; status == GCONV_OK && i < count; i++)
        (*filter)->weights[i] = (float)samples[i];
    free(samples);
    return status;
}

/* Reads a side of `length` bytes; 0 if it is no side. */
static int read_side(const char *text, size_t length)
{
    long long side;
    bool read =
        length < 8 && gc_parse_integer_part(text, length, 1, GCONV_FILTER_VECTOR_MAX, &side);
    return read ? (int)side : 0;
}

static gconv_status make_box(const char *parameters, gconv_filter **filter, gconv_error *error)
{
    const char *times = strchr(parameters, 'x');
    size_t length = strlen(parameters);
    int width = read_side(parameters, times == NULL ? length : (size_t)(times - parameters));
    int height = times == NULL ? width : read_side(times + 1, strlen(times + 1));
    if (width == 0 || height == 0)
        return gc_fail(error, GCONV_ERROR_FILTER,
                       "'%.100s' is not a size (N or WxH, each from 1 to %d)", parameters,
                       GCONV_FILTER_VECTOR_MAX);
    GC_TRY(create(width, height, filter, error));
    double ones[GCONV_FILTER_VECTOR_MAX];
    for (int i = 0; i < GCONV_FILTER_VECTOR_MAX; i++)
        ones[i] = 1;
    fill_product(*filter, ones, ones);
    (*filter)->divisor = width * height;
    return GCONV_OK;
}

static const gc_generator generators[] = {
    {{"box", "box:N or box:WxH", "N x N or W x H mean, sides 1 to 4095"}, make_box},
    {{"gaussian", "gaussian:SIGMA[,SIZE]",
      "Gaussian blur, sum 1; SIGMA in pixels, SIZE an odd side"},
     make_gaussian},
    {{"log", "log:SIGMA[,SIZE]",
      "Laplacian of a Gaussian, sum 0, negative in the centre; SIGMA and SIZE as of gaussian"},
     make_log},
};

size_t gconv_generator_count(void)
{
    return sizeof generators / sizeof generators[0];
}

const gconv_generator *gconv_generator_at(size_t index)
{
    return index < gconv_generator_count() ? &generators[index].about : NULL;
}

const gc_generator *gc_find_generator(const char *specification)
{
    size_t length = strcspn(specification, ":");
    for (size_t i = 0; i < gconv_generator_count(); i++)
        if (strlen(generators[i].about.name) == length &&
            memcmp(generators[i].about.name, specification, length) == 0)
            return &generators[i];
    return NULL;
}

gconv_status gc_filter_generate(const gc_generator *generator, const char *specification,
                                gconv_filter **filter, gconv_error *error)
{
    *filter = NULL;
    const char *colon = strchr(specification, ':');
    if (colon == NULL || colon[1] == '\0')
        return gc_fail(error, GCONV_ERROR_FILTER, "parameters are missing: %s",
                       generator->about.usage);
    gconv_filter *made = NULL;
    gconv_status status = generator->make(colon + 1, &made, error);
    GC_THEN(status, gc_filter_set_name(made, specification, error));
    if (status == GCONV_OK)
        *filter = made;
    else
        gconv_filter_free(made);
    return status;
}
