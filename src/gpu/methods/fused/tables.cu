#include "gpu/methods/fused/tables.cuh"

#include "gpu/device/kernel.cuh"

extern "C" {
#include "core/border.h"
}

#include <cstdlib>

/* Units that hold columns of the ring: the first, and the last one or two. */
static void find_ring_units(const gc_problem *problem, int ring, gc_bytes *bytes)
{
    int width = (int)problem->chain.width * bytes->step;
    for (int unit = 0; unit <= (width - 1) / GC_BYTES_UNIT && ring > 0; unit++)
        if (unit == 0 || (unit + 1) * GC_BYTES_UNIT > width - ring * bytes->step)
            bytes->ring_units[bytes->ring_unit_count++] = unit;
}

/* The zone across, as gc_ring_filters numbers them, of column `column` of a unit of the class. */
static int zone_of(const gc_bytes *bytes, int width, int unit_class, int column)
{
    if (unit_class == 0)
        return bytes->ring;
    int x = (bytes->ring_units[unit_class - 1] * GC_BYTES_UNIT + column) / bytes->step;
    if (x < bytes->ring)
        return x;
    return x >= width - bytes->ring && x < width ? x - width + 2 * bytes->ring + 1 : bytes->ring;
}

/* Whether a column has alpha that is kept. Units begin with a pixel if there is alpha. */
static bool is_kept(const gc_bytes *bytes, int column)
{
    return (bytes->kept[column / 4 % 2] >> (8 * (column % 4)) & 255) != 0;
}

/* The weight of row `row` for a sample that lies `distance` columns after the output. */
static int weight_at(const gc_bytes *bytes, const gc_combined &total, const double *taps, int row,
                     int distance)
{
    int k = distance / bytes->step + total.left;
    bool is_there = row < total.height && distance % bytes->step == 0 && k >= 0 && k < total.width;
    return is_there ? (int)taps[row * total.width + k] : 0;
}

/* The words of a lane: b0 and b1 of matrix 0, then of matrix 1 (pass/fragments.cuh,
 * m16n8k32). They belong to column lane / 4 of B. b0 has four rows from lane % 4 * 4 on, b1 the
 * four rows 16 further. */
static uint4 lane_weights(const gc_bytes *bytes, const gc_combined &total,
                          const double *const *columns, int row, int lane)
{
    unsigned words[4] = {};
    for (int word = 0; word < 4; word++)
        for (int i = 0; i < 4; i++) {
            int n = lane / 4, column = n / 2 * 4 + word / 2 * 2 + n % 2;
            int distance = word % 2 * 16 + lane % 4 * 4 + i - column - GC_BYTES_MARGIN;
            int weight = is_kept(bytes, column)
                             ? (int)(row == total.top && distance == 0)
                             : weight_at(bytes, total, columns[column], row, distance);
            words[word] |= (unsigned)(unsigned char)(signed char)weight << (8 * i);
        }
    return {words[0], words[1], words[2], words[3]};
}

/* The words of a lane for pair `pair` of lines: b0 and b1 for even rows of output, then for odd
 * ones (bytes_lines.cuh). They belong to column lane / 4 of the eight of a window,
 * which starts GC_LINES_REACH columns before. */
static uint4 pair_weights(const gc_bytes *bytes, const gc_combined &total, const double *taps,
                          int pair, int lane)
{
    unsigned words[4] = {};
    for (int word = 0; word < 4; word++)
        for (int i = 0; i < 4; i++) {
            int row = 2 * pair + word % 2 - word / 2, column = lane / 4;
            int distance = lane % 4 * 4 + i - column - GC_LINES_REACH;
            int weight = row < 0                  ? 0
                         : is_kept(bytes, column) ? (int)(row == total.top && distance == 0)
                                                  : weight_at(bytes, total, taps, row, distance);
            words[word] |= (unsigned)(unsigned char)(signed char)weight << (8 * i);
        }
    return {words[0], words[1], words[2], words[3]};
}

struct table_maker {
    const gc_problem *problem;
    const gc_combined *total;
    const gc_ring_filters *all;
    const gc_bytes *bytes;
    int rows; /* of the kernel's filter */
};

/* One table of gc_bytes: outputs in rows of zone `y` and units of class `unit_class`. */
static void fill_table(const table_maker &maker, int y, int unit_class, uint4 *weights, int *sums)
{
    const gc_combined &total = *maker.total;
    const double *columns[GC_BYTES_UNIT];
    for (int column = 0; column < GC_BYTES_UNIT; column++) {
        int x = zone_of(maker.bytes, (int)maker.problem->chain.width, unit_class, column);
        int zone = y * gc_zones_across(maker.all->ring) + x;
        columns[column] = maker.all->taps + zone * total.width * total.height;
        /* What a constant border adds; of a sample of 16 bits the low bytes alone get it. */
        bool counts = !is_kept(maker.bytes, column) &&
                      (maker.problem->job.input.depth == 8 || column % 2 == 0);
        sums[column] = counts ? (int)maker.all->sums[zone] : 0;
    }
    for (int row = 0; row < maker.rows; row++)
        for (int lane = 0; lane < 32; lane++)
            weights[row * 32 + lane] = lane_weights(maker.bytes, total, columns, row, lane);
}

