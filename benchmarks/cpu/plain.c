/* The loop anyone would write, and the peak of the processor; compiled for this machine. */
#include "contenders.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int mirrored(int at, int size)
{
    return at < 0 ? -1 - at : at < size ? at : 2 * size - 1 - at;
}

/* One thread; x innermost, over a copy of the image with its border. */
void plain_loop(const contest *race)
{
    int radius = race->side / 2;
    int width = race->width + 2 * radius, height = race->height + 2 * radius;
    static float *padded;
    static int side;
    if (side != race->side) {
        free(padded);
        padded = malloc((size_t)width * (size_t)height * sizeof *padded);
        side = race->side;
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            padded[(size_t)y * (size_t)width + x] =
                race->floats[(size_t)mirrored(y - radius, race->height) * (size_t)race->width +
                             mirrored(x - radius, race->width)];
    for (int y = 0; y < race->height; y++) {
        float *restrict out = race->out + (size_t)y * (size_t)race->width;
        memset(out, 0, (size_t)race->width * sizeof *out);
        for (int j = 0; j < race->side; j++)
            for (int i = 0; i < race->side; i++) {
                const float *restrict in = padded + (size_t)(y + j) * (size_t)width + i;
                float weight = race->weights[j * race->side + i];
                for (int x = 0; x < race->width; x++)
                    out[x] += weight * in[x];
            }
    }
}

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
enum { SUMS = 12, REPEATS = 10000000 };

/* Twelve independent sums hide the latency of a multiply-add. */
static double peak_of_one(void)
{
    vector sums[SUMS] = {0}, factor = {0}, term = {0};
    for (size_t i = 0; i < VECTOR_BYTES / sizeof(float); i++) {
        factor[i] = 0.5f;
        term[i] = 1;
    }
    double start = omp_get_wtime();
    for (int n = 0; n < REPEATS; n++) {
        __asm__ volatile("" : "+x"(factor), "+x"(term));
#pragma GCC unroll 12
        for (int i = 0; i < SUMS; i++)
            sums[i] = sums[i] * factor + term;
    }
    double seconds = omp_get_wtime() - start;
    vector sum = sums[0];
    for (int i = 1; i < SUMS; i++)
        sum += sums[i];
    __asm__ volatile("" : : "x"(sum));
    return 2.0 * SUMS * REPEATS * (VECTOR_BYTES / sizeof(float)) / seconds;
}

double multiply_add_peak(int threads)
{
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += peak_of_one();
    return sum;
}
