/* EXIF blobs, whole and damaged: orientation, resolution, sides, thumbnails. */
#include "exif_support.h"
#include "io_support.h"

#include "io/exif.h"

TEST(none_is_upright)
{
    unsigned char exif[EXIF_BYTES];
    unsigned char before[EXIF_BYTES];
    make_exif(exif, 6, false);
    exif[10] = 0x13; /* another tag */
    memcpy(before, exif, sizeof exif);
    assert_int_equal(gc_exif_orientation(exif, sizeof exif), 1);
    gc_exif_reset_orientation(exif, sizeof exif);
    assert_memory_equal(exif, before, sizeof exif);
}

/* An orientation of `count` values of a type; the first one is `value`, the others are 7. */
enum { TYPED_BYTES = EXIF_BYTES + 24 };

static void make_typed(unsigned char exif[TYPED_BYTES], int type, uint32_t count, uint32_t value,
                       bool big)
{
    static const int type_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8};
    int bytes = type_bytes[type];
    memset(exif, 0, TYPED_BYTES);
    make_exif(exif, 0, big);
    put_exif(exif + 12, (uint32_t)type, 2, big);
    put_exif(exif + 14, count, 4, big);
    memset(exif + 18, 0, 4);
    size_t at = 18;
    if (count * (uint32_t)bytes > 4)
        put_exif(exif + 18, (uint32_t)(at = EXIF_BYTES), 4, big);
    for (uint32_t i = 0; i < count; i++)
        put_exif(exif + at + i * (size_t)bytes, i == 0 ? value : 7, bytes < 4 ? bytes : 4, big);
}

static const int whole_types[] = {1, 3, 4, 6, 8, 9};

enum { WHOLE_TYPES = COUNT(whole_types) };

/* By TIFF 6.0 it is one SHORT. Others write other types and counts. */
TEST(every_whole_number_is_an_orientation)
{
    for (int i = 0; i < WHOLE_TYPES; i++)
        for (uint32_t count = 1; count <= 5; count++)
            for (uint32_t value = 2; value <= GC_ORIENTATION_COUNT; value++)
                for (int big = 0; big < 2; big++) {
                    unsigned char exif[TYPED_BYTES], expected[TYPED_BYTES];
                    make_typed(exif, whole_types[i], count, value, big);
                    assert_int_equal(gc_exif_orientation(exif, sizeof exif), value);
                    make_typed(expected, whole_types[i], 1, 1, big);
                    gc_exif_reset_orientation(exif, sizeof exif);
                    assert_memory_equal(exif, expected, EXIF_BYTES);
                }
}

static void assert_upright_and_left_alone(unsigned char exif[TYPED_BYTES])
{
    unsigned char before[TYPED_BYTES];
    memcpy(before, exif, TYPED_BYTES);
    assert_int_equal(gc_exif_orientation(exif, TYPED_BYTES), 1);
    gc_exif_reset_orientation(exif, TYPED_BYTES);
    assert_memory_equal(exif, before, TYPED_BYTES);
}

TEST(other_values_are_upright)
{
    static const uint32_t wrong[] = {0, 9, 255, 256, 0xffffffffu};
    unsigned char exif[TYPED_BYTES];
    for (int big = 0; big < 2; big++) {
        for (int i = 0; i < WHOLE_TYPES; i++)
            for (size_t k = 0; k < COUNT(wrong); k++) {
                make_typed(exif, whole_types[i], 1, wrong[k], big);
                assert_upright_and_left_alone(exif);
            }
        make_typed(exif, 2, 1, 6, big); /* a character */
        assert_upright_and_left_alone(exif);
        make_typed(exif, 5, 1, 6, big); /* a fraction */
        assert_upright_and_left_alone(exif);
        make_typed(exif, 3, 0, 6, big); /* no value */
        assert_upright_and_left_alone(exif);
        make_typed(exif, 4, 2, 6, big);
        put_exif(exif + 18, TYPED_BYTES - 4, 4, big); /* beyond the end */
        assert_upright_and_left_alone(exif);
        put_exif(exif + 18, 4, 4, big); /* the offset of the directory, which is 8 */
        assert_upright_and_left_alone(exif);
    }
}

/* ---- Blobs as cameras make them -------------------------------------------------------------- */

static exif_kind usual_kind(void)
{
    return (exif_kind){
        .orientation = 1, .side_types = {4, 4}, .resolution = {300, 1, 150, 1}, .unit = 2};
}

/* One of four: of each byte order, with the thumbnail inside and at the end. */
static exif_kind variant_of(int variant, int orientation)
{
    return WITH(usual_kind(), it.orientation = orientation, it.big_endian = variant & 1,
                it.inside = variant & 2);
}

