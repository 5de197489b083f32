/* The rank of a filter, and products of a column and a row that make it. */

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The greatest number that divides all these numbers; 0 if one is not whole, or all are 0. */
static double common_divisor(const double *values, int count)
{
    double divisor = 0;
    for (int i = 0; i < count; i++) {
        if (values[i] != trunc(values[i]))
            return 0;
        for (double rest = fabs(values[i]); rest != 0;) {
            double next = fmod(divisor, rest);
            divisor = rest;
            rest = next;
        }
    }
    return divisor;
}

/* The place of the largest magnitude; *sum becomes the sum of all magnitudes. */
static int find_largest(const double *rest, int count, double *sum)
{
    int place = 0;
    *sum = 0;
    for (int i = 0; i < count; i++) {
        *sum += fabs(rest[i]);
        if (fabs(rest[i]) > fabs(rest[place]))
            place = i;
    }
    return place;
}

/* Subtracts products through the largest number that is left, until no more is left than rounding
 * can have made. Overwrites `rest`. */
static int eliminate(const gconv_filter *filter, double *rest, int most, double *columns,
                     double *rows)
{
    int width = filter->width, height = filter->height, count = width * height, rank = 0;
    double sum, row[GCONV_FILTER_SIDE_MAX];
    find_largest(rest, count, &sum);
    for (double allowed = sum * (common_divisor(rest, count) > 0 ? 0x1p-40 : 0x1p-22);; rank++) {
        int pivot = find_largest(rest, count, &sum);
        if (sum <= allowed)
            return rank;
        memcpy(row, rest + pivot / width * width, (size_t)width * sizeof *row);
        double divisor = fmax(common_divisor(row, width), 1), largest = rest[pivot] / divisor;
        for (int i = 0; i < width; i++) {
            row[i] /= divisor;
            if (rank < most)
                rows[rank * width + i] = row[i];
        }
        for (int j = 0; j < height; j++) {
            double factor = rest[j * width + pivot % width] / largest;
            for (int i = 0; i < width; i++)
                rest[j * width + i] -= factor * row[i];
            if (rank < most)
                columns[rank * height + j] = factor + 0; /* no -0 */
        }
    }
}

gconv_status gconv_filter_rank(const gconv_filter *filter, int most, double *columns, double *rows,
                               int *rank, gconv_error *error)
{
    size_t width = (size_t)filter->width, height = (size_t)filter->height;
    *rank = 0;
    if (filter->weights == NULL) {
        double down, across;
        find_largest(filter->column, filter->height, &down);
        find_largest(filter->row, filter->width, &across);
        *rank = down > 0 && across > 0;
        memcpy(columns, filter->column, height * sizeof *columns);
        memcpy(rows, filter->row, width * sizeof *rows);
        return GCONV_OK;
    }
    double *rest = gc_allocate_array(width * height, sizeof *rest);
    GC_TRY_MEMORY(rest != NULL, error, width * height * sizeof *rest);
    for (size_t i = 0; i < width * height; i++)
        rest[i] = (double)filter->weights[i];
    *rank = eliminate(filter, rest, most, columns, rows);
    free(rest);
    return GCONV_OK;
}
