/* The header of a JPEG as devices that decode need it: files that pass, and one file for every
 * reason to reject it. What is read from headers is what libjpeg reads. */

#include "unit.h"

#include "jpeg/samples.h"
#include "jpeg/sound.h"

/* ---- Files of bytes -------------------------------------------------------------------------- */

/* Judges a copy with nothing readable behind it, so that a sanitizer sees reads beyond. */
static bool is_sound(const jpeg_file *file, jpeg_verdict *verdict)
{
    OWNED unsigned char *copy = malloc(file->size > 0 ? file->size : 1);
    assert_non_null(copy);
    memcpy(copy, file->bytes, file->size);
    return jpeg_is_sound(copy, file->size, verdict);
}

static void insert(jpeg_file *file, size_t at, const void *bytes, size_t count)
{
    file->bytes = realloc(file->bytes, file->size + count);
    assert_non_null(file->bytes);
    memmove(file->bytes + at + count, file->bytes + at, file->size - at);
    memcpy(file->bytes + at, bytes, count);
    file->size += count;
}

static void cut_out(jpeg_file *file, size_t at, size_t count)
{
    memmove(file->bytes + at, file->bytes + at + count, file->size - at - count);
    file->size -= count;
}

/* The offset of the first such marker. */
static size_t find_marker(const jpeg_file *file, int marker)
{
    size_t at = 2;
    while (file->bytes[at] != 0xff || file->bytes[at + 1] != marker) {
        at++;
        assert_true(at + 1 < file->size);
    }
    return at;
}

static size_t segment_bytes(const jpeg_file *file, size_t at)
{
    return 2u + (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3]);
}

/* ---- Sound files ----------------------------------------------------------------------------- */

static void assert_sound(const jpeg_recipe *recipe)
{
    jpeg_verdict verdict;
    OWNED_JPEG file = jpeg_sample(recipe);
    if (!is_sound(&file, &verdict))
        fail_msg("%u x %u, quality %d, factors %d x %d, restart %d, pattern %d: %s", recipe->width,
                 recipe->height, recipe->quality, recipe->across, recipe->down, recipe->restart,
                 (int)recipe->pattern, verdict.reason);
    assert_int_equal(verdict.picture.width, recipe->width);
    assert_int_equal(verdict.picture.height, recipe->height);
    assert_int_equal(verdict.picture.components, recipe->stored == JCS_GRAYSCALE ? 1 : 3);
    assert_int_equal(verdict.picture.sampling_x, recipe->across);
    assert_int_equal(verdict.picture.sampling_y, recipe->down);
    assert_int_equal(verdict.layout.restart_interval, recipe->restart);
    size_t scan = find_marker(&file, 0xda);
    assert_int_equal(verdict.layout.data, scan + segment_bytes(&file, scan));
    assert_int_equal(verdict.bytes, file.size);
}

static void assert_kinds_sound(jpeg_recipe recipe)
{
    static const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}};
    recipe.stored = JCS_GRAYSCALE;
    recipe.across = recipe.down = 1;
    assert_sound(&recipe);
    recipe.stored = JCS_YCbCr;
    for (size_t i = 0; i < 3; i++) {
        recipe.across = factors[i][0];
        recipe.down = factors[i][1];
        assert_sound(&recipe);
    }
}

TEST(sound_at_every_quality)
{
    static const int qualities[] = {1, 5, 20, 50, 75, 90, 97, 100};
    for (size_t i = 0; i < COUNT(qualities); i++)
        for (int pattern = 0; pattern < JPEG_PATTERNS; pattern++)
            for (int optimised = 0; optimised < 2; optimised++)
                assert_kinds_sound((jpeg_recipe){.width = 117,
                                                 .height = 75,
                                                 .quality = qualities[i],
                                                 .optimised = optimised,
                                                 .pattern = (jpeg_pattern)pattern});
}

