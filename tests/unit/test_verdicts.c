/* Each kind of damage, and what a reader must say of it: an error, a warning, or nothing. Errors
 * that became warnings would give wrong pixels in silence. */
#define _GNU_SOURCE /* memmem */
#include "damage_support.h"

/* ---- Files to damage ------------------------------------------------------------------------- */

enum { WIDTH = 13, HEIGHT = 11 };

/* Image data of so many rows of one byte a pixel, none filtered, compressed. */
static blob image_data(int rows)
{
    unsigned char raw[(WIDTH + 1) * (HEIGHT + 4)] = {0};
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < WIDTH; x++)
            raw[y * (WIDTH + 1) + 1 + x] = (unsigned char)((x + 3 * y) % 7);
    uLongf size = 1024;
    blob data = {malloc(1024), 0};
    assert_non_null(data.bytes);
    assert_int_equal(compress2(data.bytes, &size, raw, (uLong)(rows * (WIDTH + 1)), 9), Z_OK);
    data.size = size;
    return data;
}

/* IHDR, gAMA (PLTE and tRNS of a palette), IDAT, tEXt, IEND. */
static blob build_png(int rows, bool palette)
{
    unsigned char header[13] = {0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, 8};
    static const unsigned char colours[3 * 8] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    blob png = {malloc(8), 8};
    OWNED_BLOB data = image_data(rows);
    assert_non_null(png.bytes);
    memcpy(png.bytes, "\x89PNG\r\n\x1a\n", 8);
    header[9] = palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY;
    insert_chunk(&png, png.size, "IHDR", header, sizeof header, 0);
    insert_chunk(&png, png.size, "gAMA", "\0\0\xb1\x8f", 4, 0);
    if (palette) {
        insert_chunk(&png, png.size, "PLTE", colours, sizeof colours, 0);
        insert_chunk(&png, png.size, "tRNS", "\5\6", 2, 0);
    }
    insert_chunk(&png, png.size, "IDAT", data.bytes, data.size, 0);
    insert_chunk(&png, png.size, "tEXt", "Comment\0x", 9, 0);
    insert_chunk(&png, png.size, "IEND", "", 0, 0);
    return png;
}

typedef enum file_kind {
    PNG,
    PALETTE,
    TALL_PNG,  /* image data of more rows than the header says */
    SHORT_PNG, /* of fewer */
    INTERLACED,
    JPEG,
    RESTARTS,
    PROGRESSIVE,
    PGM,
    PPM
} file_kind;

static blob build_pnm(bool colour)
{
    OWNED_PICTURE source = make_picture(WIDTH, HEIGHT, colour ? 3 : 1, colour ? 16 : 8);
    must_write("sample", colour ? GCONV_FORMAT_PPM : GCONV_FORMAT_PGM, &source);
    return load_file("sample");
}

static blob build(file_kind kind)
{
    switch (kind) {
    case PNG:
    case PALETTE:
        return build_png(HEIGHT, kind == PALETTE);
    case TALL_PNG:
    case SHORT_PNG:
        return build_png(HEIGHT + (kind == TALL_PNG ? 3 : -3), false);
    case INTERLACED:
        return interlaced_png();
    case JPEG:
        return sample_jpeg(40, 3, false, 0, NULL, 0);
    case RESTARTS:
        return sample_jpeg(40, 3, false, 1, NULL, 0);
    case PROGRESSIVE:
        return sample_jpeg(40, 3, true, 0, NULL, 0);
    default:
        return build_pnm(kind == PPM);
    }
}

/* ---- Damage ---------------------------------------------------------------------------------- */

typedef enum deed {
    NOTHING,
    CRC,    /* of the chunk is made wrong */
    ADLER,  /* the last byte of the chunk is made another, its CRC right again */
    WRITE,  /* bytes over those that are there; the chunk's CRC is made right again */
    CUT,    /* the file ends here */
    REMOVE, /* bytes, as many as `size` */
    DROP,   /* the whole chunk */
    INSERT  /* bytes */
} deed;

