/* The loops of cpu/edges, compiled once for every instruction set (cpu/instructions). They may read
 * and write up to GC_DETECTOR_SLACK entries beyond the last one of a row. */
#pragma once

#include "core/detector.h"

enum { GC_DETECTOR_SLACK = 32 };

/* Of magnitudes as int32_t, or as int64_t. */
typedef struct gc_magnitude_loops {
    /* Magnitudes, and sectors: 0 if the gradient lies across, 1 down, 2 from the left above to the
     * right below, 3 from the right. */
    void (*measure)(const gc_detector *detector, const int32_t *across, const int32_t *down,
                    size_t count, void *magnitudes, uint8_t *sectors);
    /* flags[x] = whether the magnitude passes the low threshold. */
    void (*pass)(const gc_detector *detector, const void *magnitudes, size_t count, uint8_t *flags);
    /* Of three rows of magnitudes that reach a column beyond both ends: whether those of the second
     * row are the largest in the direction of the gradient and pass a threshold. */
    void (*peaks)(const gc_detector *detector, const void *const *magnitudes,
                  const uint8_t *sectors, size_t count, uint8_t *weak, uint8_t *strong);
} gc_magnitude_loops;

typedef struct gc_detector_loops {
    /* gc_detector_value of each sum, and of whole sums with the shift 0. */
    void (*values)(const double *sums, size_t count, int shift, int32_t *values);
    void (*whole)(const float *sums, size_t count, int32_t *values);
    /* Gradients of `side` rows of values, which reach side/2 columns beyond both ends. `sums` and
     * `differences` are room for a column more at each of these. */
    void (*gradient)(const gc_detector *detector, const int32_t *const *rows, size_t count,
                     int32_t *sums, int32_t *differences, int32_t *across, int32_t *down);
    gc_magnitude_loops magnitudes[2]; /* the second ones if the detector is wide */
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
