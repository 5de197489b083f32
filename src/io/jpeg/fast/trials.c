#include "io/jpeg/fast/trials.h"

#include "io/jpeg/fast/blocks.h"

#include <string.h>

/* ---- The files ------------------------------------------------------------------------------- */

typedef struct trial {
    int width, height, components, sampling_x, sampling_y;
    int quantizer; /* the largest entry of the table */
    int restart;   /* MCUs between restart markers; 0: there are none */
    int largest;   /* size of a coefficient, dequantised */
    bool peaks;    /* some blocks have a sample far outside 8 bits */
} trial;

static const trial trials[GC_JPEG_TRIALS] = {
    {65, 47, 3, 2, 2, 40, 0, 300, false},  {38, 33, 3, 2, 1, 12, 0, 200, false},
    {30, 21, 3, 1, 1, 90, 3, 400, false},  {57, 50, 1, 1, 1, 3, 0, 150, false},
    {3, 1, 3, 2, 2, 20, 0, 100, false},    {96, 80, 3, 2, 2, 1, 0, 100, true},
    {16, 24, 1, 1, 1, 255, 1, 500, false}, {1, 19, 3, 2, 1, 30, 0, 300, false},
};

/* Made by `unit_jpeg_trials --print` with libjpeg-turbo 2.1.5. */
static const gc_hash hashes[GC_JPEG_TRIALS] = {
    {0xc17c4010fcd49bc7, 0x700bf08d46168e65}, /* 2428 bytes */
    {0x9a65ccde61bbffee, 0xf03041938045db01}, /* 2410 bytes */
    {0xfa27beb81d994fc0, 0xe8a689a195f41cc5}, /* 1079 bytes */
    {0x8d0fe48b879aebd3, 0xbd48469f98eb2c85}, /* 2701 bytes */
    {0x6ee92e471845686f, 0xb4b959d9763012cd}, /* 446 bytes */
    {0xdf07e7b094baf0a0, 0xe2ddce830dac59a5}, /* 9942 bytes */
    {0x4e86e95d4e420afb, 0x5a7b143e6d3f8949}, /* 377 bytes */
    {0x42f613920717c969, 0x643c76f21e097c05}, /* 690 bytes */
};

/* ---- Writing bits ---------------------------------------------------------------------------- */

/* `random` is the state of a generator (a linear congruence, of Numerical Recipes): the files are
 * the same everywhere. */
typedef struct jpeg {
    unsigned char *bytes;
    size_t size;
    unsigned bits; /* not yet written */
    int bit_count;
    uint32_t random;
} jpeg;

static int draw(jpeg *file, int below)
{
    file->random = file->random * 1664525u + 1013904223u;
    return (int)((file->random >> 8) % (unsigned)below);
}

static void put(jpeg *file, int byte)
{
    file->bytes[file->size++] = (unsigned char)byte;
}

static void put_word(jpeg *file, int word)
{
    put(file, word >> 8);
    put(file, word & 255);
}

static void put_bits(jpeg *file, unsigned value, int count)
{
    file->bits = file->bits << count | value;
    file->bit_count += count;
    while (file->bit_count >= 8) {
        file->bit_count -= 8;
        int byte = (int)(file->bits >> file->bit_count & 255);
        put(file, byte);
        if (byte == 255)
            put(file, 0);
    }
}

