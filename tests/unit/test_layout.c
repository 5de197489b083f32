/* Layouts of passes: what they take of a device, and which are chosen unasked. */
#include "core_support.h"

#include "gpu/tunings/layout.h"
#include "gpu/tunings/tuning.h"

static gc_layout layout_of(gc_form form, int width, int height)
{
    return (gc_layout){.tuning = gc_tuning_default(form, width, height),
                       .width = width,
                       .height = height,
                       .left = width / 2,
                       .top = height / 2,
                       .channels = 1};
}

/* A multiprocessor's registers and the smallest shared memory of any device that is compiled
 * for. */
TEST(defaults_fit_everywhere)
{
    for (int side = 1; side <= 31; side++) {
        gc_layout block = layout_of(GC_FORM_BLOCK, side, side);
        assert_true(gc_layout_shared_bytes(&block) <= 64 << 10);
        assert_true(block.tuning.warps * 32 <= 1024);
        assert_in_range(block.tuning.rows, 1, 8);
        gc_layout rank1 = layout_of(GC_FORM_RANK1, side, side);
        assert_true(gc_layout_shared_bytes(&rank1) <= 64 << 10);
    }
}

/* Beside the tile a sum of products keeps rows without what is before and after them. */
TEST(sums_take_a_second_place)
{
    for (int side = 7; side <= 31; side += 2) {
        gc_layout layout = layout_of(GC_FORM_RANK2, side, side);
        gc_tuning tuning = layout.tuning;
        size_t two = gc_layout_shared_bytes(&layout), lines = (size_t)(tuning.rows * tuning.warps);
        layout.tuning.form = GC_FORM_RANK3;
        assert_int_equal(gc_layout_shared_bytes(&layout), two);
        layout.tuning.form = GC_FORM_RANK1;
        lines += (size_t)side - 1;
        assert_int_equal(two - gc_layout_shared_bytes(&layout), lines * 128 * sizeof(float));
        layout.tuning.schedule = GC_QUEUE;
        size_t buffers = gc_layout_shared_bytes(&layout);
        layout.tuning.form = GC_FORM_RANK2;
        assert_int_equal(gc_layout_shared_bytes(&layout) - buffers, lines * 128 * sizeof(float));
        assert_in_range(tuning.rows, 2, 8);
        assert_true(2 * tuning.rows * side * 64 <= 32 << 10);
    }
}

TEST(forms_and_their_products)
{
    assert_int_equal(gc_form_products(GC_FORM_WARP), 0);
    assert_int_equal(gc_form_products(GC_FORM_BLOCK), 0);
    for (int products = 1; products <= 3; products++)
        assert_int_equal(gc_form_products(gc_form_of_products(products)), products);
    assert_int_equal(gc_form_of_products(1), GC_FORM_RANK1);
    assert_int_equal(gc_form_weights(GC_FORM_BLOCK, 5, 7), 35);
    assert_int_equal(gc_form_weights(GC_FORM_RANK1, 5, 7), 12);
    assert_int_equal(gc_form_weights(GC_FORM_RANK3, 5, 7), 36);
    assert_string_equal(gc_form_name(GC_FORM_RANK3), "rank3");
}

/* More weights and fewer products pay sooner; a filter of one row or column never does as a sum. */
TEST(sums_pay_from_some_size_on)
{
    for (int side = 1; side <= 64; side++) {
        bool two = gc_form_pays(GC_FORM_RANK2, side, side);
        bool three = gc_form_pays(GC_FORM_RANK3, side, side);
        assert_true(two || !three);
        assert_true(!two || gc_form_pays(GC_FORM_RANK2, side + 1, side + 1));
        assert_true(!three || gc_form_pays(GC_FORM_RANK3, side + 1, side + 1));
        assert_false(gc_form_pays(GC_FORM_RANK2, 4 * side - 1, 1));
        assert_false(gc_form_pays(GC_FORM_RANK2, 1, 4 * side - 1));
    }
    assert_false(gc_form_pays(GC_FORM_RANK2, 5, 5));
    assert_true(gc_form_pays(GC_FORM_RANK3, 21, 21));
}

TEST(code_stays_in_the_instruction_cache)
{
    for (int side = 6; side <= 17; side++) {
        gc_tuning tuning = gc_tuning_default(GC_FORM_BLOCK, side, side);
        assert_true(tuning.rows * side * side * 64 <= 40 << 10);
    }
}

