/* Rows in memory as source and sink: strides on both sides, rows in several calls, alignment. */
#include "unit.h"

#include "base/memory_rows.h"

TEST(gives_rows_in_turn)
{
    const char image[] = "ab.cd.ef.";
    char got[] = "########";
    gc_memory_source rows = {.next = image, .row_bytes = 2, .stride = 3};
    gconv_source source = gc_source_of_memory(&rows);
    assert_ok(source.read(source.user, 1, got, 8, NULL));
    assert_int_equal(rows.count, 1);
    assert_ok(source.read(source.user, 2, got + 2, 4, NULL));
    assert_int_equal(rows.count, 3);
    assert_string_equal(got, "abcd##ef");
}

TEST(moves_to_a_row)
{
    char got[] = "####";
    gc_memory_source rows = {.next = "ab.cd.ef.gh.", .row_bytes = 2, .stride = 3};
    gconv_source source = gc_source_of_memory(&rows);
    assert_ok(source.select(source.user, 1, 2, NULL));
    assert_ok(source.read(source.user, 2, got, 2, NULL));
    assert_string_equal(got, "cdef");
}

TEST(takes_rows_in_turn)
{
    char image[] = "########";
    gc_memory_sink rows = {.next = image, .row_bytes = 2, .stride = 3};
    gconv_sink sink = gc_sink_of_memory(&rows);
    assert_ok(sink.write(sink.user, 2, "ab.cd", 3, NULL));
    assert_ok(sink.write(sink.user, 1, "ef", 2, NULL));
    assert_int_equal(rows.count, 3);
    assert_string_equal(image, "ab#cd#ef");
}

TEST(alignment_is_that_of_samples)
{
    const uint32_t aligned[2] = {0};
    const char *at = (const char *)aligned;
    assert_true(gc_rows_are_aligned(at + 1, 3, 1));
    assert_true(gc_rows_are_aligned(at + 1, 3, 8));
    assert_true(gc_rows_are_aligned(at + 2, 6, 16));
    assert_false(gc_rows_are_aligned(at + 1, 6, 16));
    assert_false(gc_rows_are_aligned(at + 2, 7, 16));
    assert_true(gc_rows_are_aligned(at + 4, 8, 32));
    assert_false(gc_rows_are_aligned(at + 2, 8, 32));
    assert_false(gc_rows_are_aligned(at + 4, 6, 32));
}
