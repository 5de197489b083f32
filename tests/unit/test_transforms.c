/* Transforms of whole images: their sizes, and that nothing but image and chain decides them. */
#include "chain_support.h"

#include "gpu/methods/fft/transforms.h"

static float weights[GCONV_FILTER_SIDE_MAX * GCONV_FILTER_SIDE_MAX];

static void make(fixture *f, uint32_t width, uint32_t height, gconv_border border, int count,
                 const int *sides, float weight)
{
    for (size_t i = 0; i < COUNT(weights); i++)
        weights[i] = i < 9 ? weight : 0;
    for (int s = 0; s < count; s++) {
        f->filters[s] = filter_of(sides[s], sides[s], 1, weights);
        f->chain[s] = &f->filters[s];
    }
    gconv_job job = job_of(f->chain, count, shape_of(width, height, 1, 8));
    job.border = border;
    f->problem = problem_of(&job);
}

TEST(sizes_are_fast)
{
    assert_int_equal(gc_transform_size(1), 2);
    assert_int_equal(gc_transform_size(2), 2);
    assert_int_equal(gc_transform_size(11), 12);
    assert_int_equal(gc_transform_size(4097), 4116);
    assert_int_equal(gc_transform_size(640 + 8), 648);
    for (int64_t size = 1; size < 3000; size++) {
        int64_t fast = gc_transform_size(size);
        assert_true(fast >= size && fast % 2 == 0 && gc_transform_size(fast) == fast);
    }
}

TEST(one_transform_of_an_image)
{
    OWNED_FIXTURE f;
    make(&f, 4096, 4096, GCONV_BORDER_MIRROR, 2, (int[]){43, 9}, 0.3f);
    gc_slabs slabs = gc_transform_slabs(&f.problem, &f.problem.chain.steps[0]);
    assert_int_equal(slabs.first, 0);
    assert_int_equal(slabs.last, 4095);
    assert_int_equal(slabs.rows, 4096);
    double side = (double)gc_transform_size(4096 + 42);
    assert_true(gc_transform_points(&f.problem, &f.problem.chain.steps[0]) == side * side);
}

/* Under wrap a step gives what the steps after it reach beyond the image. */
TEST(wrapped_rows_are_part_of_it)
{
    OWNED_FIXTURE f;
    make(&f, 100, 200, GCONV_BORDER_WRAP, 2, (int[]){3, 9}, 0.3f);
    gc_slabs slabs = gc_transform_slabs(&f.problem, &f.problem.chain.steps[0]);
    assert_int_equal(slabs.first, -4);
    assert_int_equal(slabs.last, 203);
    assert_int_equal(slabs.rows, 208);
}

TEST(large_images_in_equal_shares)
{
    static const uint32_t widths[] = {10000, 30000, 100000, 3000000};
    for (size_t n = 0; n < COUNT(widths); n++) {
        OWNED_FIXTURE f;
        make(&f, widths[n], 8000, GCONV_BORDER_MIRROR, 1, (int[]){101}, 0.3f);
        const gc_step *step = &f.problem.chain.steps[0];
        gc_slabs slabs = gc_transform_slabs(&f.problem, step);
        int64_t count = (8000 + slabs.rows - 1) / slabs.rows;
        assert_in_range(slabs.rows, 100, 7999);
        assert_true(count * slabs.rows - 8000 < count);
        double points = gc_transform_points(&f.problem, step);
        assert_true(points == (double)gc_transform_size((int64_t)widths[n] + 100) *
                                  (double)gc_transform_rows(step, slabs.rows));
        bool is_low = 4 * 101 * (double)widths[n] > 0x1p25; /* for the filter's sake */
        assert_true(is_low || points < 1.15 * 0x1p25);
    }
}

/* Rounding to integers leaves nothing of how they came about. */
TEST(exact_rows_are_free)
{
    OWNED_FIXTURE f;
    make(&f, 10000, 8000, GCONV_BORDER_MIRROR, 2, (int[]){9, 5}, 2);
    assert_true(f.problem.chain.exact);
    gc_slabs slabs = gc_transform_slabs(&f.problem, &f.problem.chain.steps[1]);
    assert_int_equal(slabs.rows, 1);
    double rows = (double)gc_transform_size(8000 + 3 * (8 + 4));
    double columns = (double)gc_transform_size(10000 + 4);
    assert_true(gc_transform_points(&f.problem, &f.problem.chain.steps[1]) == rows * columns);
}
