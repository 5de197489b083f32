/* Profiles, colour chunks and resolution reach the copy of an image as they were. */
#include "metadata_support.h"

#include "io/exif.h"

/* A PNG with resolution, EXIF (orientation 6), and either an ICC profile or colour chunks. */
static void write_rich_png(int channels, const char *space)
{
    OWNED_BLOB whole = small_file(GCONV_FORMAT_PNG, channels);
    unsigned char exif[EXIF_BYTES];
    make_exif(exif, 6, false);
    if (space != NULL) {
        unsigned char icc[ICC_BYTES];
        unsigned char chunk[512] = "name\0";
        uLongf size = sizeof chunk - 6;
        make_icc(icc, space);
        compress(chunk + 6, &size, icc, sizeof icc);
        add_chunk(&whole, "iCCP", chunk, size + 6);
    } else {
        add_chunk(&whole, "sRGB", "\1", 1);
    }
    add_chunk(&whole, "gAMA", "\0\0\xb1\x8f", 4);
    add_chunk(&whole, "pHYs", "\0\0\x0b\x13\0\0\x17\x26\1", 9); /* 2835 and 5926 a metre */
    add_chunk(&whole, "eXIf", exif, sizeof exif);
    save_file("rich.png", whole.bytes, whole.size);
}

TEST(png_metadata_are_kept)
{
    write_rich_png(3, "RGB ");
    OWNED_READER reader = copy_with("rich.png", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    assert_int_equal(warnings, 0);
    assert_int_equal(kept->blobs[GC_ICC].size, ICC_BYTES);
    assert_int_equal(kept->gamma, 45455);
    assert_int_equal(kept->resolution.unit, GC_RESOLUTION_PER_METRE);
    assert_int_equal(kept->resolution.x, 5926); /* orientation 6 swaps the axes */
    assert_int_equal(kept->resolution.y, 2835);
    assert_int_equal(kept->blobs[GC_EXIF].size, EXIF_BYTES);
    assert_int_equal(gc_exif_orientation(kept->blobs[GC_EXIF].bytes, kept->blobs[GC_EXIF].size), 1);
    write_rich_png(3, NULL);
    OWNED_READER other = copy_with("rich.png", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
    assert_true(gconv_reader_metadata(other)->has_srgb);
    assert_int_equal(gconv_reader_metadata(other)->srgb_intent, 1);
}

/* Pixels with sides of 2 to 3 and no unit: PNG and JPEG can both say that. It must stay a ratio. */
TEST(pixels_that_are_not_square_stay_so)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    OWNED_BLOB file = small_file(GCONV_FORMAT_PNG, 3);
    add_chunk(&file, "pHYs", "\0\0\0\2\0\0\0\3\0", 9);
    save_file("ratio.png", file.bytes, file.size);
    for (int f = 0; f < 2; f++) {
        OWNED_READER reader = copy_with("ratio.png", formats[f], GCONV_KEEP_ALL, NULL);
        const gconv_metadata *kept = gconv_reader_metadata(reader);
        assert_int_equal(warnings, 0);
        assert_int_equal(kept->resolution.unit, GC_RESOLUTION_RATIO);
        assert_int_equal(kept->resolution.x, 2);
        assert_int_equal(kept->resolution.y, 3);
    }
}

/* Each colour chunk is kept as it is, beside the others and alone. */
TEST(colour_chunks_are_kept)
{
    static const int32_t adobe_rgb[GC_CHROMATICITY_COUNT] = {31270, 32900, 64000, 33000,
                                                             21000, 71000, 15000, 6000};
    for (int chunks = 0; chunks < 4; chunks++) {
        bool gamma = (chunks & 1) != 0, chromaticities = (chunks & 2) != 0;
        unsigned char bytes[4 * GC_CHROMATICITY_COUNT];
        for (size_t i = 0; i < GC_CHROMATICITY_COUNT; i++)
            store_u32(bytes + 4 * i, (uint32_t)adobe_rgb[i]);
        OWNED_BLOB file = small_file(GCONV_FORMAT_PNG, 3);
        if (gamma)
            add_chunk(&file, "gAMA", "\0\0\xb1\x8e", 4); /* 45454 */
        if (chromaticities)
            add_chunk(&file, "cHRM", bytes, sizeof bytes);
        save_file("chunks.png", file.bytes, file.size);
        OWNED_READER reader = copy_with("chunks.png", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
        const gconv_metadata *kept = gconv_reader_metadata(reader);
        assert_int_equal(warnings, 0);
        assert_int_equal(kept->has_gamma, gamma);
        assert_int_equal(kept->gamma, gamma ? 45454 : 0);
        assert_int_equal(kept->has_chromaticities, chromaticities);
        for (size_t i = 0; chromaticities && i < GC_CHROMATICITY_COUNT; i++)
            assert_int_equal(kept->chromaticities[i], adobe_rgb[i]);
        assert_false(kept->has_srgb);
    }
}

TEST(orientation_is_left_where_asked)
{
    gconv_reader_options reading = as_stored();
    reading.auto_orient = false;
    write_rich_png(1, "GRAY");
    OWNED_READER reader = copy_with("rich.png", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, &reading);
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    assert_int_equal(warnings, 0);
    assert_int_equal(gc_exif_orientation(kept->blobs[GC_EXIF].bytes, kept->blobs[GC_EXIF].size), 6);
    assert_int_equal(kept->blobs[GC_ICC].size, ICC_BYTES);
    assert_int_equal(kept->resolution.unit, GC_RESOLUTION_PER_INCH);
    assert_int_equal(kept->resolution.x, 72);
    assert_int_equal(kept->resolution.y, 151);
}

TEST(keep_limits_what_is_kept)
{
    static const gconv_format formats[] = {GCONV_FORMAT_PNG, GCONV_FORMAT_JPEG};
    write_rich_png(3, "RGB ");
    for (int f = 0; f < 2; f++)
        for (int keep = GCONV_KEEP_NOTHING; keep <= GCONV_KEEP_RESOLUTION; keep++) {
            OWNED_READER reader = copy_with("rich.png", formats[f], (gconv_keep)keep, NULL);
            const gconv_metadata *kept = gconv_reader_metadata(reader);
            assert_null(kept->blobs[GC_ICC].bytes);
            assert_null(kept->blobs[GC_EXIF].bytes);
            assert_false(kept->has_gamma);
            assert_int_equal(kept->resolution.unit != GC_RESOLUTION_NONE,
                             keep == GCONV_KEEP_RESOLUTION);
        }
}

/* Alpha is no colour: a grey profile fits images of one and two channels, an RGB one three and
 * four. */
TEST(fitting_profiles_are_kept)
{
    for (int channels = 1; channels <= 4; channels++) {
        write_rich_png(channels, channels <= 2 ? "GRAY" : "RGB ");
        OWNED_READER reader = copy_with("rich.png", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
        assert_int_equal(warnings, 0);
        assert_int_equal(gconv_reader_metadata(reader)->blobs[GC_ICC].size, ICC_BYTES);
    }
}

/* Many a picture has an old profile of sRGB that libpng knows by its identifier, and warns of. */
TEST(a_profile_that_libpng_knows_is_written_without_a_word)
{
    static const uint32_t identifier[] = {0x29f83dde, 0xaff255ae, 0x7842fae4, 0xca83390d};
    unsigned char icc[3048] = {0}, chunk[1024] = "name\0";
    uLongf size = sizeof chunk - 6;
    OWNED_BLOB png = small_file(GCONV_FORMAT_PNG, 3);
    make_icc(icc, "RGB ");
    store_u32(icc, sizeof icc);
    for (size_t i = 0; i < 4; i++)
        store_u32(icc + 84 + 4 * i, identifier[i]);
    assert_int_equal(compress(chunk + 6, &size, icc, sizeof icc), Z_OK);
    add_chunk(&png, "iCCP", chunk, size + 6);
    save_file("known.png", png.bytes, png.size);
    OWNED_READER reader = copy_with("known.png", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
    assert_int_equal(warnings, 0);
    assert_int_equal(gconv_reader_metadata(reader)->blobs[GC_ICC].size, sizeof icc);
}

TEST(unfitting_profiles_are_dropped)
{
    gconv_reader_options reading = as_grey();
    write_rich_png(3, "RGB ");
    OWNED_READER reader = copy_with("rich.png", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, &reading);
    assert_int_equal(warnings, 1);
    assert_null(gconv_reader_metadata(reader)->blobs[GC_ICC].bytes);
}

/* A profile in `parts` segments, before those that are there. The last byte is `mark`. */
static void add_profile(blob *jpeg, size_t parts, unsigned char mark)
{
    unsigned char icc[ICC_BYTES];
    char segment[14 + ICC_BYTES] = "ICC_PROFILE";
    make_icc(icc, "RGB ");
    icc[ICC_BYTES - 1] = mark;
    for (size_t part = parts; part > 0; part--) {
        size_t from = ICC_BYTES * (part - 1) / parts, size = ICC_BYTES * part / parts - from;
        segment[12] = (char)part;
        segment[13] = (char)parts;
        memcpy(segment + 14, icc + from, size);
        add_segment(jpeg, 0xe2, segment, 14 + size);
    }
}

/* Some programs store the whole profile again, or another one behind it. The first one counts. */
TEST(the_first_of_two_profiles_is_kept)
{
    for (size_t first = 1; first <= 3; first++)
        for (size_t second = 0; second <= 3; second++) {
            OWNED_BLOB whole = small_file(GCONV_FORMAT_JPEG, 3);
            if (second > 0)
                add_profile(&whole, second, 2);
            add_profile(&whole, first, 1);
            save_file("twice.jpg", whole.bytes, whole.size);
            OWNED_READER reader = copy_with("twice.jpg", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
            const gconv_metadata *kept = gconv_reader_metadata(reader);
            unsigned char expected[ICC_BYTES];
            make_icc(expected, "RGB ");
            expected[ICC_BYTES - 1] = 1;
            assert_int_equal(warnings, 0);
            assert_int_equal(kept->blobs[GC_ICC].size, ICC_BYTES);
            assert_memory_equal(kept->blobs[GC_ICC].bytes, expected, ICC_BYTES);
        }
}

TEST(large_exif_does_not_fit_a_jpeg)
{
    enum { LARGE = 65533 - 6 + 1 };
    for (size_t size = LARGE - 1; size <= LARGE; size++) {
        OWNED_BLOB whole = small_file(GCONV_FORMAT_PNG, 1);
        OWNED unsigned char *exif = calloc(1, size);
        assert_non_null(exif);
        make_exif(exif, 1, true);
        add_chunk(&whole, "eXIf", exif, size);
        save_file("large.png", whole.bytes, whole.size);
        OWNED_READER reader = copy_with("large.png", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
        assert_int_equal(warnings, size == LARGE);
        assert_int_equal(gconv_reader_metadata(reader)->blobs[GC_EXIF].size,
                         size == LARGE ? 0 : size);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
