/* The inner loops of the cpu implementation: output rows of one step, for every instruction set. */
#ifndef GC_CPU_INSTRUCTIONS_INSTRUCTIONS_H
#define GC_CPU_INSTRUCTIONS_INSTRUCTIONS_H

#include "core/problem.h"
#include "cpu/instructions/transform.h"
#include "cpu/method/bytes.h"
#include "cpu/method/edges.h"

/* Output rows that are computed together: what is loaded of an input row serves them all. */
enum { GC_SWEEP_ROWS = 6 };

/* out[o][i] = sum_j sum_k taps[j*width+k] * rows[o+j][i + k*channels] for i in [0, count), o in
 * [0, row_count), row_count at most GC_SWEEP_ROWS. `rows` holds height + GC_SWEEP_ROWS - 1 readable
 * rows whatever row_count is. Reads up to GC_WINDOW_SLACK samples beyond, writes none. */
typedef void gc_rows_function(const gc_step *step, const float *const *rows, size_t channels,
                              size_t count, int row_count, float *const *out);

typedef struct gc_rows_kernel {
    gc_rows_function *sweep;  /* every tap */
    gc_rows_function *sparse; /* those that are not 0, one row after the other */
    /* Every tap, of output rows that share no input: row o + j above is row o * height + j here, of
     * height * GC_SWEEP_ROWS readable ones. */
    gc_rows_function *apart;
} gc_rows_kernel;

/* Conversions that give the bits of core/conversion.h in wider vectors. */
typedef struct gc_samples_kernel {
    /* row[i] = samples[i] */
    void (*load8)(const uint8_t *samples, size_t count, float *row);
    void (*load16)(const uint16_t *samples, size_t count, float *row);
    /* Rule 5: divided, made absolute, scaled, offset, clamped to 0..255 and rounded. */
    void (*store8)(const gc_conversion *conversion, const float *row, size_t count,
                   uint8_t *samples);
} gc_samples_kernel;

typedef struct gc_transforms {
    const gc_transform_kernel *kernel;
    double seconds; /* of a value in a stage of radix 2, there and back, measured */
} gc_transforms;

/* What is compiled for one instruction set. */
typedef struct gc_instructions {
    const char *name;
    bool (*usable)(void);
    const gc_rows_kernel *rows;
    const gc_samples_kernel *samples;
    const gc_edges_kernel *edges;
    gc_bytes_function *const *bytes; /* NULL where bytes are not multiplied */
    double tap_seconds; /* of a multiply-add of one value in a sweep, measured; one of `bytes` takes
                         * as long for a group */
    gc_transforms transforms;
    gc_transforms exact_transforms; /* in double, their results rounded to integers */
} gc_instructions;

/* Those compiled into this build, the best first, the portable one last. */
int gc_instructions_count(void);
const gc_instructions *gc_instructions_at(int index);

/* The best that this processor has; where the environment variable GCONV_INSTRUCTIONS names another
 * that it has, that one. */
const gc_instructions *gc_instructions_chosen(void);

#endif
