/* PNG compression by gconv's own code: what comes back is what went in, the bytes are the same with
 * every instruction set and any number of threads, and sizes stay near zlib's. GCONV_PNG_IMAGES
 * sets the number of random images. */
#include "io_support.h"
#include "sanitized.h"

#include "io/fast.h"
#include "io/png/fast/block.h"
#include "io/png/fast/checks.h"
#include "io/png/fast/filters.h"
#include "io/png/fast/literals.h"

#include <zlib.h>

static uint64_t state = 1;

static unsigned int random_below(unsigned int bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned int)(state >> 33) % bound;
}

enum { KINDS = 10 };

/* Noise of any width around 0, runs, few values, extremes, a ramp. */
static void make_bytes(int kind, uint8_t *bytes, size_t count)
{
    unsigned int width = 1 + random_below(256), stay = 1 + random_below(300);
    for (size_t i = 0; i < count; i++) {
        bool stays = i > 0 && random_below(stay) != 0;
        int sum = 0;
        for (int k = 0; k < 4; k++)
            sum += (int)random_below(width) - (int)random_below(width);
        switch (kind) {
        case 0:
            bytes[i] = (uint8_t)random_below(256);
            break;
        case 1:
            bytes[i] = (uint8_t)(sum / 4);
            break;
        case 2:
            bytes[i] = stays ? bytes[i - 1] : (uint8_t)random_below(256);
            break;
        case 3:
            bytes[i] = random_below(40) == 0 ? (uint8_t)sum : 0;
            break;
        case 4:
            bytes[i] = (uint8_t)(255 * random_below(2));
            break;
        case 5:
            bytes[i] = (uint8_t)__builtin_ctz(random_below(1 << 30) | 1 << 30);
            break;
        case 6:
            bytes[i] = (uint8_t)(127 + random_below(2));
            break;
        case 7:
            bytes[i] = (uint8_t)i;
            break;
        case 8:
            bytes[i] = (uint8_t)(i / 700 + random_below(2));
            break;
        default:
            bytes[i] = (uint8_t)width;
            break;
        }
    }
}

static const gc_pack_loops *portable(void)
{
    int last = 0;
    while (gc_pack_loops_at(last + 1) != NULL)
        last++;
    return gc_pack_loops_at(last);
}

/* ---- Loops ----------------------------------------------------------------------------------- */

static int predict(gc_row_filter filter, int left, int above, int corner)
{
    int estimate = left + above - corner;
    int a = abs(estimate - left), b = abs(estimate - above), c = abs(estimate - corner);
    switch (filter) {
    case GC_FILTER_SUB:
        return left;
    case GC_FILTER_UP:
        return above;
    case GC_FILTER_AVERAGE:
        return (left + above) / 2;
    case GC_FILTER_PAETH:
        return a <= b && a <= c ? left : b <= c ? above : corner;
    default:
        return 0;
    }
}

TEST(filters_are_those_of_png)
{
    enum { LEFT = 8, COUNT = 700 };
    uint8_t row[LEFT + COUNT] = {0}, above[LEFT + COUNT] = {0}, out[COUNT + 1];
    for (int n = 0; n < TRIALS(400); n++) {
        size_t pixel = 1 + random_below(8), count = random_below(COUNT) + (n < 4);
        make_bytes(n % KINDS, row + LEFT, COUNT);
        make_bytes((n / KINDS) % KINDS, above + LEFT, COUNT);
        for (int set = 0; gc_pack_loops_at(set) != NULL; set++)
            for (int filter = 0; filter < GC_FILTER_COUNT; filter++) {
                out[count] = 77;
                gc_pack_loops_at(set)->filter((gc_row_filter)filter, row + LEFT, above + LEFT,
                                              pixel, count, out);
                for (size_t i = LEFT; i < LEFT + count; i++) {
                    int expected = row[i] - predict((gc_row_filter)filter, row[i - pixel], above[i],
                                                    above[i - pixel]);
                    assert_int_equal(out[i - LEFT], (uint8_t)expected);
                }
                assert_int_equal(out[count], 77);
            }
    }
}

