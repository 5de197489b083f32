#include "io/runs.h"

#include <string.h>
#include <zlib.h>

/* Symbols of RFC 1951, 3.2.5: bytes, the end of a block, and lengths of matches. LONGEST is the
 * last length. The two symbols after LONGEST never occur. All matches here are at distance 1. */
enum {
    END_OF_BLOCK = 256,
    LONGEST = 285,
    SYMBOLS = 288,
    RUN_MIN = 3,
    RUN_MAX = 258,
    CODE_MAX = 15
};

/* Tokens are bytes, or RUN plus a run's length. */
enum { RUN = 256 };

/* A block of fewer bytes takes the fixed code: a code of its own would not pay for being
 * written. */
enum { OWN_CODE_BYTES = 1024 };

typedef struct code {
    uint32_t bits; /* the first one lowest */
    int length;
} code;

/* ---- Bits ------------------------------------------------------------------------------------ */

static void store_little_endian(uint8_t *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, sizeof word);
}

/* Where bits go: whole bytes to `next`, the others wait. */
typedef struct bit_writer {
    uint8_t *next;
    uint64_t bits;
    int count;
} bit_writer;

/* Appends at most 32 bits. */
static inline void put(bit_writer *to, code c)
{
    to->bits |= (uint64_t)c.bits << to->count;
    to->count += c.length;
    store_little_endian(to->next, to->bits);
    int whole = to->count / 8;
    to->next += whole;
    to->bits >>= 8 * whole;
    to->count -= 8 * whole;
}

