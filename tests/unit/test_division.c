/* Wide images in panels of columns: every pixel in one panel, and memory that grows with width and
 * filters, not with the image's height. gconv_check compares values. */
#include "cpu/pipeline/division.h"

#include "base/status.h"
#include "chain_support.h"
#include "sanitized.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Appends a filter of small whole weights, or, if `real` is true, of any weights from 0 to 1. */
static void append(chain *c, int width, int height, int anchor_x, int anchor_y, bool real)
{
    float *weights = extend(c, width, height, real ? width * height : 1);
    for (int i = 0; i < width * height; i++)
        weights[i] = real ? (float)rand() / (float)RAND_MAX : (float)(rand() % 5 - 2);
    c->filters[c->count - 1].anchor_x = anchor_x;
    c->filters[c->count - 1].anchor_y = anchor_y;
}

/* Appends the product of a column and a row of real weights. */
static void append_separable(chain *c, int side)
{
    append(c, side, side, side / 2, side / 2, true);
    float *weights = c->weights[c->count - 1];
    for (int i = 0; i < side * side; i++)
        weights[i] = (float)(1 + i / side % 3) * (float)(1 + i % side % 5);
}

static gconv_job job_on(const chain *c, uint32_t width, uint32_t height, int channels, int depth)
{
    gconv_job job = job_of(c->list, c->count, shape_of(width, height, channels, depth));
    job.implementation = "cpu";
    job.threads = 3;
    return job;
}

/* The division of a job on `threads` threads. */
static gc_division divided(const gconv_job *job, gc_problem *problem, gc_stages *stages)
{
    gc_division division;
    *problem = problem_of(job);
    assert_ok(gc_stages_create(stages, problem, NULL));
    gc_division_choose(&division, problem, stages, job->threads, false);
    return division;
}

/* ---- Areas ----------------------------------------------------------------------------------- */

