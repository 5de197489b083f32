/* gconv kernel --response: the magnitude of the Fourier transform of a chain, computed directly at
 * 257 x 257 frequencies. */
#include "base/memory.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/terminal/messages.h"
#include "lab/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Frequency k, from 0 on, is (k - HALF) / PERIOD cycles a pixel: from -1/2 to 1/2. */
enum { PERIOD = 256, HALF = PERIOD / 2, SIDE = PERIOD + 1 };

typedef struct response {
    double cosines[PERIOD], sines[PERIOD]; /* of the angles -2 pi n / PERIOD */
    double magnitudes[SIDE][SIDE];         /* of the chain so far; rows are vertical frequencies */
} response;

/* The angle of place `n` at frequency `k`, as an index. */
static int angle(int k, int n)
{
    return (int)((unsigned)((k - HALF) * n) % PERIOD);
}

/* Multiplies by the magnitudes of a matrix over its divisor. First rows are transformed, to SIDE
 * real parts and SIDE imaginary parts each, then the columns of these. */
static gconv_status multiply(response *r, const double *values, int width, int height,
                             double divisor, gconv_error *error)
{
    size_t size = (size_t)height * 2 * SIDE;
    double *rows = calloc(size, sizeof *rows);
    GC_TRY_MEMORY(rows != NULL, error, size * sizeof *rows);
    for (int i = 0; i < width * height; i++)
        for (int k = 0; k < SIDE; k++) {
            int at = i / width * 2 * SIDE + k;
            rows[at] += values[i] * r->cosines[angle(k, i % width)];
            rows[at + SIDE] += values[i] * r->sines[angle(k, i % width)];
        }
    for (int v = 0; v < SIDE; v++) {
        double real[SIDE] = {0}, imaginary[SIDE] = {0};
        for (int j = 0; j < height; j++) {
            const double *row = rows + (size_t)j * 2 * SIDE;
            double cosine = r->cosines[angle(v, j)], sine = r->sines[angle(v, j)];
            for (int u = 0; u < SIDE; u++) {
                real[u] += row[u] * cosine - row[SIDE + u] * sine;
                imaginary[u] += row[u] * sine + row[SIDE + u] * cosine;
            }
        }
        for (int u = 0; u < SIDE; u++)
            r->magnitudes[v][u] *= hypot(real[u], imaginary[u]) / fabs(divisor);
    }
    free(rows);
    return GCONV_OK;
}

static gconv_status multiply_filter(response *r, const gconv_filter *filter, gconv_error *error)
{
    int width = filter->width, height = filter->height;
    if (filter->weights == NULL) {
        GC_TRY(multiply(r, filter->row, width, 1, filter->divisor, error));
        return multiply(r, filter->column, 1, height, 1, error);
    }
    size_t count = (size_t)width * (size_t)height;
    double *values = gc_allocate_array(count, sizeof *values);
    GC_TRY_MEMORY(values != NULL, error, count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)filter->weights[i];
    gconv_status status = multiply(r, values, width, height, filter->divisor, error);
    free(values);
    return status;
}

static gconv_status write_png(const response *r, const char *path, double largest,
                              gconv_error *error)
{
    unsigned char samples[SIDE][SIDE];
    for (int v = 0; v < SIDE; v++)
        for (int u = 0; u < SIDE; u++)
            samples[v][u] =
                (unsigned char)(largest > 0 ? lround(255 * (r->magnitudes[v][u] / largest)) : 0);
    gconv_writer_options options = gconv_writer_options_default();
    options.format = GCONV_FORMAT_PNG;
    options.shape = (gconv_shape){.width = SIDE, .height = SIDE, .channels = 1, .depth = 8};
    gconv_writer *writer;
    gconv_status status = gconv_writer_open(path, &options, &writer, error);
    GC_THEN(status, gconv_writer_write(writer, SIDE, samples, SIDE, error));
    GC_THEN(status, gconv_writer_finish(writer, error));
    gconv_writer_free(writer);
    return status;
}

static gconv_status write_csv(const response *r, const char *path, gconv_error *error)
{
    gc_buffer text = {.bytes = NULL};
    gc_buffer_put(&text, "x,y,magnitude\n");
    for (int v = 0; v < SIDE; v++)
        for (int u = 0; u < SIDE; u++)
            gc_buffer_print(&text, "%.9g,%.9g,%.9g\n", (u - HALF) / (double)PERIOD,
                            (v - HALF) / (double)PERIOD, r->magnitudes[v][u]);
    return gc_write_text(path, &text, error);
}

gconv_status gc_write_response(const char *path, gconv_filter *const *filters, int count,
                               gconv_error *error)
{
    response *r = malloc(sizeof *r);
    GC_TRY_MEMORY(r != NULL, error, sizeof *r);
    for (int n = 0; n < PERIOD; n++) {
        r->cosines[n] = cos(-2 * 3.14159265358979323846 * n / PERIOD);
        r->sines[n] = sin(-2 * 3.14159265358979323846 * n / PERIOD);
    }
    double *all = &r->magnitudes[0][0], largest = 0;
    gconv_status status = GCONV_OK;
    for (int i = 0; i < SIDE * SIDE; i++)
        all[i] = 1;
    for (int f = 0; status == GCONV_OK && f < count; f++)
        status = multiply_filter(r, filters[f], error);
    for (int i = 0; i < SIDE * SIDE && isfinite(largest); i++)
        largest = all[i] > largest || isnan(all[i]) ? all[i] : largest;
    if (status == GCONV_OK && !isfinite(largest))
        status = gc_fail(error, GCONV_ERROR_FILTER, "the response of this chain exceeds double");
    bool csv = strcasecmp(path + strlen(path) - 4, ".csv") == 0; /* --response takes no other end */
    GC_THEN(status, csv ? write_csv(r, path, error) : write_png(r, path, largest, error));
    if (status == GCONV_OK)
        gc_say("%s: the magnitudes of the frequency response, from 0 to %.9g", path, largest);
    free(r);
    return status;
}
