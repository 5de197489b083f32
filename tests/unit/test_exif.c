/* EXIF blobs, whole and damaged: orientation, resolution, sides, thumbnails. */
#include "exif_support.h"
#include "io_support.h"

#include "io/exif.h"

static void finds_every_orientation(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (int orientation = 1; orientation <= GC_ORIENTATION_COUNT; orientation++) {
            unsigned char exif[EXIF_BYTES];
            make_exif(exif, orientation, big);
            assert_int_equal(gc_exif_orientation(exif, sizeof exif), orientation);
            gc_exif_reset_orientation(exif, sizeof exif);
            assert_int_equal(gc_exif_orientation(exif, sizeof exif), 1);
        }
}

static void none_is_upright(void **state)
{
    (void)state;
    unsigned char exif[EXIF_BYTES];
    unsigned char before[EXIF_BYTES];
    make_exif(exif, 6, false);
    exif[10] = 0x13; /* another tag */
    memcpy(before, exif, sizeof exif);
    assert_int_equal(gc_exif_orientation(exif, sizeof exif), 1);
    gc_exif_reset_orientation(exif, sizeof exif);
    assert_memory_equal(exif, before, sizeof exif);
}

static void wrong_values_are_broken(void **state)
{
    (void)state;
    unsigned char exif[EXIF_BYTES];
    make_exif(exif, 0, false);
    assert_int_equal(gc_exif_orientation(exif, sizeof exif), 0);
    make_exif(exif, 9, true);
    assert_int_equal(gc_exif_orientation(exif, sizeof exif), 0);
    make_exif(exif, 3, false);
    exif[12] = 4; /* LONG */
    assert_int_equal(gc_exif_orientation(exif, sizeof exif), 0);
}

/* Every length and every value of every byte: read from memory of just that size, so that a
 * sanitizer sees a step too far. */
static void damage_is_harmless(void **state)
{
    (void)state;
    for (size_t size = 0; size <= EXIF_BYTES; size++)
        for (size_t at = 0; at < size; at++)
            for (int value = 0; value < 256; value++) {
                unsigned char whole[EXIF_BYTES];
                make_exif(whole, 8, value & 1);
                unsigned char *part = malloc(size);
                assert_non_null(part);
                memcpy(part, whole, size);
                part[at] = (unsigned char)value;
                int orientation = gc_exif_orientation(part, size);
                assert_in_range(orientation, 0, GC_ORIENTATION_COUNT);
                gc_exif_reset_orientation(part, size);
                free(part);
            }
    assert_int_equal(gc_exif_orientation(NULL, 0), 0);
}

/* ---- Blobs as cameras make them -------------------------------------------------------------- */

static exif_kind usual_kind(void)
{
    return (exif_kind){
        .orientation = 1, .side_types = {4, 4}, .resolution = {300, 1, 150, 1}, .unit = 2};
}

/* The value of an entry; the numerator where it is a fraction. */
static uint32_t told(const unsigned char *exif, const exif_kind *kind, size_t entry)
{
    uint32_t type = get_exif(exif + entry + 2, 2, kind->big_endian);
    uint32_t value = get_exif(exif + entry + 8, type == 3 ? 2 : 4, kind->big_endian);
    return type == 5 ? get_exif(exif + value, 4, kind->big_endian) : value;
}

static void check_sides(const exif_kind *kind)
{
    unsigned char exif[FULL_EXIF_BYTES];
    size_t sub = kind->inside ? 174 : 92;
    bool turned = kind->orientation >= 5;
    make_full_exif(exif, kind);
    gc_exif_reset_orientation(exif, sizeof exif);
    assert_int_equal(gc_exif_orientation(exif, sizeof exif), 1);
    assert_int_equal(told(exif, kind, FULL_EXIF_ENTRIES + 12), turned ? 150 : 300);
    assert_int_equal(told(exif, kind, FULL_EXIF_ENTRIES + 24), turned ? 300 : 150);
    assert_int_equal(told(exif, kind, sub), turned ? FULL_EXIF_HEIGHT : FULL_EXIF_WIDTH);
    assert_int_equal(told(exif, kind, sub + 12), turned ? FULL_EXIF_WIDTH : FULL_EXIF_HEIGHT);
    assert_int_equal(get_exif(exif + sub, 2, kind->big_endian), 0xa002);
    assert_int_equal(get_exif(exif + sub + 12, 2, kind->big_endian), 0xa003);
}

static void quarter_turns_exchange_sides(void **state)
{
    (void)state;
    exif_kind kind = usual_kind();
    for (int variant = 0; variant < 16; variant++)
        for (kind.orientation = 1; kind.orientation <= GC_ORIENTATION_COUNT; kind.orientation++) {
            kind.big_endian = variant & 1;
            kind.inside = variant & 2;
            kind.side_types[0] = variant & 4 ? 3 : 4;
            kind.side_types[1] = variant & 8 ? 3 : 4;
            check_sides(&kind);
        }
}

