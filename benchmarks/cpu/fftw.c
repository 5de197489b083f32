/* Overlap-save tiles through FFTW, real to complex in float, tiles on all threads. Of the two tile
 * sizes that come into question the faster one, found in the first call for a filter size. */
#include "contenders.h"

#include <fftw3.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 256 };

typedef struct transform {
    int side; /* of a tile */
    fftwf_plan forward, backward;
    fftwf_complex *spectrum; /* of the filter, over side * side */
    float *tile[THREADS_MAX];
    fftwf_complex *product[THREADS_MAX];
} transform;

static int mirrored(int at, int size)
{
    return at < 0 ? -1 - at : at < size ? at : 2 * size - 1 - at;
}

static size_t bins(const transform *t)
{
    return (size_t)t->side * (size_t)(t->side / 2 + 1);
}

static transform *prepare(const contest *race, int side)
{
    transform *t = calloc(1, sizeof *t);
    t->side = side;
    size_t values = (size_t)side * (size_t)side;
    for (int n = 0; n < race->threads; n++) {
        t->tile[n] = fftwf_alloc_real(values);
        t->product[n] = fftwf_alloc_complex(bins(t));
    }
    t->spectrum = fftwf_alloc_complex(bins(t));
    t->forward = fftwf_plan_dft_r2c_2d(side, side, t->tile[0], t->product[0], FFTW_MEASURE);
    t->backward = fftwf_plan_dft_c2r_2d(side, side, t->product[0], t->tile[0], FFTW_MEASURE);
    /* Correlation: the filter turned round, its last tap at the origin. */
    memset(t->tile[0], 0, values * sizeof(float));
    for (int j = 0; j < race->side; j++)
        for (int i = 0; i < race->side; i++)
            t->tile[0][(size_t)(race->side - 1 - j) * (size_t)side + (size_t)(race->side - 1 - i)] =
                race->weights[j * race->side + i] / (float)values;
    fftwf_execute_dft_r2c(t->forward, t->tile[0], t->spectrum);
    return t;
}

static void discard(const contest *race, transform *t)
{
    for (int n = 0; n < race->threads; n++) {
        fftwf_free(t->tile[n]);
        fftwf_free(t->product[n]);
    }
    fftwf_free(t->spectrum);
    fftwf_destroy_plan(t->forward);
    fftwf_destroy_plan(t->backward);
    free(t);
}

static void load_tile(const contest *race, const transform *t, int left, int top, float *tile)
{
    bool inside = left >= 0 && left + t->side <= race->width;
    for (int y = 0; y < t->side; y++) {
        int from = mirrored(top + y, race->height);
        const float *row = race->floats + (size_t)from * (size_t)race->width;
        float *to = tile + (size_t)y * (size_t)t->side;
        if (from < 0)
            memset(to, 0, (size_t)t->side * sizeof *to);
        else if (inside)
            memcpy(to, row + left, (size_t)t->side * sizeof *to);
        else
            for (int x = 0; x < t->side; x++) {
                int column = mirrored(left + x, race->width);
                to[x] = column < 0 ? 0 : row[column];
            }
    }
}

static void run_tile(const contest *race, const transform *t, int x, int y, int thread)
{
    int radius = race->side / 2, step = t->side - race->side + 1;
    float *tile = t->tile[thread];
    float(*product)[2] = (float(*)[2])t->product[thread];
    float(*spectrum)[2] = (float(*)[2])t->spectrum;
    load_tile(race, t, x - radius, y - radius, tile);
    fftwf_execute_dft_r2c(t->forward, tile, t->product[thread]);
    for (size_t i = 0; i < bins(t); i++) {
        float real = product[i][0] * spectrum[i][0] - product[i][1] * spectrum[i][1];
        product[i][1] = product[i][0] * spectrum[i][1] + product[i][1] * spectrum[i][0];
        product[i][0] = real;
    }
    fftwf_execute_dft_c2r(t->backward, t->product[thread], tile);
    int columns = race->width - x < step ? race->width - x : step;
    for (int j = 0; j < step && y + j < race->height; j++)
        memcpy(race->out + (size_t)(y + j) * (size_t)race->width + x,
               tile + (size_t)(j + race->side - 1) * (size_t)t->side + race->side - 1,
               (size_t)columns * sizeof(float));
}

static double run(const contest *race, const transform *t)
{
    double start = omp_get_wtime();
    int step = t->side - race->side + 1;
#pragma omp parallel for collapse(2) num_threads(race->threads) schedule(dynamic)
    for (int y = 0; y < race->height; y += step)
        for (int x = 0; x < race->width; x += step)
            run_tile(race, t, x, y, omp_get_thread_num());
    return omp_get_wtime() - start;
}

void fftw_tiles(const contest *race)
{
    static transform *ready;
    static int side;
    if (side != race->side) {
        if (ready != NULL)
            discard(race, ready);
        transform *small = prepare(race, 128), *large = prepare(race, 256);
        run(race, small);
        bool small_wins = run(race, small) < run(race, large);
        ready = small_wins ? small : large;
        discard(race, small_wins ? large : small);
        side = race->side;
    }
    run(race, ready);
}
