/* The tiles of tilefft, and the filter's spectrum in the order of the kernels' threads. */
#include "chain_support.h"

#include "gpu/methods/tilefft/tiles.h"

static float weights[GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX];

static void make(fixture *f, uint32_t width, uint32_t height, gconv_border border, int count,
                 int filter_width, int filter_height)
{
    for (size_t i = 0; i < COUNT(weights); i++)
        weights[i] = i % 7 < 5 ? 0.3f + (float)(i % 11) : -1.7f;
    for (int s = 0; s < count; s++) {
        f->filters[s] = filter_of(filter_width, filter_height, 1, weights);
        f->chain[s] = &f->filters[s];
    }
    gconv_job job = job_of(f->chain, count, shape_of(width, height, 1, 8));
    job.border = border;
    f->problem = problem_of(&job);
}

static gconv_device_info device_with(size_t shared_bytes)
{
    return (gconv_device_info){.kind = GCONV_DEVICE_CUDA,
                               .processors = 132,
                               .memory_bandwidth = 4916736000000,
                               .shared_per_block_optin = shared_bytes};
}

/* A pair of tiles covers what its transform holds, and pairs cover the image. */
static void check_tiles(const gc_problem *problem, const gc_tiles *tiles)
{
    const gc_step *step = &problem->chain.steps[0];
    assert_true(tiles->width > 0 && tiles->height > 0 && tiles->seconds > 0);
    assert_true(tiles->width + step->width - 1 <= tiles->columns);
    assert_true(tiles->height + step->height - 1 <= tiles->lines);
    int64_t covered = (int64_t)tiles->width * tiles->across;
    assert_true(covered >= problem->chain.width);
    assert_true(covered - tiles->width < problem->chain.width);
    assert_int_equal(tiles->pairs, (tiles->rows * tiles->across + 1) / 2);
}

static gc_tiles tiles_of(const gc_problem *problem, const gconv_device_info *device)
{
    return gc_tiles_of(problem, &problem->chain.steps[0], device);
}

TEST(tiles_hold_filters)
{
    static const int sides[] = {1, 3, 17, 31, 43, 63, 64, 65, 100, 121, 129, 255};
    gconv_device_info large = device_with(232448), small = device_with(65536);
    for (size_t i = 0; i < COUNT(sides); i++) {
        OWNED_FIXTURE f;
        make(&f, 4096, 1000, GCONV_BORDER_MIRROR, 1, sides[i], 3);
        gc_tiles tiles = tiles_of(&f.problem, &large);
        check_tiles(&f.problem, &tiles);
        tiles = tiles_of(&f.problem, &small);
        if (sides[i] <= 57)
            check_tiles(&f.problem, &tiles);
        else if (sides[i] > 64)
            assert_int_equal(tiles.width, 0);
    }
}

/* The tiles of a filter on a square image of floats. */
static gc_tiles tiles_for(uint32_t side, int filter_width, int filter_height)
{
    gconv_device_info device = device_with(232448);
    OWNED_FIXTURE f;
    make(&f, side, side, GCONV_BORDER_MIRROR, 1, filter_width, filter_height);
    return tiles_of(&f.problem, &device);
}

TEST(large_tiles_for_large_filters)
{
    gc_tiles tiles = tiles_for(4096, 11, 11);
    assert_true(tiles.columns == 64 && tiles.lines == 64);
    tiles = tiles_for(4096, 43, 43);
    assert_true(tiles.columns == 128 && tiles.lines == 128 && tiles.width == 86);
    tiles = tiles_for(4096, 3, 63);
    assert_true(tiles.columns == 64 && tiles.lines == 128);
}

TEST(transforms_fit_the_filter)
{
    static const int cases[][3] = {
        {47, 128, 128}, {63, 512, 512}, {127, 1024, 512}, {255, 1024, 1024}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        gc_tiles tiles = tiles_for(4096, cases[i][0], cases[i][0]);
        assert_int_equal(tiles.columns, cases[i][1]);
        assert_int_equal(tiles.lines, cases[i][2]);
    }
}

/* A slab has as many rows of tiles as scratch memory holds, and scratch memory is bounded. */
TEST(slabs_of_large_tiles_are_bounded)
{
    static const struct {
        uint32_t width, height;
        int rows, pairs, strips;
    } cases[] = {{4096, 4096, 6, 18, 3}, {8192, 8192, 3, 17, 6}, {38400, 1540, 1, 25, 18}};
    gconv_device_info device = device_with(232448);
    for (size_t i = 0; i < COUNT(cases); i++) {
        OWNED_FIXTURE f;
        make(&f, cases[i].width, cases[i].height, GCONV_BORDER_MIRROR, 1, 255, 255);
        gc_tiles tiles = tiles_of(&f.problem, &device);
        assert_int_equal(tiles.columns * tiles.lines, 1024 * 1024);
        assert_int_equal(tiles.rows, cases[i].rows);
        assert_int_equal(tiles.pairs, cases[i].pairs);
        assert_int_equal(tiles.strips, cases[i].strips);
        assert_true(tiles.strip_lines >= (tiles.rows - 1) * tiles.height + tiles.lines);
        double bytes = gc_tilefft_scratch(&tiles);
        double most = gc_tiles_scratch_bytes(&f.problem);
        assert_true(most >= bytes && most <= GC_LARGE_TILES_BYTES);
    }
}

