/* Points of bench: written as JSON and read again, and JSON that is none of theirs. */
#include "unit.h"

#include "base/json.h"
#include "lab/bench/kept.h"

static const gc_point full = {.preset = "kth",
                              .samples = "rgb8",
                              .width = 640,
                              .height = 480,
                              .filter = "5x3 rank 1",
                              .filter_width = 5,
                              .filter_height = 3,
                              .rank1 = true,
                              .name = "auto",
                              .implementation = "cpu",
                              .verdict = GC_VERDICT_WITHIN,
                              .difference = {.largest = 0.25, .bound = 0.5, .mismatches = 3},
                              .runs = 9,
                              .seconds = 3,
                              .shortest = 1,
                              .lower_quartile = 2,
                              .upper_quartile = 4.5,
                              .kernel_seconds = 0.75,
                              .border_seconds = 0.125,
                              .transfer_seconds = 0.375,
                              .convert_seconds = 0.0625,
                              .compile_seconds = 8,
                              .values_a_second = 1e9,
                              .flops = 2e9,
                              .intensity = 16,
                              .roofline = 4e9,
                              .factor = 4,
                              .theory = 3e9,
                              .speed_up = 7,
                              .naive_speed_up = 2,
                              .step_speed_up = 1.5};

/* Reads `text`, which must be JSON of points. */
static gc_points read_points(const char *text)
{
    gc_points points = {.at = NULL};
    assert_ok(gc_points_read(text, strlen(text), "kth", &points, NULL));
    return points;
}

static gc_points write_and_read(const gc_point *point)
{
    size_t size;
    gc_json_begin_apart();
    gc_point_json(point, NULL);
    OWNED char *line = gc_json_end_apart(&size);
    assert_non_null(line);
    assert_int_equal(strlen(line), size);
    assert_ptr_equal(strchr(line, '\n'), line + size - 1);
    gc_points points = read_points(line);
    return points;
}

TEST(test_round_trip)
{
    RELEASED_BY(gc_points_destroy) gc_points points = write_and_read(&full);
    assert_int_equal(points.count, 1);
    assert_memory_equal(points.at, &full, sizeof full);
}

/* If nothing was timed there are no times, and the reason is kept whatever it holds. */
TEST(test_reason)
{
    gc_point point = {.preset = "kth",
                      .filter = "all",
                      .name = "naive",
                      .implementation = "naive",
                      .verdict = GC_VERDICT_UNUSABLE,
                      .reason = {.message = "\"no\"\tdevice \\ \xc3\xa9"}};
    RELEASED_BY(gc_points_destroy) gc_points points = write_and_read(&point);
    assert_int_equal(points.count, 1);
    assert_memory_equal(points.at, &point, sizeof point);
}

/* Points are found wherever they stand, in the order of the text; other objects are none. */
TEST(test_document)
{
    gc_points points = read_points(
        "{\"schema\": 1, \"width\": 9, \"results\": [\n"
        " {\"name\":\"a\",\"implementation\":\"a\",\"filter\":\"3x3\",\"verdict\":\"exact\"},\r\n"
        "\t{\"name\": \"b\", \"verdict\": \"WRONG\", \"width\": 1e2, \"unknown\": [1, null]}],\n"
        "\"rest\": {\"true\": true}}\n{}");
    assert_int_equal(points.count, 2);
    assert_string_equal(points.at[0].name, "a");
    assert_int_equal(points.at[0].width, 0);
    assert_int_equal(points.at[0].verdict, GC_VERDICT_EXACT);
    assert_string_equal(points.at[1].name, "b");
    assert_string_equal(points.at[1].implementation, "");
    assert_int_equal(points.at[1].width, 100);
    assert_int_equal(points.at[1].verdict, GC_VERDICT_WRONG);
    gc_points_destroy(&points);
}

TEST(test_escapes)
{
    gc_points points =
        read_points("{\"verdict\": \"exact\", \"reason\": "
                    "\"\\u0041\\u00e9\\u20aC\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\"\"}");
    assert_int_equal(points.count, 1);
    assert_string_equal(points.at[0].reason.message,
                        "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/\b\f\n\r\t\"");
    gc_points_destroy(&points);
}

TEST(test_refused)
{
    static const char *const texts[] = {
        "{",
        "}",
        "[",
        "{\"a\" 1}",
        "{\"a\": }",
        "{\"a\": 1,}",
        "{\"a\": tru}",
        "{\"a\": \"x}",
        "{\"a\": \"\\x\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"\\u0000\"}",
        "{\"a\": \"\\ud83d\"}",
        "{\"a\": \"\\ude00\"}",
        "{\"a\": \"\n\"}",
        "{a: 1}",
        "nan",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        /* Values that a point cannot have. */
        "{\"verdict\": \"perfect\"}",
        "{\"verdict\": 1}",
        "{\"width\": \"9\"}",
        "{\"width\": -1}",
        "{\"width\": 3e9}",
        "{\"seconds\": -1}",
        "{\"mismatches\": -1}",
        "{\"mismatches\": 1e300}",
        "{\"name\": 5}",
        "{\"samples\": \"0123456789012345678901234567890123456789\"}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        RELEASED_BY(gc_points_destroy) gc_points points = {.at = NULL};
        gconv_status status = gc_points_read(texts[i], strlen(texts[i]), "", &points, &error);
        if (status != GCONV_ERROR_FORMAT)
            fail_msg("%s is not refused", texts[i]);
    }
}

TEST(test_same)
{
    gc_point other = {.preset = "kth",
                      .samples = "rgb8",
                      .width = 640,
                      .height = 480,
                      .filter = "5x3 rank 1",
                      .name = "auto"};
    assert_true(gc_point_is_same(&full, &other));
    other.height = 481;
    assert_false(gc_point_is_same(&full, &other));
    other = full;
    strcpy(other.filter, "5x3");
    assert_false(gc_point_is_same(&full, &other));
    other = full;
    strcpy(other.preset, "");
    assert_false(gc_point_is_same(&full, &other));
}

/* Ratios on a GPU are of the convolution alone, if that is known. */
TEST(test_counted_seconds)
{
    assert_true(gc_point_counted_seconds(&full) == 0.75 - 0.125 - 0.0625);
    assert_true(gc_point_counted_seconds(&(gc_point){.seconds = 3, .kernel_seconds = 2}) == 2);
    assert_true(gc_point_counted_seconds(&(gc_point){.seconds = 3}) == 3);
    assert_true(gc_points_have_gpu(&(gc_points){.at = (gc_point[]){full}, .count = 1}));
    assert_false(gc_points_have_gpu(&(gc_points){.at = (gc_point[]){{.seconds = 3}}, .count = 1}));
}
