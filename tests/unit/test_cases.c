/* Cases of bench: the order of a sweep, and what --sample keeps of it. */
#include "unit.h"

#include "cli/options/implementations.h"
#include "cli/options/table.h"
#include "lab/bench/cases.h"
#include "lab/bench/presets.h"

static gc_cases listed(const char *sizes, const char *filters, const char *samples)
{
    static gc_lists lists;
    const gc_options options = {
        .measure = {.sizes = sizes, .filters = filters, .samples = samples}};
    gc_cases cases;
    assert_ok(gc_lists_read(&options, &lists, NULL));
    assert_ok(gc_cases_list(&options, &lists, &cases, NULL));
    return cases;
}

TEST(test_order)
{
    RELEASED_BY(gc_cases_destroy) gc_cases cases = listed("64,32x16", "3,rank1:5x7", "rgb8,grey8");
    assert_int_equal(cases.count, 2 * 2 * 2);
    for (size_t i = 0; i < cases.count; i++) {
        const gc_case *one = &cases.at[i];
        gc_point point;
        gc_case_describe(one, &(gc_options){.measure = {.preset = "kth"}},
                         &(gc_filter_chain){.count = 1}, &point);
        assert_int_equal(point.width, i < 4 ? 64 : 32);
        assert_int_equal(point.height, i < 4 ? 64 : 16);
        assert_string_equal(point.samples, i % 4 < 2 ? "grey8" : "rgb8");
        assert_string_equal(point.filter, i % 2 == 0 ? "3x3" : "5x7 rank 1");
        assert_int_equal(point.rank1, i % 2);
        assert_string_equal(point.preset, "kth");
    }
}

/* Of a grid of 21 x 21, 25 cases leave no hole: each filter has one that is kept within 5 of its 21
 * places in each direction. Rows and columns are thinned alike. */
TEST(test_even)
{
    RELEASED_BY(gc_cases_destroy)
    gc_cases all = listed("64", "3..43x3..43", NULL), cases = listed("64", "3..43x3..43", NULL);
    assert_int_equal(cases.count, 441);
    assert_ok(gc_cases_thin(&cases, 25, NULL));
    assert_int_equal(cases.count, 25);
    for (size_t i = 0; i < all.count; i++) {
        int nearest = 99;
        for (size_t j = 0; j < cases.count; j++) {
            int dx = abs(all.at[i].filter.width - cases.at[j].filter.width) / 2;
            int dy = abs(all.at[i].filter.height - cases.at[j].filter.height) / 2;
            int away = dx > dy ? dx : dy;
            nearest = away < nearest ? away : nearest;
        }
        assert_in_range(nearest, 0, 5);
    }
}

/* The corners come first, in the order of the sweep. */
TEST(test_corners)
{
    RELEASED_BY(gc_cases_destroy) gc_cases cases = listed("64", "3..43x3..43", NULL);
    static const int sides[4][2] = {{3, 3}, {3, 43}, {43, 3}, {43, 43}};
    assert_ok(gc_cases_thin(&cases, 4, NULL));
    assert_int_equal(cases.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cases.at[i].filter.width, sides[i][0]);
        assert_int_equal(cases.at[i].filter.height, sides[i][1]);
    }
}

TEST(test_limits)
{
    gc_cases cases = listed("64,128", "3,3,5", NULL); /* 3 is there twice */
    assert_ok(gc_cases_thin(&cases, 6, NULL));
    assert_int_equal(cases.count, 6);
    assert_ok(gc_cases_thin(&cases, 5, NULL));
    assert_int_equal(cases.count, 5);
    assert_ok(gc_cases_thin(&cases, 1, NULL));
    assert_int_equal(cases.count, 1);
    assert_int_equal(cases.at[0].width, 64);
    assert_int_equal(cases.at[0].filter.width, 3);
    gc_cases_destroy(&cases);
}

