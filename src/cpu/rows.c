/* A block of outputs stays in vector registers while the taps go by: one load and one multiply-add
 * a tap and vector, no store until the block is done. The compiler's vector types give the same
 * code for every instruction set; the widest the processor has is taken at program start. */
#include "cpu/rows.h"

#include <string.h>

/* Sixteen samples: one AVX-512 register, two of AVX2, four of SSE2 or NEON. */
typedef float vector __attribute__((vector_size(64)));

/* Vectors in a block: enough independent sums to hide the latency of a multiply-add, few enough
 * for their registers. A block is GC_WINDOW_SLACK samples, so a row's last one may run over. */
enum { BLOCK_VECTORS = 4, VECTOR_SAMPLES = sizeof(vector) / sizeof(float) };

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define BEST_INSTRUCTION_SET                                                                       \
    __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define BEST_INSTRUCTION_SET
#endif

BEST_INSTRUCTION_SET
void gc_convolve_row(const gc_step *step, const float *const *rows, size_t channels, size_t count,
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
