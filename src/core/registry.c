/* THE table of implementations. A new one of the CPU needs an `extern` line and an entry here, one
 * of the GPU an entry here and a line in gpu/operations.c. docs/design.md, "Where to add
 * something", lists what else it needs. Those of the CPU stand first. `naive` is the first of the
 * GPU's: tests on the pretended GPU have auto take it. A variant stands behind the implementation
 * that it varies. */
#include "core/registry.h"

#include "base/status.h"
#include "core/device.h"
#include "core/gpu.h"

#include <pthread.h>

extern const gc_operations gc_reference_operations;
extern const gc_operations gc_cpu_operations;
#if GC_HAS_FAST
#define FAST(operations) &operations
#else
#define FAST(operations) NULL
#endif

static gc_implementation implementations[] = {
    {"reference", "serial C, the textbook loops, accumulating in double: the judge of all others",
     "", GCONV_DEVICE_CPU, &gc_reference_operations, 0},
    {"cpu", "rows streamed through threads and vector units", "", GCONV_DEVICE_CPU,
     &gc_cpu_operations, GC_FOLLOWS_THREADS},
    {"cpu:taps", "cpu, by every weight alone", "filters of two vectors", GCONV_DEVICE_CPU,
     &gc_cpu_operations, GC_FOLLOWS_THREADS},
    {"cpu:sparse", "cpu, by the weights that are not 0", "filters without zeros", GCONV_DEVICE_CPU,
     FAST(gc_cpu_operations), GC_FOLLOWS_THREADS},
    {"cpu:bytes", "cpu, by 8-bit samples in integers",
     "filters after the first, all but small whole weights on 8 bits; processors without AVX-512 "
     "VNNI",
     GCONV_DEVICE_CPU, FAST(gc_cpu_operations), GC_FOLLOWS_THREADS},
    {"cpu:products", "cpu, by sums of a column times a row",
     "filters of rank above 3, or that gain nothing", GCONV_DEVICE_CPU, &gc_cpu_operations,
     GC_FOLLOWS_THREADS},
    {"cpu:tiles", "cpu, by Fourier transforms of tiles",
     "small filters, and numbers near the ends of float32", GCONV_DEVICE_CPU,
     FAST(gc_cpu_operations), GC_FOLLOWS_THREADS},
    {"cpu:box", "cpu, by running sums", "filters of unequal weights", GCONV_DEVICE_CPU,
     FAST(gc_cpu_operations), GC_FOLLOWS_THREADS},
    {"cpu:vectors", "cpu, by a column and a row, summed or transformed",
     "filters that are matrices", GCONV_DEVICE_CPU, &gc_cpu_operations, GC_FOLLOWS_THREADS},
    {"naive", "one thread a pixel, image and filter in global memory", "", GCONV_DEVICE_CUDA, NULL,
     GC_FOLLOWS_BLOCK},
    {"naive:const", "naive, with the filter in constant memory",
     "filters of more than 16384 weights", GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK},
    {"naive:lecture", "naive as in Abramov 2011: two weights for each pixel, of a column and a row",
     "what twopass refuses; without NVRTC everything", GCONV_DEVICE_CUDA, NULL, 0},
    {"shared", "a block's pixels and apron in shared memory",
     "filters whose block does not fit in shared memory; without NVRTC other blocks than 32x16",
     GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK},
    {"const", "shared, with the filter in constant memory",
     "filters of more than 16384 weights, and what shared refuses", GCONV_DEVICE_CUDA, NULL,
     GC_FOLLOWS_BLOCK},
    {"const:kth", "const, threads load 1, 2 or 4 pixels by their place (KTH 2018)",
     "what const refuses", GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK},
    {"const:hwu", "const, unrolled, a thread for each pixel that is loaded (Hwu)",
     "what const refuses, and filters larger than the block; without NVRTC everything",
     GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK},
    {"const:lecture", "const as in Abramov 2011: two weights for each pixel, blocks of 16x16",
     "what twopass refuses, and filters larger than 17x17; without NVRTC everything",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"tiled", "1xN tiling with a fixed factor (--tile, default 4)",
     "filters of more than 16384 weights, or whose tiles do not fit in shared memory; without "
     "NVRTC other blocks than 32x16",
     GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK | GC_FOLLOWS_TILE},
    {"tiled:nopad", "tiled, rows in shared memory not padded, blocks of 16x16",
     "what tiled refuses; without NVRTC other blocks than 16x16", GCONV_DEVICE_CUDA, NULL,
     GC_FOLLOWS_BLOCK | GC_FOLLOWS_TILE},
    {"adaptive", "1xN tiling, the factor chosen for filter and device as published",
     "filters of more than 16384 weights, or of which not one tile fits in shared memory; without "
     "NVRTC other blocks than 32x32",
     GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK | GC_FOLLOWS_SHARED},
    {"adaptive:nc", "adaptive, pixels through the read-only cache", "what adaptive refuses",
     GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK | GC_FOLLOWS_SHARED},
    {"adaptive:kth", "adaptive by the rule of KTH 2018: 21 tiles, pixels as integers of 16 bits",
     "what is not integers of 16 bits, and filters of which not one tile fits in 48 KiB; without "
     "NVRTC other blocks than 32x32",
     GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK},
    {"adaptive:unrolled", "adaptive, unrolled for each filter size, block and factor from a table",
     "what adaptive refuses; without NVRTC everything", GCONV_DEVICE_CUDA, NULL,
     GC_FOLLOWS_BLOCK | GC_FOLLOWS_TILE},
    {"adaptive:unrolled:nc", "adaptive:unrolled, pixels through the read-only cache",
     "what adaptive:unrolled refuses", GCONV_DEVICE_CUDA, NULL, GC_FOLLOWS_BLOCK | GC_FOLLOWS_TILE},
    {"twopass", "filters of rank 1 in a row and a column pass", "chains without a filter of rank 1",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"twopass:kth", "twopass as in KTH 2018: one output a thread, blocks of 32x32",
     "what twopass refuses", GCONV_DEVICE_CUDA, NULL, 0},
    {"twopass:lecture", "twopass as in Abramov 2011: one output a thread, blocks of 16x16",
     "what twopass refuses, and filters larger than 17x17; without NVRTC everything",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"twopass:lecture1d", "twopass:lecture, pixels in an array of one dimension",
     "what twopass:lecture refuses", GCONV_DEVICE_CUDA, NULL, 0},
    {"twopass:transposed", "twopass:kth, 21 tiles, columns through transposed shared memory",
     "what twopass refuses, what is not integers of 16 bits, and lines of more than 95 weights",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"twopass:tiled", "twopass, unrolled for each length, factors up to 20 (--tile)",
     "what twopass refuses; without NVRTC everything", GCONV_DEVICE_CUDA, NULL,
     GC_FOLLOWS_BLOCK | GC_FOLLOWS_TILE},
    {"direct", "every output in registers, borders in place, weights as constants",
     "filters of more than 1024 weights; without NVRTC all but odd squares up to 9x9",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"separable", "filters of rank 1 to 3, rows and columns in one pass over memory",
     "chains without a filter of rank 1, of rank 2 from 9x9 or of rank 3 from 11x11 on, tiles too "
     "large for shared memory, and what direct refuses",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"fused",
     "several steps in one pass: chains of whole weights on the tensor cores, others in pairs",
     "chains without two neighbouring filters of up to 9x9 and 49 weights, unless their product is "
     "one filter of small whole weights that reaches at most 8 bytes to each side",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"tensor", "any filter in one pass, on the tensor cores, numbers in two parts",
     "filters of few weights in a row or too large for shared memory, integers that are too large, "
     "float samples",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"tilefft", "Fourier transforms of tiles",
     "integer chains, filters larger than a tile, numbers near the ends of float32",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"fft", "whole-image convolution through cuFFT",
     "integer chains that rounding cannot make exact, numbers near the ends of float32",
     GCONV_DEVICE_CUDA, NULL, 0},
    {"detector", "edges by zero crossings, gradients and Canny, in whole numbers",
     "the method laplace, 16 bits, blurs but of small whole weights in 5x5 and of rank 1",
     GCONV_DEVICE_CUDA, NULL, 0},
};
enum { IMPLEMENTATION_COUNT = sizeof implementations / sizeof implementations[0] };