static inline void put_number(bit_writer *to, uint32_t number, int length)
{
    put(to, (code){number, length});
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static uint64_t load_little_endian(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* How many bytes from `at` on equal the byte before `at`; at most `most`. Reads up to 7 bytes
 * beyond them. */
static inline size_t run_length(const uint8_t *at, size_t most)
{
    uint64_t same = at[-1] * UINT64_C(0x0101010101010101);
    for (size_t length = 0; length < most; length += 8) {
        uint64_t different = load_little_endian(at + length) ^ same;
        if (different != 0) {
            length += (size_t)__builtin_ctzll(different) / 8;
            return length < most ? length : most;
        }
    }
    return most;
}

/* The symbol of a length (RFC 1951, 3.2.5) and its extra bits. */
static int length_symbol(int length, uint32_t *extra, int *extra_bits)
{
    *extra = 0;
    *extra_bits = 0;
    if (length == RUN_MAX)
        return LONGEST;
    int rest = length - RUN_MIN;
    if (rest < 8)
        return END_OF_BLOCK + 1 + rest;
    int top = 31 - __builtin_clz((unsigned)rest);
    *extra_bits = top - 2;
    *extra = (uint32_t)rest & ((1u << *extra_bits) - 1);
    return END_OF_BLOCK + 1 + 4 * (top - 1) + (rest >> *extra_bits & 3);
}

/* Makes tokens of the block: bytes, and runs. Counts each byte, and the runs of each length. */
static size_t find_runs(gc_runs *runs, uint32_t counts[RUN + RUN_MAX + 1])
{
    const uint8_t *block = runs->block;
    size_t count = 0, at = 0;
    while (at < runs->filled) {
        size_t left = runs->filled - at;
        size_t run = at > 0 ? run_length(block + at, left < RUN_MAX ? left : RUN_MAX) : 0;
        uint16_t token = run < RUN_MIN ? block[at] : (uint16_t)(RUN + run);
        at += run < RUN_MIN ? 1 : run;
        counts[token]++;
        runs->tokens[count++] = token;
    }
    return count;
}

/* ---- Codes ----------------------------------------------------------------------------------- */

/* Chooses code lengths of 1 to CODE_MAX for the symbols that occur, two at least. First each symbol
 * gets Shannon's length: the logarithm of its probability, rounded up. Such a code has room left.
 * Then lengths are shortened until the code is complete, as RFC 1951 wants it. Those come first for
 * which the logarithm was rounded up most. */
static void choose_lengths(const uint32_t counts[SYMBOLS], int lengths[SYMBOLS])
{
    uint32_t weights[SYMBOLS], total = 0, sum = 0;
    for (int s = 0; s < SYMBOLS; s++)
        sum += counts[s];
    for (int s = 0; s < SYMBOLS; s++) {
        /* Every symbol counts for a little more, so that no length exceeds CODE_MAX. */
        weights[s] = counts[s] > 0 ? counts[s] + (sum >> (CODE_MAX - 1)) : 0;
        total += weights[s];
    }
    int room = 1 << CODE_MAX;
    for (int s = 0; s < SYMBOLS; s++) {
        lengths[s] = 0;
        if (weights[s] == 0)
            continue;
        while (((uint64_t)weights[s] << ++lengths[s]) < total)
            continue;
        room -= 1 << (CODE_MAX - lengths[s]);
    }
    /* Shortens the symbols whose weight is at least share/16 of what their length stands for. The
     * share falls from 31/16 to 16/16; at last every symbol that fits is shortened. */
    for (int share = 31; room > 0; share = share > 16 ? share - 1 : 0)
        for (int s = 0; s < SYMBOLS; s++) {
            int cost = 1 << (CODE_MAX - lengths[s]);
            if (lengths[s] < 2 || cost > room ||
                16 * ((uint64_t)weights[s] << lengths[s]) < (uint64_t)share * total)
                continue;
            room -= cost;
            lengths[s]--;
        }
}

/* The canonical code of these lengths (RFC 1951, 3.2.2). */
static void make_codes(const int *lengths, int count, code *codes)
{
    uint32_t next = 0;
    for (int length = 1; length <= CODE_MAX; length++, next <<= 1)
        for (int s = 0; s < count; s++) {
            if (lengths[s] != length)
                continue;
            uint32_t reversed = 0;
            for (int bit = 0; bit < length; bit++)
                reversed |= (next >> bit & 1) << (length - 1 - bit);
            codes[s] = (code){reversed, length};
            next++;
        }
}

/* Code lengths are written in a code of their own (RFC 1951, 3.2.7). Here it is always the same: 0
 * to 13 take 4 bits; 14, 15 and the two repetitions of 0 take 5. */
enum { LENGTH_SYMBOLS = 19, ZEROS_SHORT = 17, ZEROS_LONG = 18 };
static const int length_lengths[LENGTH_SYMBOLS] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
                                                   4, 4, 4, 4, 5, 5, 0, 5, 5};

/* Zeros from `at` on in `lengths`. */
static int count_zeros(const int *lengths, int at)
{
    int zeros = 0;
    while (at + zeros <= LONGEST && zeros < 138 && lengths[at + zeros] == 0)
        zeros++;
    return zeros;
}

static void put_lengths(bit_writer *to, const int lengths[SYMBOLS])
{
    static const int order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};
    code codes[LENGTH_SYMBOLS] = {{0}};
    make_codes(length_lengths, LENGTH_SYMBOLS, codes);
    put_number(to, LONGEST + 1 - 257, 5);
    put_number(to, 0, 5); /* one distance */
    put_number(to, LENGTH_SYMBOLS - 4, 4);
    for (int i = 0; i < LENGTH_SYMBOLS; i++)
        put_number(to, (uint32_t)length_lengths[order[i]], 3);
    for (int s = 0; s <= LONGEST;) {
        int zeros = count_zeros(lengths, s);
        if (zeros < 3) {
            put(to, codes[lengths[s++]]);
            continue;
        }
        bool is_long = zeros >= 11;
        put(to, codes[is_long ? ZEROS_LONG : ZEROS_SHORT]);
        put_number(to, (uint32_t)(zeros - (is_long ? 11 : 3)), is_long ? 7 : 3);
        s += zeros;
    }
    put(to, codes[1]); /* the length of the distance's code */
}

/* The codes of all tokens: runs with their extra bits and the distance, whose bits are 0. */
static void make_token_codes(const code symbols[SYMBOLS], int distance_bits,
                             code codes[RUN + RUN_MAX + 1])
{
    memcpy(codes, symbols, RUN * sizeof *codes);
    for (int length = RUN_MIN; length <= RUN_MAX; length++) {
        uint32_t extra;
        int extra_bits;
        code c = symbols[length_symbol(length, &extra, &extra_bits)];
        codes[RUN + length] =
            (code){c.bits | extra << c.length, c.length + extra_bits + distance_bits};
    }
}