typedef enum verdict { FINE, WARNS, DAMAGED, FAILS } verdict;

static const char *const verdict_names[] = {"fine", "warning", "let pass", "error"};

typedef struct damage {
    const char *name;
    file_kind kind;
    deed what;
    const char *place; /* a chunk's or marker's name; NULL is the end of the file, "" its start */
    int offset;        /* from the end of that name */
    const char *bytes;
    size_t size;
    verdict plain, tolerant;
} damage;

#define BYTES(text) text, sizeof(text) - 1

static size_t find_place(const blob *file, const damage *of)
{
    size_t at = file->size;
    size_t length = of->place != NULL ? strlen(of->place) : 0;
    if (of->place != NULL) {
        const unsigned char *found = memmem(file->bytes, file->size, of->place, length);
        assert_non_null(found);
        at = (size_t)(found - file->bytes) + length;
    }
    return at + (size_t)of->offset;
}

/* The chunk whose data begin at `data`. */
static size_t chunk_bytes(const blob *file, size_t data)
{
    const unsigned char *length = file->bytes + data - 8;
    return (size_t)length[2] << 8 | length[3];
}

static void mend_crc(blob *file, size_t data)
{
    size_t size = chunk_bytes(file, data);
    store_u32(file->bytes + data + size,
              (uint32_t)crc32(0, file->bytes + data - 4, (uInt)size + 4));
}

static void remove_bytes(blob *file, size_t at, size_t size)
{
    memmove(file->bytes + at, file->bytes + at + size, file->size - at - size);
    file->size -= size;
}

static void inflict(blob *file, const damage *of)
{
    bool png = of->kind <= INTERLACED;
    size_t at = find_place(file, of);
    size_t data = at - (size_t)of->offset;
    switch (of->what) {
    case NOTHING:
        break;
    case CRC:
        file->bytes[data + chunk_bytes(file, data)] ^= 1;
        break;
    case ADLER:
        file->bytes[data + chunk_bytes(file, data) - 1] ^= 1;
        mend_crc(file, data);
        break;
    case WRITE:
        memcpy(file->bytes + at, of->bytes, of->size);
        if (png && of->place != NULL && of->place[0] != '\0')
            mend_crc(file, data);
        break;
    case CUT:
        file->size = at;
        break;
    case REMOVE:
        remove_bytes(file, at, of->size);
        break;
    case DROP:
        remove_bytes(file, data - 8, chunk_bytes(file, data) + 12);
        break;
    case INSERT:
        splice(file, at, of->bytes, of->size);
        break;
    }
}

#define SOF "\xff\xc0"
#define SOF_PROGRESSIVE "\xff\xc2"
#define SOS "\xff\xda"
#define DQT "\xff\xdb"
#define SOI "\xff\xd8"

