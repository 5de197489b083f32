/* EXIF in a copy agrees with the copy's pixels; a warning tells what a copy leaves out. */
#include "metadata_support.h"

#include "io/exif.h"

static exif_kind camera_kind(int orientation)
{
    return (exif_kind){.big_endian = true,
                       .orientation = orientation,
                       .side_types = {3, 4},
                       .resolution = {254, 1, 127, 1},
                       .unit = 2};
}

/* An image of 9 x 5 with a full blob, and with the container's own resolution or without. */
static void write_camera_image(gconv_format format, const exif_kind *kind, bool own_resolution)
{
    unsigned char exif[FULL_EXIF_BYTES];
    make_full_exif(exif, kind);
    OWNED_BLOB whole = small_file(format, 3);
    if (format == GCONV_FORMAT_PNG) {
        add_chunk(&whole, "eXIf", exif, sizeof exif);
        if (own_resolution)
            add_chunk(&whole, "pHYs", "\0\0\x03\xe8\0\0\x03\xe8\1", 9); /* 1000 a metre */
    } else {
        assert_memory_equal(whole.bytes + 6, "JFIF", 4);
        whole.bytes[13] = own_resolution ? 2 : 0; /* 10 a centimetre */
        whole.bytes[15] = whole.bytes[17] = own_resolution ? 10 : 1;
        add_exif_to_jpeg(&whole, exif, sizeof exif);
    }
    save_file("camera", whole.bytes, whole.size);
}

TEST(exif_resolution_serves_where_there_is_no_other)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    gconv_reader_options reading = as_grey();
    for (int i = 0; i < 16; i++) {
        exif_kind kind = camera_kind(i & 1 ? 6 : 1);
        gconv_format to = formats[i >> 1 & 1];
        bool own = i & 8;
        write_camera_image(formats[i >> 2 & 1], &kind, own);
        OWNED_READER reader = copy_with("camera", to, GCONV_KEEP_RESOLUTION, &reading);
        gc_resolution kept = gconv_reader_metadata(reader)->resolution;
        assert_null(gconv_reader_metadata(reader)->blobs[GC_EXIF].bytes);
        assert_int_not_equal(kept.unit, GC_RESOLUTION_NONE);
        assert_int_not_equal(kept.unit, GC_RESOLUTION_RATIO);
        kept = gc_resolution_convert(kept, GC_RESOLUTION_PER_CENTIMETRE, UINT32_MAX);
        assert_int_equal(kept.x, own ? 10 : i & 1 ? 50 : 100);
        assert_int_equal(kept.y, own ? 10 : i & 1 ? 100 : 50);
    }
}

/* No byte of the thumbnail is in the copy, and what is kept agrees with the pixels. */
static void check_camera_copy(const gconv_reader *reader, const exif_kind *kind, bool turned)
{
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    unsigned char expected[FULL_EXIF_BYTES];
    exif_kind after = *kind;
    if (turned) {
        after.orientation = 1;
        after.side_types[0] = kind->side_types[1];
        after.side_types[1] = kind->side_types[0];
    }
    make_full_exif(expected, &after);
    if (turned) {
        put_exif(expected + FULL_EXIF_ENTRIES + 12 + 8, 82, 4, true);
        put_exif(expected + FULL_EXIF_ENTRIES + 24 + 8, 74, 4, true);
        put_entry(expected + 92, 0xa002, after.side_types[0], FULL_EXIF_HEIGHT, true);
        memset(expected + 104 + 8, 0, 4);
        put_entry(expected + 104, 0xa003, after.side_types[1], FULL_EXIF_WIDTH, true);
    }
    memset(expected + 70, 0, 4);
    assert_int_equal(kept->blobs[GC_EXIF].size, FULL_EXIF_KEPT);
    assert_memory_equal(kept->blobs[GC_EXIF].bytes, expected, FULL_EXIF_KEPT);
    OWNED_BLOB copy = load_file("copy");
    for (size_t i = 0; i + 4 <= copy.size; i++)
        assert_memory_not_equal(copy.bytes + i, "TTTT", 4);
}

TEST(kept_exif_agrees_with_the_pixels)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    for (int i = 0; i < 4; i++)
        for (int orientation = 1; orientation <= GC_ORIENTATION_COUNT; orientation++) {
            exif_kind kind = camera_kind(orientation);
            gconv_reader_options reading = as_stored();
            reading.auto_orient = i & 1;
            if (reading.auto_orient && orientation > 1 && orientation < 5)
                continue; /* only the orientation changes: test_exif has it */
            write_camera_image(formats[i >> 1], &kind, false);
            OWNED_READER reader = copy_with("camera", formats[i >> 1], GCONV_KEEP_ALL, &reading);
            assert_int_equal(warnings, 0);
            check_camera_copy(reader, &kind, reading.auto_orient && orientation >= 5);
        }
}

/* Comments are not kept, and IPTC in a JPEG alone. A warning says so where everything was to be
 * kept, and only there. */
TEST(what_is_not_kept_is_told)
{
    static const char iptc[] = "Photoshop 3.0\0"
                               "8BIM";
    for (int present = 0; present < 4; present++)
        for (int keep = GCONV_KEEP_NOTHING; keep <= GCONV_KEEP_ALL; keep++) {
            exif_kind kind = camera_kind(1);
            write_camera_image(GCONV_FORMAT_JPEG, &kind, true);
            OWNED_BLOB whole = load_file("camera");
            if (present & 1)
                add_segment(&whole, 0xed, iptc, sizeof iptc);
            if (present & 2)
                add_segment(&whole, 0xfe, "", 0);
            save_file("camera", whole.bytes, whole.size);
            OWNED_READER reader = copy_with("camera", GCONV_FORMAT_PNG, (gconv_keep)keep, NULL);
            int expected = (present & 1) + (present >> 1);
            assert_int_equal(warnings, keep == GCONV_KEEP_ALL ? expected : 0);
            assert_int_equal(gconv_reader_metadata(reader)->blobs[GC_EXIF].bytes != NULL,
                             keep == GCONV_KEEP_ALL);
        }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
