/* Windows on passing rows: what they ask for is there, extended, for as long as it is needed. */
#include "cpu/pipeline/window.h"

#include "core/border.h"
#include "core_support.h"

/* What the windows are on, by turns. */
static bool on_bytes;

static float weights[GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX];

/* A window and the problem that it is made for. */
typedef struct view {
    gconv_filter filter;
    const gconv_filter *chain[1];
    gc_problem problem;
    gc_window window;
} view;

static void open_view(view *v, gconv_shape shape, gconv_filter filter, gconv_border border,
                      int64_t chunk)
{
    v->filter = filter;
    v->chain[0] = &v->filter;
    gconv_job job = job_of(v->chain, 1, shape);
    job.border = border;
    job.border_value = 7;
    job.alpha = GCONV_ALPHA_FILTER;
    v->problem = problem_of(&job);
    assert_succeeds(gc_window_create(&v->window, &v->problem.chain, &v->problem.chain.steps[0],
                                     on_bytes, chunk, shape.width, &why));
}

static void close_view(view *v)
{
    gc_window_destroy(&v->window);
    gc_problem_destroy(&v->problem);
}

/* A sample that tells where it is from: of bytes, nearly so. */
static float sample_at(int64_t x, int64_t y, int c)
{
    int64_t place = y * 4096 + x * 8 + c + 1;
    return (float)(on_bytes ? place % 251 : place);
}

static void put(void *row, int64_t at, float value)
{
    if (on_bytes)
        ((uint8_t *)row)[at] = (uint8_t)value;
    else
        ((float *)row)[at] = value;
}

static float got(const void *row, int64_t at)
{
    return on_bytes ? ((const uint8_t *)row)[at] : ((const float *)row)[at];
}

static void store_row(const view *v, int64_t y)
{
    const gc_window *window = &v->window;
    void *row = gc_window_row(window, y);
    assert_int_equal((uintptr_t)row % 64, 0);
    int64_t from = y % window->height;
    from = from < 0 ? from + window->height : from;
    for (int64_t x = 0; x < window->width; x++)
        for (int c = 0; c < window->channels; c++)
            put(row, x * window->channels + c, sample_at(x, from, c));
    gc_window_extend(window, y);
}

/* What stands at any (x, y) of the extended image. */
static float expected(const view *v, int64_t x, int64_t y, int c)
{
    gconv_border border = v->window.border;
    x = gc_border_index(border, x, v->window.width);
    y = gc_border_index(border, y, v->window.height);
    return x < 0 || y < 0 ? v->window.step->border[c] : sample_at(x, y, c);
}

/* Every sample that the filter reads for output row y. */
static void check_row(const view *v, int64_t y)
{
    const gc_step *step = v->window.step;
    int channels = v->window.channels;
    for (int j = 0; j < step->height; j++) {
        const void *row = gc_window_taps(&v->window, 0, y + j - step->top);
        for (int64_t i = 0; i < v->window.width + step->width - 1; i++)
            for (int c = 0; c < channels; c++) {
                float wanted = expected(v, i - step->left, y + j - step->top, c);
                if (got(row, i * channels + c) != wanted)
                    fail_msg("row %d, filter row %d, column %d, channel %d: %g, not %g (border %s)",
                             (int)y, j, (int)i, c, (double)got(row, i * channels + c),
                             (double)wanted, gconv_border_name(v->window.border));
            }
    }
}

/* Output rows first to last in chunks, as a strip computes them: rows enter once, in order. */
static void pass_by(view *v, int64_t first, int64_t last, int64_t chunk)
{
    int64_t ready, needed;
    gc_step_range(&v->problem.chain, &v->problem.chain.steps[0], first, last, &ready, &needed);
    for (int64_t row = first; row <= last; row += chunk) {
        int64_t end = row + chunk - 1 < last ? row + chunk - 1 : last, ignored;
        gc_step_range(&v->problem.chain, &v->problem.chain.steps[0], row, end, &ignored, &needed);
        for (; ready <= needed; ready++)
            store_row(v, ready);
        for (int64_t y = row; y <= end; y++)
            check_row(v, y);
    }
}

static gconv_filter filter_with(int width, int height, int anchor_x, int anchor_y)
{
    gconv_filter filter = filter_of(width, height, 1, weights);
    filter.anchor_x = anchor_x;
    filter.anchor_y = anchor_y;
    return filter;
}

/* Output rows first to last through a window of their own: nothing is left from other rows. */
static void pass_by_alone(gconv_shape shape, gconv_filter filter, gconv_border border,
                          int64_t chunk, int64_t first, int64_t last)
{
    RELEASED_BY(close_view) view v;
    open_view(&v, shape, filter, border, chunk);
    pass_by(&v, first, last, chunk);
}