/* With and without --tolerant. */
static const damage damages[] = {
    {"none", PNG, NOTHING, "", 0, BYTES(""), FINE, FINE},
    {"none", PALETTE, NOTHING, "", 0, BYTES(""), FINE, FINE},
    {"none", INTERLACED, NOTHING, "", 0, BYTES(""), FINE, FINE},
    {"none", RESTARTS, NOTHING, "", 0, BYTES(""), FINE, FINE},
    {"none", PROGRESSIVE, NOTHING, "", 0, BYTES(""), FINE, FINE},
    {"none", PPM, NOTHING, "", 0, BYTES(""), FINE, FINE},
    /* Checksums. */
    {"CRC of IHDR", PNG, CRC, "IHDR", 0, BYTES(""), FAILS, FAILS},
    {"CRC of PLTE", PALETTE, CRC, "PLTE", 0, BYTES(""), FAILS, FAILS},
    {"CRC of IDAT", PNG, CRC, "IDAT", 0, BYTES(""), FAILS, FAILS},
    {"CRC of IDAT", INTERLACED, CRC, "IDAT", 0, BYTES(""), FAILS, FAILS},
    {"CRC of IEND", PNG, CRC, "IEND", 0, BYTES(""), FAILS, FAILS},
    {"CRC of gAMA", PNG, CRC, "gAMA", 0, BYTES(""), WARNS, WARNS},
    {"CRC of tEXt", PNG, CRC, "tEXt", 0, BYTES(""), WARNS, WARNS},
    {"Adler-32", PNG, ADLER, "IDAT", 0, BYTES(""), FAILS, FAILS},
    {"a byte of the image data", INTERLACED, ADLER, "IDAT", 0, BYTES(""), FAILS, FAILS},
    /* Chunks. */
    {"a bit depth of 3", PNG, WRITE, "IHDR", 8, BYTES("\3"), FAILS, FAILS},
    {"colour type 1", PNG, WRITE, "IHDR", 9, BYTES("\1"), FAILS, FAILS},
    {"compression 1", PNG, WRITE, "IHDR", 10, BYTES("\1"), FAILS, FAILS},
    {"filter method 1", PNG, WRITE, "IHDR", 11, BYTES("\1"), FAILS, FAILS},
    {"interlacing 2", PNG, WRITE, "IHDR", 12, BYTES("\2"), FAILS, FAILS},
    {"a width of 0", PNG, WRITE, "IHDR", 3, BYTES("\0"), FAILS, FAILS},
    {"no IHDR", PNG, DROP, "IHDR", 0, BYTES(""), FAILS, FAILS},
    {"no PLTE", PALETTE, DROP, "PLTE", 0, BYTES(""), FAILS, FAILS},
    {"no IDAT", PNG, DROP, "IDAT", 0, BYTES(""), FAILS, FAILS},
    {"no IEND", PNG, DROP, "IEND", 0, BYTES(""), FAILS, DAMAGED},
    {"an unknown critical chunk", PNG, WRITE, "gAMA", -4, BYTES("GAMA"), FAILS, FAILS},
    {"a second IHDR", PNG, INSERT, "gAMA", 8,
     BYTES("\0\0\0\xdIHDR\0\0\0\1\0\0\0\1\x8\0\0\0\0\x3a\x7e\x9b\x55"), FAILS, FAILS},
    {"a length that PNG does not allow", PNG, WRITE, "gAMA", -8, BYTES("\xff"), FAILS, FAILS},
    /* Image data. */
    {"a bad Huffman code", PNG, WRITE, "IDAT", 2, BYTES("\x1b\x3"), FAILS, FAILS},
    {"a block of type 3", PNG, WRITE, "IDAT", 2, BYTES("\7"), FAILS, FAILS},
    {"a bad zlib header", PNG, WRITE, "IDAT", 0, BYTES("\x79"), FAILS, FAILS},
    {"too much image data", TALL_PNG, NOTHING, "", 0, BYTES(""), WARNS, WARNS},
    {"too little image data", SHORT_PNG, NOTHING, "", 0, BYTES(""), FAILS, DAMAGED},
    /* The end too early. */
    {"cut in the signature", PNG, CUT, "", 5, BYTES(""), FAILS, FAILS},
    {"cut in IHDR", PNG, CUT, "IHDR", 5, BYTES(""), FAILS, FAILS},
    {"cut before the CRC of IHDR", PNG, CUT, "IHDR", 13, BYTES(""), FAILS, FAILS},
    {"cut before IDAT", PNG, CUT, "IDAT", -8, BYTES(""), FAILS, FAILS},
    {"cut before its data", PNG, CUT, "IDAT", 0, BYTES(""), FAILS, DAMAGED},
    {"cut in IDAT", PNG, CUT, "IDAT", 20, BYTES(""), FAILS, DAMAGED},
    {"cut in IDAT", INTERLACED, CUT, "IDAT", 40, BYTES(""), FAILS, DAMAGED},
    {"cut in the CRC of IDAT", PNG, CUT, "tEXt", -10, BYTES(""), FAILS, DAMAGED},
    {"cut behind IDAT", PNG, CUT, "tEXt", -8, BYTES(""), FAILS, DAMAGED},
    {"cut in tEXt", PNG, CUT, "tEXt", 3, BYTES(""), FAILS, DAMAGED},
    {"cut in IEND", PNG, CUT, "IEND", 0, BYTES(""), FAILS, DAMAGED},
    {"cut in the last byte", PNG, CUT, NULL, -1, BYTES(""), FAILS, DAMAGED},
    {"bytes behind the end", PNG, INSERT, NULL, 0, BYTES("more"), WARNS, WARNS},
    /* JPEG: the header. */
    {"12 bits", JPEG, WRITE, SOF, 2, BYTES("\14"), FAILS, FAILS},
    {"a height of 0 (DNL)", JPEG, WRITE, SOF, 3, BYTES("\0\0"), FAILS, FAILS},
    {"a width of 0", JPEG, WRITE, SOF, 5, BYTES("\0\0"), FAILS, FAILS},
    {"no components", JPEG, WRITE, SOF, 7, BYTES("\0"), FAILS, FAILS},
    {"a sampling factor of 0", JPEG, WRITE, SOF, 9, BYTES("\1"), FAILS, FAILS},
    {"a sampling factor of 5", JPEG, WRITE, SOF, 9, BYTES("\x51"), FAILS, FAILS},
    {"lossless", JPEG, WRITE, SOF, -1, BYTES("\xc3"), FAILS, FAILS},
    {"hierarchical", JPEG, WRITE, SOF, -1, BYTES("\xc5"), FAILS, FAILS},
    {"lossless, arithmetic", JPEG, WRITE, SOF, -1, BYTES("\xcb"), FAILS, FAILS},
    {"a second SOI", JPEG, INSERT, SOI, 0, BYTES(SOI), FAILS, FAILS},
    {"a quantization table that is not there", JPEG, WRITE, SOF, 10, BYTES("\3"), FAILS, FAILS},
    {"a component that is not there", JPEG, WRITE, SOS, 3, BYTES("\x77"), FAILS, FAILS},
    {"bytes between segments", JPEG, INSERT, DQT, -2, BYTES("junk"), FAILS, DAMAGED},
    {"bytes between segments", PROGRESSIVE, INSERT, DQT, -2, BYTES("junk"), FAILS, DAMAGED},
    {"cut in the header", JPEG, CUT, SOF, 6, BYTES(""), FAILS, FAILS},
    {"cut in SOS", JPEG, CUT, SOS, 5, BYTES(""), FAILS, FAILS},
    /* JPEG: the image data. */
    {"a bad Huffman code", JPEG, INSERT, SOS, 40, BYTES("\xff\0\xff\0\xff\0\xff\0"), FAILS, FAILS},
    {"a bad Huffman code", PROGRESSIVE, INSERT, SOS, 30, BYTES("\xff\0\xff\0\xff\0\xff\0"), FAILS,
     FAILS},
    {"a renumbered restart marker", RESTARTS, WRITE, "\xff\xd0", -1, BYTES("\xd5"), FAILS, FAILS},
    {"a missing restart marker", RESTARTS, REMOVE, "\xff\xd0", -2, "", 2, FAILS, FAILS},
    {"bytes behind the image data", JPEG, INSERT, NULL, -2, BYTES("some more"), FAILS, DAMAGED},
    {"bytes behind the image data", PROGRESSIVE, INSERT, NULL, -2, BYTES("some more"), FAILS,
     DAMAGED},
    {"bytes behind the first scan", PROGRESSIVE, INSERT, SOS, 0, BYTES("\0\0"), FAILS, FAILS},
    {"a second SOI for EOI", JPEG, WRITE, NULL, -2, BYTES(SOI), FAILS, DAMAGED},
    {"a second SOI for EOI", RESTARTS, WRITE, NULL, -2, BYTES(SOI), FAILS, DAMAGED},
    {"a second SOI for EOI", PROGRESSIVE, WRITE, NULL, -2, BYTES(SOI), FAILS, DAMAGED},
    {"cut in the image data", JPEG, CUT, SOS, 60, BYTES(""), FAILS, DAMAGED},
    {"cut in the image data", RESTARTS, CUT, "\xff\xd0", 20, BYTES(""), FAILS, DAMAGED},
    {"cut behind a restart marker", RESTARTS, CUT, "\xff\xd0", 0, BYTES(""), FAILS, DAMAGED},
    {"cut in the first scan", PROGRESSIVE, CUT, SOS, 20, BYTES(""), FAILS, DAMAGED},
    {"no EOI", JPEG, CUT, NULL, -2, BYTES(""), FAILS, DAMAGED},
    {"no EOI", PROGRESSIVE, CUT, NULL, -2, BYTES(""), FAILS, DAMAGED},
    {"half of EOI", JPEG, CUT, NULL, -1, BYTES(""), FAILS, DAMAGED},
    {"EOI in the image data", JPEG, INSERT, SOS, 60, BYTES("\xff\xd9"), FAILS, DAMAGED},
    {"bytes behind EOI", JPEG, INSERT, NULL, 0, BYTES("more"), WARNS, WARNS},
    /* PNM. */
    {"cut in the header", PGM, CUT, "P5\n1", 0, BYTES(""), FAILS, FAILS},
    {"cut behind the header", PGM, CUT, "255\n", 0, BYTES(""), FAILS, DAMAGED},
    {"cut in the image data", PPM, CUT, NULL, -100, BYTES(""), FAILS, DAMAGED},
    {"cut in the last sample", PPM, CUT, NULL, -1, BYTES(""), FAILS, DAMAGED},
    {"a sample above the maximum", PGM, WRITE, "255", -3, BYTES("100"), FAILS, FAILS},
    {"a maximum of 0", PGM, WRITE, "255", -3, BYTES("000"), FAILS, FAILS},
    {"no number", PGM, WRITE, "255", -3, BYTES("x55"), FAILS, FAILS},
    {"bytes behind the end", PGM, INSERT, NULL, 0, BYTES("more"), WARNS, WARNS},
};

