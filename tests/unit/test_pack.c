/* Packing of a JPEG for the kernels that decode it: data without stuffed bytes and markers, markers
 * that a sound file does not have, room, and tables in which codes are looked up. */

#include "unit.h"

#include "gpu/jpeg/packed.h"
#include "jpeg/random.h"
#include "jpeg/samples.h"
#include "jpeg/sound.h"

enum { EOI = 0xd9, RST0 = 0xd0, DATA_MAX = 1 << 16 };

/* ---- Packing --------------------------------------------------------------------------------- */

/* Memory of exactly so many bytes, so that a sanitizer sees accesses beyond. */
static void *exactly(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

/* A grey picture of 8 columns, so that each MCU is a row of blocks. Tables are not looked at. */
static gconv_encoded picture_of(gc_jpeg_layout *layout, uint32_t mcus, uint32_t interval)
{
    *layout = (gc_jpeg_layout){.mcus = mcus, .restart_interval = interval};
    return (gconv_encoded){.width = 8,
                           .height = 8 * mcus,
                           .components = 1,
                           .sampling_x = 1,
                           .sampling_y = 1,
                           .orientation = 1,
                           .layout = layout};
}

/* A file that comes in pieces. Each has memory of its own. */
typedef struct pieces {
    const unsigned char *bytes;
    size_t left;
    unsigned char *piece;
    jpeg_random random;
} pieces;

static bool give_piece(void *user, const unsigned char **bytes, size_t *count)
{
    pieces *of = user;
    enum { MOST = 70 };
    size_t wanted = 1 + jpeg_random_below(&of->random, MOST);
    *count = wanted < of->left ? wanted : of->left;
    free(of->piece);
    of->piece = exactly(*count);
    memcpy(of->piece, of->bytes, *count);
    of->bytes += *count;
    of->left -= *count;
    *bytes = of->piece;
    return true;
}

/* Packs a picture that holds some of its bytes. NULL if that is refused. The bound is all the
 * memory there is. */
static gc_packed *pack_held(gconv_encoded picture, const unsigned char *data, size_t *end)
{
    OWNED unsigned char *copy = exactly(picture.held);
    memcpy(copy, data, picture.held);
    picture.bytes = copy;
    size_t bound = gc_pack_bound(&picture);
    assert_true(bound > 0);
    gc_packed *packed = exactly(bound);
    pieces rest = {data + picture.held, picture.size - picture.held, NULL, {picture.size}};
    gconv_source source = {.more = give_piece, .user = &rest};
    if (gc_pack(&picture, rest.left > 0 ? &source : NULL, packed, end)) {
        assert_true(packed->bytes <= bound);
        assert_int_equal(packed->rejected, 0);
    } else {
        free(packed);
        packed = NULL;
    }
    free(rest.piece);
    return packed;
}

/* Packs `size` bytes of data, held whole and in pieces behind the header. */
static gc_packed *pack(gconv_encoded picture, const unsigned char *data, size_t size, size_t *end)
{
    size_t piece_end = 0;
    picture.held = picture.size = size;
    gc_packed *packed = pack_held(picture, data, end);
    size_t header = picture.layout->data < size ? picture.layout->data : size;
    picture.held = header + (size - header) / 3;
    OWNED gc_packed *pieced = pack_held(picture, data, &piece_end);
    assert_true((packed == NULL) == (pieced == NULL));
    if (packed != NULL) {
        size_t head = offsetof(gc_packed, energy_max); /* behind it something is not set */
        assert_int_equal(piece_end, *end);
        assert_memory_equal(packed, pieced, head);
        assert_memory_equal(packed + 1, pieced + 1, packed->intervals * sizeof(gc_packed_interval));
        assert_memory_equal((char *)packed + packed->data, (char *)pieced + packed->data,
                            packed->bytes - packed->data);
    }
    return packed;
}

/* ---- What is expected ------------------------------------------------------------------------ */

/* Data as a file has them, and as they are packed. */
typedef struct expected {
    unsigned char file[DATA_MAX], packed[DATA_MAX];
    size_t file_bytes, packed_bytes;
    gc_packed_interval intervals[256];
    uint32_t interval_count;
} expected;

static void add_byte(expected *to, unsigned char byte)
{
    to->file[to->file_bytes++] = byte;
    to->packed[to->packed_bytes++] = byte;
    if (byte == 0xff)
        to->file[to->file_bytes++] = 0;
}

static void add_marker(expected *to, int marker)
{
    to->file[to->file_bytes++] = 0xff;
    to->file[to->file_bytes++] = (unsigned char)marker;
}

/* `count` bytes, of which many are 0xff, and some 0 or a marker's second byte. */
static void add_interval(expected *to, size_t count, jpeg_random *random)
{
    static const unsigned char odd[] = {0xff, 0xff, 0, EOI, RST0};
    to->intervals[to->interval_count++] =
        (gc_packed_interval){.first_chunk = (uint32_t)(to->packed_bytes / GC_PACKED_CHUNK_BYTES),
                             .bits = (uint32_t)(8 * count)};
    for (size_t i = 0; i < count; i++)
        add_byte(to, jpeg_random_chance(random, 2) ? (unsigned char)jpeg_random_next(random)
                                                   : odd[jpeg_random_below(random, sizeof odd)]);
    while (to->packed_bytes % GC_PACKED_CHUNK_BYTES != 0)
        to->packed[to->packed_bytes++] = 0xff;
}

static const gc_packed_interval *intervals_of(const gc_packed *packed)
{
    return (const gc_packed_interval *)(packed + 1);
}

static void assert_packed(const gc_packed *packed, const expected *wanted)
{
    enum { AHEAD = 4 * GC_PACKED_WORDS_AHEAD };
    assert_non_null(packed);
    assert_int_equal(packed->intervals, wanted->interval_count);
    assert_memory_equal(intervals_of(packed), wanted->intervals,
                        wanted->interval_count * sizeof *wanted->intervals);
    assert_int_equal(packed->chunks, wanted->packed_bytes / GC_PACKED_CHUNK_BYTES);
    assert_int_equal(packed->data % GC_PACKED_CHUNK_BYTES, 0);
    assert_true(packed->data >= sizeof *packed + packed->intervals * sizeof(gc_packed_interval));
    assert_int_equal(packed->bytes, packed->data + wanted->packed_bytes + AHEAD);
    const unsigned char *data = (const unsigned char *)packed + packed->data;
    assert_memory_equal(data, wanted->packed, wanted->packed_bytes);
    for (int i = 0; i < AHEAD; i++)
        assert_int_equal(data[wanted->packed_bytes + (size_t)i], 0xff);
}

/* Packs what is expected, with bytes of another file behind EOI. */
static void assert_packs(expected *wanted, uint32_t mcus, uint32_t interval)
{
    static const unsigned char behind[] = {0xff, 0xd8, 0xff, EOI, 1, 2};
    gc_jpeg_layout layout;
    gconv_encoded picture = picture_of(&layout, mcus, interval);
    size_t end = 0;
    add_marker(wanted, EOI);
    memcpy(wanted->file + wanted->file_bytes, behind, sizeof behind);
    for (size_t more = 0; more <= sizeof behind; more += sizeof behind) {
        OWNED gc_packed *packed = pack(picture, wanted->file, wanted->file_bytes + more, &end);
        assert_packed(packed, wanted);
        assert_int_equal(end, wanted->file_bytes);
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

TEST(one_interval_of_every_size)
{
    static expected wanted;
    jpeg_random random = {1};
    for (size_t size = 1; size < 5 * GC_PACKED_CHUNK_BYTES / 2; size++) {
        wanted.file_bytes = wanted.packed_bytes = wanted.interval_count = 0;
        add_interval(&wanted, size, &random);
        assert_packs(&wanted, 3, 0);
    }
}

/* Each begins with a chunk, and the numbers of the markers go from 0 to 7 and round. */
TEST(restart_intervals)
{
    static expected wanted;
    jpeg_random random = {2};
    for (uint32_t count = 1; count < 100; count += count < 20 ? 1 : 13) {
        for (uint32_t interval = 1; interval < 4; interval++) {
            wanted.file_bytes = wanted.packed_bytes = wanted.interval_count = 0;
            for (uint32_t i = 0; i < count; i++) {
                if (i > 0)
                    add_marker(&wanted, RST0 + (int)((i - 1) % 8));
                add_interval(&wanted, 1 + jpeg_random_below(&random, 300), &random);
            }
            assert_packs(&wanted, count * interval, interval);
        }
    }
}

/* The last interval has fewer MCUs than the others, or is the only one. */
TEST(intervals_that_are_not_full)
{
    static const uint32_t cases[][3] = {{7, 3, 3}, {6, 3, 2}, {2, 3, 1}, {3, 65535, 1}, {1, 1, 1}};
    static expected wanted;
    jpeg_random random = {3};
    for (size_t i = 0; i < COUNT(cases); i++) {
        wanted.file_bytes = wanted.packed_bytes = wanted.interval_count = 0;
        for (uint32_t j = 0; j < cases[i][2]; j++) {
            if (j > 0)
                add_marker(&wanted, RST0 + (int)(j - 1));
            add_interval(&wanted, 20, &random);
        }
        assert_packs(&wanted, cases[i][0], cases[i][1]);
    }
}

/* ---- Markers --------------------------------------------------------------------------------- */

static void assert_refused(const unsigned char *data, size_t size, uint32_t mcus, uint32_t interval)
{
    gc_jpeg_layout layout;
    size_t end;
    assert_null(pack(picture_of(&layout, mcus, interval), data, size, &end));
}

/* Each marker of a file with two restarts is replaced by every other one. */
TEST(wrong_markers)
{
    static const unsigned char sound[] = {1, 0xff, RST0, 2, 0xff, RST0 + 1, 3, 0xff, EOI};
    unsigned char data[sizeof sound];
    gc_jpeg_layout layout;
    size_t end;
    gc_packed *packed = pack(picture_of(&layout, 3, 1), sound, sizeof sound, &end);
    assert_non_null(packed);
    free(packed);
    for (size_t at = 2; at < sizeof sound; at += 3) {
        for (int marker = 0; marker < 256; marker++) {
            memcpy(data, sound, sizeof sound);
            data[at] = (unsigned char)marker;
            if (marker != sound[at])
                assert_refused(data, sizeof data, 3, 1);
        }
    }
}

/* Markers where no restart, one more, or one less is due; and intervals without data. */
TEST(too_many_or_too_few)
{
    static const unsigned char restart[] = {1, 0xff, RST0, 2, 0xff, EOI};
    static const unsigned char fill[] = {1, 0xff, 0xff, EOI};
    static const unsigned char empty[] = {0xff, EOI};
    static const unsigned char empty_interval[] = {1, 0xff, RST0, 0xff, EOI};
    assert_refused(restart, sizeof restart, 2, 0);
    assert_refused(restart, sizeof restart, 3, 1);
    assert_refused(restart, sizeof restart, 1, 1);
    assert_refused(fill, sizeof fill, 1, 0);
    assert_refused(empty, sizeof empty, 1, 0);
    assert_refused(empty_interval, sizeof empty_interval, 2, 1);
}

/* A file that ends anywhere before the end of EOI. */
TEST(cut_data)
{
    static expected whole;
    jpeg_random random = {4};
    for (uint32_t i = 0; i < 12; i++) {
        if (i > 0)
            add_marker(&whole, RST0 + (int)((i - 1) % 8));
        add_interval(&whole, 1 + jpeg_random_below(&random, 200), &random);
    }
    for (size_t size = 0; size < whole.file_bytes; size++)
        assert_refused(whole.file, size, 12, 1);
    add_marker(&whole, EOI);
    assert_refused(whole.file, whole.file_bytes - 1, 12, 1);
}

/* Whatever the bytes are, nothing beyond the bound is written. */
TEST(noise_stays_within_the_bound)
{
    static unsigned char data[2000];
    static const unsigned char odd[] = {0xff, 0xff, 0, EOI, RST0, RST0 + 1};
    jpeg_random random = {5};
    for (int turn = 0; turn < 20000; turn++) {
        gc_jpeg_layout layout;
        size_t size = jpeg_random_below(&random, sizeof data), end;
        for (size_t i = 0; i < size; i++)
            data[i] = jpeg_random_chance(&random, 3) ? (unsigned char)jpeg_random_next(&random)
                                                     : odd[jpeg_random_below(&random, sizeof odd)];
        uint32_t interval = (uint32_t)jpeg_random_below(&random, 4);
        uint32_t mcus = 1 + (uint32_t)jpeg_random_below(&random, 6);
        gconv_encoded picture = picture_of(&layout, mcus, interval);
        OWNED gc_packed *packed = pack(picture, data, size, &end);
        assert_true(packed == NULL || end <= size);
    }
}

/* ---- What is not taken ----------------------------------------------------------------------- */

TEST(what_is_too_large_has_no_bound)
{
    static const size_t largest = (size_t)256 << 20;
    gc_jpeg_layout layout;
    gconv_encoded picture = picture_of(&layout, 1, 0);
    picture.size = largest / 2;
    assert_true(gc_pack_bound(&picture) >= picture.size);
    assert_true(gc_pack_bound(&picture) <= largest);
    picture.size = largest;
    assert_int_equal(gc_pack_bound(&picture), 0); /* the head comes to it */
    picture.size = largest + 1;
    assert_int_equal(gc_pack_bound(&picture), 0);
    picture.size = SIZE_MAX;
    assert_int_equal(gc_pack_bound(&picture), 0);
    picture.size = 1000;
    layout.mcus = UINT64_MAX;
    assert_int_equal(gc_pack_bound(&picture), 0);
    layout.mcus = largest / 2; /* intervals that a file of this size cannot have */
    layout.restart_interval = 1;
    assert_int_equal(gc_pack_bound(&picture), 0);
    picture.layout = NULL; /* the data are proved, and nothing else is known */
    assert_int_equal(gc_pack_bound(&picture), 0);
}

/* ---- The head -------------------------------------------------------------------------------- */

static gconv_encoded read_picture(const jpeg_file *file, gc_jpeg_layout *layout)
{
    gconv_encoded picture;
    assert_null(jpeg_read_layout(file->bytes, file->size, &picture, layout));
    picture.bytes = NULL;
    picture.held = picture.size = 0;
    return picture;
}

static void assert_head(const gc_packed *packed, const jpeg_recipe *recipe,
                        const gc_jpeg_layout *layout)
{
    int luma = recipe->across * recipe->down, components = recipe->stored == JCS_GRAYSCALE ? 1 : 3;
    uint32_t across =
        (recipe->width + 8 * (uint32_t)recipe->across - 1) / 8 / (uint32_t)recipe->across;
    assert_int_equal(packed->mcus_across, across);
    assert_int_equal(packed->mcus, layout->mcus);
    assert_int_equal(packed->interval_mcus,
                     recipe->restart > 0 ? (uint64_t)recipe->restart : layout->mcus);
    assert_int_equal(packed->luma_blocks, luma);
    assert_int_equal(packed->luma_across, recipe->across);
    assert_int_equal(packed->blocks, luma + components - 1);
    for (int block = 0; block < luma + components - 1; block++) {
        int component = block < luma ? 0 : block - luma + 1;
        int tables = layout->components[component].dc | layout->components[component].ac << 1;
        assert_int_equal(packed->kinds >> (4 * block) & 15, tables | component << 2);
    }
    for (int c = 0; c < components; c++) {
        int number = layout->components[c].quantiser;
        assert_int_equal(packed->energy_max[c], layout->energy_max[number]);
        for (int k = 0; k < GC_PACKED_COEFFICIENTS; k++)
            assert_int_equal(packed->steps[c][k], layout->steps[number][k]);
    }
}

/* Files of libjpeg: all of each is packed, up to its end. */
TEST(files_of_libjpeg)
{
    static const int shapes[][3] = {
        {JCS_GRAYSCALE, 1, 1}, {JCS_YCbCr, 1, 1}, {JCS_YCbCr, 2, 1}, {JCS_YCbCr, 2, 2}};
    for (uint32_t i = 0; i < 96; i++) {
        const int *shape = shapes[i % 4];
        jpeg_recipe recipe =
            jpeg_recipe_of(1 + 37 * i % 120, 1 + 53 * i % 90, (J_COLOR_SPACE)shape[0],
                           30 + (int)i % 70, shape[1], shape[2]);
        recipe.restart = (int)(i / 4 % 5);
        recipe.optimised = i % 3 == 0;
        recipe.pattern = (jpeg_pattern)(i % JPEG_PATTERNS);
        gc_jpeg_layout layout;
        OWNED_JPEG file = jpeg_sample(&recipe);
        gconv_encoded picture = read_picture(&file, &layout);
        size_t end;
        OWNED gc_packed *packed = pack(picture, file.bytes, file.size, &end);
        assert_non_null(packed);
        assert_int_equal(end, file.size);
        assert_head(packed, &recipe, &layout);
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { CODE_BITS = 16 };

/* The symbols of 8-bit samples, in any order. Returns how many there are. */
static int draw_symbols(gc_jpeg_code *code, bool ac, jpeg_random *random)
{
    enum { DC_SIZES = 12, RUNS = 16, AC_SIZES = 10 };
    int count = 0;
    for (int i = 0; i < DC_SIZES && !ac; i++)
        code->symbols[count++] = (unsigned char)i;
    for (int run = 0; run < RUNS && ac; run++)
        for (int size = run == 0 || run == RUNS - 1 ? 0 : 1; size <= AC_SIZES; size++)
            code->symbols[count++] = (unsigned char)(run << 4 | size);
    jpeg_random_shuffle(random, code->symbols, count);
    return count;
}

/* Codes of random lengths, of which none is all ones. Codes are long where few are taken early. */
static void draw_code(gc_jpeg_code *code, bool ac, jpeg_random *random)
{
    int left = draw_symbols(code, ac, random);
    size_t free_codes = 1, rarely = 1 + jpeg_random_below(random, 6);
    for (int length = 1; length <= CODE_BITS; length++) {
        free_codes *= 2;
        size_t most = free_codes - 1 < (size_t)left ? free_codes - 1 : (size_t)left;
        size_t count = jpeg_random_chance(random, rarely) ? jpeg_random_below(random, most + 1) : 0;
        code->counts[length - 1] = (unsigned char)count;
        free_codes -= count;
        left -= (int)count;
    }
}

/* The length and the symbol of the code with which 16 bits begin, bit by bit as in ITU-T T.81,
 * annex F. 0: there is none. */
static int decode_slowly(const gc_jpeg_code *of, uint32_t bits, int *symbol)
{
    uint32_t code = 0, first = 0;
    int index = 0;
    for (int length = 1; length <= CODE_BITS; length++) {
        code = code << 1 | (bits >> (CODE_BITS - length) & 1);
        uint32_t count = of->counts[length - 1];
        if (code - first < count) {
            *symbol = of->symbols[index + (int)(code - first)];
            return length;
        }
        index += (int)count;
        first = (first + count) << 1;
    }
    return 0;
}

/* How codes were found. */
typedef struct ways {
    unsigned long look, long_look, search, none;
} ways;

/* As the kernels do. */
static gc_packed_code find_code(const gc_packed_table *of, uint32_t bits, ways *found)
{
    gc_packed_code code = of->look[bits >> (CODE_BITS - GC_PACKED_LOOK_BITS)];
    if (code != 0) {
        found->look++;
        return code;
    }
    if (bits - of->first_long < GC_PACKED_LONG_LOOKS) {
        found->long_look++;
        return of->long_look[bits - of->first_long];
    }
    for (int length = GC_PACKED_LOOK_BITS + 1; length < GC_PACKED_LENGTHS; length++) {
        if (bits < of->limits[length]) {
            found->search++;
            return of->codes[(int)(bits >> (CODE_BITS - length)) + of->offsets[length]];
        }
    }
    found->none++;
    return 0;
}

/* What the kernels need to know of a code, by the standard's words. */
static gc_packed_code entry_of(bool ac, int symbol, int length)
{
    int size = symbol & 15, step = 1;
    if (ac)
        step = symbol == 0 ? GC_PACKED_END : (symbol >> 4) + 1;
    return (gc_packed_code)((length + size) | size << GC_PACKED_SIZE_SHIFT |
                            step << GC_PACKED_STEP_SHIFT);
}

static void assert_table(const gc_packed_table *packed, const gc_jpeg_code *code, bool ac,
                         ways *found)
{
    for (uint32_t bits = 0; bits < (uint32_t)1 << CODE_BITS; bits++) {
        int symbol = 0, length = decode_slowly(code, bits, &symbol);
        gc_packed_code wanted = length == 0 ? 0 : entry_of(ac, symbol, length);
        gc_packed_code entry = find_code(packed, bits, found);
        if (entry != wanted)
            fail_msg("bits %04x: %x, not %x", (unsigned)bits, (unsigned)entry, (unsigned)wanted);
    }
}

/* Each entry for several AC codes is what these codes are one by one, whatever bits follow. Returns
 * how many entries stand for more than one. */
static int assert_joined(const gc_packed_table *packed, const gc_jpeg_code *code,
                         jpeg_random *random)
{
    int several = 0;
    for (uint32_t look = 0; look < 1U << GC_PACKED_LOOK_BITS; look++) {
        gc_packed_code entry = packed->joined[look];
        uint64_t behind = jpeg_random_next(random) & 0x3fffffffffff;
        uint64_t window = (uint64_t)look << (64 - GC_PACKED_LOOK_BITS) | behind;
        int length = 0, step = 0, codes = 0;
        assert_int_equal(entry == 0, packed->look[look] == 0);
        while (length < (entry & 31)) {
            int symbol = 0;
            int bits = decode_slowly(code, (uint32_t)(window << length >> 48), &symbol);
            assert_true(bits > 0 && step < GC_PACKED_END);
            assert_true(length + bits <= GC_PACKED_LOOK_BITS);
            length += bits + (symbol & 15);
            step += symbol == 0 ? GC_PACKED_END : (symbol >> 4) + 1;
            codes++;
        }
        assert_int_equal(entry, length | step << GC_PACKED_STEP_SHIFT);
        several += codes > 1;
    }
    return several;
}

/* Every code of random tables, and every 16 bits that begin with none. */
TEST(codes_are_looked_up)
{
    static const unsigned char data[] = {1, 0xff, EOI};
    jpeg_random random = {6};
    ways found = {0};
    int several = 0;
    for (int turn = 0; turn < 40; turn++) {
        gc_jpeg_layout layout;
        size_t end;
        gconv_encoded picture = picture_of(&layout, 1, 0);
        int dc = layout.components[0].dc = turn & 1, ac = layout.components[0].ac = turn >> 1 & 1;
        draw_code(&layout.codes[0][dc], false, &random);
        draw_code(&layout.codes[1][ac], true, &random);
        OWNED gc_packed *packed = pack(picture, data, sizeof data, &end);
        assert_non_null(packed);
        assert_int_equal(packed->kinds, dc | ac << 1);
        assert_table(&packed->tables[0][dc], &layout.codes[0][dc], false, &found);
        assert_table(&packed->tables[1][ac], &layout.codes[1][ac], true, &found);
        several += assert_joined(&packed->tables[1][ac], &layout.codes[1][ac], &random);
    }
    assert_true(several > 0);
    assert_true(found.look > 0 && found.long_look > 0 && found.search > 0 && found.none > 0);
}
