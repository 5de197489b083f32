/* Expected times of decoding and encoding on the CPU.
 *
 * Several images at one time are decoded, computed and encoded side by side. What counts is then
 * the throughput: the seconds of all images divided by their number. */
#pragma once

#include "core/problem.h"

/* Whether several images go from file to file at one time. */
bool gc_counts_throughput(const gc_problem *problem);

/* How often the plans of this job will run, at least 1. */
double gc_images_left(const gc_problem *problem);

/* Threads that decode and encode at one time: one an image. */
int gc_file_threads(const gc_problem *problem);

/* Seconds of one thread for one image: decoding its file, reading and packing a JPEG for kernels
 * that decode it, and encoding the output. Decoding is 0 if the source's format is unknown. The
 * format of the output is unknown, too: 1 bit stands for PNG, more bits for JPEG. */
double gc_decode_seconds(const gc_problem *problem);
double gc_pack_seconds(const gc_problem *problem);
double gc_encode_seconds(const gc_problem *problem);

/* Seconds of one thread for writing output of 1 bit that a device has compressed. */
double gc_write_compressed_seconds(const gc_problem *problem);

/* Seconds of an image on the CPU, one of several between files. All `threads` threads together
 * compute it in `compute` seconds of one thread. */
double gc_cpu_throughput(const gc_problem *problem, double compute, int threads);