/* ---- Verdicts -------------------------------------------------------------------------------- */

static void judge(const damage *of, bool tolerant, const picture *whole, const blob *file)
{
    OWNED_PICTURE result = {0};
    gconv_error error;
    gconv_status status = read_bytes(file->bytes, file->size, tolerant, &result, &error);
    verdict wanted = tolerant ? of->tolerant : of->plain;
    verdict got = status != GCONV_OK ? FAILS
                  : damage_seen > 0  ? DAMAGED
                  : seen.count > 0   ? WARNS
                                     : FINE;
    if (got != wanted)
        print_error("%s, file %d%s: %s instead of %s: '%s'\n", of->name, (int)of->kind,
                    tolerant ? ", tolerant" : "", verdict_names[got], verdict_names[wanted],
                    status != GCONV_OK ? error.message : seen.last);
    assert_true(got == wanted);
    if (got == FAILS) {
        assert_int_equal(status, GCONV_ERROR_FORMAT);
        assert_true(error.message[0] != '\0');
        return;
    }
    if (got != DAMAGED && whole != NULL)
        assert_same_picture(&result, whole);
}

TEST(every_damage_has_its_verdict)
{
    for (size_t i = 0; i < COUNT(damages); i++) {
        const damage *of = &damages[i];
        OWNED_PICTURE whole;
        file_kind healthy = of->kind == TALL_PNG || of->kind == SHORT_PNG ? PNG : of->kind;
        blob file = build(healthy);
        assert_ok(read_bytes(file.bytes, file.size, false, &whole, &error));
        free(file.bytes);
        file = build(of->kind);
        inflict(&file, of);
        judge(of, false, &whole, &file);
        judge(of, true, &whole, &file);
        free(file.bytes);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
