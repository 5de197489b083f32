/* The kernels of tilefft, compiled ahead: one for each size of tiles, for chain values and for all
 * types of samples. */
#include "gpu/fast/tilefft_kernels.cuh"

#include "gpu/kernels/fft/tile.cuh"

template <int across, int down, int type> struct tile_config {
    static constexpr int columns = across, lines = down, input = type, output = type;
    static constexpr int finish = type == GC_FLOAT ? GC_FINISH_NONE : -1, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

/* The second bound is the number of blocks that a multiprocessor should hold. */
template <class config>
static __global__ void __launch_bounds__(gc_tilefft_shape<config>::threads,
                                         1024 / gc_tilefft_shape<config>::threads)
    tile_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft tiles)
{
    gc_tilefft_pass<config>(pass, tiles);
}

struct kernel_entry {
    int columns, lines;
    bool of_values;
    gc_tilefft_kernel found;
};

#define KERNEL(columns, lines, type)                                                               \
    {                                                                                              \
        columns, lines, (type) == GC_FLOAT,                                                        \
        {                                                                                          \
            (const void *)tile_kernel<tile_config<columns, lines, type>>,                          \
                gc_tilefft_shape<tile_config<columns, lines, type>>::threads                       \
        }                                                                                          \
    }
#define KERNELS(type)                                                                              \
    KERNEL(64, 64, type), KERNEL(64, 128, type), KERNEL(128, 64, type), KERNEL(128, 128, type)

static const kernel_entry kernels[] = {KERNELS(GC_FLOAT), KERNELS(-1)};

gc_tilefft_kernel gc_tilefft_find(int columns, int lines, bool of_values)
{
    for (const kernel_entry &entry : kernels)
        if (entry.columns == columns && entry.lines == lines && entry.of_values == of_values)
            return entry.found;
    return {};
}
