/* From rows to tokens: bytes of the stream, runs of equal ones among them, and the list of both
 * (bits.cu). */
#pragma once

#include "gpu/png/block.cuh"

/* ---- Bytes of the stream --------------------------------------------------------------------- */

struct bit_rows {
    const unsigned char *rows;
    size_t pitch;
    unsigned row_bytes;
    unsigned last_mask; /* of the last byte of a row: its pixels */
    uint64_t stream_bytes;
};

/* A place in the stream: row and column; the filter comes first. */
struct stream_place {
    uint64_t row;
    unsigned column;
};

/* The byte at a place, from which it moves on. */
static __device__ inline unsigned next_byte(const bit_rows &from, stream_place &at)
{
    unsigned byte = 0;
    if (at.column > 0)
        byte = from.rows[at.row * from.pitch + at.column - 1];
    bool is_last = at.column == from.row_bytes;
    byte &= is_last ? from.last_mask : 0xff;
    at.row += is_last;
    at.column = is_last ? 0 : at.column + 1;
    return byte;
}

/* Copies `count` bytes of the stream from `first` on, and SLACK zeros behind them. Adds to the two
 * sums of Adler-32 (RFC 1950, 8.2), and counts white pixels. */
static __device__ void gather(const bit_rows &from, uint64_t first, unsigned count,
                              block_state *shared, unsigned char *to)
{
    enum { BASE = 65521, STEP = 4 * THREADS };
    unsigned line = from.row_bytes + 1, low = 0, white = 0;
    uint64_t high = 0;
    stream_place place = {(first + 4 * threadIdx.x) / line, 0};
    place.column = (unsigned)(first + 4 * threadIdx.x - place.row * line);
    const stream_place step = {STEP / line, STEP % line};
#pragma unroll 4
    for (unsigned at = 4 * threadIdx.x; at < count + SLACK; at += STEP) {
        stream_place next = place;
        unsigned bytes = 0;
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned byte = at + k < count ? next_byte(from, next) : 0;
            bytes |= byte << (8 * k);
            low += byte;
            high += (count - at - k) * byte;
        }
        *(unsigned *)(to + at) = bytes;
        white += (unsigned)__popc(bytes);
        place.row += step.row;
        place.column += step.column;
        place.row += place.column >= line;
        place.column -= place.column >= line ? line : 0;
    }
    atomicAdd(&shared->check_low, low % BASE);
    atomicAdd(&shared->check_high, (unsigned)(high % BASE));
    atomicAdd(&shared->white, white);
    __syncthreads();
}

static __device__ unsigned adler_of(const block_state *shared, unsigned count)
{
    enum { BASE = 65521 };
    unsigned low = (1 + shared->check_low) % BASE, high = (count + shared->check_high) % BASE;
    return high << 16 | low;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* One bit for each of 8 bytes, the first one lowest: whether the byte is 0. */
static __device__ inline uint64_t zero_bytes(uint64_t different)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f, gather_bits = 0x0102040810204080;
    uint64_t nonzero = ((different & low) + low) | different;
    return ((~nonzero & ~low) >> 7) * gather_bits >> 56;
}

/* Sets bit i of shared->equal if byte i equals byte i - 1. Bit 0, and bits from `count` on, are
 * 0. There is a word that has bit `count`, and one of zeros behind it. */
static __device__ void find_equal(const block_part &part, block_state *shared)
{
    for (unsigned word = threadIdx.x; word <= part.count / 64; word += THREADS) {
        const uint64_t *bytes = (const uint64_t *)(part.bytes + 64 * word);
        uint64_t last = word > 0 ? bytes[-1] : ~bytes[0] << 56, equal = 0;
        for (int i = 0; i < 8 && 64 * word + 8 * i < part.count; i++) {
            equal |= zero_bytes(bytes[i] ^ (bytes[i] << 8 | last >> 56)) << (8 * i);
            last = bytes[i];
        }
        if (part.count / 64 == word)
            equal &= ((uint64_t)1 << part.count % 64) - 1;
        shared->equal[word] = equal;
    }
    if (threadIdx.x == 0)
        shared->equal[part.count / 64 + 1] = 0;
    __syncthreads();
}