TEST(test_shares)
{
    static const struct {
        const char *text;
        size_t all, part;
    } shares[] = {{"1", 441, 1},      {"441", 441, 441},    {"442", 441, 441},
                  {"100%", 441, 441}, {"10%", 441, 45},     {"0.001%", 441, 1},
                  {"50%", 10, 5},     {"2147483647", 3, 3}, {"12.5%", 800, 100}};
    gc_share share;
    for (size_t i = 0; i < COUNT(shares); i++) {
        assert_ok(gc_read_share(shares[i].text, &share, NULL));
        assert_int_equal(gc_share_of(share, shares[i].all), shares[i].part);
    }
    assert_int_equal(gc_share_of((gc_share){.count = 0}, 7), 7);
    static const char *const wrong[] = {"",  "0",    "-1", "1.5", "0%",   "101%",
                                        "%", "nan%", "x",  "5 %", "10%%", "2147483648"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (gc_read_share(wrong[i], &share, NULL) != GCONV_ERROR_ARGUMENT)
            fail_msg("'%s' is not refused", wrong[i]);
}

static bool has_name(const char *list, const char *wanted)
{
    char name[GC_NAME_BYTES];
    while (gc_next_name(&list, name))
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

/* Every name of `part` is in the list of all. */
static void is_part(const char *part, const char *all)
{
    char name[GC_NAME_BYTES];
    while (gc_next_name(&part, name))
        assert_true(has_name(all, name));
}

/* What presets list is there: names, filters, and names that get blocks or one rank of filters. */
TEST(test_presets)
{
    const gc_option *option = gc_option_at(0);
    for (int i = 0; strcmp(option->name, "preset") != 0; i++)
        option = gc_option_at(i);
    for (const gc_word *word = option->value.words; word->name != NULL; word++) {
        const gc_preset *preset = gc_preset_named(word->name, NULL);
        assert_non_null(preset);
        assert_ok(gc_check_names(preset->implementations, NULL));
        is_part(preset->full_rank, preset->implementations);
        is_part(preset->rank1, preset->implementations);
        for (int j = 0; j < GC_PRESET_BLOCKS; j++)
            is_part(preset->blocks[j].names, preset->implementations);
        static gc_sweep_filters filters;
        if (!preset->has_transforms)
            assert_ok(gc_read_filters(preset->filters, &filters, NULL));
    }
}

/* The steps of KTH 2018 take filters of full rank, its two passes those of rank 1. Other presets,
 * and names of the command line, take all filters. */
TEST(test_ranks)
{
    gc_options options = {.measure = {.preset = "kth"}};
    assert_true(gc_preset_measures(&options, "naive", false));
    assert_false(gc_preset_measures(&options, "naive", true));
    assert_true(gc_preset_measures(&options, "const", false));
    assert_true(gc_preset_measures(&options, "const", true));
    assert_false(gc_preset_measures(&options, "twopass:transposed", false));
    assert_true(gc_preset_measures(&options, "twopass:transposed", true));
    options.measure.preset = "adaptive-2014";
    assert_false(gc_preset_measures(&options, "twopass:tiled:x8", false));
    assert_true(gc_preset_measures(&options, "twopass:tiled:x8", true));
    options.measure.preset = "quick";
    assert_true(gc_preset_measures(&options, "naive", true));
    options.measure.preset = NULL;
    assert_true(gc_preset_measures(&options, "twopass", false));
}

/* A report says which names get the thread blocks of the source. */
TEST(test_blocks)
{
    static const char *const names[] = {"cpu", "const", "const:32x32", "tiled", "adaptive"};
    char text[GC_PRESET_TEXT_BYTES];
    gc_options options = {.measure = {.preset = "adaptive-2011"}};
    gc_preset_describe_blocks(&options, names, 5, text);
    assert_string_equal(text,
                        " Thread blocks of 16x16: const, tiled. Thread blocks of 16x32: adaptive.");
    gc_preset_describe_blocks(&options, names, 1, text);
    assert_string_equal(text, "");
    options.measure.preset = NULL;
    gc_preset_describe_blocks(&options, names, 5, text);
    assert_string_equal(text, "");
}

/* A list keeps its order. Names with a block or a factor are copies, and each stands there once. */
TEST(test_names)
{
    static const char *const wanted[] = {"reference", "tiled:16x16x2", "cpu", "tiled", "tiled:x2"};
    int count;
    OWNED const char **names =
        gc_expand_names("tiled:16x16x2,cpu,tiled,tiled:16x16x2,reference,tiled:x2,cpu", &count);
    assert_non_null(names);
    assert_int_equal(count, 5);
    for (int i = 0; i < count; i++)
        assert_string_equal(names[i], wanted[i]);
}