/* Drops the thumbnail of a full blob, and nothing else. */
static void assert_dropped(unsigned char exif[FULL_EXIF_BYTES], int orientation)
{
    size_t size = FULL_EXIF_BYTES;
    assert_ok(gc_exif_drop_thumbnail(exif, &size));
    assert_int_equal(size, FULL_EXIF_KEPT);
    assert_null(memchr(exif, 'T', FULL_EXIF_BYTES));
    assert_int_equal(gc_exif_orientation(exif, size), orientation);
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

TEST(quarter_turns_exchange_sides)
{
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

TEST(resolutions_are_found)
{
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
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int big = 0; big < 2; big++) {
            unsigned char exif[FULL_EXIF_BYTES];
            exif_kind kind = variant_of(big, 1);
            memcpy(kind.resolution, cases[i].values, sizeof kind.resolution);
            kind.unit = cases[i].unit;
            make_full_exif(exif, &kind);
            gc_resolution found = gc_exif_resolution(exif, sizeof exif);
            assert_int_equal(found.unit, cases[i].found.unit);
            assert_int_equal(found.x, cases[i].found.x);
            assert_int_equal(found.y, cases[i].found.y);
        }
}

TEST(inches_are_the_default)
{
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
TEST(thumbnails_are_dropped)
{
    for (int variant = 0; variant < 4; variant++) {
        unsigned char exif[FULL_EXIF_BYTES];
        unsigned char expected[FULL_EXIF_BYTES];
        exif_kind kind = variant_of(variant, 1);
        make_full_exif(exif, &kind);
        memcpy(expected, exif, sizeof exif);
        memset(expected + 70, 0, 4);
        if (kind.inside)
            memset(expected + 90, 0, 172 - 90);
        size_t size = sizeof exif;
        assert_ok(gc_exif_drop_thumbnail(exif, &size));
        assert_int_equal(size, kind.inside ? FULL_EXIF_BYTES : FULL_EXIF_KEPT);
        assert_memory_equal(exif, expected, size);
        for (size_t i = size; i < sizeof exif; i++)
            assert_int_equal(exif[i], 0);
        assert_ok(gc_exif_drop_thumbnail(exif, &size));
        assert_int_equal(size, kind.inside ? FULL_EXIF_BYTES : FULL_EXIF_KEPT);
    }
}

/* Strips instead of JPEG: two pieces, given by arrays behind the directory. */
TEST(thumbnails_in_strips_are_dropped)
{
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
    assert_dropped(exif, 1);
    assert_int_equal(gc_exif_resolution(exif, FULL_EXIF_KEPT).x, 300);
}

/* A second directory that cannot be read, or that is part of a loop: every byte goes that the first
 * directory does not refer to. */
TEST(broken_thumbnails_are_dropped)
{
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
    for (size_t i = 0; i < COUNT(damages); i++) {
        unsigned char exif[FULL_EXIF_BYTES];
        exif_kind kind = usual_kind();
        make_full_exif(exif, &kind);
        put_exif(exif + damages[i].at, damages[i].value, damages[i].bytes, false);
        assert_dropped(exif, 1);
        assert_int_equal(gc_exif_resolution(exif, FULL_EXIF_KEPT).y, 150);
    }
}

/* A thumbnail that claims the whole blob as its own: header and directories stay. */
TEST(thumbnails_spare_the_structure)
{
    unsigned char exif[FULL_EXIF_BYTES];
    exif_kind kind = variant_of(0, 6);
    make_full_exif(exif, &kind);
    put_exif(exif + 122 + 12 + 8, 0, 4, false);
    put_exif(exif + 122 + 24 + 8, 0xffffffffu, 4, false);
    assert_dropped(exif, 6);
}

/* ---- Cut directories ------------------------------------------------------------------------- */

/* Mends a blob, drops its thumbnail, and compares it with another one. */
static void check_mended(const unsigned char *exif, size_t size, const unsigned char *expected,
                         size_t expected_bytes)
{
    unsigned char mended[FULL_EXIF_BYTES + GC_EXIF_ROOM_BYTES];
    memcpy(mended, exif, size);
    assert_int_equal(gc_exif_mend(mended, &size), GC_EXIF_CUT);
    assert_ok(gc_exif_drop_thumbnail(mended, &size));
    assert_int_equal(size, expected_bytes);
    assert_memory_equal(mended, expected, size);
}

/* The count is too large; all entries are there. */
TEST(wrong_counts_are_mended)
{
    for (int variant = 0; variant < 4; variant++) {
        unsigned char exif[FULL_EXIF_BYTES], expected[FULL_EXIF_BYTES];
        exif_kind kind = variant_of(variant, 6);
        make_full_exif(expected, &kind);
        memcpy(exif, expected, sizeof exif);
        put_exif(exif + 8, 0xfffe, 2, kind.big_endian);
        assert_int_equal(gc_exif_orientation(exif, sizeof exif), 6);
        size_t size = sizeof exif;
        assert_ok(gc_exif_drop_thumbnail(expected, &size));
        check_mended(exif, sizeof exif, expected, size);
    }
}

/* The blob ends within its directory, somewhere in the fourth entry: orientation and unit need
 * nothing behind it. The values of the entries between them are gone. */
TEST(cut_blobs_are_mended)
{
    for (size_t size = FULL_EXIF_ENTRIES + 48; size < FULL_EXIF_ENTRIES + 60; size++)
        for (int big = 0; big < 2; big++) {
            unsigned char exif[FULL_EXIF_BYTES];
            unsigned char expected[FULL_EXIF_ENTRIES + 28] = {0};
            exif_kind kind = variant_of(big, 6);
            make_full_exif(exif, &kind);
            memcpy(expected, exif, FULL_EXIF_ENTRIES + 12);
            memcpy(expected + FULL_EXIF_ENTRIES + 12, exif + FULL_EXIF_ENTRIES + 36, 12);
            put_exif(expected + 8, 2, 2, big);
            check_mended(exif, size, expected, sizeof expected);
        }
}

/* The blob ends right behind an entry, or in the offset of the next directory: there is more room
 * than was given. */
TEST(blobs_without_an_end_are_mended)
{
    for (size_t size = EXIF_BYTES - 4; size < EXIF_BYTES; size++) {
        unsigned char exif[EXIF_BYTES], expected[EXIF_BYTES];
        make_exif(expected, 8, true);
        memcpy(exif, expected, sizeof exif);
        exif[9] = 2;
        check_mended(exif, size, expected, EXIF_BYTES);
    }
}

TEST(what_has_no_whole_entry_is_broken)
{
    unsigned char exif[EXIF_BYTES + GC_EXIF_ROOM_BYTES] = {0};
    make_exif(exif, 8, true);
    size_t size = EXIF_BYTES - 5;
    assert_int_equal(gc_exif_mend(exif, &size), GC_EXIF_BROKEN);
    exif[3] = 43;
    size = EXIF_BYTES;
    assert_int_equal(gc_exif_mend(exif, &size), GC_EXIF_BROKEN);
    assert_int_equal(size, EXIF_BYTES);
}

/* Many entries that refer to the whole blob each: refused, and soon. */
TEST(piled_values_are_refused)
{
    enum { ENTRIES = 65535, SIZE = 8 << 20 };
    OWNED unsigned char *exif = calloc(1, SIZE);
    assert_non_null(exif);
    memcpy(exif, "II*\0\10\0\0\0\xff\xff", 10);
    for (size_t i = 0; i < ENTRIES; i++) {
        put_entry(exif + 10 + 12 * i, 0x8769, 4, 8, false);
        put_exif(exif + 10 + 12 * i + 4, i % 2 ? 1 : SIZE / 4, 4, false);
    }
    put_exif(exif + 10 + (size_t)12 * ENTRIES, 8, 4, false);
    size_t size = SIZE;
    assert_int_equal(gc_exif_drop_thumbnail(exif, &size), GCONV_ERROR_FORMAT);
}

/* What is mended is sound, and its thumbnail can be dropped. */
static void mend_everything(const unsigned char *whole, size_t size)
{
    OWNED unsigned char *part = malloc(size + GC_EXIF_ROOM_BYTES);
    assert_non_null(part);
    memcpy(part, whole, size);
    size_t mended = size;
    gc_exif_state state = gc_exif_mend(part, &mended);
    assert_in_range(mended, size, size + GC_EXIF_ROOM_BYTES);
    if (state != GC_EXIF_CUT)
        assert_memory_equal(part, whole, size);
    if (state == GC_EXIF_CUT && gc_exif_drop_thumbnail(part, &mended) == GCONV_OK)
        assert_int_equal(gc_exif_mend(part, &mended), GC_EXIF_SOUND);
}

static void use_everything(const unsigned char *whole, size_t size)
{
    OWNED unsigned char *part = malloc(size);
    assert_non_null(part);
    memcpy(part, whole, size);
    gc_exif_resolution(part, size);
    gc_exif_reset_orientation(part, size);
    size_t left = size;
    if (gc_exif_drop_thumbnail(part, &left) == GCONV_OK) {
        assert_in_range(left, 0, size);
        size_t again = left;
        assert_ok(gc_exif_drop_thumbnail(part, &again));
        assert_int_equal(again, left);
    }
    assert_in_range(gc_exif_orientation(part, left), 1, GC_ORIENTATION_COUNT);
    mend_everything(whole, size);
}

TEST(damage_is_harmless)
{
    unsigned char exif[FULL_EXIF_BYTES];
    assert_int_equal(gc_exif_orientation(NULL, 0), 1);
    for (int variant = 0; variant < 4; variant++) {
        exif_kind kind = variant_of(variant, 8);
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