/* The first bit from `at` on that is 0, or `end`. */
static __device__ inline unsigned next_zero(const block_state *shared, unsigned at, unsigned end)
{
    while (at < end) {
        uint64_t zeros = ~shared->equal[at / 64] >> at % 64;
        if (zeros != 0)
            return min(at + (unsigned)__ffsll((long long)zeros) - 1, end);
        at = (at / 64 + 1) * 64;
    }
    return end;
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

/* Tokens that are read by one access. */
enum { READ_TOGETHER = 4 };

static_assert(SLACK >= READ_TOGETHER * sizeof(uint16_t), "room behind the tokens of a block");

/* A stretch of RUN_MIN or more equal bits becomes runs of the longest kind and one of what is left;
 * what is too short for a run is bytes. Returns how many tokens these are. */
static __device__ inline unsigned tokens_of_stretch(unsigned length)
{
    unsigned rest = length % RUN_MAX;
    return length / RUN_MAX + (rest >= RUN_MIN ? 1 : rest);
}

/* The tokens that begin in a word of 64 bytes. */
struct word_tokens {
    uint64_t begins; /* bits: a token begins here, or the tokens of a stretch */
    unsigned count;
    unsigned stretch; /* the bit at which a stretch begins that goes on behind the word, else 64 */
    unsigned length;  /* of that stretch */
};

/* `end` is the place at which the bits behind the word become 0. */
static __device__ word_tokens find_tokens(const block_part &part, const block_state *shared,
                                          unsigned word, unsigned end)
{
    uint64_t equal = shared->equal[word], after = shared->equal[word + 1];
    uint64_t before = word > 0 ? shared->equal[word - 1] : 0;
    uint64_t triples = equal & (equal >> 1 | after << 63) & (equal >> 2 | after << 62);
    /* whether a triple begins 1, 2, 3 bits before the word */
    bool one = (before >> 63 & equal & equal >> 1 & 1) != 0;
    bool two = (before >> 62 & before >> 63 & equal & 1) != 0, three = before >> 61 == 7;
    uint64_t covered = triples | triples << 1 | triples << 2 | (one ? 3 : 0) | (two ? 1 : 0);
    uint64_t heads = covered & ~(covered << 1 | (one || two || three ? 1 : 0));
    unsigned left = part.count - 64 * word; /* at least 0 */
    uint64_t exist = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
    word_tokens found = {(~covered & exist) | heads, 0, 64, 0};
    found.count = (unsigned)__popcll(found.begins);
    unsigned last = heads == 0 ? 64 : 63 - (unsigned)__clzll((long long)heads);
    if (last < 64 && ~covered >> last == 0) {
        found.stretch = last;
        found.length = end - (64 * word + last);
        found.count += tokens_of_stretch(found.length) - 1;
    }
    return found;
}

static __device__ void list_stretch(uint16_t *tokens, unsigned length, unsigned byte)
{
    for (; length >= RUN_MAX; length -= RUN_MAX)
        *tokens++ = RUN + RUN_MAX;
    if (length >= RUN_MIN)
        *tokens = (uint16_t)(RUN + length);
    for (; length < RUN_MIN && length > 0; length--)
        *tokens++ = (uint16_t)byte;
}

/* The words of 64 bytes that a thread looks at. */
struct word_range {
    unsigned each, first, end, all;
};

static __device__ word_range divide_words(const block_part &part)
{
    unsigned all = part.count / 64 + 1, each = (all + THREADS - 1) / THREADS;
    unsigned first = min(each * threadIdx.x, all);
    return {each, first, min(first + each, all), all};
}

/* Lists the tokens that end in the word in which they begin. A lane of a warp looks at two
 * bytes. */
static __device__ void list_words(const block_part &part, const block_state *shared,
                                  const word_range &words)
{
    enum { LANES = 32, TRIPLE = 7 };
    unsigned lane = threadIdx.x % LANES;
    for (unsigned word = threadIdx.x / LANES; word < words.all; word += THREADS / LANES) {
        uint64_t begins = shared->begins[word], equal = shared->equal[word];
        uint64_t after = shared->equal[word + 1];
        unsigned owner = word / words.each, base = owner > 0 ? shared->scan[owner - 1] : 0;
        for (unsigned other = owner * words.each; other < word; other++)
            base += (unsigned)__popcll(shared->begins[other]);
        for (unsigned bit = lane; bit < 64; bit += LANES) {
            if ((begins >> bit & 1) == 0)
                continue;
            unsigned at = base + (unsigned)__popcll(begins & (((uint64_t)1 << bit) - 1));
            uint64_t ones = equal >> bit | (bit > 0 ? after << (64 - bit) : 0);
            uint64_t zeros = ~equal >> bit;
            if ((ones & TRIPLE) != TRIPLE)
                part.tokens[at] = part.bytes[64 * word + bit];
            else if (zeros != 0)
                part.tokens[at] = (uint16_t)(RUN + __ffsll((long long)zeros) - 1);
        }
    }
}

/* The place at which the bits behind a word become 0. `after`: how many bytes of the part lie from
 * the first 0 in the words of later threads on; 0 if there is none. */
static __device__ inline unsigned behind_stretch(const block_part &part, const block_state *shared,
                                                 const word_range &words, unsigned word,
                                                 unsigned after)
{
    unsigned end = next_zero(shared, 64 * word + 64, 64 * words.end);
    return end == 64 * words.end ? part.count - after : end;
}

/* Lists all tokens of a part in part.tokens, with READ_TOGETHER - 1 zeros behind them. Returns how
 * many there are. */
static __device__ unsigned list_tokens(const block_part &part, block_state *shared)
{
    word_range words = divide_words(part);
    unsigned zero = next_zero(shared, 64 * words.first, 64 * words.end), count = 0, all;
    unsigned after = zero < 64 * words.end ? part.count - zero : 0;
    after = scan_before<most_of>(shared->scan, after, THREADS - 1 - (int)threadIdx.x, &all);
    for (unsigned word = words.first; word < words.end; word++) {
        word_tokens found =
            find_tokens(part, shared, word, behind_stretch(part, shared, words, word, after));
        shared->begins[word] = found.begins;
        count += found.count;
    }
    unsigned base = scan_before<sum_of>(shared->scan, count, (int)threadIdx.x, &all);
    for (unsigned word = words.first; word < words.end; word++) {
        word_tokens found =
            find_tokens(part, shared, word, behind_stretch(part, shared, words, word, after));
        uint64_t earlier = found.stretch < 64 ? ((uint64_t)1 << found.stretch) - 1 : 0;
        if (found.stretch < 64)
            list_stretch(part.tokens + base + __popcll(found.begins & earlier), found.length,
                         part.bytes[64 * word + found.stretch]);
        base += found.count;
    }
    list_words(part, shared, words);
    if (threadIdx.x < READ_TOGETHER - 1)
        part.tokens[all + threadIdx.x] = 0;
    __syncthreads();
    return all;
}

/* Tokens that are coded: a list, or the bytes themselves. */
struct token_list {
    const unsigned char *bytes;
    const uint16_t *tokens; /* null: bytes */
    unsigned count;
};

/* Four tokens from a multiple of 4 on, of 16 bits each. */
static __device__ inline uint64_t four_tokens(const token_list &list, unsigned at)
{
    if (list.tokens != nullptr)
        return *(const uint64_t *)(list.tokens + at);
    uint64_t four = *(const unsigned *)(list.bytes + at);
    four = (four | four << 16) & 0x0000ffff0000ffff;
    return (four | four << 8) & 0x00ff00ff00ff00ff;
}

/* Gives `take` the tokens of this thread, one after the other. */
template <class taker> static __device__ void walk_tokens(const token_list &list, taker &take)
{
    unsigned each = (list.count + THREADS - 1) / THREADS;
    each = (each + READ_TOGETHER - 1) / READ_TOGETHER * READ_TOGETHER;
    unsigned first = min(each * threadIdx.x, list.count), end = min(first + each, list.count);
    for (unsigned at = first; at < end; at += READ_TOGETHER) {
        uint64_t four = four_tokens(list, at);
        for (unsigned k = 0; k < READ_TOGETHER && at + k < end; k++)
            take.token((unsigned)(four >> (16 * k) & 0xffff));
    }
}

/* The symbol of a length (RFC 1951, 3.2.5) and its extra bits. */
static __device__ inline unsigned length_symbol(unsigned length, unsigned *extra,
                                                unsigned *extra_bits)
{
    unsigned rest = length - RUN_MIN, top = 2;
    *extra = *extra_bits = 0;
    if (length == RUN_MAX)
        return LONGEST;
    if (rest < 8)
        return END_OF_BLOCK + 1 + rest;
    while (rest >> (top + 1) != 0)
        top++;
    *extra_bits = top - 2;
    *extra = rest & ((1u << *extra_bits) - 1);
    return END_OF_BLOCK + 1 + 4 * (top - 1) + (rest >> *extra_bits & 3);
}
