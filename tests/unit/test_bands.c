/* Bands: the rows that each step of a chain needs, and how many of them fit in memory. */
#include "chain_support.h"

#include "core/border.h"
#include "gpu/plan/bands.h"

static const gconv_border borders[] = {GCONV_BORDER_MIRROR, GCONV_BORDER_MIRROR101,
                                       GCONV_BORDER_REPLICATE, GCONV_BORDER_WRAP,
                                       GCONV_BORDER_CONSTANT};
enum { BORDERS = COUNT(borders) };

static float weights[GCONV_FILTER_SIDE_MAX * 3];

/* Steps of 3 x heights[s], anchored at anchors[s]; correlated, so that a step reads anchors[s] rows
 * above. */
static void make(fixture *f, gconv_shape shape, gconv_border border, int count, const int *heights,
                 const int *anchors)
{
    for (int s = 0; s < count; s++) {
        f->filters[s] = filter_of(3, heights[s], 1, weights);
        f->filters[s].anchor_y = anchors[s];
        f->chain[s] = &f->filters[s];
    }
    gconv_job job = job_of(f->chain, count, shape);
    job.border = border;
    job.correlate = true;
    f->problem = problem_of(&job);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* Every row that the step reads for this band is in its range, and in the image except under
 * wrap. */
static void assert_range_covers(const gc_problem *problem, const gc_step *step,
                                const gc_band_step *band)
{
    bool wraps = problem->job.border == GCONV_BORDER_WRAP;
    int64_t height = problem->chain.height;
    for (int64_t y = band->output_first; y <= band->output_last; y++)
        for (int64_t j = 0; j < step->height; j++) {
            int64_t row = y + j - step->top;
            if (!wraps)
                row = gc_border_index(problem->job.border, row, height);
            if (row == -1 && problem->job.border == GCONV_BORDER_CONSTANT)
                continue;
            if (row < band->input_first || row > band->input_last)
                fail_msg("row %lld is not in %lld to %lld", (long long)row,
                         (long long)band->input_first, (long long)band->input_last);
        }
    if (!wraps)
        assert_true(band->input_first >= 0 && band->input_last < height);
}

/* Also what the device's buffers are made for: see gc_band_bytes. */
static void assert_band(const fixture *f, int64_t first, int64_t last)
{
    gc_band_step steps[STEPS_MAX];
    const gc_problem *problem = &f->problem;
    gc_band_steps(problem, first, last, NULL, steps);
    int64_t most = last - first + 1;
    for (int s = problem->chain.step_count - 1; s >= 0; s--) {
        assert_int_equal(steps[s].output_first, first);
        assert_int_equal(steps[s].output_last, last);
        assert_range_covers(problem, &problem->chain.steps[s], &steps[s]);
        most += 2 * (problem->chain.steps[s].height - 1);
        first = steps[s].input_first;
        last = steps[s].input_last;
        assert_true(last - first + 1 <= most);
    }
}

static void assert_all_bands(gconv_border border, int height, int count, const int *heights,
                             const int *anchors)
{
    OWNED_FIXTURE f;
    make(&f, shape_of(5, (uint32_t)height, 1, 8), border, count, heights, anchors);
    for (int first = 0; first < height; first++)
        for (int last = first; last < height; last++)
            assert_band(&f, first, last);
}

/* All image heights, filter heights and anchors up to small limits: filters larger than the image
 * among them. */
TEST(ranges_of_one_step)
{
    for (int b = 0; b < BORDERS; b++)
        for (int height = 1; height <= 11; height++)
            for (int filter = 1; filter <= 14; filter++)
                for (int anchor = 0; anchor < filter; anchor++)
                    assert_all_bands(borders[b], height, 1, &filter, &anchor);
}

TEST(ranges_of_chains)
{
    srand(1);
    for (int n = 0; n < 4000; n++) {
        int heights[STEPS_MAX], anchors[STEPS_MAX];
        for (int s = 0; s < STEPS_MAX; s++) {
            heights[s] = 1 + rand() % (n % 2 == 0 ? 5 : 15);
            anchors[s] = rand() % heights[s];
        }
        assert_all_bands(borders[n % BORDERS], 1 + rand() % 20, STEPS_MAX, heights, anchors);
    }
}

TEST(wrap_leaves_the_image)
{
    OWNED_FIXTURE f;
    gc_band_step steps[2];
    make(&f, shape_of(5, 10, 1, 8), GCONV_BORDER_WRAP, 2, (int[]){5, 31}, (int[]){2, 15});
    gc_band_steps(&f.problem, 0, 3, NULL, steps);
    assert_int_equal(steps[1].input_first, -15);
    assert_int_equal(steps[1].input_last, 18);
    assert_int_equal(steps[0].output_first, -15);
    assert_int_equal(steps[0].input_first, -17);
    assert_int_equal(steps[0].input_last, 20);
}

TEST(bands_in_the_middle_take_no_more_than_they_read)
{
    for (int b = 0; b < BORDERS; b++) {
        OWNED_FIXTURE f;
        gc_band_step steps[2];
        make(&f, shape_of(5, 1000, 1, 8), borders[b], 2, (int[]){5, 31}, (int[]){2, 10});
        gc_band_steps(&f.problem, 400, 499, NULL, steps);
        assert_int_equal(steps[0].input_first, 400 - 10 - 2);
        assert_int_equal(steps[0].input_last, 499 + 20 + 2);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

TEST(pitches)
{
    assert_int_equal(gc_device_pitch(1), 32);
    assert_int_equal(gc_device_pitch(32), 32);
    assert_int_equal(gc_device_pitch(33), 64);
    assert_int_equal(gc_device_pitch(INT64_C(5000000000)), INT64_C(5000000000));
}

/* As the runner allocates: samples, two planes and the widest extended image, all with the rows of
 * the input; and the weights. */
TEST(bytes_of_a_band)
{
    OWNED_FIXTURE f;
    make(&f, shape_of(63, 100, 3, 16), GCONV_BORDER_MIRROR, 2, (int[]){5, 9}, (int[]){2, 4});
    double rows = 10 + 8 + 16;
    double row = 63 * 3 * 2 + 2 * 64 * 3 * 4 + 96 * 3 * 4;
    assert_true(gc_band_bytes(&f.problem, 10, NULL) == rows * row + (15 + 27) * 4);
}

TEST(bytes_grow_with_the_band)
{
    OWNED_FIXTURE f;
    make(&f, shape_of(1000, 1 << 20, 4, 8), GCONV_BORDER_WRAP, 1, (int[]){255}, (int[]){0});
    double before = 0;
    for (int64_t rows = 1; rows <= 1 << 20; rows *= 2) {
        assert_true(gc_band_bytes(&f.problem, rows, NULL) > before);
        before = gc_band_bytes(&f.problem, rows, NULL);
    }
    assert_true(before > 0x1p32); /* no 32-bit arithmetic */
}

static double ten_megabytes_a_row(const gc_problem *problem, int64_t rows)
{
    (void)problem;
    return 1e7 * (double)rows;
}

TEST(rows_that_fit)
{
    OWNED_FIXTURE f;
    make(&f, shape_of(1000, 700, 1, 8), GCONV_BORDER_MIRROR, 2, (int[]){5, 3}, (int[]){2, 1});
    const gc_problem *problem = &f.problem;
    assert_int_equal(gc_band_rows(problem, 0, NULL, NULL), 0);
    assert_int_equal(gc_band_rows(problem, gc_band_bytes(problem, 1, NULL) - 1, NULL, NULL), 0);
    assert_int_equal(gc_band_rows(problem, gc_band_bytes(problem, 700, NULL), NULL, NULL), 700);
    assert_int_equal(gc_band_rows(problem, 1e18, NULL, NULL), 700);
    for (int64_t rows = 1; rows < 700; rows++) {
        double bytes = gc_band_bytes(problem, rows, NULL);
        assert_int_equal(gc_band_rows(problem, bytes, NULL, NULL), rows);
        assert_int_equal(gc_band_rows(problem, bytes + 1, NULL, NULL), rows);
    }
}

TEST(what_a_method_takes_counts)
{
    OWNED_FIXTURE f;
    make(&f, shape_of(1000, 700, 1, 8), GCONV_BORDER_MIRROR, 1, (int[]){5}, (int[]){2});
    double own = gc_band_bytes(&f.problem, 50, NULL);
    assert_int_equal(gc_band_rows(&f.problem, own + 50e7, NULL, ten_megabytes_a_row), 50);
    assert_int_equal(gc_band_rows(&f.problem, own + 50e7 - 1, NULL, ten_megabytes_a_row), 49);
    assert_int_equal(gc_band_rows(&f.problem, 9e6, NULL, ten_megabytes_a_row), 0);
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* Rows of one slab of every step are computed together in every band that needs one of them, and a
 * band's buffers have room for that. */
static void assert_slabs(const fixture *f, const gc_slabs *slabs, int64_t first, int64_t last)
{
    const gc_problem *problem = &f->problem;
    gc_band_step steps[STEPS_MAX];
    gc_band_steps(problem, first, last, slabs, steps);
    int64_t most = gc_band_input_rows(problem, last - first + 1, slabs);
    for (int s = problem->chain.step_count - 1; s >= 0; s--) {
        const gc_slabs *of = &slabs[s];
        assert_true(steps[s].output_first <= first && steps[s].output_last >= last);
        assert_true(steps[s].output_first >= of->first && steps[s].output_last <= of->last);
        assert_int_equal((steps[s].output_first - of->first) % of->rows, 0);
        if (steps[s].output_last != of->last)
            assert_int_equal((steps[s].output_last + 1 - of->first) % of->rows, 0);
        assert_true(first - steps[s].output_first < of->rows);
        assert_true(steps[s].output_last - last < of->rows);
        assert_range_covers(problem, &problem->chain.steps[s], &steps[s]);
        if (s > 0) { /* a step reads from where the one before it has written */
            assert_int_equal(steps[s].input_first, steps[s - 1].output_first);
            assert_int_equal(steps[s].input_last, steps[s - 1].output_last);
        }
        int64_t extended =
            steps[s].output_last - steps[s].output_first + problem->chain.steps[s].height;
        gc_step_range(&problem->chain, &problem->chain.steps[s], steps[s].output_first,
                      steps[s].output_last, &first, &last);
        assert_true(steps[s].input_last - steps[s].input_first + 1 <= most);
        assert_true(extended <= most);
    }
}

/* Slabs of some rows of all that the whole image takes. */
static void make_slabs(const fixture *f, gc_slabs *slabs)
{
    gc_band_step all[STEPS_MAX];
    gc_band_steps(&f->problem, 0, (int64_t)f->problem.chain.height - 1, NULL, all);
    for (int s = 0; s < f->problem.chain.step_count; s++)
        slabs[s] = (gc_slabs){all[s].output_first, all[s].output_last, 1 + rand() % 7};
}

TEST(bands_of_whole_slabs)
{
    srand(3);
    for (int n = 0; n < 4000; n++) {
        OWNED_FIXTURE f;
        int heights[STEPS_MAX], anchors[STEPS_MAX], height = 1 + rand() % 30;
        for (int s = 0; s < STEPS_MAX; s++) {
            heights[s] = 1 + rand() % (n % 2 == 0 ? 5 : 15);
            anchors[s] = rand() % heights[s];
        }
        make(&f, shape_of(5, (uint32_t)height, 1, 8), borders[n % BORDERS], STEPS_MAX, heights,
             anchors);
        gc_slabs slabs[STEPS_MAX];
        make_slabs(&f, slabs);
        int64_t rows = gc_band_whole(&f.problem, 1 + rand() % 40, slabs);
        for (int64_t first = 0; rows > 0 && first < height; first += rows)
            assert_slabs(&f, slabs, first, first + rows < height ? first + rows - 1 : height - 1);
    }
}

TEST(whole_slabs_that_fit)
{
    OWNED_FIXTURE f;
    make(&f, shape_of(1000, 700, 1, 8), GCONV_BORDER_MIRROR, 2, (int[]){5, 3}, (int[]){2, 1});
    const gc_problem *problem = &f.problem;
    const gc_slabs slabs[] = {{0, 699, 250}, {0, 699, 64}};
    assert_int_equal(gc_band_whole(problem, 63, slabs), 0);
    assert_int_equal(gc_band_whole(problem, 64, slabs), 64);
    assert_int_equal(gc_band_whole(problem, 699, slabs), 640);
    assert_int_equal(gc_band_whole(problem, 700, slabs), 700);
    assert_int_equal(gc_band_whole(problem, 701, slabs), 700);
    assert_int_equal(gc_band_whole(problem, 63, NULL), 63);
    assert_int_equal(gc_band_input_rows(problem, 64, slabs), 500 + 8);
    assert_int_equal(gc_band_input_rows(problem, 256, slabs), 700 + 8);
    assert_int_equal(gc_band_input_rows(problem, 64, NULL), 64 + 4 + 8);
    double bytes = gc_band_bytes(problem, 128, slabs);
    assert_int_equal(gc_band_rows(problem, bytes, slabs, NULL), 192);
    assert_int_equal(gc_band_rows(problem, gc_band_bytes(problem, 700, slabs), slabs, NULL), 700);
    assert_int_equal(gc_band_rows(problem, gc_band_bytes(problem, 1, slabs), slabs, NULL), 192);
    assert_int_equal(gc_band_rows(problem, gc_band_bytes(problem, 1, slabs) - 1, slabs, NULL), 0);
}