/* Rows of every width, with one filter or each with another one, become what they were. Nothing but
 * these rows is written. From a filter that PNG does not have on, they stay as they are. */
TEST(filters_are_undone)
{
    enum {
        WIDTHS = SANITIZED ? 100 : 300,
        ROWS = 20,
        ROW_MAX = 8 * WIDTHS,
        SLACK = GC_UNFILTER_SLACK
    };
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    static uint8_t plain[ROWS + 1]
                        [SLACK + ROW_MAX]; /* with zeros on the left; the first is above */
    static uint8_t rows[SLACK + ROWS * (ROW_MAX + 1) + SLACK], expected[sizeof rows];
    static uint8_t above[SLACK + ROW_MAX + SLACK], spare[sizeof above];
    for (int n = 0; n < 6 * WIDTHS; n++) {
        const size_t pixel = pixels[n % 6], row_bytes = pixel * (1 + (size_t)n / 6);
        const size_t count = 1 + random_below(ROWS);
        const size_t sound = random_below(8) == 0 ? random_below((unsigned int)count) : count;
        const unsigned int same = random_below(2 * GC_FILTER_COUNT);
        make_bytes((int)random_below(KINDS), rows, sizeof rows);
        memcpy(expected, rows, sizeof rows);
        for (size_t y = 0; y <= count; y++)
            make_bytes((int)random_below(KINDS), plain[y] + SLACK, row_bytes);
        memcpy(above + SLACK, plain[0] + SLACK, row_bytes);
        for (size_t y = 0; y < count; y++) {
            const size_t at = SLACK + y * (row_bytes + 1);
            unsigned int filter = same < GC_FILTER_COUNT ? same : random_below(GC_FILTER_COUNT);
            portable()->filter((gc_row_filter)filter, plain[y + 1] + SLACK, plain[y] + SLACK, pixel,
                               row_bytes, rows + at + 1);
            rows[at] = (uint8_t)(y == sound ? GC_FILTER_COUNT + random_below(250) : filter);
            memcpy(expected + at, rows + at, row_bytes + 1);
            if (y < sound) {
                expected[at] = GC_FILTER_NONE;
                memcpy(expected + at + 1, plain[y + 1] + SLACK, row_bytes);
            }
        }
        for (int set = 0; gc_pack_loops_at(set) != NULL; set++) {
            static uint8_t found[sizeof rows];
            if (gc_pack_loops_at(set)->unfilter == NULL)
                continue;
            memcpy(found, rows, sizeof rows);
            gc_pack_loops_at(set)->unfilter(found + SLACK, count, row_bytes, above + SLACK, pixel,
                                            spare + SLACK);
            assert_memory_equal(found, expected, sizeof rows);
        }
    }
}

enum { BYTES_MAX = 3 * GC_PACK_BLOCK + 1000 };

static uint8_t bytes[BYTES_MAX], packed[2 * BYTES_MAX + 4096], unpacked[BYTES_MAX + 1];

TEST(checks_are_those_of_zlib)
{
    for (int n = 0; n < 600; n++) {
        size_t count = random_below(n < 300 ? 500 : 20000), at = random_below(64);
        uint32_t before = random_below(65521) << 16 | random_below(65521);
        make_bytes(n % KINDS, bytes + at, count);
        if (n % 7 == 0)
            memset(bytes + at, 255, count);
        assert_int_equal(gc_adler32(bytes + at, count), adler32(1, bytes + at, (uInt)count));
        assert_int_equal(gc_crc32(before, bytes + at, count),
                         crc32(before, bytes + at, (uInt)count));
    }
}

