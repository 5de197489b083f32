#include "io/png/runs.h"

#include "io/png/codes.h"

#include <string.h>

/* Lengths of matches (RFC 1951, 3.2.5). All matches here are at distance 1. */
enum { RUN_MIN = 3, RUN_MAX = 258 };

/* Tokens are bytes, or RUN plus a run's length. */
enum { RUN = 256 };

/* A block of fewer bytes takes the fixed code: a code of its own would not pay for being
 * written. */
enum { OWN_CODE_BYTES = 1024 };

/* ---- Runs ------------------------------------------------------------------------------------ */

/* One bit for each of 8 bytes, the first one lowest: whether the byte is 0. */
static inline uint64_t zero_bytes(uint64_t different)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), gather = UINT64_C(0x0102040810204080);
    uint64_t nonzero = ((different & low) + low) | different; /* in the highest bit of each byte */
    return ((~nonzero & ~low) >> 7) * gather >> 56;
}

/* Sets bit i of finder->equal where byte i equals byte i - 1. Bit 0 and bits from `filled` on are
 * 0. */
static void find_equal(gc_run_finder *finder, const uint8_t *bytes, size_t filled)
{
    size_t words = filled / 64 + 1;
    uint64_t last = 0;
    for (size_t word = 0; word < words; word++) {
        uint64_t different[8], any = 0, equal = 0;
        for (int i = 0; i < 8; i++) {
            uint64_t next = gc_load_little_endian(bytes + 64 * word + 8 * i);
            different[i] = next ^ (next << 8 | last >> 56);
            any |= different[i];
            last = next;
        }
        for (int i = 0; i < 8 && any != 0; i++)
            equal |= zero_bytes(different[i]) << 8 * i;
        finder->equal[word] = any != 0 ? equal : ~UINT64_C(0);
    }
    finder->equal[words - 1] &= (UINT64_C(1) << filled % 64) - 1;
    finder->equal[words] = 0;
    finder->equal[0] &= ~UINT64_C(1);
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
        return GC_LONGEST;
    int rest = length - RUN_MIN;
    if (rest < 8)
        return GC_END_OF_BLOCK + 1 + rest;
    int top = 31 - __builtin_clz((unsigned)rest);
    *extra_bits = top - 2;
    *extra = (uint32_t)rest & ((1u << *extra_bits) - 1);
    return GC_END_OF_BLOCK + 1 + 4 * (top - 1) + (rest >> *extra_bits & 3);
}

/* Appends the tokens of `added` bytes to `count` tokens. Copies 16 at a time. */
static inline size_t add_bytes(gc_run_finder *finder, size_t count, const uint8_t *bytes,
                               size_t added)
{
    for (size_t i = 0; i < added; i += 16)
        for (size_t j = i; j < i + 16; j++)
            finder->tokens[count + j] = bytes[j];
    return count + added;
}

/* Appends the tokens of a run of any length: what the longest ones leave may be too short for
 * one. */
static size_t add_run(gc_run_finder *finder, size_t count, const uint8_t *bytes, size_t run)
{
    for (size_t part; run >= RUN_MIN; run -= part) {
        part = run < RUN_MAX ? run : RUN_MAX;
        finder->tokens[count++] = (uint16_t)(RUN + part);
    }
    return add_bytes(finder, count, bytes, run);
}

/* Makes tokens of `filled` bytes: bytes, and runs. Returns how many. A step takes the bytes up to the
 * next run, and the run: few branches depend on the image. */
static size_t find_runs(gc_run_finder *finder, const uint8_t *bytes, size_t filled)
{
    enum { WINDOW = 64 - RUN_MIN + 1 }; /* bits of a word at which a run is seen */
    find_equal(finder, bytes, filled);
    size_t count = 0;
    for (size_t at = 0; at < filled;) {
        uint64_t equal = bits_from(finder->equal, at);
        uint64_t starts = equal & equal >> 1 & equal >> 2;
        size_t left = filled - at;
        size_t before = starts != 0 ? (size_t)__builtin_ctzll(starts) : WINDOW;
        count = add_bytes(finder, count, bytes + at, before < left ? before : left);
        at += before;
        if (starts == 0)
            continue;
        uint64_t end = ~equal >> before;
        size_t run = end != 0 ? (size_t)__builtin_ctzll(end) : ones_from(finder->equal, at);
        if (run <= RUN_MAX)
            finder->tokens[count++] = (uint16_t)(RUN + run);
        else
            count = add_run(finder, count, bytes + at, run);
        at += run;
    }
    return count;
}