TEST(tiles_and_their_memory)
{
    gc_layout layout = layout_of(GC_FORM_BLOCK, 9, 9);
    layout.tuning = (gc_tuning){GC_FORM_BLOCK, 4, 8, GC_ONE_TILE, 1};
    int width, height;
    gc_layout_tile(&layout, &width, &height);
    assert_int_equal(width, 128);
    assert_int_equal(height, 32);
    assert_int_equal(gc_layout_shared_bytes(&layout), (4 + 128 + 4) * (32 + 8) * 4);
    layout.tuning.schedule = GC_QUEUE; /* one is loaded while another is computed */
    assert_int_equal(gc_layout_shared_bytes(&layout), 2 * (4 + 128 + 4) * (32 + 8) * 4);
    layout.left = 3; /* whole words of four to either side */
    layout.width = 5;
    assert_int_equal(gc_layout_shared_bytes(&layout), 2 * (4 + 128 + 4) * (32 + 8) * 4);
    layout.tuning.form = GC_FORM_WARP;
    gc_layout_tile(&layout, &width, &height);
    assert_int_equal(width, 120);
    assert_int_equal(gc_layout_shared_bytes(&layout), 0);
}

/* A plane of the tile for each channel that is convolved; what is beside the tile is shared. */
TEST(channels_have_planes_of_the_tile)
{
    gc_layout layout = layout_of(GC_FORM_RANK2, 9, 9);
    layout.tuning = (gc_tuning){GC_FORM_RANK2, 4, 8, GC_ONE_TILE, 1};
    size_t one = gc_layout_shared_bytes(&layout), tile = (size_t)(4 + 128 + 4) * (32 + 8) * 4;
    layout.channels = 3;
    assert_int_equal(gc_layout_shared_bytes(&layout), one + 2 * tile);
    layout.channels = 4;
    layout.alpha = GC_PASS_MULTIPLIES;
    assert_int_equal(gc_layout_shared_bytes(&layout), one + 3 * tile);
    layout.alpha = GC_PASS_KEEPS;
    assert_int_equal(gc_layout_shared_bytes(&layout), one + 2 * tile);
    layout.tuning.form = GC_FORM_WARP;
    assert_false(gc_form_fits(GC_FORM_WARP, &layout));
}

static gc_layout pair_of(int first, int second, gc_sample_type input)
{
    gc_layout layout = layout_of(GC_FORM_BLOCK, first, first);
    layout.input = input;
    layout.second = (gc_extent){second, second, second / 2, second / 2};
    layout.tuning = gc_tuning_pair(&layout);
    return layout;
}

/* Surroundings for both filters, once or twice, and what the first one makes of them. */
TEST(pairs_and_their_memory)
{
    gc_layout layout = pair_of(3, 3, GC_BYTE);
    int width, height;
    gc_layout_tile(&layout, &width, &height);
    assert_int_equal(width, 128);
    assert_int_equal(height, 32);
    gc_layout_middle(&layout, &width, &height);
    assert_int_equal(width, 132);
    assert_int_equal(height, 34);
    assert_int_equal(gc_layout_shared_bytes(&layout), (136 * 36 + 132 * 34) * 4);
    layout = pair_of(5, 3, GC_FLOAT); /* the words that columns 128 to 131 read reach further */
    assert_int_equal(gc_layout_shared_bytes(&layout), (2 * 140 * 38 + 132 * 34) * 4);
    assert_true(gc_form_fits(GC_FORM_PAIR, &layout));
    assert_false(gc_form_fits(GC_FORM_BLOCK, &layout));
    layout.second = (gc_extent){0};
    assert_false(gc_form_fits(GC_FORM_PAIR, &layout));
}

/* At most 4 columns to either side and 9 rows, whatever the other sizes are. */
TEST(warps_reach_one_neighbour)
{
    for (int width = 1; width <= 12; width++)
        for (int height = 1; height <= 12; height++)
            for (int left = 0; left < width; left++) {
                gc_layout layout = layout_of(GC_FORM_WARP, width, height);
                layout.left = left;
                assert_int_equal(gc_form_fits(GC_FORM_WARP, &layout),
                                 left <= 4 && width - 1 - left <= 4 && height <= 9);
                assert_true(gc_form_fits(GC_FORM_BLOCK, &layout));
            }
}