TEST(every_set_gives_the_same_codes)
{
    static uint8_t expected[2 * 5000 + 600], found[2 * 5000 + 600];
    for (int n = 0; n < TRIALS(1000); n++) {
        size_t part = (size_t)n, count = part < 2 ? 4095 : 1 + random_below(5000);
        make_bytes(n % KINDS, bytes, count);
        for (size_t i = 0; part < 2 && i < count; i++) /* eight rare bytes have codes of 15 bits */
            bytes[i] =
                (uint8_t)(i / 8 == part ? 64 + i % 8 * 16 : (size_t)__builtin_ctz(i % 127 + 1));
        gc_survey survey;
        gc_literals literals;
        portable()->survey(bytes, count, &survey);
        gc_literals_choose(&literals, bytes, count, &survey);
        gc_bits to = {.next = expected};
        unsigned int before = random_below(8);
        gc_put(&to, 0, (int)before);
        to = gc_literals_put(&literals, bytes, count, portable(), to, true);
        for (int set = 0; gc_pack_loops_at(set) != NULL; set++) {
            gc_survey other;
            gc_pack_loops_at(set)->survey(bytes, count, &other);
            assert_memory_equal(&survey, &other, sizeof survey);
            gc_bits end = {.next = found};
            gc_put(&end, 0, (int)before);
            end = gc_literals_put(&literals, bytes, count, gc_pack_loops_at(set), end, true);
            assert_int_equal(end.next - found, to.next - expected);
            assert_int_equal(end.count, to.count);
            assert_int_equal(end.waiting, to.waiting);
            assert_memory_equal(found, expected, (size_t)(to.next - expected));
        }
    }
}

/* A run is all bytes that equal the one before it, if these are three at least. */
static size_t find_tokens_slowly(const uint8_t *from, size_t count, uint16_t *tokens)
{
    size_t found = 0, at = 0;
    while (at < count) {
        size_t run = 0;
        while (at > 0 && at + run < count && from[at + run] == from[at - 1])
            run++;
        size_t left = run;
        for (size_t part; left >= GC_RUN_MIN; left -= part) {
            part = left < GC_RUN_MAX ? left : GC_RUN_MAX;
            tokens[found++] = (uint16_t)(GC_RUN + part);
        }
        if (run == 0) /* a byte that differs */
            left = run = 1;
        for (; left > 0; left--)
            tokens[found++] = from[at + run - left];
        at += run;
    }
    return found;
}

/* Bytes and runs of all lengths in turns, so that bounds of runs are everywhere among 64 bytes. */
static void make_runs(uint8_t *to, size_t count)
{
    unsigned int longest = 1 + random_below(random_below(4) == 0 ? 900 : 12);
    for (size_t at = 0; at < count;) {
        size_t run = 1 + random_below(longest);
        uint8_t byte = (uint8_t)random_below(random_below(2) == 0 ? 3 : 256);
        for (; run > 0 && at < count; run--)
            to[at++] = byte;
    }
}

TEST(every_set_finds_all_runs)
{
    enum { MAX = 9000 };
    static uint8_t plain[MAX + GC_FINDER_SLACK];
    static uint16_t expected[MAX], found[MAX + GC_TOKENS_SLACK];
    for (int n = 0; n < TRIALS(3000); n++) {
        size_t count = n < 300 ? (size_t)n : random_below(n % 8 == 0 ? MAX : 600);
        if (n % 3 == 0)
            make_bytes(n / 3 % KINDS, plain, sizeof plain);
        else
            make_runs(plain, sizeof plain); /* a run may go on behind the end */
        size_t tokens = find_tokens_slowly(plain, count, expected);
        for (int set = 0; gc_pack_loops_at(set) != NULL; set++) {
            uint32_t counts[GC_TOKENS];
            assert_int_equal(gc_pack_loops_at(set)->find_tokens(plain, count, found), tokens);
            assert_memory_equal(found, expected, tokens * sizeof *found);
            gc_pack_loops_at(set)->count_tokens(found, tokens, counts);
            for (size_t i = 0; i < tokens; i++)
                counts[expected[i]]--;
            for (int token = 0; token < GC_TOKENS; token++)
                assert_int_equal(counts[token], 0);
        }
    }
}

