/* How samples and weights become halves for the tensor cores, and the shapes of their matrices
 * (halves.cuh). Plain C: needs no GPU. */
#pragma once

#include "core/problem.h"
#include "gpu/pass/types.h"

/* ---- Halves ---------------------------------------------------------------------------------- */

/* The nearest half (IEEE 754 binary16, ties to even) to a value below 65520, as a float and as
 * bits. */
float gc_half_of(float value);
unsigned gc_half_bits(float value);

/* How numbers are split in parts. A number is multiplied by a power of 2 first. The high part is
 * the nearest half, the low part the half nearest to the rest. If a problem is rounded once, high
 * parts of weights are the nearest multiples of `unit` instead, so that their sums are exact. */
typedef struct gc_parts {
    bool splits;      /* samples have two parts; bytes need one */
    int weight_parts; /* 1 if all weights are halves, else 2 */
    int sample_exponent, weight_exponent;
    float unit; /* of weights that are multiplied, a power of 2; 0: high parts are nearest halves */
} gc_parts;

/* The parts for a step. `from_bytes` says that its samples lie in memory as bytes. */
gc_parts gc_parts_of(const gc_problem *problem, const gc_step *step, bool from_bytes);

/* Whether the error of sums is within the bound of rule 4 on a device of this compute
 * capability. */
bool gc_parts_meet_bound(const gc_step *step, int compute_major);

/* How far sums may be from exact ones; infinite if there is no unit. */
double gc_parts_error(const gc_problem *problem, const gc_step *step, const gc_parts *parts,
                      int compute_major);

/* Whether sums of integers are exact. */
bool gc_parts_are_exact(const gc_step *step, const gc_parts *parts);

/* Whether the powers of 2 bring all samples, also the smallest, and all weights into the range of
 * halves. */
bool gc_parts_in_range(const gc_problem *problem, const gc_step *step, const gc_parts *parts);

/* ---- The banded matrix ----------------------------------------------------------------------- */

/* A tile's line starts at a whole word. This many of its columns come before the first one that the
 * filter reads. */
int gc_matrix_skip(const gc_step *step);

/* Columns of the banded matrix of a row of weights: as many as a unit of outputs and its
 * surroundings have, rounded up to whole units. */
int gc_matrix_columns(const gc_step *step);

/* Diagonals of the banded matrix that lanes read. */
int gc_matrix_diagonals(const gc_step *step);

/* The weights of row `j` of the filter on a diagonal and on the next, as two halves, the first in
 * the low bits: *high has their high parts, *low their low parts. */
void gc_matrix_words(const gc_step *step, const gc_parts *parts, int j, int diagonal,
                     unsigned *high, unsigned *low);

/* Bytes of all diagonals of all rows of the filter, and of one row more, which kernels may read. */
size_t gc_matrix_bytes(const gc_step *step);

/* ---- A tile ---------------------------------------------------------------------------------- */

/* Samples of a line of a tile, and lines of a tile for `rows` lines of output. */
int gc_halves_line_length(const gc_step *step);
int gc_halves_lines(const gc_step *step, int rows);

/* Bytes of the halves of a tile of one channel, and of one line more, which kernels may read. A
 * multiple of 16. */
size_t gc_halves_bytes(const gc_step *step, int rows, bool splits);