/* Fills the last byte with ones. */
static void end_bits(jpeg *file)
{
    if (file->bit_count > 0)
        put_bits(file, (1u << (8 - file->bit_count)) - 1, 8 - file->bit_count);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

enum {
    DC_BITS = 4, /* all codes of a table have the same length, and count up */
    DC_CODES = 12,
    AC_BITS = 8,
    AC_SIZES = 10, /* a coefficient has at most 10 bits */
    END_OF_BLOCK = 0,
    SIXTEEN_ZEROS = 1,
    AC_CODES = 2 + 16 * AC_SIZES
};

static void put_huffman_table(jpeg *file, int destination, int bits, int count)
{
    put_word(file, 0xffc4);
    put_word(file, 2 + 1 + 16 + count);
    put(file, destination);
    for (int length = 1; length <= 16; length++)
        put(file, length == bits ? count : 0);
    if (bits == DC_BITS) {
        for (int i = 0; i < count; i++)
            put(file, i);
        return;
    }
    put(file, 0x00);
    put(file, 0xf0);
    for (int i = 0; i < 16 * AC_SIZES; i++)
        put(file, i / AC_SIZES << 4 | (i % AC_SIZES + 1));
}

/* Entries grow with the frequency. */
static void make_quantizer(const trial *about, jpeg *file, int quantizer[64])
{
    put_word(file, 0xffdb);
    put_word(file, 2 + 1 + 64);
    put(file, 0);
    for (int i = 0; i < 64; i++) {
        quantizer[i] = 1 + (about->quantizer - 1) * (i + draw(file, 64)) / 126;
        put(file, quantizer[i]);
    }
}

/* JFIF 1.01: the colours are YCbCr. */
static void put_colours(jpeg *file)
{
    static const unsigned char segment[] = {0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0,
                                            1,    1,    0, 0,  1,   0,   1,   0,   0};
    for (size_t i = 0; i < sizeof segment; i++)
        put(file, segment[i]);
}

static void put_header(const trial *about, jpeg *file)
{
    put_word(file, 0xffc0);
    put_word(file, 8 + 3 * about->components);
    put(file, 8);
    put_word(file, about->height);
    put_word(file, about->width);
    put(file, about->components);
    for (int c = 0; c < about->components; c++) {
        put(file, c + 1);
        put(file, c == 0 ? about->sampling_x << 4 | about->sampling_y : 0x11);
        put(file, 0);
    }
    put_huffman_table(file, 0x00, DC_BITS, DC_CODES);
    put_huffman_table(file, 0x10, AC_BITS, AC_CODES);
    if (about->restart > 0) {
        put_word(file, 0xffdd);
        put_word(file, 4);
        put_word(file, about->restart);
    }
    put_word(file, 0xffda);
    put_word(file, 6 + 2 * about->components);
    put(file, about->components);
    for (int c = 0; c < about->components; c++) {
        put(file, c + 1);
        put(file, 0x00);
    }
    put(file, 0);
    put(file, 63);
    put(file, 0);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int bits_of(int value)
{
    int magnitude = value < 0 ? -value : value, bits = 0;
    for (; magnitude > 0; magnitude >>= 1)
        bits++;
    return bits;
}

static void put_value(jpeg *file, int value, int bits)
{
    unsigned code = (unsigned)(value < 0 ? value + (1 << bits) - 1 : value);
    if (bits > 0)
        put_bits(file, code & ((1u << bits) - 1), bits);
}

/* A coefficient of random size, whose dequantised square *left can still take; else 0. */
static int random_coefficient(const trial *about, jpeg *file, int quantizer, int *left)
{
    int most = (about->largest >> draw(file, 7)) / quantizer;
    int value = most > 0 ? draw(file, 2 * most + 1) - most : 0;
    int square = value * value * quantizer * quantizer;
    if (square > *left)
        return 0;
    *left -= square;
    return value;
}

static void draw_noise(const trial *about, jpeg *file, const int quantizer[64], int block[64])
{
    enum { DC_MAX = 700, SQUARES = 700 * 700 }; /* the block's energy stays below 1024 */
    block[0] = (draw(file, 2 * DC_MAX + 1) - DC_MAX) / quantizer[0];
    int left = SQUARES, busy = draw(file, 5);
    for (int i = 1; i < 64; i++)
        block[i] = draw(file, 4) < busy ? random_coefficient(about, file, quantizer[i], &left) : 0;
}

/* 2^14 times the function of frequency `u` of the DCT at sample `x`. */
static int basis(int u, int x)
{
    static const int cosines[9] = {8192, 8035, 7568, 6811, 5793, 4551, 3135, 1598, 0};
    int angle = (2 * x + 1) * u % 32; /* in parts of pi / 16 */
    if (angle > 16)
        angle = 32 - angle;
    if (u == 0)
        return 5793;
    return angle <= 8 ? cosines[angle] : -cosines[16 - angle];
}

/* Grey but for one sample, which is so far outside 8 bits that some inverse DCTs wrap and others
 * clamp. The C code of libjpeg-turbo wraps, its code for vectors clamps. */
static void draw_peak(jpeg *file, const int quantizer[64], int block[64])
{
    int height = 560 + draw(file, 400), x = draw(file, 8), y = draw(file, 8);
    if (draw(file, 2) == 0)
        height = -height;
    for (int i = 0; i < 64; i++)
        block[i] = (int)((int64_t)height * basis(gc_jpeg_places[i] % 8, x) *
                         basis(gc_jpeg_places[i] / 8, y) / ((int64_t)quantizer[i] << 28));
}

/* `before` is the DC coefficient of the component's last block. */
static void put_block(jpeg *file, const int block[64], int *before)
{
    int difference = block[0] - *before, zeros = 0;
    *before = block[0];
    put_bits(file, (unsigned)bits_of(difference), DC_BITS);
    put_value(file, difference, bits_of(difference));
    for (int i = 1; i < 64; i++) {
        if (block[i] == 0) {
            zeros++;
            continue;
        }
        for (; zeros >= 16; zeros -= 16)
            put_bits(file, SIXTEEN_ZEROS, AC_BITS);
        put_bits(file, (unsigned)(2 + zeros * AC_SIZES + bits_of(block[i]) - 1), AC_BITS);
        put_value(file, block[i], bits_of(block[i]));
        zeros = 0;
    }
    if (zeros > 0)
        put_bits(file, END_OF_BLOCK, AC_BITS);
}

static void make_block(const trial *about, jpeg *file, const int quantizer[64], int *before)
{
    int block[64];
    if (about->peaks && draw(file, 4) == 0)
        draw_peak(file, quantizer, block);
    else
        draw_noise(about, file, quantizer, block);
    put_block(file, block, before);
}

static void put_scan(const trial *about, jpeg *file, const int quantizer[64])
{
    int across = 8 * about->sampling_x, down = 8 * about->sampling_y;
    int mcus = (about->width + across - 1) / across * ((about->height + down - 1) / down);
    int before[3] = {0};
    for (int i = 0; i < mcus; i++) {
        if (about->restart > 0 && i > 0 && i % about->restart == 0) {
            end_bits(file);
            put_word(file, 0xffd0 + (i / about->restart - 1) % 8);
            memset(before, 0, sizeof before);
        }
        for (int c = 0; c < about->components; c++)
            for (int b = 0; b < (c == 0 ? about->sampling_x * about->sampling_y : 1); b++)
                make_block(about, file, quantizer, &before[c]);
    }
    end_bits(file);
}

gc_hash gc_jpeg_trial(int index, unsigned char *bytes, gconv_encoded *picture)
{
    const trial *about = &trials[index];
    jpeg file = {.bytes = bytes, .random = (uint32_t)index};
    int quantizer[64];
    put_word(&file, 0xffd8);
    put_colours(&file);
    make_quantizer(about, &file, quantizer);
    put_header(about, &file);
    put_scan(about, &file, quantizer);
    put_word(&file, 0xffd9);
    *picture = (gconv_encoded){.bytes = bytes,
                               .held = file.size,
                               .size = file.size,
                               .width = (uint32_t)about->width,
                               .height = (uint32_t)about->height,
                               .components = about->components,
                               .sampling_x = about->sampling_x,
                               .sampling_y = about->sampling_y,
                               .orientation = 1};
    return hashes[index];
}