/* Codes of all lengths: four may have more bits than go at once. */
TEST(every_set_puts_the_codes_of_tokens)
{
    enum { MAX = 700, LONGEST_BYTE = 15, LONGEST_RUN = 21 };
    static uint8_t expected[3 * MAX + 16], found[3 * MAX + 16];
    uint16_t tokens[MAX];
    uint32_t codes[GC_TOKENS];
    for (int n = 0; n < TRIALS(600); n++) {
        size_t count = random_below(MAX);
        unsigned int spread = 1 + random_below(LONGEST_BYTE), rare = 1 + random_below(20);
        for (int token = 0; token < GC_TOKENS; token++) {
            uint32_t length = LONGEST_BYTE - random_below(spread);
            if (token >= GC_RUN)
                length += random_below(LONGEST_RUN - LONGEST_BYTE + 1);
            codes[token] = random_below(1U << length) << GC_TOKEN_SHIFT | length;
        }
        gc_bits to = {.next = expected};
        unsigned int before = random_below(8);
        gc_put(&to, 0, (int)before);
        for (size_t i = 0; i < count; i++) {
            tokens[i] = (uint16_t)(random_below(rare) > 0
                                       ? random_below(GC_RUN)
                                       : GC_RUN + GC_RUN_MIN +
                                             random_below(GC_TOKENS - GC_RUN - GC_RUN_MIN));
            gc_put(&to, codes[tokens[i]] >> GC_TOKEN_SHIFT, (int)(codes[tokens[i]] & 63));
        }
        for (int set = 0; gc_pack_loops_at(set) != NULL; set++) {
            gc_bits end = {.next = found};
            gc_put(&end, 0, (int)before);
            gc_pack_loops_at(set)->put_tokens(&end, tokens, count, codes);
            assert_int_equal(end.next - found, to.next - expected);
            assert_int_equal(end.count, to.count);
            assert_int_equal(end.waiting, to.waiting);
            assert_memory_equal(found, expected, (size_t)(to.next - expected));
        }
    }
}

/* ---- Codes ----------------------------------------------------------------------------------- */

/* Shannon's lengths. Then those are shortened that were rounded up most, by shares from 31/16 down;
 * at last every length that fits. */
static void choose_lengths_slowly(const uint32_t counts[GC_SYMBOLS], int lengths[GC_SYMBOLS])
{
    uint64_t weights[GC_SYMBOLS], total = 0, sum = 0;
    int room = 1 << GC_CODE_MAX;
    for (int s = 0; s < GC_SYMBOLS; s++)
        sum += counts[s];
    for (int s = 0; s < GC_SYMBOLS; s++) {
        weights[s] = counts[s] > 0 ? counts[s] + (sum >> (GC_CODE_MAX - 1)) : 0;
        total += weights[s];
    }
    for (int s = 0; s < GC_SYMBOLS; s++) {
        lengths[s] = 0;
        while (weights[s] > 0 && weights[s] << lengths[s] < total)
            lengths[s]++;
        room -= weights[s] > 0 ? 1 << (GC_CODE_MAX - lengths[s]) : 0;
    }
    for (uint64_t share = 31; room > 0; share = share > 16 ? share - 1 : 0)
        for (int s = 0; s < GC_SYMBOLS; s++) {
            int cost = 1 << (GC_CODE_MAX - lengths[s]);
            if (lengths[s] < 2 || cost > room || 16 * (weights[s] << lengths[s]) < share * total)
                continue;
            room -= cost;
            lengths[s]--;
        }
    assert_int_equal(room, 0);
}