static void rows_survive_as_long_as_needed(void)
{
    static const int filters[][4] = {{1, 1, 0, 0}, {3, 3, 1, 1}, {5, 4, 0, 0},   {4, 5, 3, 4},
                                     {1, 9, 0, 0}, {1, 9, 0, 8}, {7, 31, 3, 15}, {2, 40, 1, 39}};
    static const uint32_t heights[] = {1, 2, 5, 30, 31, 32, 100};
    static const int64_t chunks[] = {1, 4, 33};
    for (size_t f = 0; f < COUNT(filters); f++)
        for (size_t h = 0; h < COUNT(heights); h++)
            for (int n = 0; n < 3 * GCONV_BORDER_COUNT; n++) {
                const int *f4 = filters[f];
                gconv_filter filter = filter_with(f4[0], f4[1], f4[2], f4[3]);
                gconv_shape shape = shape_of(3, heights[h], 1, 8);
                gconv_border border = (gconv_border)(n % GCONV_BORDER_COUNT);
                int64_t chunk = chunks[n / GCONV_BORDER_COUNT], last = heights[h] - 1;
                pass_by_alone(shape, filter, border, chunk, 0, last);
                pass_by_alone(shape, filter, border, chunk, heights[h] / 3, last);
                pass_by_alone(shape, filter, border, chunk, last - last / 5, last);
                pass_by_alone(shape, filter, border, chunk, heights[h] / 2, heights[h] / 2);
            }
}

static void a_window_serves_part_after_part(void)
{
    for (int border = 0; border < GCONV_BORDER_COUNT; border++) {
        RELEASED_BY(close_view) view v;
        open_view(&v, shape_of(3, 100, 1, 8), filter_with(3, 9, 1, 2), (gconv_border)border, 4);
        pass_by(&v, 60, 99, 4);
        pass_by(&v, 0, 20, 4);
        pass_by(&v, 30, 60, 4);
    }
}

static void all_channels_and_widths(void)
{
    for (int channels = 1; channels <= 4; channels++)
        for (uint32_t width = 1; width <= 34; width += 11)
            for (int border = 0; border < GCONV_BORDER_COUNT; border++) {
                RELEASED_BY(close_view) view v;
                open_view(&v, shape_of(width, 6, channels, 8), filter_with(17, 3, 5, 1),
                          (gconv_border)border, 2);
                pass_by(&v, 0, 5, 2);
            }
}

TEST(windows_on_floats_and_on_bytes)
{
    for (int turn = 0; turn < 2; turn++) {
        on_bytes = turn == 1;
        rows_survive_as_long_as_needed();
        a_window_serves_part_after_part();
        all_channels_and_widths();
    }
}

/* The rows that a step needs for these rows of output, of an image of 4 x 100. */
static void find_range(gconv_border border, gconv_filter filter, int64_t first, int64_t last,
                       int64_t *from, int64_t *to)
{
    RELEASED_BY(close_view) view v;
    open_view(&v, shape_of(4, 100, 1, 8), filter, border, 8);
    gc_step_range(&v.problem.chain, &v.problem.chain.steps[0], first, last, from, to);
}

static void range(gconv_border border, gconv_filter filter, const int64_t outputs[2],
                  const int64_t wanted[2])
{
    int64_t from, to;
    find_range(border, filter, outputs[0], outputs[1], &from, &to);
    assert_int_equal(from, wanted[0]);
    assert_int_equal(to, wanted[1]);
}

#define ROWS(first, last) ((const int64_t[2]){first, last})

TEST(ranges)
{
    /* Convolution reads backwards: the anchor at the top reaches up. */
    gconv_filter centred = filter_with(1, 5, 0, 2), up = filter_with(1, 5, 0, 0);
    range(GCONV_BORDER_REPLICATE, centred, ROWS(10, 19), ROWS(8, 21));
    range(GCONV_BORDER_REPLICATE, centred, ROWS(0, 99), ROWS(0, 99));
    range(GCONV_BORDER_CONSTANT, up, ROWS(10, 19), ROWS(6, 19));
    range(GCONV_BORDER_CONSTANT, up, ROWS(0, 1), ROWS(0, 1));
    range(GCONV_BORDER_WRAP, centred, ROWS(0, 99), ROWS(-2, 101));
}

/* A reflection needs rows further in than the filter itself reaches. */
TEST(ranges_of_reflections)
{
    gconv_filter up = filter_with(1, 5, 0, 0), down = filter_with(1, 5, 0, 4);
    int64_t from, to;
    find_range(GCONV_BORDER_MIRROR101, up, 0, 0, &from, &to);
    assert_true(from == 0 && to >= 4 && to <= 5);
    find_range(GCONV_BORDER_MIRROR101, down, 99, 99, &from, &to);
    assert_true(from <= 95 && from >= 94 && to == 99);
}