int gconv_implementation_count(void)
{
    return IMPLEMENTATION_COUNT;
}

const gc_implementation *gc_implementation_at(int index)
{
    return index >= 0 && index < IMPLEMENTATION_COUNT ? &implementations[index] : NULL;
}

/* Operations of the GPU are in the CUDA module. */
static void find_operations(void)
{
    for (int i = 0; i < IMPLEMENTATION_COUNT; i++)
        if (implementations[i].kind == GCONV_DEVICE_CUDA)
            implementations[i].operations = gc_gpu_operations(implementations[i].name);
}

gconv_status gc_implementation_device(const gc_implementation *implementation, int cuda_index,
                                      gconv_device_info *device, gconv_error *error)
{
    int index = implementation->kind == GCONV_DEVICE_CPU ? 0 : 1 + cuda_index;
    if (implementation->kind == GCONV_DEVICE_CUDA && gconv_cuda_reason()[0] != '\0')
        return gc_fail(error, GCONV_ERROR_DEVICE, "'%s' needs a CUDA device: %s",
                       implementation->name, gconv_cuda_reason());
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (implementation->kind == GCONV_DEVICE_CUDA)
        pthread_once(&once, find_operations);
    GC_TRY(gc_device_describe(index, device, error));
    if (!device->usable)
        return gc_fail(error, GCONV_ERROR_DEVICE, "'%s' cannot run on %s: %s", implementation->name,
                       device->name, device->reason);
    if (implementation->operations == NULL)
        return gc_fail(error, GCONV_ERROR_DEVICE, "'%s' is not part of this build",
                       implementation->name);
    return GCONV_OK;
}