/* Counts of all magnitudes; and some whose probabilities are powers of 2, as they are or nearly. */
static void make_counts(int n, uint32_t counts[GC_SYMBOLS])
{
    memset(counts, 0, GC_SYMBOLS * sizeof *counts);
    if (n % 8 < 2) {
        for (int i = 0; i < 2 << n / 8 % 8; i++)
            counts[i] = 5;
        counts[n % 8] += (uint32_t)(n % 8);
        return;
    }
    for (unsigned int i = 2 + random_below(GC_SYMBOLS - 2); i > 0; i--)
        counts[random_below(GC_SYMBOLS)] = 1 + random_below(1U << random_below(18));
    counts[n % GC_LONGEST] = counts[n % GC_LONGEST + 1] = 1;
}

TEST(the_longest_roundings_are_shortened_first)
{
    for (int n = 0; n < TRIALS(4000); n++) {
        uint32_t counts[GC_SYMBOLS];
        int expected[GC_SYMBOLS], lengths[GC_SYMBOLS];
        make_counts(n, counts);
        choose_lengths_slowly(counts, expected);
        gc_choose_lengths(counts, lengths);
        assert_memory_equal(lengths, expected, sizeof lengths);
    }
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* A stream on its way to `packed`, where it has `size` bytes. */
typedef struct pack_stream {
    gc_pack_block *block;
    uint8_t *packed;
    size_t size;
    uint32_t check; /* Adler-32 of the blocks before */
} pack_stream;

/* Compresses the block, appends it to the stream, and empties it. */
static void pack_block(pack_stream *stream, bool last)
{
    gc_pack_block *block = stream->block;
    block->first = stream->size == 0;
    block->last = last;
    gc_pack_compress(block, gc_pack_loops_chosen());
    assert_true(block->size <= GC_PACK_OUTPUT);
    memcpy(stream->packed + stream->size, block->output, block->size);
    stream->size += block->size;
    stream->check = (uint32_t)adler32_combine(stream->check, block->check, (z_off_t)block->filled);
    gc_pack_begin(block);
}

/* Compresses `count` of the bytes, which blocks take in parts of at most `part`. Returns the length
 * of the stream. */
static size_t pack_bytes(size_t count, size_t part)
{
    static gc_pack_block block;
    pack_stream stream = {.block = &block, .packed = packed, .check = 1};
    gc_pack_begin(&block);
    for (size_t at = 0; at < count;) {
        if (gc_pack_full(&block))
            pack_block(&stream, false);
        size_t left = count - at;
        at += gc_pack_take(&block, bytes + at, left < part ? left : part);
    }
    pack_block(&stream, true);
    for (int shift = 24; shift >= 0; shift -= 8)
        packed[stream.size++] = (uint8_t)(stream.check >> shift);
    return stream.size;
}

static size_t assert_round_trip(size_t count, size_t part)
{
    size_t size = pack_bytes(count, part);
    uLongf found = sizeof unpacked;
    assert_int_equal(uncompress(unpacked, &found, packed, size), Z_OK);
    assert_int_equal(found, count);
    assert_memory_equal(unpacked, bytes, count);
    return size;
}

TEST(streams_come_back)
{
    for (int n = 0; n < 400; n++) {
        size_t count = n == 0    ? 0
                       : n < 360 ? 1 + random_below(n < 180 ? 3000 : 150000)
                                 : GC_PACK_BLOCK * (1 + (size_t)n % 3) + (size_t)n % 2;
        for (size_t at = 0; at < count;) { /* pictures are of several kinds */
            size_t part = 1 + random_below((unsigned int)count);
            part = part < count - at ? part : count - at;
            make_bytes((int)random_below(KINDS), bytes + at, part);
            at += part;
        }
        size_t size = assert_round_trip(count, n % 2 == 0 ? count : 1 + random_below(1000));
        assert_true(size <= count + count / 1000 + 64);
    }
}

/* A block is at most a twentieth larger than what zlib makes of runs alone: a fifth, of two values
 * without runs. Lengths of codes have another 150 bytes. */
TEST(sizes_are_near_those_of_runs)
{
    for (int n = 0; n < 4 * KINDS; n++) {
        size_t count = GC_PACK_BLOCK;
        make_bytes(n % KINDS, bytes, count);
        size_t size = pack_bytes(count, count);
        z_stream z = {.next_in = bytes,
                      .avail_in = (uInt)count,
                      .next_out = packed,
                      .avail_out = sizeof packed};
        assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15, 9, Z_RLE), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        deflateEnd(&z);
        bool is_noise = n % KINDS == 8;
        if (size > z.total_out + z.total_out / (is_noise ? 5 : 20) + 150)
            fail_msg("kind %d: %zu bytes, zlib's are %lu", n % KINDS, size, z.total_out);
    }
}

