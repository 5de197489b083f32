/* The kernels of tilefft: their own text. */
#include "compiled.hpp"

#include "gpu/fast/tilefft_kernels.cuh"
#include "gpu/kernels/fft/tile.cuh"

#include <map>
#include <string>

namespace tiles
{
#include "gpu/fast/tilefft_kernels.cu"
}

typedef std::map<std::string, gc_double_body> body_map;

template <int columns, int lines, int type> static void add(body_map *bodies)
{
    std::string name = "tile_kernel<tile_config<" + std::to_string(columns) + ", " +
                       std::to_string(lines) + ", " + std::to_string(type) + "> >";
    typedef tiles::tile_config<columns, lines, type> config;
    (*bodies)[name] = {"tile_kernel", true, gc_double_binder<tiles::tile_kernel<config>>::bind,
                       nullptr};
}

#undef KERNEL
#define KERNEL(columns, lines, type) add<columns, lines, type>(&bodies)

static body_map make_bodies()
{
    body_map bodies;
    KERNELS(GC_FLOAT), KERNELS(-1);
    return bodies;
}

const gc_double_body *gc_double_tile_body(const std::string &name)
{
    static const body_map *bodies = new body_map(make_bodies());
    auto found = bodies->find(name);
    return found != bodies->end() ? &found->second : nullptr;
}
