/* Transforms of lines after De Smet 2011 on a GPU against sums in double.
 *
 *     gpu_lines      lines of 2 to 2^14 points, in every way that is our own
 *
 * The exit status is 77 if there is no GPU. */
#include "gconv_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FEW = 1 << 15,  /* numbers: fewer items than a device holds blocks */
    MANY = 1 << 21, /* more: blocks turn */
    LINES = 5,      /* that are compared of each length */
    FREQUENCIES = 37
};

static unsigned long checked, failed;

static float value_of(size_t index)
{
    unsigned x = (unsigned)index * 0x9e3779b9u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    return (float)(x >> 8) * 0x1p-23f - 1;
}

/* The larger difference of both parts of frequency f of a line from its sum in double. */
static double difference(size_t line, int f, int points, const float number[2])
{
    double real = 0, imaginary = 0;
    for (int i = 0; i < points; i++) {
        size_t index = 2 * (line * (size_t)points + (size_t)i);
        double a = value_of(index), b = value_of(index + 1);
        double angle = -2 * acos(-1) * (double)((long long)f * i % points) / points;
        real += a * cos(angle) - b * sin(angle);
        imaginary += a * sin(angle) + b * cos(angle);
    }
    return fmax(fabs((double)number[0] - real), fabs((double)number[1] - imaginary));
}

/* Each rotation and each sum of log2 rounds errs by a part of 2^-24 of numbers that grow with the
 * root of the points: far more than that is a wrong place. */
static double bound_of(int points)
{
    return 16 * 0x1p-24 * log2(points) * sqrt(points);
}

static void check_spectra(const gconv_gpu_lines *lines, size_t count, int points,
                          gconv_lines_way way)
{
    size_t all = count / (size_t)points, step = all > LINES ? all / LINES : 1;
    double worst = 0;
    gconv_error error;
    for (size_t line = 0; line < all; line += step)
        for (int k = 0; k < FREQUENCIES; k++) {
            int f = (int)((long long)k * (points - 1) / (FREQUENCIES - 1));
            float number[2];
            if (gconv_gpu_lines_read(lines, line * (size_t)points + (size_t)f, 1, number, &error) !=
                GCONV_OK) {
                printf("%s\n", error.message);
                exit(1);
            }
            worst = fmax(worst, difference(line, f, points, number));
        }
    checked++;
    failed += !(worst <= bound_of(points));
    if (!(worst <= bound_of(points)))
        printf("FAILED: %zu numbers, %d points, way %d: %g, bound %g\n", count, points, (int)way,
               worst, bound_of(points));
}

static gconv_status check_lines(size_t count, int first, int last, gconv_error *error)
{
    gconv_gpu_lines *lines;
    float *numbers = malloc(2 * count * sizeof *numbers);
    if (numbers == NULL)
        exit(1);
    for (size_t i = 0; i < 2 * count; i++)
        numbers[i] = value_of(i);
    gconv_status status = gconv_gpu_lines_create(0, numbers, count, &lines, error);
    free(numbers);
    for (int log2 = first; status == GCONV_OK && log2 <= last; log2++)
        for (int way = GCONV_LINES_CONTIGUOUS; status == GCONV_OK && way <= GCONV_LINES_RANGES;
             way++) {
            double seconds;
            status = gconv_gpu_lines_plan(lines, 1 << log2, (gconv_lines_way)way, error);
            if (status == GCONV_OK)
                status = gconv_gpu_lines_pass(lines, &seconds, error);
            if (status == GCONV_OK)
                check_spectra(lines, count, 1 << log2, (gconv_lines_way)way);
        }
    gconv_gpu_lines_free(lines);
    return status;
}

int main(void)
{
    gconv_error error;
    if (gconv_cuda_reason()[0] != '\0') {
        printf("%s\n", gconv_cuda_reason());
        return 77;
    }
    gconv_status status = check_lines(FEW, 1, 14, &error);
    if (status == GCONV_OK)
        status = check_lines(MANY, 5, 6, &error);
    if (status == GCONV_OK)
        status = check_lines(MANY, 10, 10, &error);
    if (status != GCONV_OK)
        printf("%s\n", error.message);
    printf("%lu checked, %lu failed\n", checked, failed);
    return status != GCONV_OK || failed > 0;
}
