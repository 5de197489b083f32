/* The kernels of tilefft, compiled ahead: for each size of tiles, for chain values, for samples of
 * 8 and of 16 bits that are rounded, and for everything else. */
#include "gpu/fast/tilefft_kernels.cuh"

#include "gpu/kernels/fft/large.cuh"
#include "gpu/kernels/fft/tile.cuh"

template <int across, int down, int type> struct tile_config {
    static constexpr int columns = across, lines = down, input = type, output = type;
    static constexpr int finish = type == GC_FLOAT ? GC_FINISH_NONE : -1, border = -1;
    static constexpr int channels = 1, alpha = GC_PASS_NO_ALPHA;
};

/* ---- Tiles in shared memory ------------------------------------------------------------------ */

/* The second bound is the number of blocks that a multiprocessor should hold. */
template <class config>
static __global__ void __launch_bounds__(gc_tilefft_shape<config>::threads,
                                         1024 / gc_tilefft_shape<config>::threads)
    tile_kernel(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft tiles)
{
    gc_tilefft_pass<config>(pass, tiles);
}

struct kernel_entry {
    int columns, lines, type;
    gc_tilefft_kernel found;
};

#define KERNEL(columns, lines, type)                                                               \
    {                                                                                              \
        columns, lines, type,                                                                      \
        {                                                                                          \
            (const void *)tile_kernel<tile_config<columns, lines, type>>,                          \
                gc_tilefft_shape<tile_config<columns, lines, type>>::threads,                      \
                gc_tilefft_shape<tile_config<columns, lines, type>>::bytes                         \
        }                                                                                          \
    }
#define KERNELS(type)                                                                              \
    KERNEL(64, 64, type), KERNEL(64, 128, type), KERNEL(128, 64, type), KERNEL(128, 128, type)

static const kernel_entry kernels[] = {KERNELS(GC_FLOAT), KERNELS(GC_BYTE), KERNELS(GC_SHORT),
                                       KERNELS(-1)};

gc_tilefft_kernel gc_tilefft_find(int columns, int lines, int type)
{
    for (const kernel_entry &entry : kernels)
        if (entry.columns == columns && entry.lines == lines && entry.type == type)
            return entry.found;
    return {};
}

/* ---- Large tiles ----------------------------------------------------------------------------- */

/* Three blocks of rows fill the shared memory of a multiprocessor of an H200. Three blocks of 512
 * points a column would, too, but their threads need more than a third of the registers. */
template <class config>
static __global__ void __launch_bounds__(GC_LARGE_ROW_THREADS, 3)
    large_rows(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft_large tiles)
{
    gc_large_rows<config>(pass, tiles);
}

template <class config>
static __global__ void __launch_bounds__(GC_LARGE_ROW_THREADS, 3)
    large_back(const __grid_constant__ gc_pass pass, const __grid_constant__ gc_tilefft_large tiles)
{
    gc_large_back<config>(pass, tiles);
}

template <class config>
static __global__ void __launch_bounds__(gc_large_shape<config>::column_threads,
                                         256 / gc_large_shape<config>::column_threads)
    large_columns(const __grid_constant__ gc_tilefft_large tiles)
{
    gc_large_columns<config>(tiles);
}

struct large_entry {
    int columns, lines, type;
    gc_tilefft_large_kernels found;
};

template <class config, class config_of_columns> static large_entry large_entry_of()
{
    typedef gc_large_shape<config> shape;
    return {config::columns,
            config::lines,
            config::input,
            {{(const void *)large_rows<config>, GC_LARGE_ROW_THREADS, shape::row_bytes},
             {(const void *)large_columns<config_of_columns>, shape::column_threads,
              shape::column_bytes},
             {(const void *)large_back<config>, GC_LARGE_ROW_THREADS, shape::row_bytes},
             shape::rows,
             shape::column_items}};
}

#define LARGE(columns, lines, type)                                                                \
    large_entry_of<tile_config<columns, lines, type>, tile_config<columns, lines, GC_FLOAT>>()
#define LARGE_KERNELS(type) LARGE(512, 512, type), LARGE(1024, 512, type), LARGE(1024, 1024, type)

static const large_entry large_kernels[] = {LARGE_KERNELS(GC_FLOAT), LARGE_KERNELS(GC_BYTE),
                                            LARGE_KERNELS(GC_SHORT), LARGE_KERNELS(-1)};

gc_tilefft_large_kernels gc_tilefft_find_large(int columns, int lines, int type)
{
    for (const large_entry &entry : large_kernels)
        if (entry.columns == columns && entry.lines == lines && entry.type == type)
            return entry.found;
    return {};
}