/* Counts that double from byte to byte ask for codes longer than any may be. Literals would have to
 * give these bytes one length (io/png/fast/literals.h), so they are no choice. */
TEST(steep_distributions_come_back)
{
    enum { GROUP = 0x60 };
    size_t count = 0;
    for (int value = 0; value < 15; value++)
        for (int i = 0; i < 1 << value && count + 2 < GC_PACK_BLOCK; i++) {
            bytes[count++] = (uint8_t)(GROUP + value);
            bytes[count++] = (uint8_t)(255 - i % 2);
        }
    assert_round_trip(count, count);
}

TEST(all_of_one_value_is_small)
{
    memset(bytes, 0, sizeof bytes);
    /* Two bits for each of the longest runs, and the heads of three blocks. */
    assert_true(assert_round_trip(BYTES_MAX, BYTES_MAX) < BYTES_MAX / 258 / 4 + 130);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static picture random_picture(void)
{
    static const unsigned int sides[] = {4, 40, 300, 3000};
    uint32_t width = 1 + random_below(sides[random_below(4)]);
    uint32_t height = 1 + random_below(width > 300 ? 20 : sides[random_below(3)]);
    int depth = random_below(5) == 0 ? 1 : random_below(3) == 0 ? 16 : 8;
    int channels = depth == 1 ? 1 : 1 + (int)random_below(4);
    picture made = new_picture(width, height, channels, depth);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = made.rows + y * made.row_bytes;
        make_bytes((int)random_below(KINDS), row, made.row_bytes);
        if (y > 0 && random_below(4) != 0) /* rows like those above, a little changed */
            for (size_t i = 0; i < made.row_bytes; i++)
                row[i] = (uint8_t)(row[(ptrdiff_t)i - (ptrdiff_t)made.row_bytes] +
                                   random_below(1 + y % 3));
    }
    return made;
}

static blob write_with(const char *instructions, const picture *source, uint32_t band)
{
    gconv_writer_options options = writing_as(GCONV_FORMAT_PNG);
    if (instructions != NULL)
        setenv("GCONV_INSTRUCTIONS", instructions, 1);
    assert_ok(write_picture("random", &options, band, source, NULL));
    unsetenv("GCONV_INSTRUCTIONS");
    return load_file("random");
}

static void assert_same_samples(const picture *source, const picture *result)
{
    if (source->shape.depth != 1) {
        assert_same_picture(source, result);
        return;
    }
    for (uint32_t y = 0; y < source->shape.height; y++)
        for (uint32_t x = 0; x < source->shape.width; x++)
            assert_int_equal(sample_at(result, x, y, 0),
                             source->rows[y * source->row_bytes + x / 8] << x % 8 & 0x80 ? 255 : 0);
}

TEST(random_images_come_back)
{
    const char *wanted = getenv("GCONV_PNG_IMAGES");
    int images = wanted != NULL ? atoi(wanted) : TRIALS(500);
    for (int n = 0; n < images; n++) {
        OWNED_PICTURE source = random_picture();
        OWNED_BLOB expected = write_with("portable", &source, source.shape.height);
        OWNED_BLOB found = write_with(NULL, &source, 1 + random_below(9));
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.bytes, expected.bytes, found.size);
        OWNED_PICTURE result = must_read("random", NULL);
        assert_same_samples(&source, &result);
    }
}