TEST(sound_at_every_size)
{
    for (uint32_t width = 1; width <= 34; width++)
        for (uint32_t height = 1; height <= 34; height += 3)
            assert_kinds_sound((jpeg_recipe){
                .width = width, .height = height, .quality = 80, .restart = (int)(width % 4)});
    assert_kinds_sound((jpeg_recipe){.width = 65500, .height = 1, .quality = 60});
    assert_kinds_sound((jpeg_recipe){.width = 1, .height = 65500, .quality = 60});
}

TEST(sound_with_restarts)
{
    for (int restart = 1; restart < 150; restart += 1 + restart / 3)
        assert_kinds_sound(
            (jpeg_recipe){.width = 150, .height = 90, .quality = 92, .restart = restart});
}

/* Bytes behind the image are not part of it. */
TEST(bytes_behind_the_image)
{
    jpeg_verdict verdict;
    OWNED_JPEG file = jpeg_plain(20, 20, JCS_YCbCr, 75, 2, 2);
    size_t size = file.size;
    insert(&file, file.size, "\xff\xd8\xff\xd9more", 8);
    assert_true(is_sound(&file, &verdict));
    assert_int_equal(verdict.bytes, size);
}

/* ---- The layout ------------------------------------------------------------------------------ */

/* From the order of the file to the order of libjpeg. */
static const int natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static void assert_same_code(const gc_jpeg_code *code, const JHUFF_TBL *wanted)
{
    static const gc_jpeg_code none;
    size_t count = 0;
    for (int length = 1; length <= 16; length++)
        count += wanted->bits[length];
    assert_memory_equal(code->counts, wanted->bits + 1, 16);
    assert_memory_equal(code->symbols, wanted->huffval, count);
    assert_memory_equal(code->symbols + count, none.symbols, 256 - count);
}

static void assert_same_steps(const gc_jpeg_layout *layout, int number, const JQUANT_TBL *wanted)
{
    double sum = 0;
    for (int k = 0; k < 64; k++) {
        int step = wanted != NULL ? wanted->quantval[natural[k]] : 0;
        assert_int_equal(layout->steps[number][k], step);
        sum += step * step;
    }
    double root = 1024 + sqrt(sum) / 2;
    double energy_max = wanted != NULL ? root * root : 0;
    assert_true(fabs((double)layout->energy_max[number] - energy_max) <= 2);
}

/* All that the layout says is what libjpeg has when it decodes. */
static void assert_layout(jpeg_file file)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    gconv_encoded picture;
    gc_jpeg_layout layout;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file.bytes, (unsigned long)file.size);
    jpeg_read_header(&jpeg, TRUE);
    assert_null(gc_jpeg_read_layout(&jpeg, 17, &picture, &layout));
    assert_int_equal(layout.data, 17);
    jpeg_start_decompress(&jpeg);
    assert_int_equal(layout.restart_interval, jpeg.restart_interval);
    assert_int_equal(layout.mcus, jpeg.MCUs_per_row * jpeg.MCU_rows_in_scan);
    for (int i = 0; i < jpeg.num_components; i++) {
        int dc = layout.components[i].dc, ac = layout.components[i].ac;
        assert_int_equal(dc, jpeg.comp_info[i].dc_tbl_no);
        assert_int_equal(ac, jpeg.comp_info[i].ac_tbl_no);
        assert_int_equal(layout.components[i].quantiser, jpeg.comp_info[i].quant_tbl_no);
        assert_same_code(&layout.codes[0][dc], jpeg.dc_huff_tbl_ptrs[dc]);
        assert_same_code(&layout.codes[1][ac], jpeg.ac_huff_tbl_ptrs[ac]);
    }
    for (int i = 0; i < 4; i++)
        assert_same_steps(&layout, i, jpeg.quant_tbl_ptrs[i]);
    jpeg_destroy_decompress(&jpeg);
    free(file.bytes);
}

TEST(layouts_are_what_libjpeg_reads)
{
    static const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}};
    for (int i = 0; i < 4 * 3 * 2 * 2; i++)
        assert_layout(jpeg_sample(
            &(jpeg_recipe){117 + (uint32_t)i, 75, i % 4 == 3 ? JCS_GRAYSCALE : JCS_YCbCr, 20 + i,
                           i % 4 == 3 ? 1 : factors[i % 4][0], i % 4 == 3 ? 1 : factors[i % 4][1],
                           .restart = i / 4 % 3 * 5, .optimised = i / 12 % 2 == 1}));
}

