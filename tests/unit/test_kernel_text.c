/* A filter that `gconv kernel --write` writes is read back the same, in every notation that holds
 * it. Runs in a directory of its own. */
#include "io_support.h"

#include "cli/commands/commands.h"

static const char path[] = "written.txt";
static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Whole numbers, decimals, and any finite bits. */
static float random_weight(void)
{
    uint32_t bits = draw(1u << 31) ^ draw(1u << 31) << 1;
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    switch (draw(4)) {
    case 0:
        return (float)((int)draw(20) - 10);
    case 1:
        return (float)((int)draw(2000) - 1000) / 100;
    default:
        return isfinite(weight) ? weight : 0;
    }
}

static double random_number(void)
{
    return draw(2) == 0 ? (double)random_weight() : ((double)draw(1u << 30) + 1) / 7e7;
}

static gconv_filter *random_filter(void)
{
    int width = 1 + (int)draw(7), height = 1 + (int)draw(7);
    bool vectors = draw(5) == 0;
    gconv_filter *filter;
    assert_ok((vectors ? gconv_filter_create_vectors : gconv_filter_create)(width, height, &filter,
                                                                            NULL));
    for (int i = 0; !vectors && i < width * height; i++)
        filter->weights[i] = random_weight();
    for (int i = 0; vectors && i < width; i++)
        filter->row[i] = random_number();
    for (int j = 0; vectors && j < height; j++)
        filter->column[j] = random_number();
    if (draw(2) == 0) {
        filter->anchor_x = (int)draw((uint32_t)width);
        filter->anchor_y = (int)draw((uint32_t)height);
    }
    double divisor = random_number();
    if (draw(2) == 0 && divisor != 0)
        filter->divisor = divisor;
    filter->has_offset = draw(3) == 0;
    while (filter->has_offset && filter->offset == 0)
        filter->offset = random_number();
    return filter;
}

static void check_same(const gconv_filter *a, const gconv_filter *b)
{
    size_t width = (size_t)a->width, height = (size_t)a->height;
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->anchor_x, b->anchor_x);
    assert_int_equal(a->anchor_y, b->anchor_y);
    assert_true(a->divisor == b->divisor && a->offset == b->offset);
    assert_int_equal(a->has_offset, b->has_offset);
    assert_true((a->weights == NULL) == (b->weights == NULL));
    if (a->weights != NULL) {
        assert_memory_equal(a->weights, b->weights, width * height * sizeof *a->weights);
        return;
    }
    assert_memory_equal(a->column, b->column, height * sizeof *a->column);
    assert_memory_equal(a->row, b->row, width * sizeof *a->row);
}

/* Whether the notation holds the filter; then it is read back. */
static bool comes_back(const gconv_filter *filter, gc_notation notation)
{
    gconv_error error;
    gconv_filter *again;
    gconv_status status = gc_kernel_write(path, filter, notation, &error);
    if (status != GCONV_OK) {
        assert_int_equal(status, GCONV_ERROR_FILTER);
        return false;
    }
    if (gconv_filter_load(path, &again, &error) != GCONV_OK)
        fail_msg("line %d: %s", error.line, error.message);
    check_same(filter, again);
    gconv_filter_free(again);
    return true;
}

TEST(random_filters_come_back)
{
    int held[3] = {0};
    for (int round = 0; round < 3000; round++) {
        OWNED_FILTER filter = random_filter();
        for (int notation = 0; notation < 3; notation++)
            held[notation] += comes_back(filter, (gc_notation)notation);
    }
    assert_int_equal(held[GC_NOTATION_GCONV], 3000);
    assert_true(held[GC_NOTATION_IMAGEMAGICK] > 200 && held[GC_NOTATION_LIBVIPS] > 500);
}

TEST(builtin_filters_come_back)
{
    static const char *const others[] = {"gaussian:40,255", "box:4095x3",     "log:1.4",
                                         "box:2x3",         "3x1+0+0: 1,2,3", "box:255"};
    size_t builtins = gconv_builtin_filter_count();
    for (size_t i = 0; i < builtins + COUNT(others); i++) {
        gconv_filter *filter, *again;
        const char *name = i < builtins ? gconv_builtin_filter_at(i)->name : others[i - builtins];
        filter = load_filter(name);
        assert_true(comes_back(filter, GC_NOTATION_GCONV));
        again = load_filter(path);
        assert_string_equal(again->name, filter->name);
        gconv_filter_free(again);
        bool matrix = filter->weights != NULL;
        bool centred = filter->anchor_x == filter->width / 2;
        assert_int_equal(comes_back(filter, GC_NOTATION_IMAGEMAGICK),
                         matrix && filter->divisor == 1 && !filter->has_offset);
        assert_int_equal(comes_back(filter, GC_NOTATION_LIBVIPS), matrix && centred);
        gconv_filter_free(filter);
    }
}

/* A name that a `name` line does not give back is left out. */
TEST(names_are_kept_where_that_is_possible)
{
    static const struct {
        const char *name, *again;
    } names[] = {{"Soft edges 2", "Soft edges 2"},
                 {"a # b", "written"},
                 {" a", "written"},
                 {"a\n1", "written"},
                 {"", "written"},
                 {"\xff", "written"}};
    for (size_t i = 0; i < COUNT(names); i++) {
        gconv_filter *filter, *again;
        assert_ok(gconv_filter_parse("1 2\n3 4", 7, names[i].name, &filter, NULL));
        assert_ok(gc_kernel_write(path, filter, GC_NOTATION_GCONV, NULL));
        again = load_filter(path);
        assert_string_equal(again->name, names[i].again);
        gconv_filter_free(filter);
        gconv_filter_free(again);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
