/* How the numbers of a step become halves for the tensor cores, and the shapes of the matrices that they
 * stand in (kernels/mma/halves.cuh). Plain C: needs no GPU. */
#ifndef GC_GPU_FAST_HALVES_H
#define GC_GPU_FAST_HALVES_H

#include "core/problem.h"
#include "gpu/kernels/jit/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Halves ---------------------------------------------------------------------------------- */

/* The nearest half (IEEE 754 binary16, ties to even) to a value below 65520, as a float and as bits. */
float gc_half_of(float value);
unsigned gc_half_bits(float value);

/* How numbers are split: the nearest half of one times a power of 2, and the nearest half of the rest. */
typedef struct gc_parts {
    bool splits;      /* samples, in two parts; one is enough for bytes */
    int weight_parts; /* 1 where all weights are halves */
    int sample_exponent, weight_exponent;
} gc_parts;

/* `from_bytes` where the samples of the step lie in memory as bytes. */
gc_parts gc_parts_of(const gc_problem *problem, const gc_step *step, bool from_bytes);

/* Whether the sum's error is in the bound of rule 4 on a device of this compute capability. */
bool gc_parts_meet_bound(const gc_step *step, int compute_major);

/* Whether sums of integers are exact. */
bool gc_parts_are_exact(const gc_step *step, const gc_parts *parts);

/* Whether powers of 2 bring all samples, the smallest ones too, and all weights where halves are. */
bool gc_parts_in_range(const gc_problem *problem, const gc_step *step, const gc_parts *parts);

/* ---- The banded matrix ----------------------------------------------------------------------- */

/* Columns of a tile's line before those that the filter reaches: lines start at a whole word. */
int gc_matrix_skip(const gc_step *step);

/* Columns of the banded matrix of a row of weights: a unit of outputs and its surroundings, in whole
 * units. */
int gc_matrix_columns(const gc_step *step);

/* Diagonals that a lane reads from: gc_matrix_columns and those to the left of the first column. */
int gc_matrix_diagonals(const gc_step *step);

/* Two halves that stand on a diagonal of row `j` of the filter and the next, the first in the low bits:
 * high parts, and low ones. */
void gc_matrix_words(const gc_step *step, int exponent, int j, int diagonal, unsigned *high,
                     unsigned *low);

/* Bytes of all diagonals of all rows, and one row more, which can be asked for. */
size_t gc_matrix_bytes(const gc_step *step);

/* ---- A tile ---------------------------------------------------------------------------------- */

/* Samples of a line, lines of a tile that `rows` lines of output come from. */
int gc_halves_line(const gc_step *step);
int gc_halves_lines(const gc_step *step, int rows);

/* Bytes of a tile: halves, of a line more than is filled, which can be asked for, and the bytes that some
 * are made of. What follows starts at 16 bytes. */
size_t gc_halves_bytes(const gc_step *step, int rows, bool splits);

#ifdef __cplusplus
}
#endif

#endif
