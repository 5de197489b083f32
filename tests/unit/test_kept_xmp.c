/* XMP travels from format to format as it is, but for the orientation that it states, and IPTC from
 * JPEG to JPEG. */
#include "metadata_support.h"

#include "io/exif.h"

#define XMP_HEAD "http://ns.adobe.com/xap/1.0/\0"
#define ITXT_HEAD "XML:com.adobe.xmp\0\0\0\0\0"

enum { XMP_HEAD_BYTES = sizeof XMP_HEAD - 1, ITXT_HEAD_BYTES = sizeof ITXT_HEAD - 1 };

/* Each property that says the orientation, and what only looks like it. */
#define PACKET(n)                                                                                  \
    "<x><tiff:Orientation>" n "</tiff:Orientation><d tiff:Orientation='" n                         \
    "' tiff:Orientation = \"" n "\"/>tiff:Orientation=\"66\" tiff:Orientation=\"9\" "              \
    "tiff:OrientationOf=\"6\" exif:Orientation=\"6\" 6</x>\n<?xpacket end=\"w\"?>"

static const char stored[] = PACKET("6"), upright[] = PACKET("1");

/* A JPEG with EXIF that says this orientation, and a packet. */
static void write_jpeg(int orientation, const void *packet, size_t size)
{
    unsigned char exif[FULL_EXIF_BYTES];
    exif_kind kind = {.orientation = orientation, .side_types = {3, 4}, .resolution = {1, 1, 1, 1}};
    make_full_exif(exif, &kind);
    OWNED_BLOB whole = small_file(GCONV_FORMAT_JPEG, 3);
    if (size > 0) {
        OWNED_BLOB segment = {0};
        splice(&segment, 0, packet, size);
        splice(&segment, 0, XMP_HEAD, XMP_HEAD_BYTES);
        add_segment(&whole, 0xe1, (const char *)segment.bytes, segment.size);
    }
    add_exif_to_jpeg(&whole, exif, sizeof exif);
    save_file("in", whole.bytes, whole.size);
}

static void check_xmp(const gconv_reader *reader, const char *expected)
{
    const gconv_metadata *kept = gconv_reader_metadata(reader);
    assert_int_equal(kept->blobs[GC_XMP].size, strlen(expected));
    assert_memory_equal(kept->blobs[GC_XMP].bytes, expected, kept->blobs[GC_XMP].size);
}

TEST(xmp_is_kept_from_each_format_to_each)
{
    static const gconv_format formats[] = {GCONV_FORMAT_JPEG, GCONV_FORMAT_PNG,  GCONV_FORMAT_TIFF,
                                           GCONV_FORMAT_WEBP, GCONV_FORMAT_AVIF, GCONV_FORMAT_HEIC,
                                           GCONV_FORMAT_JXL};
    for (size_t from = 0; from < sizeof formats / sizeof *formats; from++)
        for (size_t to = 0; to < sizeof formats / sizeof *formats; to++) {
            if (!gconv_format_describe(formats[from])->writes ||
                !gconv_format_describe(formats[to])->writes)
                continue;
            write_jpeg(6, stored, sizeof stored - 1);
            OWNED_READER first = copy_with("in", formats[from], GCONV_KEEP_ALL, NULL);
            check_xmp(first, upright);
            OWNED_BLOB copy = load_file("copy");
            save_file("first", copy.bytes, copy.size);
            OWNED_READER second = copy_with("first", formats[to], GCONV_KEEP_ALL, NULL);
            check_xmp(second, upright);
            OWNED_READER without = copy_with("first", formats[to], GCONV_KEEP_RESOLUTION, NULL);
            assert_null(gconv_reader_metadata(without)->blobs[GC_XMP].bytes);
        }
}

