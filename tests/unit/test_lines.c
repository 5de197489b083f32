/* Columns and rows through transforms of lines against plain sums, for every instruction set here:
 * within the bound in float, exact in double. */
#include "cpu/fast/lines.h"

#include "base/memory.h"
#include "core_support.h"
#include "sets_support.h"

enum { LENGTH_MAX = 1100, WIDTH_MAX = 90, CHANNELS_MAX = 4 };
enum { ROWS_MAX = 1300, ROW = (WIDTH_MAX + LENGTH_MAX) * CHANNELS_MAX };

static float samples[ROWS_MAX][ROW];
static float results[ROWS_MAX][ROW];
static float taps[LENGTH_MAX];
static const float *rows[ROWS_MAX];
static float *out[ROWS_MAX];

static void fill(bool whole)
{
    unsigned seed = 1;
    for (int j = 0; j < ROWS_MAX; j++) {
        for (int i = 0; i < ROW; i++)
            samples[j][i] = (float)((seed = seed * 1103515245 + 12345) >> 16 & 255);
        rows[j] = samples[j];
        out[j] = results[j];
    }
    for (int i = 0; i < LENGTH_MAX; i++) {
        taps[i] = (float)((seed = seed * 1103515245 + 12345) >> 16 & 255) / 255 - 0.3f;
        taps[i] = whole ? roundf(20 * taps[i]) : taps[i];
    }
}

typedef struct trial {
    const char *name;
    const gc_transform_loops *loops;
    int side, length;
    bool exact;
} trial;

static double bound_of(const trial *t)
{
    double sum = 0;
    for (int k = 0; k < t->length; k++)
        sum += fabs((double)taps[k]);
    return t->exact ? 0 : 4 * (t->length + 32 * log2(t->side)) * 0x1p-24 * sum * 255;
}

static void check_value(const trial *t, const char *what, double wanted, float result, double bound)
{
    bool negative_zero = result == 0 && signbit(result);
    if (!(fabs((double)result - wanted) <= bound) || (t->exact && negative_zero))
        fail_msg("%s: %d taps, side %d, %s: %.9g, not %.9g", t->name, t->length, t->side, what,
                 (double)result, wanted);
}

static void check_columns(const trial *t, const gc_lines *lines, float *scratch, int count,
                          int row_count)
{
    double bound = bound_of(t);
    results[0][count] = -1e6f;
    gc_lines_convolve_columns(lines, scratch, (gc_line_input){.rows = rows}, (size_t)count,
                              row_count, out);
    for (int o = 0; o < row_count; o += 1 + row_count / 7)
        for (int i = 0; i < count; i++) {
            double wanted = 0;
            for (int k = 0; k < t->length; k++)
                wanted += (double)taps[k] * (double)samples[o + k][i];
            check_value(t, "columns", wanted, results[o][i], bound);
        }
    assert_true(results[0][count] == -1e6f);
}

static void check_rows(const trial *t, const gc_lines *lines, float *scratch, int channels,
                       int width, int row_count)
{
    double bound = bound_of(t);
    results[0][width * channels] = -1e6f;
    gc_lines_convolve_rows(lines, scratch, rows, (size_t)channels, (size_t)width, row_count, out);
    for (int o = 0; o < row_count; o++)
        for (int i = 0; i < width * channels; i++) {
            double wanted = 0;
            for (int k = 0; k < t->length; k++)
                wanted += (double)taps[k] * (double)samples[o][i + k * channels];
            check_value(t, "rows", wanted, results[o][i], bound);
        }
    assert_true(results[0][width * channels] == -1e6f);
}

static void check_trial(const trial *t, int number)
{
    static const int row_counts[] = {1, 7, 32, 45};
    RELEASED_BY(gc_lines_destroy) gc_lines lines;
    assert_succeeds(gc_lines_create(&lines, t->loops, t->side, taps, t->length, &why));
    OWNED float *scratch =
        gc_allocate_aligned(gc_lines_scratch(t->loops, t->side), sizeof *scratch);
    assert_non_null(scratch);
    int most = t->side - t->length + 1, row_count = row_counts[number % 4];
    check_columns(t, &lines, scratch, 1 + 13 * number % 85,
                  most < ROWS_MAX - t->length ? most : row_count);
    check_rows(t, &lines, scratch, 1 + number % CHANNELS_MAX, 1 + 29 * number % WIDTH_MAX,
               row_count);
}

static void check_all(bool exact)
{
    static const int lengths[][2] = {{1, 64},     {64, 64},   {40, 128},   {129, 256},
                                     {300, 512},  {512, 512}, {700, 1024}, {1100, 2048},
                                     {900, 4096}, {33, 64},   {500, 8192}};
    fill(exact);
    EACH_SET(set, n)
    for (size_t s = 0; s < COUNT(lengths); s++) {
        trial t = {.name = set->name,
                   .loops = exact ? set->exact_transforms.loops : set->transforms.loops,
                   .length = lengths[s][0],
                   .side = lengths[s][1],
                   .exact = exact};
        check_trial(&t, (int)s + n);
    }
}

TEST(lines_in_float)
{
    check_all(false);
}

TEST(lines_in_double)
{
    check_all(true);
}

/* What lies beyond the input has no influence, not even where it is not a number. */
TEST(nothing_else_is_read)
{
    enum { LENGTH = 50, SIDE = 128, WIDTH = 37, COUNT = 33 };
    fill(false);
    const gc_transform_loops *loops = gc_instructions_chosen()->transforms.loops;
    RELEASED_BY(gc_lines_destroy) gc_lines lines;
    assert_ok(gc_lines_create(&lines, loops, SIDE, taps, LENGTH, NULL));
    OWNED float *scratch = gc_allocate_aligned(gc_lines_scratch(loops, SIDE), sizeof *scratch);
    for (int j = 0; j < ROWS_MAX; j++)
        for (int i = j < COUNT + LENGTH - 1 ? WIDTH + LENGTH - 1 : 0; i < ROW; i++)
            samples[j][i] = NAN;
    gc_lines_convolve_columns(&lines, scratch, (gc_line_input){.rows = rows}, WIDTH + LENGTH - 1,
                              COUNT, out);
    for (int o = 0; o < COUNT; o++)
        for (int i = 0; i < WIDTH + LENGTH - 1; i++)
            assert_false(isnan(results[o][i]));
    gc_lines_convolve_rows(&lines, scratch, rows, 1, WIDTH, COUNT, out);
    for (int o = 0; o < COUNT; o++)
        for (int i = 0; i < WIDTH; i++)
            assert_false(isnan(results[o][i]));
}
