/* Convolution through transforms of tiles against a plain sum, for every instruction set here:
 * within the bound in float, exact in double. */
#include "cpu/fast/tiles.h"

#include "base/memory.h"
#include "core/range.h"
#include "core_support.h"
#include "sets_support.h"

#include <float.h>

enum { WIDTH_MAX = 300, CHANNELS_MAX = 4, HEIGHT_MAX = 31, SIDE_MAX = 128 };
enum { ROWS_MAX = SIDE_MAX, ROW = (WIDTH_MAX + HEIGHT_MAX) * CHANNELS_MAX };

static float samples[ROWS_MAX][ROW];
static float results[ROWS_MAX][ROW];
static float taps[HEIGHT_MAX * HEIGHT_MAX];

static void fill(void)
{
    unsigned seed = 1;
    for (int j = 0; j < ROWS_MAX; j++)
        for (int i = 0; i < ROW; i++)
            samples[j][i] = (float)((seed = seed * 1103515245 + 12345) >> 16 & 255);
    for (int i = 0; i < HEIGHT_MAX * HEIGHT_MAX; i++)
        taps[i] = (float)((seed = seed * 1103515245 + 12345) >> 16 & 255) / 255 - 0.3f;
}

static double plain_sum(const gc_step *step, int channels, int row, int at)
{
    double sum = 0;
    for (int j = 0; j < step->height; j++)
        for (int k = 0; k < step->width; k++)
            sum += (double)step->taps[j * step->width + k] *
                   (double)samples[row + j][at + k * channels];
    return sum;
}

/* Rule 4 with the terms that the implementation asks for. */
static double bound_of(const gc_step *step, int side)
{
    double sum = 0;
    for (int i = 0; i < step->width * step->height; i++)
        sum += fabs((double)step->taps[i]);
    return 4 * (step->width * step->height + 32 * 2 * log2(side)) * 0x1p-24 * sum * 255;
}

/* Every result within `bound` of the sum; 0 asks for the same bits. */
static void check(const char *name, const gc_transform_loops *loops, int side, const gc_step *step,
                  int width, int channels, double bound)
{
    RELEASED_BY(gc_tiles_destroy) gc_tiles tiles;
    assert_succeeds(gc_tiles_create(&tiles, loops, side, step, &why));
    OWNED float *scratch = gc_allocate_aligned(gc_tiles_scratch(loops, side), sizeof *scratch);
    const float *rows[ROWS_MAX];
    float *out[ROWS_MAX];
    for (int j = 0; j < ROWS_MAX; j++) {
        rows[j] = samples[j];
        out[j] = results[j];
        results[j][width * channels] = -1e6f;
    }
    int count = tiles.rows - side % 3;
    gc_tiles_convolve(&tiles, scratch, rows, (size_t)channels, (size_t)width, count, out);
    for (int o = 0; o < count; o += 5)
        for (int i = 0; i < width * channels; i++) {
            double wanted = plain_sum(step, channels, o, i);
            bool negative_zero = results[o][i] == 0 && signbit(results[o][i]);
            if (!(fabs((double)results[o][i] - wanted) <= bound) || (bound == 0 && negative_zero))
                fail_msg(
                    "%s: side %d, %dx%d, %d pixels of %d channels: value %d of row %d is %.9g, "
                    "not %.9g",
                    name, side, step->width, step->height, width, channels, i, o,
                    (double)results[o][i], wanted);
        }
    for (int o = 0; o < count; o++)
        assert_true(results[o][width * channels] == -1e6f);
}

TEST(tiles_of_every_side)
{
    static const int sizes[][2] = {{1, 1}, {3, 5}, {8, 1}, {20, 20}, {31, 30}, {2, 31}};
    static const int widths[] = {1, 30, 63, 100, 300};
    fill();
    EACH_SET(set, n)
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= SIDE_MAX; side *= 2)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            gc_step step = {.taps = taps, .width = sizes[s][0], .height = sizes[s][1]};
            int width = widths[(s + (size_t)n) % 5];
            check(set->name, set->transforms.loops, side, &step, width, 1 + (int)s % CHANNELS_MAX,
                  bound_of(&step, side));
        }
}

/* ---- The ends of float32 --------------------------------------------------------------------- */

/* Samples and weights whose largest samples and sum of weights are these: random ones, or all the
 * largest where that makes the spectrum largest. */
static gc_step fill_scaled(int side, double largest, double sum, bool flat)
{
    fill();
    gc_step step = {.taps = taps, .width = side, .height = side};
    step.absolute_sum = sum;
    step.largest_value = step.least_scale = largest;
    double total = 0;
    for (int i = 0; i < side * side; i++)
        total += fabs((double)taps[i]);
    for (int i = 0; i < side * side; i++)
        taps[i] = (float)((double)taps[i] * sum / total);
    for (int j = 0; j < ROWS_MAX; j++)
        for (int i = 0; i < ROW; i++)
            samples[j][i] = (float)(flat ? largest : (double)samples[j][i] / 255 * largest);
    return step;
}