/* Each component with other tables. */
TEST(layouts_with_tables_in_other_order)
{
    jpeg_file file = jpeg_plain(40, 30, JCS_YCbCr, 75, 2, 1);
    static const unsigned char tables[3] = {0x10, 0x01, 0x00}, quantisers[3] = {1, 0, 1};
    size_t frame = find_marker(&file, 0xc0), scan = find_marker(&file, 0xda);
    for (int i = 0; i < 3; i++) {
        file.bytes[frame + 12 + 3 * (size_t)i] = quantisers[i];
        file.bytes[scan + 6 + 2 * (size_t)i] = tables[i];
    }
    assert_layout(file);
}

static void assert_file(jpeg_file file, const char *wanted)
{
    jpeg_verdict verdict;
    bool sound = is_sound(&file, &verdict);
    if (wanted == NULL && !sound)
        fail_msg("rejected: %s", verdict.reason);
    if (wanted != NULL && sound)
        fail_msg("not rejected: %s", wanted);
    if (wanted != NULL)
        assert_string_equal(verdict.reason, wanted);
    free(file.bytes);
}

/* ---- A file for every rule ------------------------------------------------------------------- */

static jpeg_file base_of(int restart)
{
    return jpeg_sample(&(jpeg_recipe){70, 50, JCS_YCbCr, 85, 2, 2, .restart = restart});
}

/* Writes a byte at an offset behind the first such marker. */
static void assert_byte(int marker, size_t offset, int value, const char *wanted)
{
    jpeg_file file = base_of(0);
    file.bytes[find_marker(&file, marker) + 2 + offset] = (unsigned char)value;
    assert_file(file, wanted);
}

/* Puts bytes before the first such marker. */
static void assert_insertion(int marker, const void *bytes, size_t count, const char *wanted)
{
    jpeg_file file = base_of(0);
    insert(&file, find_marker(&file, marker), bytes, count);
    assert_file(file, wanted);
}

/* Writes the segment of this marker a second time. */
static void assert_repeated(int marker, const char *wanted)
{
    jpeg_file file = base_of(4);
    size_t at = find_marker(&file, marker), count = segment_bytes(&file, at);
    unsigned char *copy = malloc(count);
    assert_non_null(copy);
    memcpy(copy, file.bytes + at, count);
    insert(&file, at, copy, count);
    free(copy);
    assert_file(file, wanted);
}

static void assert_removed(int marker, const char *wanted)
{
    jpeg_file file = base_of(0);
    size_t at = find_marker(&file, marker);
    cut_out(&file, at, segment_bytes(&file, at));
    assert_file(file, wanted);
}

static void assert_kind(jpeg_recipe recipe, const char *wanted)
{
    recipe.width = recipe.height = 40;
    recipe.quality = 80;
    recipe.across = recipe.across != 0 ? recipe.across : 1;
    recipe.down = recipe.down != 0 ? recipe.down : 1;
    assert_file(jpeg_sample(&recipe), wanted);
}

static const char no_header[] = "libjpeg fails, or warns of the header";
static const char coding[] = "a coding other than baseline";

TEST(other_kinds_of_jpeg)
{
    static const char colours[] = "colours other than grey and YCbCr";
    static const char sampling[] = "unusual sampling";
    assert_kind((jpeg_recipe){.stored = JCS_YCbCr, .progressive = true}, coding);
    assert_kind((jpeg_recipe){.stored = JCS_YCbCr, .arithmetic = true}, coding);
    assert_kind((jpeg_recipe){.stored = JCS_CMYK}, colours);
    assert_kind((jpeg_recipe){.stored = JCS_YCCK}, colours);
    assert_kind((jpeg_recipe){.stored = JCS_RGB}, colours);
    assert_kind((jpeg_recipe){.stored = JCS_YCbCr, .down = 2}, sampling);
    assert_kind((jpeg_recipe){.stored = JCS_YCbCr, .across = 4}, sampling);
    assert_kind((jpeg_recipe){.stored = JCS_GRAYSCALE, .across = 2, .down = 2}, sampling);
    assert_byte(0xc0, 12, 0x21, sampling);                             /* of Cb */
    assert_byte(0xc0, 2, 12, no_header);                               /* 12 bits a sample */
    assert_insertion(0xda, "\xff\xda\0\x8\1\1\0\0\x3f\0", 10, coding); /* one component */
    assert_byte(0xda, 9, 1, coding);
    assert_byte(0xda, 10, 62, coding);
    assert_byte(0xda, 11, 1, coding);
}

