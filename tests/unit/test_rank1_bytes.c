/* One filter from 8 bits to 8 bits: every sample is the reference's, on every instruction set. */
#include "cpu/fast/rank1_bytes.h"

#include "core_support.h"
#include "sanitized.h"
#include "sets_support.h"

#include <sys/mman.h>
#include <unistd.h>

enum { BYTES_MAX = 3000 * 40 };

typedef struct trial {
    gconv_filter filter;
    const gconv_filter *chain[1];
    gconv_job job;
    double row[GC_RANK1_SIDE_MAX], column[GC_RANK1_SIDE_MAX];
    float weights[GC_RANK1_SIDE_MAX * GC_RANK1_SIDE_MAX];
    uint8_t image[BYTES_MAX];
    uint8_t wanted[BYTES_MAX + 64], got[BYTES_MAX + 64];
} trial;

static uint32_t seed = 5;

/* Below `end`. */
static int any(int end)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)end);
}

static double any_real(void)
{
    return any(1 << 20) / 1048576.0;
}

/* ---- Filters and images ---------------------------------------------------------------------- */

/* Kinds of factors: even, odd or neither; real, whole, or parts of a power of 2. */
static void fill_factor(double *factor, int count, int kind)
{
    for (int i = 0; i < count; i++) {
        double value = kind % 3 == 0   ? 0.05 + any_real()
                       : kind % 3 == 1 ? any(12) - 4
                                       : (any(65) - 20) / 64.0;
        factor[i] = value;
        if (kind / 3 == 1 && i > count / 2)
            factor[i] = factor[count - 1 - i];
        if (kind / 3 == 2 && i >= (count + 1) / 2)
            factor[i] = -factor[count - 1 - i];
        if (kind / 3 == 2 && 2 * i + 1 == count)
            factor[i] = 0;
    }
    if (count % 2 == 0 && kind / 3 == 1)
        factor[count / 2] = factor[count / 2 - 1];
}

/* `kind` is the row's. The column is as real or whole as the row, and of any symmetry. */
static void fill_filter(trial *t, int width, int height, int kind)
{
    double sum = 0;
    fill_factor(t->row, width, kind);
    fill_factor(t->column, height, kind % 3 + 3 * any(3));
    t->filter = filter_of(width, height, 1, t->weights);
    for (int i = 0; i < width * height; i++) {
        t->weights[i] = (float)(t->row[i % width] * t->column[i / width]);
        sum += (double)t->weights[i];
    }
    const double divisors[] = {1, sum, sum, 16, 10, 289, -7, 0.37};
    double divisor = divisors[any(8)];
    t->filter.divisor = divisor == 0 ? 1 : divisor;
    t->filter.anchor_x = any(width);
    t->filter.anchor_y = any(height);
}

static void fill_image(trial *t, size_t bytes)
{
    int kind = any(4);
    for (size_t i = 0; i < bytes; i++)
        t->image[i] = kind == 0   ? (uint8_t)any(256)
                      : kind == 1 ? any(2) * 255
                      : kind == 2 ? 77
                                  : 255;
}

