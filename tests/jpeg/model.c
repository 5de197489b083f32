/* The model decoder. Figures and sections are those of ITU-T T.81. */
#include "planes.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { COEFFICIENTS = 64, SIDE = 8 };

static const int zigzag[COEFFICIENTS] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

typedef struct model_table {
    unsigned char counts[17]; /* codes of each length */
    unsigned char symbols[256];
} model_table;

typedef struct model_component {
    int across, down, dc, ac;
    int steps; /* number of the quantiser */
    int64_t predicted;
    uint32_t columns, rows; /* in blocks of the plane */
} model_component;

typedef struct model {
    const unsigned char *bytes;
    size_t size, at;
    int bit; /* of bytes[at], from the left */
    uint32_t width, height;
    unsigned int interval;
    int count;
    model_component components[3];
    int64_t steps[4][COEFFICIENTS];
    model_table tables[2][4];
    bool wrap;
    jpeg_planes *planes;
    jmp_buf trap;
    const char *volatile complaint;
} model;

static _Noreturn void complain(model *of, const char *text)
{
    of->complaint = text;
    longjmp(of->trap, 1);
}

static void demand(model *of, bool holds, const char *text)
{
    if (!holds)
        complain(of, text);
}

static int byte_at(model *of, size_t at)
{
    demand(of, at < of->size, "the file ends");
    return of->bytes[at];
}

static unsigned int word_at(model *of, size_t at)
{
    return (unsigned int)byte_at(of, at) << 8 | (unsigned int)byte_at(of, at + 1);
}

/* ---- Header ---------------------------------------------------------------------------------- */

static void read_steps(model *of, size_t at, size_t end)
{
    for (; at < end; at += 1 + COEFFICIENTS) {
        int number = byte_at(of, at);
        demand(of, number < 4, "a quantiser of another kind");
        for (size_t k = 0; k < COEFFICIENTS; k++)
            of->steps[number][k] = byte_at(of, at + 1 + k);
    }
}

static void read_tables(model *of, size_t at, size_t end)
{
    while (at < end) {
        int head = byte_at(of, at++);
        demand(of, (head & ~0x13) == 0, "a Huffman table of another kind");
        model_table *to = &of->tables[head >> 4][head & 3];
        size_t count = 0;
        for (int length = 1; length <= 16; length++) {
            to->counts[length] = (unsigned char)byte_at(of, at++);
            count += to->counts[length];
        }
        demand(of, count <= 256, "a Huffman table of too many symbols");
        for (size_t i = 0; i < count; i++)
            to->symbols[i] = (unsigned char)byte_at(of, at++);
    }
}

static void read_frame(model *of, size_t at)
{
    of->height = word_at(of, at + 1);
    of->width = word_at(of, at + 3);
    of->count = byte_at(of, at + 5);
    demand(of, byte_at(of, at) == 8 && of->width > 0 && of->height > 0, "an odd frame");
    demand(of, of->count == 1 || of->count == 3, "other than 1 or 3 components");
    for (int i = 0; i < of->count; i++) {
        int factors = byte_at(of, at + 7 + 3 * (size_t)i);
        of->components[i] = (model_component){.across = factors >> 4,
                                              .down = factors & 15,
                                              .steps = byte_at(of, at + 8 + 3 * (size_t)i)};
        demand(of, of->components[i].steps < 4, "no such quantiser");
    }
}

static void read_scan(model *of, size_t at)
{
    demand(of, of->count > 0 && byte_at(of, at) == of->count, "not all components in one scan");
    for (int i = 0; i < of->count; i++) {
        int tables = byte_at(of, at + 2 + 2 * (size_t)i);
        of->components[i].dc = tables >> 4;
        of->components[i].ac = tables & 15;
        demand(of, of->components[i].dc < 4 && of->components[i].ac < 4, "no such table");
    }
}

static void read_header(model *of)
{
    for (of->at = 2;;) {
        unsigned int marker = word_at(of, of->at);
        size_t at = of->at + 4, end = of->at + 2 + word_at(of, of->at + 2);
        if (marker == 0xffdb)
            read_steps(of, at, end);
        else if (marker == 0xffc4)
            read_tables(of, at, end);
        else if (marker == 0xffc0)
            read_frame(of, at);
        else if (marker == 0xffdd)
            of->interval = word_at(of, at);
        else if (marker == 0xffda)
            read_scan(of, at);
        of->at = end;
        if (marker == 0xffda)
            return;
    }
}

/* ---- Data (F.2.2) ---------------------------------------------------------------------------- */