/* libjpeg reads these headers, so they are sound. */
TEST(unusual_headers)
{
    assert_insertion(0xc0, "\xff", 1, NULL); /* a fill byte */
    assert_insertion(0xc0, "\xff\xfe\0\4ab", 6, NULL);
    assert_insertion(0xc0, "\xff\xed\0\2", 4, NULL);
    assert_byte(0xc0, (size_t)-1, 0xc1, NULL);
    assert_repeated(0xdb, NULL);
    assert_repeated(0xc4, NULL);
    assert_repeated(0xdd, NULL);
    jpeg_file file = base_of(0);
    for (int i = 0; i < 3; i++) { /* other numbers of the components, beside a marker of JFIF */
        file.bytes[find_marker(&file, 0xc0) + 10 + 3 * (size_t)i] = (unsigned char)(7 + i);
        file.bytes[find_marker(&file, 0xda) + 5 + 2 * (size_t)i] = (unsigned char)(7 + i);
    }
    assert_file(file, NULL);
}

TEST(broken_headers)
{
    jpeg_file file = base_of(0);
    file.bytes[1] = 0;
    assert_file(file, no_header);
    for (size_t size = 0; size < 600; size += 7) {
        file = base_of(0);
        file.size = size;
        assert_file(file, no_header);
    }
    assert_byte(0xe0, 0, 0xff, no_header); /* the length reaches beyond the file */
    assert_byte(0xe0, 7, 2, no_header);    /* a version of JFIF of which libjpeg warns */
    assert_insertion(0xc0, "", 1, no_header);
    assert_repeated(0xc0, no_header);
    assert_removed(0xc0, no_header);
    file = base_of(0);
    memset(file.bytes + find_marker(&file, 0xc0) + 5, 0, 2);
    assert_file(file, no_header); /* with DNL behind the data it would be right */
}

TEST(tables)
{
    static const char steps[] = "a quantisation table that is missing, or with unusual steps";
    static const char codes[] = "a Huffman table that is missing, or with unusual codes";
    static const char number[] = "a Huffman table of a number that baseline JPEG lacks";
    enum { SYMBOLS = 2 + 1 + 16 }; /* behind the marker */
    assert_byte(0xdb, 50, 0, steps);
    assert_byte(0xc0, 10, 3, steps);
    assert_byte(0xc0, 10, 4, steps);
    assert_removed(0xc4, codes);
    assert_byte(0xda, 4, 0x30, number);
    assert_byte(0xda, 4, 0x03, number);
    /* DC: a code of 1 bit more, one of 9 bits less. Then the code of all ones. */
    jpeg_file file = base_of(0);
    size_t at = find_marker(&file, 0xc4) + 4;
    file.bytes[at + 1]++;
    file.bytes[at + 9]--;
    assert_file(file, codes);
    file = base_of(0);
    file.bytes[at + 8]++;
    file.bytes[at + 9]--;
    assert_file(file, codes);
    assert_byte(0xc4, SYMBOLS, 12, codes);
    assert_byte(0xc4, SYMBOLS, 1, codes); /* a second time */
    /* AC: a value of 11 bits, a run without a value. */
    for (int symbol = 0x0b; symbol <= 0x50; symbol += 0x45) {
        file = base_of(0);
        at = find_marker(&file, 0xc4);
        file.bytes[at + segment_bytes(&file, at) + 2 + SYMBOLS] = (unsigned char)symbol;
        assert_file(file, codes);
    }
}