/* What gc_range_holds_tiles lets through is right. */
static void check_scaled(int side, double largest, double sum)
{
    EACH_SET(set, n)
    for (int flat = 0; flat < 2; flat++) {
        gc_step step = fill_scaled(9, largest, sum, flat);
        assert_true(gc_range_holds_tiles(&step, (double)side * side));
        double terms = 81 + 32 * 2 * log2(side);
        check(set->name, set->transforms.loops, side, &step, 60, 2,
              4 * terms * (0x1p-24 * sum * largest + 0x1p-150));
    }
}

static void refuse_scaled(int side, double largest, double sum)
{
    gc_step step = fill_scaled(9, largest, sum, true);
    assert_false(gc_range_holds_tiles(&step, (double)side * side));
}

TEST(tiles_next_to_infinity)
{
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= SIDE_MAX; side *= 2) {
        double most = (double)FLT_MAX / 2, points = (double)side * side;
        check_scaled(side, most / points * 0.9999, 1);
        refuse_scaled(side, most / points * 1.0001, 1);
        check_scaled(side, most / points * 0.9999, points * 0.9999);
        check_scaled(side, most / 0x1p80 * 0.9999, 0x1p80);
        refuse_scaled(side, most / 0x1p80 * 1.0001, 0x1p80);
    }
}

TEST(tiles_next_to_zero)
{
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= SIDE_MAX; side *= 2) {
        double points = (double)side * side, least = 64 * 0x1p-126;
        double sum = least * pow(points, 2.5), scale = least * sqrt(points);
        check_scaled(side, 1, sum * 1.0001);
        refuse_scaled(side, 1, sum * 0.9999);
        check_scaled(side, scale * 1.0001, points);
        refuse_scaled(side, scale * 0.9999, points);
        check_scaled(side, least * points * 1e4, 1.0001e-4);
        refuse_scaled(side, least * points * 1e4, 0.9999e-4);
    }
}

/* ---- Whole numbers --------------------------------------------------------------------------- */

/* Samples and weights that bring sums near 2^24 or let transforms cancel. */
typedef enum pattern { LARGEST, CHECKERS, ANY, ALTERNATING, LONE, PATTERNS } pattern;

static int tap_of(pattern p, int i, int j, int largest)
{
    switch (p) {
    case CHECKERS:
        return (i + j) % 2 == 0 ? largest : -largest;
    case ANY:
        return rand() % (2 * largest + 1) - largest;
    case ALTERNATING:
        return j % 2 == 0 ? largest : -largest;
    case LONE:
        return i == 0 && j == 0 ? largest : 0;
    default:
        return largest;
    }
}

/* Weights whose magnitudes sum up to nearly 2^24 / `white`: the most that an exact chain has. */
static gc_step fill_whole(pattern p, int width, int height, int white)
{
    gc_step step = {.taps = taps, .width = width, .height = height};
    int most = ((1 << 24) - 1) / white;
    int largest = most / (p == LONE ? 1 : width * height);
    for (int k = 0; k < width * height; k++)
        taps[k] = (float)tap_of(p, k % width, k / width, largest);
    for (int j = 0; j < ROWS_MAX; j++)
        for (int i = 0; i < ROW; i++)
            samples[j][i] = (float)(p == CHECKERS      ? (i + j) % 2 * white
                                    : p == ALTERNATING ? j % 2 * white
                                    : p == ANY         ? rand() % (white + 1)
                                                       : white);
    return step;
}

TEST(whole_numbers_are_exact)
{
    srand(13);
    static const int sizes[][2] = {{1, 1}, {4, 7}, {20, 20}, {31, 30}};
    static const int whites[] = {255, 15000};
    EACH_SET(set, n)
    for (int side = GC_TRANSFORM_SIDE_MIN; side <= SIDE_MAX; side *= 2)
        for (size_t s = 0; s < 2 * COUNT(sizes); s++)
            for (int p = 0; p < PATTERNS; p++) {
                const int *size = sizes[s / 2];
                gc_step step = fill_whole((pattern)p, size[0], size[1], whites[s % 2]);
                check(set->name, set->exact_transforms.loops, side, &step, 70, 1 + p % 3, 0);
            }
}

/* The bound is what makes rounding exact. */
TEST(every_side_may_be_rounded)
{
    assert_true(gc_transform_error(2 * log2(GC_TRANSFORM_SIDE_MIN)) > 0);
    assert_true(gc_transform_error(2 * log2(GC_TRANSFORM_SIDE_MAX)) < 1e-3);
    assert_true(gc_transform_error(40) >= 0.5);
}