TEST(scratch_is_for_large_filters)
{
    for (int width = 47; width <= 48; width++) {
        OWNED_FIXTURE f;
        make(&f, 4096, 4096, GCONV_BORDER_WRAP, 2, width, 9);
        assert_true((gc_tiles_scratch_bytes(&f.problem) > 0) == (width == 48));
        assert_true(gc_tiles_scratch_bytes(&f.problem) >= 0);
    }
}

TEST(slabs_are_rows_of_tiles)
{
    OWNED_FIXTURE f;
    make(&f, 100, 200, GCONV_BORDER_WRAP, 2, 9, 9);
    gc_slabs slabs = gc_slabs_of(&f.problem, &f.problem.chain.steps[0], 56);
    assert_true(slabs.first == -4 && slabs.last == 203 && slabs.rows == 56);
    slabs = gc_slabs_of(&f.problem, &f.problem.chain.steps[1], 56);
    assert_true(slabs.first == 0 && slabs.last == 199);
}

/* The factor of frequency (kx, ky) by its definition. */
static void check_factor(const gc_step *step, int columns, int lines, int kx, int ky,
                         const float *factor)
{
    double re = 0, im = 0, sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int i = 0; i < step->width; i++) {
            double tap = (double)step->taps[j * step->width + i];
            double turns = (double)(kx * i % columns) / columns + (double)(ky * j % lines) / lines;
            re += tap * cos(2 * 3.14159265358979323846 * turns);
            im += tap * sin(2 * 3.14159265358979323846 * turns);
            sum += fabs(tap);
        }
    double points = (double)columns * lines;
    assert_true(fabs((double)factor[0] * points - re) < 1e-6 * sum);
    assert_true(fabs((double)factor[1] * points - im) < 1e-6 * sum);
}

/* Place 4 c + d of a column of n points has frequency c + n / 4 d, place n / 4 e + f of a row
 * frequency e + 4 f; columns come one after the other. */
TEST(spectra_are_in_order)
{
    static const int sizes[][2] = {{64, 64}, {64, 128}, {128, 64}};
    OWNED float *spectrum = malloc(128 * 128 * 2 * sizeof *spectrum);
    assert_non_null(spectrum);
    OWNED_FIXTURE f;
    make(&f, 100, 200, GCONV_BORDER_MIRROR, 1, 7, 5);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        int columns = sizes[s][0], lines = sizes[s][1];
        const gc_step *step = &f.problem.chain.steps[0];
        assert_ok(gc_tiles_spectrum(step, columns, lines, spectrum, NULL));
        for (int at = 0; at < columns * lines; at += 37) {
            int column = at / lines, line = at % lines;
            check_factor(step, columns, lines,
                         column / (columns / 4) + 4 * (column % (columns / 4)),
                         line / 4 + lines / 4 * (line % 4), spectrum + 2 * (size_t)at);
        }
    }
}

/* Those of large tiles lie row by row. */
TEST(spectra_of_large_tiles_are_in_order)
{
    const int columns = 1024, lines = 512;
    OWNED float *spectrum = malloc((size_t)columns * lines * 2 * sizeof *spectrum);
    assert_non_null(spectrum);
    OWNED_FIXTURE f;
    make(&f, 100, 200, GCONV_BORDER_MIRROR, 1, 57, 50);
    const gc_step *step = &f.problem.chain.steps[0];
    assert_ok(gc_tiles_spectrum(step, columns, lines, spectrum, NULL));
    for (int at = 0; at < columns * lines; at += 3701)
        check_factor(step, columns, lines, at % columns, at / columns, spectrum + 2 * (size_t)at);
}

TEST(roots_are_in_order)
{
    float roots[2 * 512];
    gc_tiles_roots(512, roots);
    for (int k = 0; k < 32; k++)
        for (int b = 0; b < 16; b++) {
            double angle = 2 * 3.14159265358979323846 * k * b / 512;
            const float *root = roots + 2 * (16 * k + b);
            assert_true(fabs((double)root[0] - cos(angle)) < 1e-7);
            assert_true(fabs((double)root[1] + sin(angle)) < 1e-7);
        }
}
