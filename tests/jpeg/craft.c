/* JPEG files of random coefficients. */
#include "damage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS_MAX = 162, CODE_BITS_MAX = 16, COEFFICIENTS = 64 };

static const unsigned char zigzag[COEFFICIENTS] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* ---- Bytes and bits -------------------------------------------------------------------------- */

typedef struct writer {
    jpeg_file file;
    size_t space;
    unsigned int bits;
    int count;
} writer;

static void put_byte(writer *to, unsigned int byte)
{
    if (to->file.size == to->space) {
        to->space = 2 * to->space + 1024;
        to->file.bytes = realloc(to->file.bytes, to->space);
        if (to->file.bytes == NULL)
            abort();
    }
    to->file.bytes[to->file.size++] = (unsigned char)byte;
}

static void put_word(writer *to, unsigned int word)
{
    put_byte(to, word >> 8);
    put_byte(to, word & 0xff);
}

static void put_bit(writer *to, unsigned int bit)
{
    to->bits = to->bits << 1 | bit;
    if (++to->count < 8)
        return;
    put_byte(to, to->bits & 0xff);
    if ((to->bits & 0xff) == 0xff)
        put_byte(to, 0);
    to->count = 0;
}

static void put_bits(writer *to, unsigned int bits, int count)
{
    while (count-- > 0)
        put_bit(to, bits >> count & 1);
}

static void fill_byte(writer *to)
{
    while (to->count != 0)
        put_bit(to, 1);
}

/* ---- Huffman tables -------------------------------------------------------------------------- */

typedef struct code_table {
    int count;
    unsigned char symbols[SYMBOLS_MAX];
    unsigned char counts[CODE_BITS_MAX + 1]; /* by length of code */
    unsigned int codes[256];                 /* by symbol */
    int lengths[256];
} code_table;

/* All symbols of baseline JPEG. Half of the time in the order that favours small ones. */
static void choose_symbols(code_table *to, bool ac, jpeg_random *random)
{
    to->count = 0;
    for (int size = 0; size <= (ac ? 10 : 11); size++)
        for (int run = 0; run < (ac ? 16 : 1); run++)
            if (!ac || size > 0 || run == 0 || run == 15)
                to->symbols[to->count++] = (unsigned char)(run << 4 | size);
    if (jpeg_random_chance(random, 2))
        jpeg_random_shuffle(random, to->symbols, to->count);
}

/* Splits random leaves of a tree until it has one more than there are symbols: the spare one, among
 * the deepest, is the code of all ones. */
static void choose_lengths(code_table *to, jpeg_random *random)
{
    int leaves[CODE_BITS_MAX + 1] = {1};
    for (int count = 1; count < to->count + 1;) {
        int length = (int)jpeg_random_below(random, CODE_BITS_MAX);
        if (leaves[length] == 0)
            continue;
        leaves[length]--;
        leaves[length + 1] += 2;
        count++;
    }
    int deepest = CODE_BITS_MAX;
    while (leaves[deepest] == 0)
        deepest--;
    leaves[deepest]--;
    for (int length = 0; length <= CODE_BITS_MAX; length++)
        to->counts[length] = (unsigned char)leaves[length];
}

static void make_table(code_table *to, bool ac, jpeg_random *random)
{
    unsigned int code = 0;
    int index = 0;
    choose_symbols(to, ac, random);
    choose_lengths(to, random);
    for (int length = 1; length <= CODE_BITS_MAX; length++, code <<= 1)
        for (int i = 0; i < to->counts[length]; i++) {
            to->codes[to->symbols[index]] = code++;
            to->lengths[to->symbols[index++]] = length;
        }
}

static void put_table(writer *to, const code_table *table, unsigned int number)
{
    put_word(to, 0xffc4);
    put_word(to, 2 + 1 + CODE_BITS_MAX + (unsigned int)table->count);
    put_byte(to, number);
    for (int length = 1; length <= CODE_BITS_MAX; length++)
        put_byte(to, table->counts[length]);
    for (int i = 0; i < table->count; i++)
        put_byte(to, table->symbols[i]);
}

