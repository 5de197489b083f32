/* The implementations of the CUDA module, by their names in the registry. */
#include "core/gpu.h"

#include "core/implementation.h"

#include <string.h>

#define OPERATIONS(X)                                                                              \
    X("naive", gc_naive_operations)                                                                \
    X("naive:const", gc_naive_const_operations)                                                    \
    X("naive:lecture", gc_naive_lecture_operations)                                                \
    X("shared", gc_shared_operations)                                                              \
    X("const", gc_const_operations)                                                                \
    X("const:kth", gc_const_kth_operations)                                                        \
    X("const:hwu", gc_const_hwu_operations)                                                        \
    X("const:lecture", gc_const_lecture_operations)                                                \
    X("tiled", gc_tiled_operations)                                                                \
    X("tiled:nopad", gc_tiled_nopad_operations)                                                    \
    X("adaptive", gc_adaptive_operations)                                                          \
    X("adaptive:nc", gc_adaptive_nc_operations)                                                    \
    X("adaptive:kth", gc_adaptive_kth_operations)                                                  \
    X("adaptive:unrolled", gc_adaptive_unrolled_operations)                                        \
    X("adaptive:unrolled:nc", gc_adaptive_unrolled_nc_operations)                                  \
    X("twopass", gc_twopass_operations)                                                            \
    X("twopass:kth", gc_twopass_kth_operations)                                                    \
    X("twopass:lecture", gc_twopass_lecture_operations)                                            \
    X("twopass:lecture1d", gc_twopass_lecture1d_operations)                                        \
    X("twopass:transposed", gc_twopass_transposed_operations)                                      \
    X("twopass:tiled", gc_twopass_tiled_operations)                                                \
    X("direct", gc_direct_operations)                                                              \
    X("separable", gc_separable_operations)                                                        \
    X("fused", gc_fused_operations)                                                                \
    X("tensor", gc_tensor_operations)                                                              \
    X("tilefft", gc_tilefft_operations)                                                            \
    X("fft", gc_fft_operations)                                                                    \
    X("detector", gc_detector_operations)

#define DECLARATION(name, operations) extern const gc_operations operations;
OPERATIONS(DECLARATION)

const gc_operations *gc_gpu_operations(const char *name)
{
#define ENTRY(name, operations) {name, &operations},
    static const struct {
        const char *name;
        const gc_operations *operations;
    } table[] = {OPERATIONS(ENTRY)};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].operations;
    return NULL;
}
