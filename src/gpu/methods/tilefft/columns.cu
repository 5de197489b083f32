/* The kernels of tilefft that transform the columns of large tiles. */
#include "gpu/methods/tilefft/instances.cuh"

struct columns_entry {
    int columns, lines;
    gc_tilefft_kernel found;
};

template <int across, int down> static columns_entry columns_entry_of()
{
    typedef tile_config<across, down, GC_FLOAT> config;
    typedef gc_large_shape<config> shape;
    return {across,
            down,
            {(const void *)large_columns<config>, shape::column_threads, shape::column_bytes}};
}

#undef LARGE
#define LARGE(columns, lines, type) columns_entry_of<columns, lines>()

static const columns_entry kernels[] = {LARGE_KERNELS(GC_FLOAT)};

gc_tilefft_kernel gc_tilefft_find_columns(int columns, int lines)
{
    for (const columns_entry &entry : kernels)
        if (entry.columns == columns && entry.lines == lines)
            return entry.found;
    return {};
}