/* Only pixels that have been turned change what the packet says. */
TEST(the_orientation_of_xmp_follows_the_pixels)
{
    static const gconv_format formats[] = {GCONV_FORMAT_JPEG, GCONV_FORMAT_PNG};
    for (int i = 0; i < 8; i++) {
        gconv_reader_options reading = as_stored();
        reading.auto_orient = i & 1;
        write_jpeg(i & 2 ? 6 : 1, stored, sizeof stored - 1);
        OWNED_READER reader = copy_with("in", formats[i >> 2], GCONV_KEEP_ALL, &reading);
        check_xmp(reader, i % 4 == 3 ? upright : stored);
    }
    /* Values that end with the packet. */
    static const char *const ends[] = {"tiff:Orientation", "tiff:Orientation=\"",
                                       "tiff:Orientation=\"6"};
    for (int i = 0; i < 3; i++) {
        write_jpeg(6, ends[i], strlen(ends[i]));
        OWNED_READER reader = copy_with("in", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
        check_xmp(reader, ends[i]);
    }
}

/* What has to be kept, and is not, fails under `whole`. `what` is NULL if nothing is lost. */
static void check_loss(const blob *file, const char *what)
{
    gconv_error error = {0};
    gconv_reader *reader = NULL;
    save_file("in", file->bytes, file->size);
    gconv_reader_options options = as_stored();
    options.whole = true;
    options.keep = GCONV_KEEP_ALL;
    gconv_status status = gconv_reader_open("in", &options, &reader, &error);
    for (uint32_t y = 0; status == GCONV_OK && y < 5; y++) {
        unsigned char row[256];
        status = gconv_reader_read(reader, 1, row, sizeof row, &error);
    }
    if (status == GCONV_OK)
        status = gconv_reader_finish(reader, &error);
    gconv_reader_free(reader);
    assert_int_equal(status, what == NULL ? GCONV_OK : GCONV_ERROR_FORMAT);
    if (what != NULL)
        assert_memory_equal(error.message, what, strlen(what));
}

TEST(xmp_of_a_png_is_lost_where_it_is_damaged_or_late)
{
    static const char text[] = ITXT_HEAD "<x/>";
    static const char unread[] =
        "XMP is compressed, damaged or larger than 8 MiB and would be lost";
    static const struct {
        size_t at; /* of a byte that is changed in the chunk's data */
        uint32_t damage;
        bool late;
        const char *what;
    } cases[] = {
        {sizeof text - 2, 0, false, NULL}, /* of the packet, which may be anything */
        {18, 0, false, unread},
        {20, 0, false, unread},
        {0, 1, false, unread},
        {0, 0, true, "the XMP chunk lies behind the image data and would be lost"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char changed[sizeof text];
        memcpy(changed, text, sizeof text);
        if (cases[i].at > 0)
            changed[cases[i].at] = 1;
        OWNED_BLOB png = small_file(GCONV_FORMAT_PNG, 3);
        insert_chunk(&png, cases[i].late ? png.size - 12 : 33, "iTXt", changed, sizeof text - 1,
                     cases[i].damage);
        check_loss(&png, cases[i].what);
    }
    OWNED_BLOB twice = small_file(GCONV_FORMAT_PNG, 3); /* the first one counts */
    insert_chunk(&twice, 33, "iTXt", ITXT_HEAD "<y/>", ITXT_HEAD_BYTES + 4, 0);
    insert_chunk(&twice, 33, "iTXt", text, sizeof text - 1, 0);
    check_loss(&twice, NULL);
    OWNED_READER reader = copy_with("in", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
    check_xmp(reader, "<x/>");
    static const char named[] = "XML:com.adobe.xmp\0\0\0x-default\0Daten\0<z/>";
    OWNED_BLOB tagged = small_file(GCONV_FORMAT_PNG, 3); /* a language, and the keyword in it */
    insert_chunk(&tagged, 33, "iTXt", named, sizeof named - 1, 0);
    check_loss(&tagged, NULL);
    OWNED_READER with_language = copy_with("in", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
    check_xmp(with_language, "<z/>");
    OWNED_BLOB large = small_file(GCONV_FORMAT_PNG, 3);
    OWNED_BLOB data = {.bytes = calloc(1, 9 << 20), .size = 9 << 20};
    assert_non_null(data.bytes);
    memcpy(data.bytes, ITXT_HEAD, ITXT_HEAD_BYTES);
    insert_chunk(&large, 33, "iTXt", data.bytes, data.size, 0);
    check_loss(&large, unread);
}

TEST(xmp_that_has_a_picture_or_more_segments_is_told)
{
    static const char more[] = "http://ns.adobe.com/xmp/extension/";
    static const char thumbnail[] = XMP_HEAD "<xmpGImg:image>/9j/</xmpGImg:image>";
    OWNED_BLOB jpeg = small_file(GCONV_FORMAT_JPEG, 3);
    add_segment(&jpeg, 0xe1, more, sizeof more);
    add_segment(&jpeg, 0xe1, more, sizeof more);
    check_loss(&jpeg, "XMP beyond one segment is not kept and would be lost");
    OWNED_BLOB with = small_file(GCONV_FORMAT_JPEG, 3);
    add_segment(&with, 0xe1, thumbnail, sizeof thumbnail - 1);
    check_loss(&with, "XMP with a thumbnail is not kept and would be lost");
}

TEST(iptc_is_kept_in_a_jpeg)
{
    static const char iptc[] = "Photoshop 3.0\0"
                               "8BIM\4\4\0\0\0\0\0\6\x1c\2\x05\0\1x";
    static const char other[] = "Adobe_CM";
    OWNED_BLOB jpeg = small_file(GCONV_FORMAT_JPEG, 3);
    add_segment(&jpeg, 0xed, iptc, sizeof iptc - 1);
    add_segment(&jpeg, 0xed, other, sizeof other);
    save_file("in", jpeg.bytes, jpeg.size);
    OWNED_READER kept = copy_with("in", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
    const gc_blob *resources = &gconv_reader_metadata(kept)->blobs[GC_IPTC];
    assert_int_equal(warnings, 0);
    assert_int_equal(resources->size, sizeof iptc - 1 - 14);
    assert_memory_equal(resources->bytes, iptc + 14, resources->size);
    OWNED_READER without = copy_with("in", GCONV_FORMAT_JPEG, GCONV_KEEP_RESOLUTION, NULL);
    assert_null(gconv_reader_metadata(without)->blobs[GC_IPTC].bytes);
    OWNED_READER png = copy_with("in", GCONV_FORMAT_PNG, GCONV_KEEP_ALL, NULL);
    assert_int_equal(warnings, 1);
    assert_null(gconv_reader_metadata(png)->blobs[GC_IPTC].bytes);
    for (int i = 0; i < 5; i++) {
        char resource[sizeof iptc];
        OWNED_BLOB lost = small_file(GCONV_FORMAT_JPEG, 3);
        memcpy(resource, iptc, sizeof iptc);
        resource[19] = "\x09\x0c\x22\x23\x24"[i];
        add_segment(&lost, 0xed, resource, sizeof iptc - 1);
        check_loss(&lost, "IPTC with a thumbnail, EXIF or XMP is not kept and would be lost");
    }
    for (int more = 1; more <= 2; more++) {
        add_segment(&jpeg, 0xed, iptc, sizeof iptc - 1);
        check_loss(&jpeg, "IPTC of more than one segment is not kept and would be lost");
        OWNED_READER several = copy_with("in", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
        assert_null(gconv_reader_metadata(several)->blobs[GC_IPTC].bytes);
    }
}

/* A segment of a JPEG has room for 65533 bytes. */
TEST(xmp_that_does_not_fit_a_jpeg_is_told)
{
    const size_t most = 65533 - XMP_HEAD_BYTES;
    for (size_t size = most; size <= most + 1; size++) {
        OWNED_BLOB text = {0};
        OWNED_BLOB png = small_file(GCONV_FORMAT_PNG, 3);
        char *packet = calloc(1, size);
        assert_non_null(packet);
        splice(&text, 0, packet, size);
        free(packet);
        splice(&text, 0, ITXT_HEAD, ITXT_HEAD_BYTES);
        insert_chunk(&png, 33, "iTXt", text.bytes, text.size, 0);
        save_file("in", png.bytes, png.size);
        OWNED_READER reader = copy_with("in", GCONV_FORMAT_JPEG, GCONV_KEEP_ALL, NULL);
        assert_int_equal(warnings, size > most);
        assert_int_equal(gconv_reader_metadata(reader)->blobs[GC_XMP].size, size > most ? 0 : size);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
