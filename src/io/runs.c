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

/* Appends at most 56 bits: up to 7 wait already. */
static inline void put(bit_writer *to, uint64_t bits, int length)
{
    to->bits |= bits << to->count;
    to->count += length;
    store_little_endian(to->next, to->bits);
    int whole = to->count / 8;
    to->next += whole;
    to->bits >>= 8 * whole;
    to->count -= 8 * whole;
}

static inline void put_code(bit_writer *to, code c)
{
    put(to, c.bits, c.length);
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

/* One bit for each of 8 bytes, the first one lowest: whether the byte is 0. */
static inline uint64_t zero_bytes(uint64_t different)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), gather = UINT64_C(0x0102040810204080);
    uint64_t nonzero = ((different & low) + low) | different; /* in the highest bit of each byte */
    return ((~nonzero & ~low) >> 7) * gather >> 56;
}

/* Sets bit i of runs->equal where byte i of the block equals byte i - 1. Bit 0 and bits from
 * runs->filled on are 0. */
static void find_equal(gc_runs *runs)
{
    size_t words = runs->filled / 64 + 1;
    uint64_t last = 0;
    for (size_t word = 0; word < words; word++) {
        uint64_t different[8], any = 0, equal = 0;
        for (int i = 0; i < 8; i++) {
            uint64_t next = load_little_endian(runs->block + 64 * word + 8 * i);
            different[i] = next ^ (next << 8 | last >> 56);
            any |= different[i];
            last = next;
        }
        for (int i = 0; i < 8 && any != 0; i++)
            equal |= zero_bytes(different[i]) << 8 * i;
        runs->equal[word] = any != 0 ? equal : ~UINT64_C(0);
    }
    runs->equal[words - 1] &= (UINT64_C(1) << runs->filled % 64) - 1;
    runs->equal[words] = 0;
    runs->equal[0] &= ~UINT64_C(1);
}

/* The 64 bits from bit `at` on. */
static inline uint64_t bits_from(const uint64_t *bits, size_t at)
{
    const uint64_t *word = bits + at / 64;
    return word[0] >> at % 64 | word[1] << 1 << (63 - at % 64);
}

/* How many bits are 1 from bit `at` on, up to the first 0. */
static size_t ones_from(const uint64_t *bits, size_t at)
{
    size_t count = 0;
    for (;; count += 64) {
        uint64_t zeros = ~bits_from(bits, at + count);
        if (zeros != 0)
            return count + (size_t)__builtin_ctzll(zeros);
    }
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

/* Appends `bytes` tokens from byte `at` on to `count` tokens. Copies 16 at a time. */
static inline size_t add_bytes(gc_runs *runs, size_t count, size_t at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 16)
        for (size_t j = i; j < i + 16; j++)
            runs->tokens[count + j] = runs->block[at + j];
    return count + bytes;
}

/* Appends the tokens of a run of any length: what the longest ones leave may be too short for
 * one. */
static size_t add_run(gc_runs *runs, size_t count, size_t at, size_t run)
{
    for (size_t part; run >= RUN_MIN; run -= part) {
        part = run < RUN_MAX ? run : RUN_MAX;
        runs->tokens[count++] = (uint16_t)(RUN + part);
    }
    return add_bytes(runs, count, at, run);
}

/* Makes tokens of the block: bytes, and runs. Returns how many. A step takes the bytes up to the
 * next run, and the run: few branches depend on the image. */
static size_t find_runs(gc_runs *runs)
{
    enum { WINDOW = 64 - RUN_MIN + 1 }; /* bits of a word at which a run is seen */
    find_equal(runs);
    size_t count = 0;
    for (size_t at = 0; at < runs->filled;) {
        uint64_t equal = bits_from(runs->equal, at);
        uint64_t starts = equal & equal >> 1 & equal >> 2;
        size_t left = runs->filled - at;
        size_t bytes = starts != 0 ? (size_t)__builtin_ctzll(starts) : WINDOW;
        count = add_bytes(runs, count, at, bytes < left ? bytes : left);
        at += bytes;
        if (starts == 0)
            continue;
        uint64_t end = ~equal >> bytes;
        size_t run = end != 0 ? (size_t)__builtin_ctzll(end) : ones_from(runs->equal, at);
        if (run <= RUN_MAX)
            runs->tokens[count++] = (uint16_t)(RUN + run);
        else
            count = add_run(runs, count, at, run);
        at += run;
    }
    return count;
}

/* Counts each byte, and the runs of each length. Two counters each: the processor does not wait for
 * the first where a token follows itself. */
