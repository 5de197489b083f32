/* The inner loops for every instruction set this processor has, against a plain sum. */
#include "cpu/fast/bytes.h"

#include "core_support.h"
#include "sets_support.h"

enum { COUNT_MAX = 300, TAPS_MAX = 9, ROW = COUNT_MAX + 4 * TAPS_MAX + GC_ROW_SLACK };
enum { ROWS_MAX = TAPS_MAX + GC_ROWS_TOGETHER - 1 };

static float samples[ROWS_MAX][ROW];
static float taps[TAPS_MAX * TAPS_MAX];

/* Whole numbers, so that the order of summation does not matter; zeros among the taps. */
static void fill(void)
{
    unsigned seed = 1;
    for (int j = 0; j < ROWS_MAX; j++)
        for (int i = 0; i < ROW; i++)
            samples[j][i] = (float)((seed = seed * 1103515245 + 12345) >> 16 & 255);
    for (int i = 0; i < TAPS_MAX * TAPS_MAX; i++)
        taps[i] = (float)(i % 7 - 3);
}

/* Of the input rows from `first` on. */
static float plain_sum(const gc_step *step, size_t channels, int first, size_t at)
{
    float sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int k = 0; k < step->width; k++)
            sum += step->taps[j * step->width + k] * samples[first + j][at + (size_t)k * channels];
    return sum;
}

static float out[GC_ROWS_TOGETHER][ROW];

static void poison_rows(float *to[GC_ROWS_TOGETHER])
{
    for (int o = 0; o < GC_ROWS_TOGETHER; o++) {
        to[o] = out[o];
        for (size_t i = 0; i < ROW; i++)
            out[o][i] = -1e6f;
    }
}

typedef float sum_function(const gc_step *step, size_t channels, int first, size_t at);

/* `count` values of `row_count` rows are the sums, and nothing else is written. Output row o begins
 * `distance` input rows after the one before. */
static void check_rows(const char *name, sum_function *sum, const gc_step *step, size_t channels,
                       size_t count, int row_count, int distance)
{
    for (int o = 0; o < GC_ROWS_TOGETHER; o++)
        for (size_t i = 0; i < ROW; i++) {
            bool inside = o < row_count && i < count;
            if (out[o][i] != (inside ? sum(step, channels, o * distance, i) : -1e6f))
                fail_msg("%s: %dx%d, %zu channels, value %zu of %zu, row %d of %d is wrong", name,
                         step->width, step->height, channels, i, count, o, row_count);
        }
}

static void check_function(const char *name, gc_taps_function *convolve, const gc_step *step,
                           size_t channels, size_t count, int row_count, int distance)
{
    const float *rows[ROWS_MAX];
    float *to[GC_ROWS_TOGETHER];
    for (int j = 0; j < ROWS_MAX; j++)
        rows[j] = samples[j];
    poison_rows(to);
    convolve(step, rows, channels, count, row_count, to);
    check_rows(name, plain_sum, step, channels, count, row_count, distance);
}

TEST(all_loops_agree)
{
    static const size_t counts[] = {1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 191, 300};
    fill();
    EACH_SET(set, n)
    {
        for (int side = 1; side <= TAPS_MAX; side++)
            for (size_t c = 0; c < COUNT(counts); c++) {
                gc_step step = {.taps = taps, .width = side, .height = TAPS_MAX + 1 - side};
                int row_count = 1 + (int)c % GC_ROWS_TOGETHER;
                check_function(set->name, set->taps->every, &step, 1 + c % 4, counts[c], row_count,
                               1);
                check_function(set->name, set->taps->sparse, &step, 1 + c % 4, counts[c], row_count,
                               1);
                step.height = 1 + side % 2;
                check_function(set->name, set->taps->apart, &step, 1 + c % 4, counts[c], row_count,
                               step.height);
            }
    }
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static uint8_t levels[ROWS_MAX][ROW];

static float byte_sum(const gc_step *step, size_t channels, int row, size_t at)
{
    int sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int k = 0; k < step->width; k++)
            sum +=
                (int)step->taps[j * step->width + k] * levels[row + j][at + (size_t)k * channels];
    return (float)sum;
}

static void check_bytes(const gc_instructions *set, const gc_step *step, int channels, size_t count,
                        int row_count)
{
    const uint8_t *rows[ROWS_MAX];
    float *to[GC_ROWS_TOGETHER];
    gc_byte_step bytes;
    assert_ok(gc_byte_step_create(&bytes, step, channels, NULL));
    for (int j = 0; j < ROWS_MAX; j++)
        rows[j] = levels[j];
    poison_rows(to);
    set->bytes->every(&bytes, rows, GC_BYTES_GROUP, count, row_count, to);
    check_rows(set->name, byte_sum, step, (size_t)channels, count, row_count, 1);
    free(bytes.taps);
}

/* Samples and taps at the ends of their ranges, and any. */
TEST(bytes_are_exact)
{
    static const size_t counts[] = {1, 15, 63, 64, 65, 129, 300};
    srand(12);
    for (int pattern = 0; pattern < 3; pattern++) {
        for (int j = 0; j < ROWS_MAX; j++)
            for (int i = 0; i < ROW; i++)
                levels[j][i] = pattern < 2 ? UINT8_MAX : (uint8_t)(rand() % 256);
        for (int i = 0; i < TAPS_MAX * TAPS_MAX; i++)
            taps[i] = pattern == 0   ? INT8_MIN
                      : pattern == 1 ? INT8_MAX
                                     : (float)(rand() % 256 + INT8_MIN);
        EACH_SET(set, n)
        for (int side = 1; side <= TAPS_MAX; side++)
            for (size_t c = 0; c < COUNT(counts); c++) {
                gc_step step = {.taps = taps, .width = side, .height = TAPS_MAX + 1 - side};
                if (set->bytes != NULL)
                    check_bytes(set, &step, 1 + (int)c % 4, counts[c],
                                1 + (int)c % GC_ROWS_TOGETHER);
            }
    }
}

TEST(the_list_of_instructions)
{
    int count = gc_instructions_count();
    assert_true(count >= 1);
    assert_string_equal(gc_instructions_at(count - 1)->name, "portable");
    assert_true(gc_instructions_at(count - 1)->usable());
    assert_null(gc_instructions_at(count));
    assert_null(gc_instructions_at(-1));
    unsetenv("GCONV_INSTRUCTIONS");
    assert_true(gc_instructions_chosen()->usable());
    setenv("GCONV_INSTRUCTIONS", "portable", 1);
    assert_string_equal(gc_instructions_chosen()->name, "portable");
    setenv("GCONV_INSTRUCTIONS", "no such", 1);
    assert_true(gc_instructions_chosen()->usable());
    unsetenv("GCONV_INSTRUCTIONS");
}