static void fill_job(trial *t)
{
    static const double scales[] = {1, 1, 1, 0.5, -1, 0.3},
                        offsets[] = {0, 0, 128, 0.5, 3.3, 127.5};
    gconv_shape shape = shape_of((uint32_t)(1 + any(any(6) == 0 ? 2900 : 90)),
                                 (uint32_t)(1 + any(33)), 1 + any(4), 8);
    while ((size_t)shape.width * shape.height * (size_t)shape.channels > BYTES_MAX)
        shape.height /= 2;
    t->chain[0] = &t->filter;
    t->job = job_of(t->chain, 1, shape);
    t->job.border = (gconv_border)any(GCONV_BORDER_COUNT);
    t->job.border_value = any(256);
    t->job.correlate = any(2) == 0;
    t->job.absolute = any(4) == 0;
    t->job.scale = scales[any(6)];
    t->job.has_offset = any(2) == 0;
    t->job.offset = offsets[any(6)];
    t->job.alpha = any(2) == 0 ? GCONV_ALPHA_KEEP : GCONV_ALPHA_FILTER;
    t->job.threads = 1 + any(2);
    fill_image(t, (size_t)shape.width * shape.height * (size_t)shape.channels);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

/* True where the plan goes from samples to levels in one pass. */
static bool run(trial *t, const char *implementation, size_t stride, uint8_t *out)
{
    t->job.implementation = implementation;
    OWNED_PLAN plan = planned(&t->job);
    size_t row = (size_t)t->job.input.width * (size_t)t->job.input.channels;
    assert_ok(gconv_plan_run_memory(plan, t->image, row, out, stride, NULL, NULL));
    return strstr(gconv_plan_explanation(plan), "to levels") != NULL;
}

static void compare(const trial *t, const char *set, size_t stride)
{
    size_t row = (size_t)t->job.input.width * (size_t)t->job.input.channels;
    for (size_t y = 0; y < t->job.input.height; y++)
        for (size_t i = 0; i < row; i++)
            if (t->got[y * stride + i] != t->wanted[y * row + i])
                fail_msg("%s: %dx%d over %g, border %s, scale %g, offset %g, absolute %d, image "
                         "%ux%u of %d channels: value %zu of row %zu is %d, not %d",
                         set, t->filter.width, t->filter.height, t->filter.divisor,
                         gconv_border_name(t->job.border), t->job.scale, t->job.offset,
                         t->job.absolute, t->job.input.width, t->job.input.height,
                         t->job.input.channels, i, y, t->got[y * stride + i],
                         t->wanted[y * row + i]);
}

/* How many instruction sets did it in one pass. */
static int compare_all(trial *t)
{
    int passes = 0;
    size_t row = (size_t)t->job.input.width * (size_t)t->job.input.channels;
    run(t, "reference", row, t->wanted);
    EACH_SET(set, n)
    {
        setenv("GCONV_INSTRUCTIONS", set->name, 1);
        memset(t->got, 0xa5, sizeof t->got);
        bool in_one_pass = run(t, "cpu", row, t->got);
        passes += in_one_pass;
        assert_int_equal(t->got[row * t->job.input.height], 0xa5);
        unsetenv("GCONV_INSTRUCTIONS");
        if (in_one_pass)
            compare(t, set->name, row);
    }
    return passes;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* A filter whose width or height is `side`, on an image whose width lies beside the border of a
 * block or of a strip. A strip of the highest filters has 256 values. Divisors are such that loops
 * take real weights. */
static bool try_side(trial *t, int side, bool is_high, int kind)
{
    static const int widths[] = {1, 30, 63, 64, 65, 127, 128, 129, 191, 256, 257, 320, 513, 600};
    int other = 1 + any(GC_RANK1_SIDE_MAX), channels = 1 + any(4);
    double sum = 0;
    fill_filter(t, is_high ? other : side, is_high ? side : other, kind);
    for (int i = 0; i < side * other; i++)
        sum += fabs((double)t->weights[i]);
    if (kind / 3 < 2)
        t->filter.divisor = sum > 0 ? sum : 1;
    fill_job(t);
    t->job.input.channels = channels;
    t->job.input.width = (uint32_t)(widths[any(14)] / channels + 1);
    t->job.input.height = (uint32_t)(1 + any(SANITIZED ? 6 : 20));
    t->job.absolute = any(8) == 0;
    t->job.scale = 1;
    return compare_all(t) > 0;
}

/* Many sides have code of their own. */
TEST(every_side)
{
    static trial t;
    int passes = 0, trials = 0;
    for (int side = 1; side <= GC_RANK1_SIDE_MAX; side++)
        for (int n = 0; n < (SANITIZED ? 2 : 10); n++, trials++) {
            const int kinds[] = {3, 4, 0, 6, any(9)};
            passes += try_side(&t, side, n % 2 != 0, kinds[n / 2]);
        }
    print_message("%d of %d in one pass\n", passes, trials);
    assert_true(passes > trials / 8); /* in portable code other ways are often faster */
}

/* A filter of two vectors of whole numbers takes the pass of the same matrix. */
TEST(whole_vectors)
{
    static trial t;
    int passes = 0, of_matrix = 0;
    for (int n = 0; n < TRIALS(200); n++) {
        fill_filter(&t, 1 + any(9), 1 + any(9), 4);
        fill_job(&t);
        of_matrix += compare_all(&t);
        t.filter.weights = NULL;
        t.filter.row = t.row;
        t.filter.column = t.column;
        passes += compare_all(&t);
    }
    assert_true(passes > 0 && passes >= of_matrix);
}

static int order(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* The sums of a block of a row are exact but for the rounding to float32. Loops may have them in
 * another order. */
static void check_row(const gc_rank1_row *row, const gc_instructions *set)
{
    enum { COUNT = 64, ALL = 2 * COUNT + GC_RANK1_SIDE_MAX * GC_CHANNELS_MAX };
    uint8_t samples[ALL];
    float scratch[ALL], sums[2 * COUNT], wanted[COUNT];
    for (int i = 0; i < ALL; i++)
        samples[i] = (uint8_t)(any(4) == 0 ? 255 : any(256));
    set->rank1->sum(row, samples, samples, COUNT, scratch, sums);
    for (size_t i = 0; i < COUNT; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < (size_t)row->width; k++)
            sum += (int64_t)row->weights[k] * samples[i + k * row->advance];
        wanted[i] = (float)sum;
    }
    qsort(sums, COUNT, sizeof *sums, order);
    qsort(wanted, COUNT, sizeof *wanted, order);
    assert_memory_equal(sums, wanted, sizeof wanted);
}

TEST(row_sums)
{
    static trial t;
    int rows = 0;
    for (int n = 0; n < 9 * GC_RANK1_SIDE_MAX; n++) {
        OWNED_PROBLEM problem;
        gc_rank1 rank1;
        fill_filter(&t, 1 + n / 9, 1 + any(3), n % 9);
        fill_job(&t);
        t.job.scale = 1;
        problem = problem_of(&t.job);
        if (gc_rank1_applies(&problem) && gc_rank1_create(&rank1, &problem, NULL) == GCONV_OK &&
            rank1.step != NULL) {
            rank1.row.is_short = false; /* not every set has such sums */
            EACH_SET(set, s)
            check_row(&rank1.row, set);
            gc_rank1_destroy(&rank1);
            rows++;
        }
    }
    assert_true(rows > 100);
}

/* A page of memory before one that cannot be read. */
static uint8_t *page_before_end(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    return pages;
}

/* Sums in double of bytes that end where memory does. */
TEST(sums_of_bytes)
{
    enum { SIDE = 32 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = page_before_end();
    for (int n = 0; n < TRIALS(2000); n++) {
        double weights[SIDE * SIDE], wanted = 0;
        const void *rows[SIDE];
        gc_double_taps taps = {weights, GC_DOT_GROUP * (1 + any(SIDE / GC_DOT_GROUP)),
                               1 + any(SIDE), 1};
        for (size_t i = 0; i < page; i++)
            pages[i] = n % 2 == 0 ? 200 : (uint8_t)any(256);
        for (int j = 0; j < taps.height; j++) {
            const uint8_t *row = rows[j] = pages + page - taps.width - any(3);
            for (int i = 0; i < taps.width; i++) {
                double weight = (any(1 << 24) - (1 << 22)) * ldexp(1, -any(8));
                weights[j * taps.width + i] = weight;
                wanted += weight * row[i];
            }
        }
        EACH_SET(set, s)
        assert_true(set->taps->dot(&taps, rows, true) == wanted);
    }
    munmap(pages, 2 * page);
}

/* Weights so small that sums stay below 2^24 even times 2^25, but that no such power of 2 makes
 * whole. A scale makes levels of the sums. */
TEST(small_weights)
{
    static const int row[] = {1, 2, 1};
    static trial t;
    for (int i = 0; i < 9; i++)
        t.weights[i] = (float)(0.0001 * row[i % 3] * row[i / 3]);
    t.filter = filter_of(3, 3, 1, t.weights);
    t.chain[0] = &t.filter;
    t.job = job_of(t.chain, 1, shape_of(64, 33, 1, 8));
    t.job.scale = 1024;
    for (size_t i = 0; i < 64 * 33; i++)
        t.image[i] = (uint8_t)any(256);
    assert_true(compare_all(&t) > 0);
}

/* Weights a little over and under those that make ties: sums on ties, and next to them by less than
 * float32 tells apart. */
TEST(sums_beside_ties)
{
    static trial t;
    static const double middles[] = {0.5, 0.25, 1.5, 0.1, 1.0 / 3};
    int passes = 0;
    for (size_t m = 0; m < COUNT(middles); m++)
        for (int bits = 10; bits <= 26; bits++)
            for (int sign = -1; sign <= 1; sign++) {
                int width = 1 + any(3), height = 1 + any(3);
                t.filter = filter_of(width, height, 1, t.weights);
                for (int i = 0; i < width * height; i++)
                    t.weights[i] = (float)(middles[m] + sign * ldexp(1, -bits));
                fill_job(&t);
                t.job.scale = 1;
                passes += compare_all(&t) > 0;
            }
    assert_true(passes > 100);
}

/* Every quotient that can be a tie, by every even divisor up to 4096 that is tried: of
 * those below 600 all, or under sanitizers a fifth. */
TEST(quotients)
{
    static trial t;
    static float weights[] = {1, 255};
    const int step = SANITIZED ? 10 : 2;
    for (int divisor = 2; divisor <= 4096; divisor += divisor < 600 ? step : 198) {
        t.filter = filter_of(2, 1, divisor, weights);
        t.filter.anchor_x = 0;
        t.chain[0] = &t.filter;
        t.job = job_of(t.chain, 1, shape_of(512, 30, 1, 8));
        t.job.absolute = divisor % 4 == 0;
        fill_image(&t, 512 * 30);
        for (int i = 0; i < 256; i++) {
            t.image[2 * i] = (uint8_t)i;
            t.image[2 * i + 1] = (uint8_t)(divisor / 2);
        }
        compare_all(&t);
    }
}

/* Sums up to nearly 2^24 over small powers of 2, whose levels would not all fit 32 bits below
 * 2^-7. */
TEST(small_divisors)
{
    static const float column[] = {85, 85, 84};
    static trial t;
    for (int i = 0; i < 9; i++)
        t.weights[i] = 85 * column[i / 3];
    for (int shift = 0; shift < 26; shift++) {
        t.filter = filter_of(3, 3, ldexp(1, -shift), t.weights);
        t.chain[0] = &t.filter;
        t.job = job_of(t.chain, 1, shape_of(64, 33, 1, 8));
        for (size_t i = 0; i < 64 * 33; i++)
            t.image[i] = i < 1024 ? 255 : (uint8_t)any(256);
        assert_int_equal(compare_all(&t) > 0, shift <= 7);
    }
}

/* Sums next to every tie from 0.5 to 510.5, below and above it and on it if there are such, by the
 * largest divisors that loops divide by and by one that is too large. Three samples give any sum up
 * to 255 times the sum of the weights: 1, 255 and 64 times 254. */
TEST(large_divisors)
{
    static trial t;
    static float weights[] = {1, 255, 64 * 254};
    const int most = 255 * (1 + 255 + 64 * 254);
    static const int divisors[] = {4097, 5000, 8190, 10001, 14641, 16382, 16383, 16385};
    for (size_t d = 0; d < COUNT(divisors); d++) {
        t.filter = filter_of(3, 1, divisors[d], weights);
        t.filter.anchor_x = 0;
        t.chain[0] = &t.filter;
        t.job = job_of(t.chain, 1, shape_of(3 * 3 * 511, 1, 1, 8));
        t.job.correlate = true;
        t.job.has_offset = true;
        t.job.offset = d % 2 == 0 ? 0 : any(511) - 255;
        for (int i = 0; i < 3 * 511; i++) {
            int half = 2 * (i / 3) + 1;
            int sum = (divisors[d] * half + 1) / 2 + i % 3 - 1, third = sum / (64 * 254);
            sum = sum < most ? sum : most;
            third = third < 255 ? third : 255;
            sum -= 64 * 254 * third;
            int second = sum / 255 < 255 ? sum / 255 : 255;
            t.image[3 * i] = (uint8_t)(sum - 255 * second);
            t.image[3 * i + 1] = (uint8_t)second;
            t.image[3 * i + 2] = (uint8_t)third;
        }
        assert_int_equal(compare_all(&t) > 0, divisors[d] <= 16384);
    }
}

/* The same in 16 bits, of any divisor: samples times 1, 63 and thrice 64 in the middle row of a
 * filter. With half of a divisor up to 510 their sums reach 65535. */
TEST(short_sums)
{
    enum { MOST = 255 * 256, FIVES = 3 * 511 };
    static trial t;
    static float weights[15] = {[5] = 1, [6] = 63, [7] = 64, [8] = 64, [9] = 64};
    for (int divisor = 2; divisor < 700;
         divisor += divisor < 80 || divisor > 480 ? 1 : 1 + any(9)) {
        t.filter = filter_of(5, 3, divisor, weights);
        t.filter.anchor_x = 0;
        t.chain[0] = &t.filter;
        t.job = job_of(t.chain, 1, shape_of(5 * FIVES, 1, 1, 8));
        t.job.correlate = true;
        for (int i = 0; i < FIVES; i++) {
            static const int taps[] = {64, 64, 64, 63, 1};
            int sum = divisor * (2 * (i / 3) + 1) / 2 + i % 3 - 1;
            sum = sum < MOST ? sum : MOST;
            for (int k = 0; k < 5; k++) {
                int sample = sum / taps[k] < 255 ? sum / taps[k] : 255;
                t.image[5 * i + 4 - k] = (uint8_t)sample;
                sum -= sample * taps[k];
            }
        }
        assert_true(compare_all(&t) > 0);
    }
}

/* The largest samples by weights whose products saturate in pairs, and by the largest whose do
 * not. */
TEST(short_products)
{
    static trial t;
    for (int weight = 63; weight <= 66; weight++) {
        float weights[9] = {[3] = (float)weight, [4] = (float)(weight + 1), [5] = (float)weight};
        t.filter = filter_of(3, 3, 3 * weight + 1, weights);
        t.chain[0] = &t.filter;
        t.job = job_of(t.chain, 1, shape_of(70, 5, 1, 8));
        memset(t.image, 255, sizeof t.image);
        assert_true(compare_all(&t) > 0);
    }
}

/* Whole weights of which none is negative: sums of both directions and of rows alone on both sides
 * of 2^16, weights on both sides of 64, and of every job what fill_job has. */
TEST(short_rows)
{
    static const int mosts[] = {1, 2, 4, 8, 20, 60, 70, 120, 250};
    static trial t;
    int passes = 0;
    for (int n = 0; n < TRIALS(4000); n++) {
        const int width = n % 4 != 0 ? 3 + 2 * any(4) : 1 + any(GC_RANK1_SIDE_MAX);
        const int height = 3 + 2 * any(4);
        const int most_row = mosts[any(9)], most_column = mosts[any(9)];
        double sum = 0;
        int row[GC_RANK1_SIDE_MAX], column[GC_RANK1_SIDE_MAX];
        for (int i = 0; i < width; i++)
            row[i] = any(1 + most_row);
        for (int j = 0; j < height; j++)
            column[j] = 2 * j <= height ? any(1 + most_column) : column[height - 1 - j];
        fill_filter(&t, width, height, 1);
        for (int i = 0; i < width * height; i++) {
            t.weights[i] = (float)(row[i % width] * column[i / width]);
            sum += (double)t.weights[i];
        }
        const double divisors[] = {sum, sum + 1, 2 + any(60), 1 << any(12), any(16385)};
        t.filter.divisor = divisors[any(5)];
        t.filter.divisor = t.filter.divisor == 0 ? 1 : t.filter.divisor;
        fill_job(&t);
        t.job.scale = 1;
        t.job.has_offset = any(8) == 0;
        passes += compare_all(&t) > 0;
    }
    assert_true(passes > TRIALS(4000) / 4);
}

/* Large output goes past the caches, wherever its rows begin. Its rows are summed in parts, unless
 * alpha is taken out. */
TEST(large_output)
{
    enum { WIDTH = 2112, HEIGHT = 4100 };
    static const char *const filters[] = {"gaussian:0.8", "gaussian:0.8", "gauss5"};
    static const int channels[] = {4, 1, 3};
    OWNED uint8_t *image = malloc((size_t)WIDTH * HEIGHT);
    OWNED uint8_t *wanted = malloc((size_t)WIDTH * HEIGHT);
    OWNED uint8_t *out = malloc((size_t)WIDTH * HEIGHT + 64);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        image[i] = (uint8_t)any(256);
    for (int n = 0; n < 3; n++) {
        OWNED_FILTER filter = load_filter(filters[n]);
        gconv_job job = job_of(CHAIN(filter), 1,
                               shape_of((uint32_t)(WIDTH / channels[n]), HEIGHT, channels[n], 8));
        job.alpha = GCONV_ALPHA_KEEP;
        for (int shift = 0; shift < (n == 0 ? 70 : 2); shift += shift < 4 ? 1 : 16) {
            job.implementation = shift == 0 ? "reference" : "cpu";
            OWNED_PLAN plan = planned(&job);
            assert_ok(gconv_plan_run_memory(
                plan, image, WIDTH, shift == 0 ? wanted : out + shift % 64, WIDTH, NULL, NULL));
            if (shift > 0)
                assert_memory_equal(out + shift % 64, wanted, (size_t)WIDTH * HEIGHT);
        }
    }
}
