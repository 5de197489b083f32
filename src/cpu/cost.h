/* Every time that the CPU implementations are estimated with, in seconds.
 *
 * All were measured on an EPYC of the Zen 4 kind at about 3.7 GHz, one thread, by benchmarks/cpu
 * (see docs/performance/cpu.md); those of an image and of the reference on one of the Zen 5 kind.
 * On another processor they are wrong by a factor, and mostly by the same one, so that comparisons
 * between solvers hold. Those of NEON were not measured: its vectors have half the lanes of AVX2,
 * so they are twice as long. None is measured while gconv runs, since they decide on the last bits
 * of bounded results (rule 11 of docs/contract.md). */
#pragma once

/* ---- An image -------------------------------------------------------------------------------- */

/* What an image costs beside its values, and what it costs in addition if threads are woken for
 * it. */
#define GC_START_SECONDS 1e-6
#define GC_THREADS_SECONDS 2e-5

/* What a row costs in each stage, beside its values: up to 0.25 us for a column and a row. */
#define GC_ROW_SECONDS 1e-7

/* What a row costs beside its values if fast/edges.c computes the whole chain. */
#define GC_EDGES_ROW_SECONDS 5e-8

/* Least multiply-adds for which a thread is woken: some 60 us of work. */
#define GC_WORK_PER_THREAD 2.5e6

/* ---- A value of the image -------------------------------------------------------------------- */

/* Samples become chain values, and these become output. */
#define GC_CONVERSION_SECONDS 0.5e-9

/* A stage writes the value and extends its row. */
#define GC_STAGE_SECONDS 0.10e-9

/* Edges in one pass, conversion included. */
#define GC_EDGES_SECONDS 0.3e-9

/* A value of a detector in cpu/edges, beside its taps. */
#define GC_DETECTOR_SECONDS 2e-9

/* A value in fast/rank1_bytes.c, conversion included, and a tap of a row there. A tap of a column
 * there costs as much as one of `every tap`. */
#define GC_RANK1_SECONDS 0.2e-9
#define GC_ROW_TAP_SECONDS_AVX512 0.023e-9
#define GC_ROW_TAP_SECONDS_AVX2 0.023e-9
#define GC_ROW_TAP_SECONDS_NEON 0.046e-9
#define GC_ROW_TAP_SECONDS_PORTABLE 0.17e-9

/* A value that is summed in double (pipeline/settle.c), conversion included, and how much longer a
 * tap takes there than in `every tap`. */
#define GC_IN_DOUBLE_SECONDS 1e-9
#define GC_IN_DOUBLE_FACTOR 3

/* The reference: conversion, and a multiply-add. */
#define GC_REFERENCE_SECONDS 24e-9
#define GC_REFERENCE_TAP_SECONDS 0.6e-9

/* ---- A tap of a value ------------------------------------------------------------------------ */

/* A multiply-add of the solver `every tap`. The solver `bytes` does four in this time. */
#define GC_TAP_SECONDS_AVX512 0.019e-9
#define GC_TAP_SECONDS_AVX2 0.021e-9
#define GC_TAP_SECONDS_NEON 0.042e-9
#define GC_TAP_SECONDS_PORTABLE 0.060e-9

/* How much of this time a tap of a matrix takes, whose rows share loads. */
#define GC_MATRIX_FACTOR_AVX512 0.85
#define GC_MATRIX_FACTOR_AVX2 1
#define GC_MATRIX_FACTOR_NEON 1
#define GC_MATRIX_FACTOR_PORTABLE 1

/* How much longer a tap takes if a loaded vector meets one tap alone: in a filter of one row, and
 * if taps that are 0 are left out. */
#define GC_FLAT_FACTOR 1.8
#define GC_SPARSE_FACTOR 2.5

/* ---- Running sums ---------------------------------------------------------------------------- */

/* A value of one channel, of several, and of real numbers; a value of a row that a sum begins
 * with. */
#define GC_BOX_SECONDS 0.25e-9
#define GC_BOX_CHANNELS_SECONDS 0.5e-9
#define GC_BOX_REAL_SECONDS 2e-9
#define GC_BOX_ROW_SECONDS 0.1e-9

/* A value in fast/means.c, conversion included, on the scale of fast/rank1_bytes.c: boxes of 7x7
 * take as long in both. And a value of a row that a sum begins with, once in so many rows. */
#define GC_MEAN_SECONDS 0.45e-9
#define GC_MEAN_ROW_SECONDS 0.02e-9
#define GC_MEAN_ROWS 512

/* ---- Fourier transforms ---------------------------------------------------------------------- */

/* A value in one of the log2(side * side) rounds of radix 2, there and back. */
#define GC_TRANSFORM_SECONDS_AVX512 0.20e-9
#define GC_TRANSFORM_SECONDS_AVX2 0.25e-9
#define GC_TRANSFORM_SECONDS_NEON 0.50e-9
#define GC_TRANSFORM_SECONDS_PORTABLE 0.53e-9
#define GC_TRANSFORM_DOUBLE_SECONDS_AVX512 0.40e-9
#define GC_TRANSFORM_DOUBLE_SECONDS_AVX2 0.50e-9
#define GC_TRANSFORM_DOUBLE_SECONDS_NEON 1.00e-9
#define GC_TRANSFORM_DOUBLE_SECONDS_PORTABLE 1.06e-9

/* How much longer a round takes beside a tap on processors of Intel, where additions share ports
 * with multiply-adds: on a Xeon of the Sapphire Rapids kind 1.4 with AVX2, 1.7 with AVX-512. */
#define GC_ROUND_INTEL 1.42

/* A value on its way into lines and out of them, beside the rounds. */
#define GC_LINE_SECONDS 0.5e-9

/* How much longer a transform takes if tile and spectrum exceed a second-level cache of 1 MiB: up
 * to 2 MiB, and beyond. */
#define GC_CACHE_FACTOR_2_MIB 1.7
#define GC_CACHE_FACTOR_BEYOND 3.2

/* How much slower smaller tiles of transforms may be that keep the rings within their memory
 * (cpu/budget.h): a choice, not a measurement. */
#define GC_WORTH_OF_MEMORY 1.6
