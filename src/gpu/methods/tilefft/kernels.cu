/* The kernels of tilefft that read GC_TILEFFT_TYPE, which GC_TILEFFT_PART finds. This file is
 * compiled once for each type (cmake/Kernels.cmake), since all together take minutes. */
#include "gpu/methods/tilefft/instances.cuh"

template <class config> static gc_tilefft_kernels tile_of()
{
    typedef gc_tilefft_shape<config> shape;
    return {shape::columns,
            shape::lines,
            {(const void *)tile_kernel<config>, shape::threads, shape::bytes, 0},
            {},
            {},
            0,
            0};
}

template <class config> static gc_tilefft_kernel columns_of()
{
    typedef gc_large_shape<config> shape;
    if constexpr (config::input == GC_FLOAT)
        return {(const void *)large_columns<config>, shape::column_threads, shape::column_bytes, 0};
    else
        return {};
}

template <class config> static gc_tilefft_kernels large_of()
{
    typedef gc_large_shape<config> shape;
    return {config::columns,
            config::lines,
            {(const void *)large_rows<config>, GC_LARGE_ROW_THREADS, shape::row_bytes, 0},
            columns_of<config>(),
            {(const void *)large_back<config>, GC_LARGE_ROW_THREADS, shape::row_bytes, 0},
            shape::rows,
            shape::column_items};
}

#define TILE(columns, lines, type) tile_of<tile_config<columns, lines, type>>()
#define LARGE(columns, lines, type) large_of<tile_config<columns, lines, type>>()

static const gc_tilefft_kernels kernels[] = {GC_TILEFFT_TILES(TILE, GC_TILEFFT_TYPE),
                                             GC_TILEFFT_LARGE_TILES(LARGE, GC_TILEFFT_TYPE)};

gc_tilefft_kernels GC_TILEFFT_PART(int columns, int lines)
{
    for (const gc_tilefft_kernels &entry : kernels)
        if (entry.columns == columns && entry.lines == lines)
            return entry;
    return {};
}
