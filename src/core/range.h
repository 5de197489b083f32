/* Whether float32 has room for the values that an implementation computes on the way to a step's
 * result: neither too large, with a margin for rounding, nor so small that digits are lost.
 *
 * gc_chain_set_range refuses the chains whose results can leave float32 (contract.md, rule 8). An
 * implementation or a solver of the CPU whose intermediate values are larger or smaller asks here
 * (rule 10). If the answer is no, the CPU takes another solver, and an implementation on a GPU
 * refuses the job.
 *
 * solver or implementation                                  proof
 * CPU: every tap, sparse                                    gc_chain_set_range: sums in any order
 * CPU: bytes, edges, transforms in double                   exact chains: integers below 2^24
 * CPU: box                                                  integers below 2^31, or sums in double
 * CPU: rank 1 on bytes (cpu/fast/rank1_bytes.c)             rows: integers below 2^31 (ROW_MAX);
 *                                                           columns: levels below LEVEL_MAX, or
 *                                                           whole sums below 2^24
 * CPU: boxes from samples to samples (cpu/fast/means.c)     integers below 2^32
 * CPU: vectors                                              gc_range_holds_products, or in double
 * CPU: products; GPU: twopass, separable                    gc_range_holds_products
 * CPU: transforms in float32                                gc_range_holds_tiles,
 *                                                           gc_range_holds_lines
 * GPU: naive, shared, const, tiled, adaptive, direct,
 *      fused in pairs                                       gc_chain_set_range
 * GPU: fused on tensor cores                                exact chains: integers below 2^24
 * GPU: detector                                             whole numbers below 2^31, in float32
 *                                                           below 2^24
 * GPU: tensor                                               gc_parts_in_range (tensor/halves.h)
 * GPU: tilefft                                              gc_range_holds_tiles
 * GPU: fft                                                  gc_range_holds_fft, or exact in double
 * */
#pragma once

#include "core/step.h"

/* float32 holds every integer of a smaller magnitude: 2^24. */
#define GC_EXACT_LIMIT 16777216.0

/* Whether float32 holds a sum whose terms have `magnitude` in exact arithmetic, with all its
 * partial sums in any order. The error that rule 4 allows an implementation is added. */
bool gc_range_holds(const gc_step *step, double magnitude);

/* Upper bound of |value| over the step's output, however it is rounded within rule 4. */
double gc_range_of_output(const gc_step *step);

/* Whether a step can be computed as a sum of `count` products of a column and a row, columns first
 * or rows first. `columns` and `rows` are the sums of the magnitudes of their weights. */
bool gc_range_holds_products(const gc_step *step, int count, const double *columns,
                             const double *rows);

/* Whether float32 transforms of tiles of `points` values can compute a step. Two tiles go through
 * each, as real and imaginary part, and the filter's weights are divided by `points` before. */
bool gc_range_holds_tiles(const gc_step *step, double points);

/* Whether float32 transforms of lines can compute a step of a column and a row: of column_points
 * and row_points values, 0 if taps are summed. `down` and `across` are the sums of the magnitudes
 * of their weights. */
bool gc_range_holds_lines(const gc_step *step, double down, double across, double column_points,
                          double row_points);

/* Whether a transform of a real image by cuFFT can compute a step. The product with the filter's
 * spectrum is divided by `points`. Numbers below the smallest normal one may become 0 there. */
bool gc_range_holds_fft(const gc_step *step, double points);

/* Bound of the error of a step of an exact chain through Fourier transforms in double, of
 * 2^log2_points values. Each result stands for an integer. If the bound is under 1/2, rounding to
 * the nearest integer is exact. */
double gc_transform_error(double log2_points);