static int next_bit(model *of)
{
    int byte = byte_at(of, of->at);
    int bit = byte >> (7 - of->bit) & 1;
    if (byte == 0xff)
        demand(of, byte_at(of, of->at + 1) == 0, "a marker in the data");
    if (++of->bit == 8) {
        of->bit = 0;
        of->at += byte == 0xff ? 2 : 1;
    }
    return bit;
}

/* Figure F.16 */
static int next_symbol(model *of, const model_table *table)
{
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= 16; length++) {
        code = code << 1 | next_bit(of);
        if (code - first < table->counts[length])
            return table->symbols[index + code - first];
        index += table->counts[length];
        first = (first + table->counts[length]) << 1;
    }
    complain(of, "a code that does not exist");
}

/* Figure F.12 */
static int64_t next_value(model *of, int size)
{
    int64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 1 | next_bit(of);
    return size == 0 || value >> (size - 1) != 0 ? value : value - ((int64_t)1 << size) + 1;
}

/* Dequantised, in natural order. */
static void read_block(model *of, model_component *from, int64_t *block)
{
    const int64_t *steps = of->steps[from->steps];
    memset(block, 0, COEFFICIENTS * sizeof *block);
    int size = next_symbol(of, &of->tables[0][from->dc]);
    demand(of, size <= 11, "a DC difference of more than 11 bits");
    from->predicted += next_value(of, size);
    block[0] = from->predicted * steps[0];
    for (int k = 1; k < COEFFICIENTS; k++) {
        int symbol = next_symbol(of, &of->tables[1][from->ac]);
        if (symbol == 0)
            return;
        k += symbol >> 4;
        demand(of, k < COEFFICIENTS, "a run beyond the last coefficient");
        size = symbol & 15;
        demand(of, size <= 10, "a coefficient of more than 10 bits");
        demand(of, size > 0 || symbol == 0xf0, "a run without a value");
        demand(of, size > 0 || k < COEFFICIENTS - 1, "a block that ends in a run of zeros");
        block[zigzag[k]] = next_value(of, size) * steps[k];
    }
}

/* Ones up to the next byte, then the marker. */
static void read_marker(model *of, unsigned int marker)
{
    while (of->bit != 0)
        demand(of, next_bit(of) == 1, "zeros before a marker");
    demand(of, word_at(of, of->at) == marker, "another marker");
    of->at += 2;
    for (int i = 0; i < of->count; i++)
        of->components[i].predicted = 0;
}

/* ---- The inverse DCT, as libjpeg's jidctint.c has it
 * ------------------------------------------ */

/* Passes a number on that must fit in so many bits, with its sign. */
static int64_t fits(model *of, int64_t number, int bits)
{
    int64_t limit = (int64_t)1 << (bits - 1);
    demand(of, number >= -limit && number < limit,
           bits == 16 ? "a number of more than 16 bits" : "a number of more than 32 bits");
    return number;
}

/* The product of a number of 16 bits and a constant. */
static int64_t product(model *of, int64_t number, int64_t constant)
{
    return fits(of, number * constant, 32);
}

static int64_t sum(model *of, int64_t a, int64_t b)
{
    return fits(of, a + b, 32);
}

/* Rounded to nearest, halves up. */
static int64_t descale(model *of, int64_t number, int bits)
{
    return sum(of, number, (int64_t)1 << (bits - 1)) >> bits;
}

/* The odd half: coefficients 7, 5, 3 and 1 on entry. */
static void odd_part(model *of, int64_t t[4])
{
    int64_t z1 = product(of, t[0] + t[3], -7373);
    int64_t z2 = product(of, t[1] + t[2], -20995);
    int64_t z3 = fits(of, t[0] + t[2], 16), z4 = fits(of, t[1] + t[3], 16);
    int64_t z5 = product(of, z3 + z4, 9633);
    z3 = sum(of, product(of, z3, -16069), z5);
    z4 = sum(of, product(of, z4, -3196), z5);
    t[0] = sum(of, sum(of, product(of, t[0], 2446), z1), z3);
    t[1] = sum(of, sum(of, product(of, t[1], 16819), z2), z4);
    t[2] = sum(of, sum(of, product(of, t[2], 25172), z2), z3);
    t[3] = sum(of, sum(of, product(of, t[3], 12299), z1), z4);
}