/* The lengths that need not be written (RFC 1951, 3.2.6). */
static void fill_fixed_lengths(int lengths[SYMBOLS])
{
    for (int s = 0; s < SYMBOLS; s++)
        lengths[s] = s < 144 ? 8 : s < END_OF_BLOCK ? 9 : s < 280 ? 7 : 8;
}

/* ---- The stream ------------------------------------------------------------------------------ */

void gc_runs_begin(gc_runs *runs)
{
    runs->filled = 0;
    runs->check = 1;
    runs->begun = false;
    runs->bits = 0;
    runs->bit_count = 0;
}

size_t gc_runs_take(gc_runs *runs, const uint8_t *bytes, size_t count)
{
    size_t room = GC_RUNS_BLOCK - runs->filled;
    size_t taken = count < room ? count : room;
    memcpy(runs->block + runs->filled, bytes, taken);
    runs->filled += taken;
    return taken;
}

bool gc_runs_full(const gc_runs *runs)
{
    return runs->filled == GC_RUNS_BLOCK;
}

static void count_symbols(const uint32_t token_counts[RUN + RUN_MAX + 1], uint32_t counts[SYMBOLS])
{
    memset(counts, 0, SYMBOLS * sizeof *counts);
    memcpy(counts, token_counts, RUN * sizeof *counts);
    counts[END_OF_BLOCK] = 1;
    counts[0] += counts[0] == 0; /* a code that is complete has two symbols */
    for (int length = RUN_MIN; length <= RUN_MAX; length++) {
        uint32_t extra;
        int extra_bits;
        counts[length_symbol(length, &extra, &extra_bits)] += token_counts[RUN + length];
    }
}

static bit_writer put_block(gc_runs *runs, bit_writer to, bool last)
{
    enum { FIXED_CODE = 1, OWN_CODE = 2, FIXED_DISTANCE_BITS = 5 };
    uint32_t token_counts[RUN + RUN_MAX + 1] = {0}, counts[SYMBOLS];
    int lengths[SYMBOLS];
    code symbols[SYMBOLS] = {{0}}, codes[RUN + RUN_MAX + 1];
    size_t token_count = find_runs(runs, token_counts);
    bool fixed = runs->filled < OWN_CODE_BYTES;
    put_number(&to, last, 1);
    put_number(&to, fixed ? FIXED_CODE : OWN_CODE, 2);
    if (fixed) {
        fill_fixed_lengths(lengths);
    } else {
        count_symbols(token_counts, counts);
        choose_lengths(counts, lengths);
        put_lengths(&to, lengths);
    }
    make_codes(lengths, SYMBOLS, symbols);
    make_token_codes(symbols, fixed ? FIXED_DISTANCE_BITS : 1, codes);
    for (size_t i = 0; i < token_count; i++)
        put(&to, codes[runs->tokens[i]]);
    put(&to, symbols[END_OF_BLOCK]);
    return to;
}

void gc_runs_write(gc_runs *runs, bool last)
{
    enum { DEFLATE_WINDOW_32K = 0x78, FASTEST = 0x01 };
    bit_writer to = {runs->output, runs->bits, runs->bit_count};
    if (!runs->begun) {
        put_number(&to, DEFLATE_WINDOW_32K, 8);
        put_number(&to, FASTEST, 8);
    }
    runs->begun = true;
    memset(runs->block + runs->filled, 0, sizeof runs->block - GC_RUNS_BLOCK);
    runs->check = (uint32_t)adler32(runs->check, runs->block, (uInt)runs->filled);
    to = put_block(runs, to, last);
    runs->filled = 0;
    if (last) {
        put_number(&to, 0, -to.count & 7); /* to the end of the byte */
        for (int byte = 3; byte >= 0; byte--)
            put_number(&to, runs->check >> 8 * byte & 0xff, 8);
    }
    runs->size = (size_t)(to.next - runs->output);
    runs->bits = to.bits;
    runs->bit_count = to.count;
}
