/* The kernels of tilefft: their own text. */
#include "compiled.hpp"

#include "gpu/methods/tilefft/kernels.cuh"
#include "gpu/methods/tilefft/large_tile.cuh"
#include "gpu/methods/tilefft/tile.cuh"

#include <map>
#include <string>

namespace tiles
{
#include "gpu/methods/tilefft/instances.cuh"
}

typedef std::map<std::string, gc_double_body> body_map;

static std::string config_name(int columns, int lines, int type)
{
    return "<tile_config<" + std::to_string(columns) + ", " + std::to_string(lines) + ", " +
           std::to_string(type) + "> >";
}

template <int columns, int lines, int type> static void add(body_map *bodies)
{
    typedef tiles::tile_config<columns, lines, type> config;
    (*bodies)["tile_kernel" + config_name(columns, lines, type)] = {
        "tile_kernel", true, gc_double_binder<tiles::tile_kernel<config>>::bind, nullptr};
}

template <int columns, int lines, int type> static void add_large(body_map *bodies)
{
    typedef tiles::tile_config<columns, lines, type> config;
    std::string name = config_name(columns, lines, type);
    (*bodies)["large_rows" + name] = {"large_rows", true,
                                      gc_double_binder<tiles::large_rows<config>>::bind, nullptr};
    (*bodies)["large_back" + name] = {"large_back", true,
                                      gc_double_binder<tiles::large_back<config>>::bind, nullptr};
    if constexpr (type == GC_FLOAT) /* columns have no samples */
        (*bodies)["large_columns" + name] = {
            "large_columns", true, gc_double_binder<tiles::large_columns<config>>::bind, nullptr};
}

#define TILE(columns, lines, type) add<columns, lines, type>(&bodies)
#define LARGE(columns, lines, type) add_large<columns, lines, type>(&bodies)

static body_map make_bodies()
{
    body_map bodies;
    GC_TILEFFT_TILES(TILE, GC_FLOAT), GC_TILEFFT_LARGE_TILES(LARGE, GC_FLOAT);
    GC_TILEFFT_TILES(TILE, GC_BYTE), GC_TILEFFT_LARGE_TILES(LARGE, GC_BYTE);
    GC_TILEFFT_TILES(TILE, GC_SHORT), GC_TILEFFT_LARGE_TILES(LARGE, GC_SHORT);
    return bodies;
}

const gc_double_body *gc_double_tile_body(const std::string &name)
{
    static const body_map *bodies = new body_map(make_bodies());
    auto found = bodies->find(name);
    return found != bodies->end() ? &found->second : nullptr;
}