static void resolutions_are_found(void **state)
{
    (void)state;
    static const struct {
        uint32_t values[4];
        int unit;
        gc_resolution found;
    } cases[] = {
        {{300, 1, 150, 1}, 2, {GC_RESOLUTION_PER_INCH, 300, 150}},
        {{3000, 10, 72, 1}, 2, {GC_RESOLUTION_PER_INCH, 300, 72}},
        {{118, 1, 59, 1}, 3, {GC_RESOLUTION_PER_CENTIMETRE, 118, 59}},
        {{1181, 10, 118, 1}, 3, {GC_RESOLUTION_PER_METRE, 11810, 11800}},
        {{145, 2, 72, 1}, 2, {GC_RESOLUTION_PER_METRE, 2854, 2835}},
        {{2, 1, 1, 1}, 1, {GC_RESOLUTION_RATIO, 2, 1}},
        {{1, 2, 1, 1}, 1, {GC_RESOLUTION_NONE, 0, 0}},
        {{300, 1, 150, 1}, 0, {GC_RESOLUTION_NONE, 0, 0}},
        {{300, 1, 150, 1}, 4, {GC_RESOLUTION_NONE, 0, 0}},
        {{300, 0, 150, 1}, 2, {GC_RESOLUTION_NONE, 0, 0}},
        {{300, 1, 0, 1}, 2, {GC_RESOLUTION_NONE, 0, 0}},
        {{1, 4000000000u, 2, 3}, 2, {GC_RESOLUTION_NONE, 0, 0}},
        {{4294967295u, 2, 2, 3}, 3, {GC_RESOLUTION_NONE, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int big = 0; big < 2; big++) {
            unsigned char exif[FULL_EXIF_BYTES];
            exif_kind kind = usual_kind();
            kind.big_endian = big;
            memcpy(kind.resolution, cases[i].values, sizeof kind.resolution);
            kind.unit = cases[i].unit;
            make_full_exif(exif, &kind);
            gc_resolution found = gc_exif_resolution(exif, sizeof exif);
            assert_int_equal(found.unit, cases[i].found.unit);
            assert_int_equal(found.x, cases[i].found.x);
            assert_int_equal(found.y, cases[i].found.y);
        }
}

static void inches_are_the_default(void **state)
{
    (void)state;
    unsigned char exif[FULL_EXIF_BYTES];
    exif_kind kind = usual_kind();
    make_full_exif(exif, &kind);
    exif[FULL_EXIF_ENTRIES + 36] = 0x29; /* the unit's tag */
    assert_int_equal(gc_exif_resolution(exif, sizeof exif).unit, GC_RESOLUTION_PER_INCH);
    exif[FULL_EXIF_ENTRIES + 12 + 2] = 10; /* a fraction with a sign */
    assert_int_equal(gc_exif_resolution(exif, sizeof exif).unit, GC_RESOLUTION_NONE);
}

/* ---- Thumbnails ------------------------------------------------------------------------------ */

/* The rest of the blob is unchanged, except for the reference to the thumbnail. */
static void thumbnails_are_dropped(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        unsigned char exif[FULL_EXIF_BYTES];
        unsigned char expected[FULL_EXIF_BYTES];
        exif_kind kind = usual_kind();
        kind.big_endian = variant & 1;
        kind.inside = variant & 2;
        make_full_exif(exif, &kind);
        memcpy(expected, exif, sizeof exif);
        memset(expected + 70, 0, 4);
        if (kind.inside)
            memset(expected + 90, 0, 172 - 90);
        size_t size = sizeof exif;
        assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_OK);
        assert_int_equal(size, kind.inside ? FULL_EXIF_BYTES : FULL_EXIF_KEPT);
        assert_memory_equal(exif, expected, size);
        for (size_t i = size; i < sizeof exif; i++)
            assert_int_equal(exif[i], 0);
        assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_OK);
        assert_int_equal(size, kind.inside ? FULL_EXIF_BYTES : FULL_EXIF_KEPT);
    }
}

/* Strips instead of JPEG: two pieces, given by arrays behind the directory. */
static void thumbnails_in_strips_are_dropped(void **state)
{
    (void)state;
    static const uint32_t arrays[4] = {178, 190, 12, 12};
    unsigned char exif[FULL_EXIF_BYTES];
    exif_kind kind = usual_kind();
    make_full_exif(exif, &kind);
    put_entry(exif + 134, 0x0111, 4, 162, false);
    put_entry(exif + 146, 0x0117, 4, 170, false);
    put_exif(exif + 134 + 4, 2, 4, false);
    put_exif(exif + 146 + 4, 2, 4, false);
    for (size_t i = 0; i < 4; i++)
        put_exif(exif + 162 + 4 * i, arrays[i], 4, false);
    size_t size = sizeof exif;
    assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_OK);
    assert_int_equal(size, FULL_EXIF_KEPT);
    assert_null(memchr(exif, 'T', sizeof exif));
    assert_int_equal(gc_exif_resolution(exif, size).x, 300);
}