static void assert_whole(const gc_division *d)
{
    int64_t reach = 0;
    for (int s = 0; s < d->problem->chain.step_count; s++)
        reach += d->problem->chain.steps[s].width - 1;
    assert_true(d->rows <=
                d->problem->chain.height); /* or the rings would hold what is not there */
    int64_t bottom = 0;
    for (int64_t band = 0; band < d->bands; band++) {
        gc_area area = {.end = 0};
        for (int64_t panel = 0; panel < d->panels; panel++) {
            int64_t end = area.end;
            area = gc_division_area(d, band, panel);
            assert_int_equal(area.top, bottom);
            assert_int_equal(area.first, end);
            assert_true(area.end > area.first && area.end - area.first <= d->columns_max);
            assert_true(d->panels == 1 || area.end - area.first >= 2 * reach);
        }
        assert_int_equal(area.end, d->problem->chain.width);
        bottom = area.bottom;
    }
    assert_int_equal(bottom, d->problem->chain.height);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* These tests run first: a child begins with what its parent holds. */

static gconv_status make_rows(void *user, uint32_t count, void *rows, size_t stride,
                              gconv_error *error)
{
    (void)user;
    (void)error;
    memset(rows, 100, count * stride);
    return GCONV_OK;
}

static gconv_status drop_rows(void *user, uint32_t count, const void *rows, size_t stride,
                              gconv_error *error)
{
    (void)user, (void)count, (void)rows, (void)stride, (void)error;
    return GCONV_OK;
}

/* Peak memory, in MB, of a process that convolves an image row by row. */
static double peak_of(const gconv_job *job)
{
    pid_t child = fork();
    if (child == 0) {
        gconv_plan *plan;
        gconv_source source = {.size = sizeof(gconv_source), .read = make_rows};
        gconv_sink sink = {.size = sizeof(gconv_sink), .write = drop_rows};
        gconv_status status = gconv_plan_create(job, &plan, NULL);
        if (status == GCONV_OK)
            status = gconv_plan_run(plan, &source, &sink, NULL, NULL);
        _exit(status == GCONV_OK ? 0 : 1);
    }
    int status;
    struct rusage usage;
    assert_true(child > 0);
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return (double)usage.ru_maxrss / 1024;
}

/* Heights are those beyond which memory no longer grows (below). The rest of the 40 MB of a whole
 * program for a width of 8192, and of the 120 MB for 30000, is codecs and libraries. */
TEST(memory_is_bounded)
{
    if (SANITIZED)
        skip();
    srand(10);
    chain chains[3] = {{.count = 0}};
    append(&chains[0], 15, 15, 7, 7, true);
    append(&chains[1], 43, 43, 21, 21, true);
    append_separable(&chains[2], 181);
    for (int n = 0; n < 3; n++) {
        gconv_job grey = job_on(&chains[n], 30000, 1500, 1, 8);
        gconv_job colour = job_on(&chains[n], 8192, 1500, 3, 8);
        double peaks[2] = {peak_of(&grey), peak_of(&colour)};
        if (peaks[0] > 100 || peaks[1] > 37)
            fail_msg("chain %d takes %.1f MB for 30000 columns, %.1f for 8192", n, peaks[0],
                     peaks[1]);
    }
}

/* The edges of a 30000 x 30000 image: 1700 bands, three tasks each. */
TEST(memory_of_many_bands_is_bounded)
{
    if (SANITIZED)
        skip();
    gconv_filter *filters[2];
    filters[0] = load_filter("gauss5");
    filters[1] = load_filter("laplace3");
    chain c = {.count = 2, .list = {filters[0], filters[1]}};
    gconv_job job = job_on(&c, 30000, 30000, 1, 8);
    job.output = GCONV_OUTPUT_EDGES;
    job.output_depth = 1;
    double high = peak_of(&job);
    job.input.height = 3000;
    double low = peak_of(&job);
    if (high > low + 2)
        fail_msg("%.1f MB for 30000 rows, %.1f for 3000", high, low);
    gconv_filter_free(filters[1]);
    gconv_filter_free(filters[0]);
}

TEST(memory_does_not_grow_with_height)
{
    srand(11);
    for (int side = 3; side <= 63; side += 6) {
        chain c = {.count = 0};
        append(&c, side, side, side / 2, side / 2, side % 4 == 1);
        gconv_job job = job_on(&c, 30000, 30000, 1, 8);
        gc_problem problem;
        gc_stages stages;
        gc_division low = divided(&job, &problem, &stages);
        gc_stages_destroy(&stages);
        gc_problem_destroy(&problem);
        job.input.height = 300000;
        gc_division high = divided(&job, &problem, &stages);
        gc_stages_destroy(&stages);
        gc_problem_destroy(&problem);
        assert_int_equal(low.columns_max, high.columns_max);
        assert_int_equal(low.input_ring * low.rows, high.input_ring * high.rows);
        assert_int_equal(low.output_ring * low.rows, high.output_ring * high.rows);
    }
}

/* A small image does not lie in the rings as a whole, unless a batch reuses their memory. */
TEST(rings_hold_a_part_of_a_single_image)
{
    chain c = {.count = 0};
    append_separable(&c, 5);
    gconv_job job = job_on(&c, 512, 512, 3, 8);
    int64_t rows[2];
    for (int batch = 0; batch < 2; batch++) {
        job.runs = batch == 0 ? 1 : 100;
        OWNED_PROBLEM problem;
        RELEASED_BY(gc_stages_destroy) gc_stages stages;
        gc_division division = divided(&job, &problem, &stages);
        rows[batch] = division.input_ring * division.rows;
    }
    assert_true(rows[0] <= 512 / 3 && rows[1] > 512 / 2);
}

/* ---- Areas ----------------------------------------------------------------------------------- */

TEST(areas_make_up_the_image)
{
    srand(5);
    int64_t panels = 0;
    for (int n = 0; n < 200; n++) {
        chain c = {.count = 0};
        for (int s = 0; s < 1 + n % STEPS_MAX; s++)
            append(&c, 1 + rand() % 60, 1 + rand() % 60, 0, 0, n % 2 == 0);
        gconv_job job = job_on(&c, 1 + (uint32_t)rand() % 40000, 1 + (uint32_t)rand() % 2000,
                               n % 4 == 3 ? 3 : 1, 8);
        job.threads = 1 + rand() % 20;
        OWNED_PROBLEM problem;
        RELEASED_BY(gc_stages_destroy) gc_stages stages;
        gc_division division = divided(&job, &problem, &stages);
        assert_whole(&division);
        panels += division.panels > 1;
    }
    assert_true(panels > 50);
}
