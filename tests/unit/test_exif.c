/* Orientation in EXIF blobs, whole and damaged. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_orientation),
        cmocka_unit_test(none_is_upright),
        cmocka_unit_test(wrong_values_are_broken),
        cmocka_unit_test(damage_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