/* Counts each byte, and the runs of each length. Two counters each: the processor does not wait for
 * the first where a token follows itself. */
static void count_tokens(const gc_run_finder *finder, size_t count,
                         uint32_t counts[RUN + RUN_MAX + 1])
{
    uint32_t odd[RUN + RUN_MAX + 1] = {0};
    for (size_t i = 0; i < count / 2; i++) {
        counts[finder->tokens[2 * i]]++;
        odd[finder->tokens[2 * i + 1]]++;
    }
    if (count % 2 != 0)
        counts[finder->tokens[count - 1]]++;
    for (int token = 0; token <= RUN + RUN_MAX; token++)
        counts[token] += odd[token];
}

/* ---- Codes ----------------------------------------------------------------------------------- */

/* The codes of all tokens: runs with their extra bits and the distance, whose bits are 0. */
static void make_token_codes(const gc_code symbols[GC_SYMBOLS], int distance_bits,
                             gc_code codes[RUN + RUN_MAX + 1])
{
    memcpy(codes, symbols, RUN * sizeof *codes);
    for (int length = RUN_MIN; length <= RUN_MAX; length++) {
        uint32_t extra;
        int extra_bits;
        gc_code c = symbols[length_symbol(length, &extra, &extra_bits)];
        codes[RUN + length] =
            (gc_code){c.bits | extra << c.length, c.length + extra_bits + distance_bits};
    }
}

/* The lengths that need not be written (RFC 1951, 3.2.6). */
static void fill_fixed_lengths(int lengths[GC_SYMBOLS])
{
    for (int s = 0; s < GC_SYMBOLS; s++)
        lengths[s] = s < 144 ? 8 : s < GC_END_OF_BLOCK ? 9 : s < 280 ? 7 : 8;
}

/* ---- The block ------------------------------------------------------------------------------- */

static void count_symbols(const uint32_t token_counts[RUN + RUN_MAX + 1],
                          uint32_t counts[GC_SYMBOLS])
{
    memset(counts, 0, GC_SYMBOLS * sizeof *counts);
    memcpy(counts, token_counts, RUN * sizeof *counts);
    counts[GC_END_OF_BLOCK] = 1;
    counts[0] += counts[0] == 0; /* a code that is complete has two symbols */
    for (int length = RUN_MIN; length <= RUN_MAX; length++) {
        uint32_t extra;
        int extra_bits;
        counts[length_symbol(length, &extra, &extra_bits)] += token_counts[RUN + length];
    }
}

/* Appends the codes of tokens, two at a time: together they have at most 42 bits. */
static void put_tokens(gc_bits *to, const uint16_t *tokens, size_t count,
                       const gc_code codes[RUN + RUN_MAX + 1])
{
    gc_bits local = *to;
    for (size_t i = 0; i + 1 < count; i += 2) {
        gc_code first = codes[tokens[i]], second = codes[tokens[i + 1]];
        gc_put(&local, (uint64_t)second.bits << first.length | first.bits,
               first.length + second.length);
    }
    if (count % 2 != 0)
        gc_put_code(&local, codes[tokens[count - 1]]);
    *to = local;
}

gc_bits gc_runs_put_block(gc_run_finder *finder, const uint8_t *bytes, size_t count, gc_bits to,
                          bool last)
{
    enum { FIXED_CODE = 1, OWN_CODE = 2, FIXED_DISTANCE_BITS = 5 };
    uint32_t token_counts[RUN + RUN_MAX + 1] = {0}, counts[GC_SYMBOLS];
    int lengths[GC_SYMBOLS];
    gc_code symbols[GC_SYMBOLS] = {{0}}, codes[RUN + RUN_MAX + 1];
    size_t token_count = find_runs(finder, bytes, count);
    count_tokens(finder, token_count, token_counts);
    bool fixed = count < OWN_CODE_BYTES;
    gc_put(&to, last, 1);
    gc_put(&to, fixed ? FIXED_CODE : OWN_CODE, 2);
    if (fixed) {
        fill_fixed_lengths(lengths);
    } else {
        count_symbols(token_counts, counts);
        gc_choose_lengths(counts, lengths);
        gc_put_lengths(&to, lengths);
    }
    gc_make_codes(lengths, GC_SYMBOLS, symbols);
    make_token_codes(symbols, fixed ? FIXED_DISTANCE_BITS : 1, codes);
    put_tokens(&to, finder->tokens, token_count, codes);
    gc_put_code(&to, symbols[GC_END_OF_BLOCK]);
    return to;
}