static void put_symbol(writer *to, const code_table *table, int symbol)
{
    put_bits(to, table->codes[symbol], table->lengths[symbol]);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef enum block_kind {
    RANDOM_VALUES,
    IMPULSE, /* one sample takes all the energy */
    ROW_PAIR /* two sums of one column pass take it, which are added in the row pass */
} block_kind;

typedef struct craft {
    writer out;
    jpeg_random *random;
    int components, across, down;
    unsigned char steps[2][COEFFICIENTS]; /* in zigzag order */
    code_table dc[2], ac[2];
    double energy; /* of most blocks */
    int dense;     /* coefficients of a block that are not 0, at most */
} craft;

static double cosine(int k, int x)
{
    const double pi = 3.14159265358979323846;
    return (k == 0 ? sqrt(0.125) : 0.5) * cos((2 * x + 1) * k * pi / 16);
}

/* Values in natural order, of no particular energy. */
static void choose_values(const craft *of, double *values)
{
    static const int pairs[][2] = {{0, 4}, {3, 7}, {1, 5}};
    jpeg_random *random = of->random;
    block_kind kind = (block_kind)jpeg_random_below(random, 6);
    int x = (int)jpeg_random_below(random, 8), y = (int)jpeg_random_below(random, 8);
    const int *pair = pairs[jpeg_random_below(random, 3)];
    double sign = jpeg_random_chance(random, 2) ? 1 : -1;
    memset(values, 0, COEFFICIENTS * sizeof *values);
    for (int i = 0; i < COEFFICIENTS; i++)
        if (kind == IMPULSE)
            values[i] = sign * cosine(i / 8, y) * cosine(i % 8, x);
        else if (kind == ROW_PAIR)
            values[i] = (i % 8 == pair[0] || i % 8 == pair[1]) ? sign * cosine(i / 8, y) : 0;
    if (kind == IMPULSE || kind == ROW_PAIR)
        return;
    for (int i = 0; i < of->dense; i++)
        values[jpeg_random_below(random, COEFFICIENTS)] = 2 * jpeg_random_part(random) - 1;
}

/* Coefficients in zigzag order, of an energy near the wanted one. */
static void choose_block(const craft *of, const unsigned char *steps, int *block)
{
    double values[COEFFICIENTS], sum = 1e-9;
    choose_values(of, values);
    for (int i = 0; i < COEFFICIENTS; i++)
        sum += values[i] * values[i];
    double energy =
        jpeg_random_chance(of->random, 3) ? of->energy * jpeg_random_part(of->random) : of->energy;
    for (int k = 0; k < COEFFICIENTS; k++) {
        double value = values[zigzag[k]] * energy / sqrt(sum) / steps[k];
        int rounded = (int)(value + (value < 0 ? -0.5 : 0.5));
        block[k] = rounded > 1023 ? 1023 : rounded < -1023 ? -1023 : rounded;
    }
}

static int size_of(int value)
{
    int size = 0;
    for (int rest = abs(value); rest > 0; rest >>= 1)
        size++;
    return size;
}

static void put_value(writer *to, int value, int size)
{
    put_bits(to, (unsigned int)(value < 0 ? value - 1 : value), size);
}

static void put_block(craft *of, int component, int *dc)
{
    int block[COEFFICIENTS], chroma = component > 0, zeros = 0;
    writer *out = &of->out;
    const code_table *ac = &of->ac[chroma];
    choose_block(of, of->steps[chroma], block);
    int size = size_of(block[0] - *dc);
    put_symbol(out, &of->dc[chroma], size);
    put_value(out, block[0] - *dc, size);
    *dc = block[0];
    for (int k = 1; k < COEFFICIENTS; k++) {
        if (block[k] == 0) {
            zeros++;
            continue;
        }
        for (; zeros > 15; zeros -= 16)
            put_symbol(out, ac, 0xf0);
        size = size_of(block[k]);
        put_symbol(out, ac, zeros << 4 | size);
        put_value(out, block[k], size);
        zeros = 0;
    }
    if (zeros > 0)
        put_symbol(out, ac, 0);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void choose_steps(craft *of)
{
    static const unsigned char fixed[] = {1, 1, 2, 16, 255};
    size_t kind = jpeg_random_below(of->random, 7);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < COEFFICIENTS; k++)
            of->steps[i][k] =
                kind < 5 ? fixed[kind]
                         : (unsigned char)(1 + jpeg_random_below(of->random, kind == 5 ? 255 : 20));
}

static void choose_energy(craft *of)
{
    static const double energies[] = {100,  500,  900,  1000, 1020, 1026,
                                      1030, 1500, 2000, 2040, 2100};
    static const int dense[] = {1, 2, 8, 30, 200};
    double norm = 0;
    for (int k = 0; k < COEFFICIENTS; k++)
        norm += of->steps[0][k] * of->steps[0][k] / 4.0;
    norm = 1024 + sqrt(norm);
    of->dense = dense[jpeg_random_below(of->random, 5)];
    of->energy = energies[jpeg_random_below(of->random, 11)];
    if (!jpeg_random_chance(of->random, 4) && of->energy > norm)
        of->energy = norm - 5;
}

static void put_header(craft *of, unsigned int width, unsigned int height, unsigned int restart)
{
    writer *out = &of->out;
    unsigned int count = (unsigned int)of->components;
    put_word(out, 0xffd8);
    for (unsigned int i = 0; i < 2; i++) {
        put_word(out, 0xffdb);
        put_word(out, 2 + 1 + COEFFICIENTS);
        put_byte(out, i);
        for (int k = 0; k < COEFFICIENTS; k++)
            put_byte(out, of->steps[i][k]);
        put_table(out, &of->dc[i], i);
        put_table(out, &of->ac[i], 0x10 | i);
    }
    put_word(out, 0xffc0);
    put_word(out, 8 + 3 * count);
    put_byte(out, 8);
    put_word(out, height);
    put_word(out, width);
    put_byte(out, count);
    for (unsigned int i = 0; i < count; i++) {
        put_byte(out, i + 1);
        put_byte(out, i == 0 ? (unsigned int)(of->across << 4 | of->down) : 0x11);
        put_byte(out, i > 0);
    }
    if (restart > 0) {
        put_word(out, 0xffdd);
        put_word(out, 4);
        put_word(out, restart);
    }
    put_word(out, 0xffda);
    put_word(out, 6 + 2 * count);
    put_byte(out, count);
    for (unsigned int i = 0; i < count; i++) {
        put_byte(out, i + 1);
        put_byte(out, i > 0 ? 0x11 : 0);
    }
    put_word(out, 63);
    put_byte(out, 0);
}

static void put_data(craft *of, unsigned int count, unsigned int restart)
{
    int dc[3] = {0};
    for (unsigned int mcu = 0; mcu < count; mcu++) {
        if (restart > 0 && mcu > 0 && mcu % restart == 0) {
            fill_byte(&of->out);
            put_word(&of->out, 0xffd0 | ((mcu / restart - 1) & 7));
            memset(dc, 0, sizeof dc);
        }
        for (int i = 0; i < of->components; i++)
            for (int j = i == 0 ? of->across * of->down : 1; j > 0; j--)
                put_block(of, i, &dc[i]);
    }
    fill_byte(&of->out);
    put_word(&of->out, 0xffd9);
}

jpeg_file jpeg_craft(jpeg_random *random)
{
    static const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}};
    craft of = {.random = random, .components = jpeg_random_chance(random, 2) ? 1 : 3};
    const int *chosen = factors[of.components == 1 ? 0 : jpeg_random_below(random, 3)];
    unsigned int width = 1 + (unsigned int)jpeg_random_below(random, 60);
    unsigned int height = 1 + (unsigned int)jpeg_random_below(random, 60);
    unsigned int restart =
        jpeg_random_chance(random, 3) ? 1 + (unsigned)jpeg_random_below(random, 9) : 0;
    of.across = chosen[0];
    of.down = chosen[1];
    choose_steps(&of);
    choose_energy(&of);
    for (int i = 0; i < 2; i++) {
        make_table(&of.dc[i], false, random);
        make_table(&of.ac[i], true, random);
    }
    put_header(&of, width, height, restart);
    unsigned int columns = 8 * (unsigned)of.across, rows = 8 * (unsigned)of.down;
    put_data(&of, (width + columns - 1) / columns * ((height + rows - 1) / rows), restart);
    return of.out.file;
}
