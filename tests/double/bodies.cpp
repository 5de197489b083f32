/* The kernels that the double runs: their own text, from src/gpu. Those of tilefft are in
 * bodies_tiles.cpp. Those of direct, separable, fused, tensor and fft are left out. */
#include "compiled.hpp"

/* What follows is inside namespaces, where these must not be. */
extern "C" {
#include "base/memory.h"
#include "core/border.h"
#include "core/separate.h"
#include "gpu/cost/costs.h"
#include "gpu/jpeg/jpeg.h"
#include "gpu/jpeg/ycc.h"
#include "gpu/pass/finish.h"
#include "gpu/png/encode.h"
}
#include "gpu/device/check.cuh"
#include "gpu/device/kernel.cuh"
#include "gpu/methods/detector/kernels.cuh"
#include "gpu/methods/ladder/adaptive.cuh"
#include "gpu/methods/ladder/block.cuh"
#include "gpu/methods/ladder/compiled_tile.cuh"
#include "gpu/methods/ladder/constant.cuh"
#include "gpu/methods/ladder/tile_kernel.cuh"
#include "gpu/methods/passes.cuh"
#include "gpu/methods/separable/vectors_kernels.cuh"
#include "gpu/pass/pass.cuh"
#include "gpu/plan/plan.cuh"
#include "gpu/plan/planes.cuh"
#include "gpu/tune/tuner.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <pthread.h>
#include <unistd.h>

/* Of a block: 227 KiB, as on compute capability 9.0. */
enum { SHARED_FLOATS = (227 << 10) / sizeof(float) };

__thread float pixels[SHARED_FLOATS];
#include "gpu/methods/ladder/tile.cuh"
#include "gpu/methods/ladder/twopass.cuh"

namespace naive
{
#include "gpu/methods/ladder/naive.cu"
}
namespace twopass
{
__thread float pixels[SHARED_FLOATS];
#include "gpu/methods/ladder/twopass.cu"
} // namespace twopass
namespace kth
{
__thread float pixels[SHARED_FLOATS];
#include "gpu/methods/ladder/twopass_kth.cu"
} // namespace kth
namespace planes
{
#include "gpu/plan/planes.cu"
}
namespace decode
{
__thread float pixels[SHARED_FLOATS];
#include "gpu/jpeg/unpack.cu"
} // namespace decode
namespace encode
{
__thread float4 gc_block_memory[SHARED_FLOATS / 4];
#include "gpu/png/bits.cu"
} // namespace encode
namespace jpeg
{
__thread float4 gc_block_memory[SHARED_FLOATS / 4];
#include "gpu/jpeg/jpeg.cu"
} // namespace jpeg
#include "gpu/probe/contiguous_kernel.cuh"
#include "gpu/tune/check_kernels.cuh"

static void *filter()
{
    return gc_filter;
}

#define PLAIN(name, kernel)                                                                        \
    {                                                                                              \
        name, false, gc_double_binder<kernel>::bind, nullptr                                       \
    }
#define MEETS(name, kernel)                                                                        \
    {                                                                                              \
        name, true, gc_double_binder<kernel>::bind, filter                                         \
    }
#define TILES(factor, width, height, flags)                                                        \
    MEETS("gc_convolve_tiles<" #factor ", " #width ", " #height ", " #flags ">",                   \
          (gc_convolve_tiles<factor, width, height, flags>))
#define SHORT_TILES(factor) TILES(factor, 32, 32, 20)
#define EVERY_TILES(factor)                                                                        \
    TILES(factor, 32, 32, 0), TILES(factor, 32, 32, 2), TILES(factor, 32, 16, 0),                  \
        TILES(factor, 16, 16, 0), SHORT_TILES(factor)

#define LINES_OF(points, step, ahead)                                                              \
    {                                                                                              \
        "gc_transform_lines<" #points ", " #step ", " #ahead ">", true,                            \
            gc_double_binder<gc_transform_lines<points, step, ahead>>::bind, nullptr               \
    }
#define LINES(points, step) LINES_OF(points, step, false), LINES_OF(points, step, true)

const gc_double_body gc_double_bodies[] = {
    PLAIN("convolve_pixels<false>", naive::convolve_pixels<false>),
    {"convolve_pixels<true>", false, gc_double_binder<naive::convolve_pixels<true>>::bind, filter},
    MEETS("gc_convolve_rows", gc_convolve_rows),
    MEETS("convolve_columns", twopass::convolve_columns),
    MEETS("kth_rows<1, 4>", (kth::kth_rows<1, 4>)),
    MEETS("kth_rows<21, 20>", (kth::kth_rows<21, 20>)),
    MEETS("kth_columns", kth::kth_columns),
    MEETS("turned_columns", kth::turned_columns),
    TILES(1, 32, 16, 4),
    TILES(1, 32, 16, 36),
    EVERY_TILES(1),
    EVERY_TILES(2),
    EVERY_TILES(3),
    EVERY_TILES(4),
    EVERY_TILES(5),
    EVERY_TILES(6),
    EVERY_TILES(7),
    EVERY_TILES(8),
    EVERY_TILES(9),
    EVERY_TILES(10),
    EVERY_TILES(11),
    EVERY_TILES(12),
    EVERY_TILES(13),
    EVERY_TILES(14),
    EVERY_TILES(15),
    EVERY_TILES(16),
    SHORT_TILES(17),
    SHORT_TILES(18),
    SHORT_TILES(19),
    SHORT_TILES(20),
    SHORT_TILES(21),
    PLAIN("load_samples<unsigned char>", planes::load_samples<unsigned char>),
    PLAIN("load_samples<unsigned short>", planes::load_samples<unsigned short>),
    PLAIN("load_samples<float>", planes::load_samples<float>),
    PLAIN("extend_planes", planes::extend_planes),
    PLAIN("store_samples<unsigned char>", planes::store_samples<unsigned char>),
    PLAIN("store_samples<unsigned short>", planes::store_samples<unsigned short>),
    PLAIN("store_samples<float>", planes::store_samples<float>),
    PLAIN("store_bits", planes::store_bits),
    MEETS("unpack_tiles<1>", decode::unpack_tiles<1>),
    MEETS("unpack_tiles<3>", decode::unpack_tiles<3>),
    MEETS("follow", jpeg::follow),
    MEETS("add_up", jpeg::add_up),
    MEETS("store", jpeg::store),
    PLAIN("transform", jpeg::transform),
    MEETS("pack_bits", encode::pack_bits),
    MEETS("gc_vectors_convolve", gc_vectors_convolve),
    MEETS("gc_detect_edges<0>", gc_detect_edges<0>),
    MEETS("gc_detect_edges<1>", gc_detect_edges<1>),
    MEETS("gc_detect_edges<2>", gc_detect_edges<2>),
    PLAIN("gc_join_lines", gc_join_lines),
    PLAIN("gc_store_lines", gc_store_lines),
    LINES(2, 0),
    LINES(4, 0),
    LINES(8, 0),
    LINES(16, 0),
    LINES(32, 0),
    LINES(64, 0),
    LINES(128, 0),
    LINES(256, 0),
    LINES(16, 1),
    LINES(32, 1),
    LINES(64, 1),
    LINES(128, 1),
    LINES(32, 2),
    LINES(64, 2),
    LINES(128, 2),
    PLAIN("fill", fill),
    PLAIN("expect<float>", expect<float>),
    PLAIN("expect<unsigned char>", expect<unsigned char>),
    PLAIN("compare<float>", compare<float>),
    PLAIN("compare<unsigned char>", compare<unsigned char>),
    {nullptr, false, nullptr, nullptr},
};