/* A second directory that cannot be read, or that is part of a loop: every byte goes that the first
 * directory does not refer to. */
static void broken_thumbnails_are_dropped(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        int bytes;
    } damages[] = {
        {70, 0xfffffff0u, 4}, /* beyond the end */
        {70, 3, 4},           /* in the header */
        {70, 8, 4},           /* the first directory again */
        {120, 0xffff, 2},     /* more entries than there is room for */
        {158, 120, 4},        /* itself again */
        {158, 8, 4},          /* the first directory again */
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        unsigned char exif[FULL_EXIF_BYTES];
        exif_kind kind = usual_kind();
        make_full_exif(exif, &kind);
        put_exif(exif + damages[i].at, damages[i].value, damages[i].bytes, false);
        size_t size = sizeof exif;
        assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_OK);
        assert_int_equal(size, FULL_EXIF_KEPT);
        assert_null(memchr(exif, 'T', sizeof exif));
        assert_int_equal(gc_exif_orientation(exif, size), 1);
        assert_int_equal(gc_exif_resolution(exif, size).y, 150);
    }
}

/* A thumbnail that claims the whole blob as its own: header and directories stay. */
static void thumbnails_spare_the_structure(void **state)
{
    (void)state;
    unsigned char exif[FULL_EXIF_BYTES];
    exif_kind kind = usual_kind();
    kind.orientation = 6;
    make_full_exif(exif, &kind);
    put_exif(exif + 122 + 12 + 8, 0, 4, false);
    put_exif(exif + 122 + 24 + 8, 0xffffffffu, 4, false);
    size_t size = sizeof exif;
    assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_OK);
    assert_int_equal(size, FULL_EXIF_KEPT);
    assert_int_equal(gc_exif_orientation(exif, size), 6);
    assert_null(memchr(exif, 'T', sizeof exif));
}

/* Many entries that refer to the whole blob each: refused, and soon. */
static void piled_values_are_refused(void **state)
{
    (void)state;
    enum { ENTRIES = 65535, SIZE = 8 << 20 };
    unsigned char *exif = calloc(1, SIZE);
    assert_non_null(exif);
    memcpy(exif, "II*\0\10\0\0\0\xff\xff", 10);
    for (size_t i = 0; i < ENTRIES; i++) {
        put_entry(exif + 10 + 12 * i, 0x8769, 4, 8, false);
        put_exif(exif + 10 + 12 * i + 4, i % 2 ? 1 : SIZE / 4, 4, false);
    }
    put_exif(exif + 10 + (size_t)12 * ENTRIES, 8, 4, false);
    size_t size = SIZE;
    assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_ERROR_FORMAT);
    free(exif);
}

static void use_everything(const unsigned char *whole, size_t size)
{
    unsigned char *part = malloc(size);
    assert_non_null(part);
    memcpy(part, whole, size);
    gc_exif_resolution(part, size);
    gc_exif_reset_orientation(part, size);
    size_t left = size;
    if (gc_exif_drop_thumbnail(part, &left) == GCONV_OK) {
        assert_in_range(left, 0, size);
        size_t again = left;
        assert_int_equal(gc_exif_drop_thumbnail(part, &again), GCONV_OK);
        assert_int_equal(again, left);
    }
    assert_in_range(gc_exif_orientation(part, left), 0, GC_ORIENTATION_COUNT);
    free(part);
}

static void damage_of_full_blobs_is_harmless(void **state)
{
    (void)state;
    unsigned char exif[FULL_EXIF_BYTES];
    for (int variant = 0; variant < 4; variant++) {
        exif_kind kind = usual_kind();
        kind.orientation = 8;
        kind.big_endian = variant & 1;
        kind.inside = variant & 2;
        make_full_exif(exif, &kind);
        for (size_t size = 1; size <= sizeof exif; size++)
            use_everything(exif, size);
        for (size_t at = 0; at < sizeof exif; at++)
            for (int value = 0; value < 256; value++) {
                unsigned char before = exif[at];
                exif[at] = (unsigned char)value;
                use_everything(exif, sizeof exif);
                exif[at] = before;
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_orientation),
        cmocka_unit_test(none_is_upright),
        cmocka_unit_test(wrong_values_are_broken),
        cmocka_unit_test(damage_is_harmless),
        cmocka_unit_test(quarter_turns_exchange_sides),
        cmocka_unit_test(resolutions_are_found),
        cmocka_unit_test(inches_are_the_default),
        cmocka_unit_test(thumbnails_are_dropped),
        cmocka_unit_test(thumbnails_in_strips_are_dropped),
        cmocka_unit_test(broken_thumbnails_are_dropped),
        cmocka_unit_test(thumbnails_spare_the_structure),
        cmocka_unit_test(piled_values_are_refused),
        cmocka_unit_test(damage_of_full_blobs_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