/* Every kind of sample, in images of many blocks and of parts of one: one thread alone and 15 that
 * help it write the same file. */
TEST(threads_write_the_same_file)
{
    for (int n = 0; n < 24; n++) {
        static const int depths[] = {8, 16, 1};
        int depth = depths[n % 3], channels = depth == 1 ? 1 : 1 + n % 4;
        uint32_t width = (1 + random_below(n % 2 == 0 ? 3000 : 400)) * (depth == 1 ? 7 : 1);
        OWNED_PICTURE source = new_picture(width, 1 + random_below(900), channels, depth);
        make_bytes((int)random_below(KINDS), source.rows, source.row_bytes * source.shape.height);
        OWNED_BLOB expected = write_with(NULL, &source, 1 + random_below(100));
        helpers_wanted = n % 4 == 0 ? 1 : 15;
        OWNED_BLOB found = write_with(NULL, &source, 1 + random_below(100));
        helpers_wanted = 0;
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.bytes, expected.bytes, found.size);
        OWNED_PICTURE result = must_read("random", NULL);
        assert_same_samples(&source, &result);
    }
}

/* Every width of a row from 1 to 300 (to 100 under sanitizers), in every type, as noise, extremes
 * and ramps: the portable loops write the same file, and libpng reads the same samples. */
TEST(all_widths_come_back)
{
    for (int n = 0; n < (SANITIZED ? 100 : 300) * 9; n++) {
        static const int types[9][2] = {{1, 1},  {1, 8},  {2, 8},  {3, 8}, {4, 8},
                                        {1, 16}, {2, 16}, {3, 16}, {4, 16}};
        const int *type = types[n % 9];
        OWNED_PICTURE source =
            new_picture(1 + (uint32_t)n / 9, 1 + random_below(12), type[0], type[1]);
        for (uint32_t y = 0; y < source.shape.height; y++) {
            uint8_t *row = source.rows + y * source.row_bytes;
            if (random_below(4) == 0)
                memset(row, random_below(2) == 0 ? 0 : 255, source.row_bytes);
            else
                make_bytes((int)random_below(KINDS), row, source.row_bytes);
        }
        OWNED_BLOB expected = write_with(NULL, &source, source.shape.height);
        OWNED_PICTURE result = must_read("random", NULL);
        assert_same_samples(&source, &result);
        OWNED_BLOB found = write_with("portable", &source, 1);
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.bytes, expected.bytes, found.size);
    }
}

/* Strips of TIFF: whatever the memory of the state held, the same stream, which zlib inflates. */
TEST(a_state_that_held_other_things)
{
    enum { SIZE = 200000 };
    OWNED uint8_t *given = malloc(SIZE);
    OWNED uint8_t *expected = malloc(SIZE);
    OWNED uint8_t *found = malloc(SIZE);
    OWNED uint8_t *inflated = malloc(SIZE);
    const gc_deflating *deflating = gc_fast.deflating;
    for (uint32_t held = 0; held < 16; held++) {
        OWNED uint32_t *memory = calloc(1, deflating->bytes);
        for (size_t i = 0; i < SIZE; i++)
            given[i] = (uint8_t)(i * i >> 11 & 15);
        size_t wanted = deflating->deflate(memory, given, SIZE, expected, SIZE);
        for (size_t i = 0; i < deflating->bytes / sizeof *memory; i++)
            memory[i] = held << 16 | held;
        size_t size = deflating->deflate(memory, given, SIZE, found, SIZE);
        uLongf back = SIZE;
        assert_true(size > 0 && size == wanted);
        assert_memory_equal(found, expected, size);
        assert_int_equal(uncompress(inflated, &back, found, size), Z_OK);
        assert_int_equal(back, SIZE);
        assert_memory_equal(inflated, given, SIZE);
    }
}

const test_suite suite = {.setup = enter_scratch, .teardown = remove_scratch};