static void count_tokens(const gc_runs *runs, size_t count, uint32_t counts[RUN + RUN_MAX + 1])
{
    uint32_t odd[RUN + RUN_MAX + 1] = {0};
    for (size_t i = 0; i < count / 2; i++) {
        counts[runs->tokens[2 * i]]++;
        odd[runs->tokens[2 * i + 1]]++;
    }
    if (count % 2 != 0)
        counts[runs->tokens[count - 1]]++;
    for (int token = 0; token <= RUN + RUN_MAX; token++)
        counts[token] += odd[token];
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

static uint32_t reverse(uint32_t bits, int length)
{
    uint32_t reversed = 0;
    for (int i = 0; i < length; i++)
        reversed |= (bits >> i & 1) << (length - 1 - i);
    return reversed;
}

/* The canonical code of these lengths (RFC 1951, 3.2.2). */
static void make_codes(const int *lengths, int count, code *codes)
{
    uint32_t used[CODE_MAX + 1] = {0}, next[CODE_MAX + 1] = {0};
    for (int s = 0; s < count; s++)
        used[lengths[s]]++;
    for (int length = 2; length <= CODE_MAX; length++)
        next[length] = (next[length - 1] + used[length - 1]) << 1;
    for (int s = 0; s < count; s++)
        if (lengths[s] > 0)
            codes[s] = (code){reverse(next[lengths[s]]++, lengths[s]), lengths[s]};
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
    put(to, LONGEST + 1 - 257, 5);
    put(to, 0, 5); /* one distance */
    put(to, LENGTH_SYMBOLS - 4, 4);
    for (int i = 0; i < LENGTH_SYMBOLS; i++)
        put(to, (uint32_t)length_lengths[order[i]], 3);
    for (int s = 0; s <= LONGEST;) {
        int zeros = count_zeros(lengths, s);
        if (zeros < 3) {
            put_code(to, codes[lengths[s++]]);
            continue;
        }
        bool is_long = zeros >= 11;
        put_code(to, codes[is_long ? ZEROS_LONG : ZEROS_SHORT]);
        put(to, (uint32_t)(zeros - (is_long ? 11 : 3)), is_long ? 7 : 3);
        s += zeros;
    }
    put_code(to, codes[1]); /* the length of the distance's code */
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

/* Appends the codes of tokens, two at a time: together they have at most 42 bits. */
static void put_tokens(bit_writer *to, const uint16_t *tokens, size_t count,
                       const code codes[RUN + RUN_MAX + 1])
{
    bit_writer local = *to;
    for (size_t i = 0; i + 1 < count; i += 2) {
        code first = codes[tokens[i]], second = codes[tokens[i + 1]];
        put(&local, (uint64_t)second.bits << first.length | first.bits,
            first.length + second.length);
    }
    if (count % 2 != 0)
        put_code(&local, codes[tokens[count - 1]]);
    *to = local;
}

static bit_writer put_block(gc_runs *runs, bit_writer to, bool last)
{
    enum { FIXED_CODE = 1, OWN_CODE = 2, FIXED_DISTANCE_BITS = 5 };
    uint32_t token_counts[RUN + RUN_MAX + 1] = {0}, counts[SYMBOLS];
    int lengths[SYMBOLS];
    code symbols[SYMBOLS] = {{0}}, codes[RUN + RUN_MAX + 1];
    size_t token_count = find_runs(runs);
    count_tokens(runs, token_count, token_counts);
    bool fixed = runs->filled < OWN_CODE_BYTES;
    put(&to, last, 1);
    put(&to, fixed ? FIXED_CODE : OWN_CODE, 2);
    if (fixed) {
        fill_fixed_lengths(lengths);
    } else {
        count_symbols(token_counts, counts);
        choose_lengths(counts, lengths);
        put_lengths(&to, lengths);
    }
    make_codes(lengths, SYMBOLS, symbols);
    make_token_codes(symbols, fixed ? FIXED_DISTANCE_BITS : 1, codes);
    put_tokens(&to, runs->tokens, token_count, codes);
    put_code(&to, symbols[END_OF_BLOCK]);
    return to;
}

void gc_runs_write(gc_runs *runs, bool last)
{
    enum { DEFLATE_WINDOW_32K = 0x78, FASTEST = 0x01 };
    bit_writer to = {runs->output, runs->bits, runs->bit_count};
    if (!runs->begun) {
        put(&to, DEFLATE_WINDOW_32K, 8);
        put(&to, FASTEST, 8);
    }
    runs->begun = true;
    memset(runs->block + runs->filled, 0, sizeof runs->block - GC_RUNS_BLOCK);
    runs->check = (uint32_t)adler32(runs->check, runs->block, (uInt)runs->filled);
    to = put_block(runs, to, last);
    runs->filled = 0;
    if (last) {
        put(&to, 0, -to.count & 7); /* to the end of the byte */
        for (int byte = 3; byte >= 0; byte--)
            put(&to, runs->check >> 8 * byte & 0xff, 8);
    }
    runs->size = (size_t)(to.next - runs->output);
    runs->bits = to.bits;
    runs->bit_count = to.count;
}