/* 8 numbers, `step` apart. */
static void transform(model *of, int64_t *x, int step, int bits)
{
    int64_t even[4], odd[4] = {x[7 * step], x[5 * step], x[3 * step], x[step]};
    for (int i = 0; i < SIDE; i++)
        fits(of, x[i * step], 16);
    int64_t z1 = product(of, x[2 * step] + x[6 * step], 4433);
    int64_t t2 = sum(of, z1, product(of, x[6 * step], -15137));
    int64_t t3 = sum(of, z1, product(of, x[2 * step], 6270));
    int64_t t0 = product(of, fits(of, x[0] + x[4 * step], 16), 1 << 13);
    int64_t t1 = product(of, fits(of, x[0] - x[4 * step], 16), 1 << 13);
    even[0] = sum(of, t0, t3);
    even[1] = sum(of, t1, t2);
    even[2] = sum(of, t1, -t2);
    even[3] = sum(of, t0, -t3);
    odd_part(of, odd);
    for (int i = 0; i < 4; i++) {
        x[i * step] = fits(of, descale(of, sum(of, even[i], odd[3 - i]), bits), 16);
        x[(7 - i) * step] = fits(of, descale(of, sum(of, even[i], -odd[3 - i]), bits), 16);
    }
}

static void write_block(model *of, int64_t *block, unsigned char *to, size_t stride)
{
    for (int column = 0; column < SIDE; column++)
        transform(of, block + column, SIDE, 11);
    for (int row = 0; row < SIDE; row++)
        transform(of, block + row * SIDE, 1, 18);
    for (int i = 0; i < COEFFICIENTS; i++) {
        int64_t sample = block[i];
        if (of->wrap)
            sample = ((sample & 1023) ^ 512) - 512;
        sample += 128;
        to[(size_t)(i / SIDE) * stride + (size_t)(i % SIDE)] =
            (unsigned char)(sample < 0     ? 0
                            : sample > 255 ? 255
                                           : sample);
    }
}

/* ---- The image ------------------------------------------------------------------------------- */

static void take_planes(model *of)
{
    uint32_t across = (uint32_t)of->components[0].across, down = (uint32_t)of->components[0].down;
    of->planes->count = of->count;
    for (int i = 0; i < of->count; i++) {
        model_component *from = &of->components[i];
        bool full = i == 0 || across == 1;
        demand(of, i == 0 || (from->across == 1 && from->down == 1), "odd sampling");
        demand(of, across >= 1 && across <= 2 && down >= 1 && down <= across, "odd sampling");
        uint32_t columns = full ? 8 : 8 * across, rows = i == 0 || down == 1 ? 8 : 8 * down;
        from->columns = (of->width + columns - 1) / columns;
        from->rows = (of->height + rows - 1) / rows;
        jpeg_plane *to = &of->planes->planes[i];
        *to = (jpeg_plane){from->columns * SIDE, from->rows * SIDE, NULL};
        to->samples = calloc(to->columns, to->rows);
        demand(of, to->samples != NULL, "out of memory");
    }
}

/* Blocks to the right of the plane and below it are decoded, and not written. */
static void read_mcu(model *of, uint32_t column, uint32_t row)
{
    int64_t block[COEFFICIENTS];
    unsigned char none[COEFFICIENTS];
    for (int i = 0; i < of->count; i++) {
        model_component *from = &of->components[i];
        jpeg_plane *to = &of->planes->planes[i];
        for (int j = 0; j < from->across * from->down; j++) {
            uint32_t x = column * (uint32_t)from->across + (uint32_t)(j % from->across);
            uint32_t y = row * (uint32_t)from->down + (uint32_t)(j / from->across);
            read_block(of, from, block);
            if (x < from->columns && y < from->rows)
                write_block(of, block,
                            to->samples + (size_t)y * SIDE * to->columns + (size_t)x * SIDE,
                            to->columns);
            else
                write_block(of, block, none, SIDE);
        }
    }
}

static void read_data(model *of)
{
    uint32_t across = 8 * (uint32_t)of->components[0].across;
    uint32_t down = 8 * (uint32_t)of->components[0].down;
    uint32_t columns = (of->width + across - 1) / across, rows = (of->height + down - 1) / down;
    unsigned int left = of->interval, restart = 0;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++) {
            if (of->interval > 0 && left-- == 0) {
                read_marker(of, 0xffd0 | (restart++ & 7));
                left = of->interval - 1;
            }
            read_mcu(of, column, row);
        }
    read_marker(of, 0xffd9);
}

const char *jpeg_planes_by_model(const unsigned char *bytes, size_t size, bool wrap,
                                 jpeg_planes *planes)
{
    model of = {.bytes = bytes, .size = size, .wrap = wrap, .planes = planes};
    *planes = (jpeg_planes){0};
    if (setjmp(of.trap) != 0) {
        jpeg_planes_free(planes);
        return of.complaint;
    }
    read_header(&of);
    take_planes(&of);
    read_data(&of);
    return NULL;
}
