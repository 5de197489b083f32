/* Responses that are kept, their thresholds and tones, and marks. model_drawings compares whole
 * drawings with the definition. */
#include "unit.h"

#include "cli/image/marks.h"

/* Fills the responses by way of the sink, in rows that have gaps between them. */
static gc_marks take(uint32_t width, uint32_t height, const uint16_t *samples)
{
    enum { GAP = 3 };
    gc_marks marks;
    assert_ok(gc_marks_create(&marks, width, height, true, NULL));
    gconv_sink sink = gc_marks_sink(&marks);
    uint16_t *rows = calloc((size_t)height * (width + GAP), sizeof *rows);
    for (uint32_t y = 0; y < height; y++)
        memcpy(rows + y * (width + GAP), samples + y * width, width * sizeof *rows);
    for (uint32_t y = 0; y < height;) {
        uint32_t count = height - y < 2 ? 1 : 2;
        assert_ok(sink.write(sink.user, count, rows + y * (width + GAP),
                             (width + GAP) * sizeof *rows, NULL));
        y += count;
    }
    free(rows);
    return marks;
}

/* Marks of a drawing in which each character is a pixel: a blank is paper, and a digit d has the
 * tone 25 d. */
static gc_marks draw(uint32_t width, uint32_t height, const char *drawing)
{
    gc_marks marks;
    assert_ok(gc_marks_create(&marks, width, height, true, NULL));
    for (size_t i = 0; i < strlen(drawing); i++)
        marks.samples[i] = drawing[i] == ' ' ? 0 : (uint16_t)(25 * (drawing[i] - '0'));
    assert_int_equal(strlen(drawing), width * height);
    return marks;
}

static void assert_drawing(const gc_marks *marks, const char *drawing)
{
    for (size_t i = 0; i < strlen(drawing); i++) {
        char found = (char)(marks->samples[i] == 0 ? ' ' : '0' + marks->samples[i] / 25);
        if (found != drawing[i])
            fail_msg("pixel %zu is '%c', not '%c'", i, found, drawing[i]);
    }
}

TEST(responses_are_counted)
{
    static const uint16_t samples[15] = {9, 0, 9, 65535, 1, 2, 3, 4, 5, 5, 5, 7, 8, 300, 65535};
    gc_marks marks = take(3, 5, samples);
    assert_memory_equal(marks.samples, samples, sizeof samples);
    assert_int_equal(gc_marks_cut(&marks, 0), 65535);
    assert_int_equal(gc_marks_cut(&marks, 1.9), 65535);
    assert_int_equal(gc_marks_cut(&marks, 2), 300);
    assert_int_equal(gc_marks_cut(&marks, 3), 9);
    assert_int_equal(gc_marks_cut(&marks, 14), 0);
    assert_int_equal(gc_marks_cut(&marks, 15), 0);
    gc_marks_destroy(&marks);
}

TEST(responses_above_the_cut_are_marked)
{
    static const uint16_t samples[4] = {0, 100, 101, 65535}, tones[4] = {0, 0, 255, 255};
    gc_marks marks = take(4, 1, samples);
    gc_marks_set(&marks, 100);
    assert_memory_equal(marks.samples, tones, sizeof tones);
    assert_int_equal(gc_marks_count(&marks), 2);
    gc_marks_destroy(&marks);
}

TEST(small_marks_are_dropped)
{
    static const char drawing[] = "1 1  1"
                                  " 1   1"
                                  "   1  "
                                  "11  1 "
                                  "11   1";
    gc_marks marks = draw(6, 5, drawing);
    assert_ok(gc_marks_drop(&marks, 1, NULL));
    assert_drawing(&marks, drawing);
    assert_ok(gc_marks_drop(&marks, 3, NULL));
    assert_drawing(&marks, "1 1   "
                           " 1    "
                           "   1  "
                           "11  1 "
                           "11   1");
    assert_ok(gc_marks_drop(&marks, 4, NULL));
    assert_drawing(&marks, "      "
                           "      "
                           "      "
                           "11    "
                           "11    ");
    gc_marks_destroy(&marks);
}

TEST(marks_are_widened_to_squares)
{
    static const char drawing[] = "1     "
                                  "      "
                                  "   1 1"
                                  "      ";
    static const char *const wide[] = {drawing,
                                       "11    "
                                       "11    "
                                       "   111"
                                       "   111",
                                       "111   "
                                       "111   "
                                       "111111"
                                       "   111"};
    for (uint32_t width = 1; width <= 3; width++) {
        gc_marks marks = draw(6, 4, drawing);
        gc_marks_widen(&marks, width);
        for (size_t i = 0; i < 24; i++)
            assert_int_equal(marks.samples[i], wide[width - 1][i] == '1' ? 255 : 0);
        gc_marks_destroy(&marks);
    }
}

/* A spiral of one pixel is a single mark. */
TEST(a_spiral_is_one_mark)
{
    enum { SIDE = 257 };
    static uint16_t samples[SIDE * SIDE];
    int x = 0, y = 0, steps = SIDE - 1, length = 0;
    memset(samples, 0, sizeof samples);
    for (int turn = 0; steps > 0; turn++) {
        static const int across[] = {1, 0, -1, 0}, down[] = {0, 1, 0, -1};
        for (int i = 0; i < steps; i++, length++) {
            samples[y * SIDE + x] = 50;
            x += across[turn % 4];
            y += down[turn % 4];
        }
        steps -= turn >= 2 && turn % 2 == 0 ? 2 : 0;
    }
    gc_marks marks = take(SIDE, SIDE, samples);
    assert_ok(gc_marks_drop(&marks, (uint64_t)length, NULL));
    assert_int_equal(gc_marks_count(&marks), length);
    assert_ok(gc_marks_drop(&marks, (uint64_t)length + 1, NULL));
    assert_int_equal(gc_marks_count(&marks), 0);
    gc_marks_destroy(&marks);
}
