/* Fourier transforms of lines, from memory to memory: what De Smet 2011 bounds. */
#pragma once

#include "gconv_lab.h"

/* Complex numbers of two float32 that a pass crosses: 256 MiB, more than caches hold. */
enum { GC_LOCALITY_NUMBERS = 1 << 25 };

/* The longest line. Its length is a power of two. */
enum { GC_LOCALITY_POINTS_MAX = 1 << 14 };

/* The real part of random number `index`, at least -1 and below 1. Its imaginary part is that of
 * index + GC_LOCALITY_NUMBERS. */
float gc_locality_value(size_t index);

/* ---- By the processors ----------------------------------------------------------------------- */

typedef struct gc_locality gc_locality;

/* Takes the memory. `threads` is as in a job. */
gconv_status gc_locality_create(int threads, gc_locality **locality, gconv_error *error);
void gc_locality_free(gc_locality *locality);

/* Fills the memory with random numbers, then replaces each line of `points` numbers by its
 * spectrum, with vectors and threads as `cpu` does. A line of one point changes its sign instead:
 * the least that reads and writes every number. Returns the seconds of the second part. */
double gc_locality_pass(gc_locality *locality, int points);

/* The largest error in some lines of the last pass, at some places. */
double gc_locality_error(const gc_locality *locality);

/* ---- Judging --------------------------------------------------------------------------------- */

/* What rounding may change in a transform of so many of these numbers: the bound of rule 4 for
 * float32 transforms. */
double gc_locality_bound(int points);

/* Spectra of lines of random numbers. */
typedef struct gc_spectra {
    int points;
    size_t stride; /* a group of `stride` lines begins at a multiple of stride * points;
                           * number i of a line is i * stride behind its first one */
    bool ordered;  /* number i has frequency i, else that of gconv_cpu_transform_lines */
    gconv_status (*read)(const void *from, size_t index, float number[2], gconv_error *error);
    const void *from;
} gc_spectra;

/* Compares some lines at some places with sums in double. *largest becomes the largest
 * difference. */
gconv_status gc_spectra_judge(const gc_spectra *spectra, double *largest, gconv_error *error);