static void fill_pairs(const table_maker &maker, int pairs, uint4 *weights)
{
    const gc_combined &total = *maker.total;
    int inner = maker.all->ring * gc_zones_across(maker.all->ring) + maker.all->ring;
    const double *taps = maker.all->taps + inner * total.width * total.height;
    for (int pair = 0; pair < pairs; pair++)
        for (int lane = 0; lane < 32; lane++)
            weights[pair * 32 + lane] = pair_weights(maker.bytes, total, taps, pair, lane);
}

static gconv_status upload(const table_maker &maker, gc_fused_tables *tables, gconv_error *error)
{
    size_t pairs = (size_t)maker.rows / 2 + 1;
    size_t classes = 1 + (size_t)tables->bytes.ring_unit_count;
    size_t count = (size_t)gc_zones_across(maker.all->ring) * classes;
    size_t words = (size_t)maker.rows * 32; /* of a table's weights */
    size_t all_words = count * words + pairs * 32;
    size_t size = all_words * sizeof(uint4) + count * GC_BYTES_UNIT * sizeof(int);
    gc_owned_array<uint4> made((uint4 *)malloc(size));
    GC_TRY_MEMORY(made != nullptr, error, size);
    int *sums = (int *)(made + all_words);
    for (size_t k = 0; k < count; k++)
        fill_table(maker, (int)(k / classes), (int)(k % classes), made + k * words,
                   sums + k * GC_BYTES_UNIT);
    fill_pairs(maker, (int)pairs, made + count * words);
    GC_TRY(gc_gpu_upload(made, size, &tables->memory, error));
    tables->bytes.weights = tables->memory;
    tables->lines.weights = tables->memory + count * words;
    tables->bytes.sums = (const int *)(tables->memory + all_words);
    return GCONV_OK;
}

/* Sets what depends on the image's pixels. */
static void set_pixels(const gc_problem *problem, gc_bytes *bytes)
{
    int channels = problem->job.input.channels, size = problem->job.input.depth / 8;
    bytes->pixels = (int)problem->chain.width;
    bytes->step = channels * size;
    bytes->channels = problem->chain.channels;
    for (int k = 0; k < bytes->step; k++) {
        bool is_convolved = k / size < problem->chain.channels;
        unsigned sample = is_convolved && problem->job.border == GCONV_BORDER_CONSTANT
                              ? (unsigned)problem->chain.steps[0].border[k / size]
                              : 0;
        bytes->constant[k] = (unsigned char)(sample >> (8 * (k % size)));
    }
    for (int k = 0; k < 8 && problem->conversion.keeps_alpha; k++)
        if (k % bytes->step >= bytes->step - size)
            bytes->kept[k / 4] |= 255u << (8 * (k % 4));
}

/* Selects byte `column` of a row, or the one that the border has in its place, from the 8 bytes of
 * the row that begin at `first`; 8 if it is none of them. */
static unsigned select_byte(const gc_problem *problem, const gc_bytes *bytes, int column, int first)
{
    int before = GC_LINES_REACH; /* pixels, which keep the division from rounding up */
    int pixel = (column + before * bytes->step) / bytes->step - before;
    int64_t there = gc_border_index(problem->job.border, pixel, bytes->pixels);
    int64_t selected = there * bytes->step + column - pixel * bytes->step - first;
    return there < 0 || selected < 0 || selected > 7 ? 8 : (unsigned)selected;
}

/* Sets what the kernels of bytes_lines.cuh need beside the weights. */
static void set_lines(const gc_problem *problem, const gc_bytes *bytes, gc_lines_launch *lines)
{
    int width = bytes->pixels * bytes->step;
    lines->top = bytes->top;
    lines->has_sides = width % 16 == 0; /* else words of 16 bytes leave more than the sides out */
    for (int k = 0; k < 4; k++) {
        unsigned before = select_byte(problem, bytes, k - 4, 0);
        unsigned after = select_byte(problem, bytes, width + k, width - 8);
        lines->before |= before << (4 * k);
        lines->after |= after << (4 * k);
        if (before > 7 || after > 7)
            lines->has_sides = 0;
    }
}

gconv_status gc_fused_tables_make(const gc_problem *problem, const gc_combined &total, int rows,
                                  gc_fused_tables *tables, gconv_error *error)
{
    gc_ring_filters all;
    GC_TRY(gc_ring_filters_make(problem, total, &all, error));
    set_pixels(problem, &tables->bytes);
    tables->bytes.height = total.height;
    tables->bytes.top = total.top;
    tables->bytes.ring = all.ring;
    find_ring_units(problem, all.ring, &tables->bytes);
    set_lines(problem, &tables->bytes, &tables->lines);
    gconv_status status = upload({problem, &total, &all, &tables->bytes, rows}, tables, error);
    free(all.taps);
    return status;
}
