/* Fourier transforms of lines, from memory to memory: what De Smet 2011 bounds. For measurements
 * alone. Plain C, no types of other parts. */
#ifndef GC_LAB_BENCH_LOCALITY_H
#define GC_LAB_BENCH_LOCALITY_H

#include "gconv.h"

/* Complex numbers of two float32 that a pass crosses: 256 MiB, more than caches hold. */
enum { GC_LOCALITY_NUMBERS = 1 << 25 };

/* The longest line. Its length is a power of two. */
enum { GC_LOCALITY_POINTS_MAX = 1 << 14 };

typedef struct gc_locality gc_locality;

/* Takes the memory. `threads` is as in a job. */
gconv_status gc_locality_create(int threads, gc_locality **locality, gconv_error *error);
void gc_locality_free(gc_locality *locality);

/* Fills the memory with random numbers, then replaces each line of `points` numbers by its
 * spectrum, with vectors and threads as `cpu` does. A line of one point changes its sign instead:
 * the least that reads and writes every number. Returns the seconds of the second part. */
double gc_locality_pass(gc_locality *locality, int points);

/* The real part of random number `index`, at least -1 and below 1. Its imaginary part is that of
 * index + GC_LOCALITY_NUMBERS. */
float gc_locality_value(size_t index);

/* What rounding may change in a transform of so many of these numbers: the bound of rule 4 for
 * float32 transforms. */
double gc_locality_bound(int points);

/* The spectrum of a line of random numbers at one frequency, summed in double. Number i of the line
 * is the random number first + i * stride. */
void gc_locality_sum(size_t first, size_t stride, int points, int frequency, double *real,
                     double *imaginary);

/* Compares some lines of the last pass, at some frequencies, with sums in double. Returns the
 * largest difference. */
double gc_locality_judge(const gc_locality *locality);

#endif
