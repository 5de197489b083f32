/* The inner loop, compiled once for every instruction set (see CMakeLists.txt), under the name that
 * GC_ROWS_KERNEL gives it.
 *
 * A block of outputs stays in vector registers while the taps go by: one load and one multiply-add
 * a tap and vector, no store until the block is done. The compiler's vector types give the same
 * code for every instruction set. */
#include "cpu/rows.h"
#include "cpu/window.h"

#include <string.h>

/* Sixteen samples: one register of AVX-512, two of AVX2, four of SSE2 or NEON. */
typedef float vector __attribute__((vector_size(64)));

/* Vectors in a block: enough independent sums to hide the latency of a multiply-add, few enough for
 * the registers (16 of SSE2 hold two vectors, some taps and samples). */
#if defined(__AVX__) || defined(__aarch64__)
enum { BLOCK_VECTORS = 4 };
#else
enum { BLOCK_VECTORS = 2 };
#endif
enum { VECTOR_SAMPLES = sizeof(vector) / sizeof(float) };
_Static_assert(BLOCK_VECTORS *VECTOR_SAMPLES <= GC_WINDOW_SLACK, "a row's last block runs over");

gc_rows_function GC_ROWS_KERNEL;

void GC_ROWS_KERNEL(const gc_step *step, const float *const *rows, size_t channels, size_t count,
                    float *out)
{
    for (size_t first = 0; first < count; first += BLOCK_VECTORS * VECTOR_SAMPLES) {
        vector sums[BLOCK_VECTORS] = {0};
        const float *tap = step->taps;
        for (int j = 0; j < step->height; j++) {
            const float *row = rows[j] + first;
            for (int k = 0; k < step->width; k++, tap++, row += channels) {
                if (*tap == 0)
                    continue;
                for (int b = 0; b < BLOCK_VECTORS; b++) {
                    vector samples;
                    memcpy(&samples, row + b * VECTOR_SAMPLES, sizeof samples);
                    sums[b] += *tap * samples;
                }
            }
        }
        memcpy(out + first, sums, sizeof sums);
    }
}
