/* The loops of cpu/edges, compiled once for every instruction set (cpu/instructions). They may read
 * and write up to GC_DETECTOR_SLACK entries beyond the last one of a row. */
#ifndef GC_CPU_EDGES_LOOPS_H
#define GC_CPU_EDGES_LOOPS_H

#include "core/detector.h"

enum { GC_DETECTOR_SLACK = 32 };

/* Rows of float or of double, whichever holds all sums without an error. */
typedef struct gc_blur_loops {
    /* Samples of 8 or 16 bits. */
    void (*load)(const void *samples, int depth, size_t count, void *row);
    /* out[x] = sum_k weights[k] * terms[k][x] */
    void (*sum)(const void *const *terms, const void *weights, size_t term_count, size_t count,
                void *out);
    /* gc_detector_value of each. */
    void (*values)(const void *row, size_t count, int shift, int32_t *values);
} gc_blur_loops;

typedef struct gc_detector_loops {
    gc_blur_loops in_float, in_double;
    /* Gradients of `side` rows of values, which reach side/2 columns beyond both ends. `sums` and
     * `differences` are room for a column more at each of these. */
    void (*gradient)(const gc_detector *detector, const int32_t *const *rows, size_t count,
                     int32_t *sums, int32_t *differences, int32_t *across, int32_t *down);
    /* Magnitudes as int64_t if the detector is wide, else as int32_t; and sectors: 0 if the
     * gradient lies across, 1 down, 2 from the left above to the right below, 3 from the right. */
    void (*measure)(const gc_detector *detector, const int32_t *across, const int32_t *down,
                    size_t count, void *magnitudes, uint8_t *sectors);
    /* flags[x] = whether the magnitude passes the low threshold. */
    void (*pass)(const gc_detector *detector, const void *magnitudes, size_t count, uint8_t *flags);
    /* Of three rows of magnitudes that reach a column beyond both ends: whether those of the second
     * row are the largest in the direction of the gradient and pass a threshold. */
    void (*peaks)(const gc_detector *detector, const void *const *magnitudes,
                  const uint8_t *sectors, size_t count, uint8_t *weak, uint8_t *strong);
    /* Zero crossings in the second of three rows, which reach a column beyond both ends. */
    void (*crossings)(const gc_detector *detector, const int32_t *const *rows, size_t count,
                      uint8_t *flags);
} gc_detector_loops;

/* See cpu/edges/bytes_loops.c. Rows of magnitudes and sectors are for blocks of 32 pixels. */
typedef struct gc_edge_bytes_loops {
    /* Of three rows of samples, all inside the image. Magnitudes have 16 bits, or 32 if they are
     * `squared`. They become 0 before the first column and behind the last one. */
    void (*measure)(const uint8_t *const rows[3], size_t count, bool squared, int16_t *sums,
                    int16_t *differences, void *magnitudes, int16_t *sectors);
    /* The bits of a row, in whole blocks. */
    void (*peaks)(const void *const magnitudes[3], const int16_t *sectors, size_t count,
                  bool squared, int32_t low, int32_t high, uint8_t *weak, uint8_t *strong);
} gc_edge_bytes_loops;

#endif
