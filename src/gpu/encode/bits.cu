/* Rows of one bit a pixel, compressed by a kernel. A block of threads makes a block of the zlib
 * stream. It takes the steps of io/png/block.c, runs.c and literals.c, with all threads:
 *
 *     gather       rows become bytes of the stream, and their Adler-32 is computed
 *     find_equal   a bit for each byte: whether it equals the one before
 *     survey       from a sample: are runs worth their time, and which code do literals take
 *     list_tokens  which bytes begin a token, and a list of the tokens: bytes and runs
 *     put_tokens   each thread adds up the bits of some tokens, and stores their codes behind those
 *                  of the threads before
 *
 * All numbers are whole, so that the bytes are those of the CPU. tests/gpu/encode.c compares
 * them. */
#include "gpu/encode/encode.h"

#include "gpu/runtime/check.cuh"

enum {
    THREADS = 1024,
    BLOCK = GC_PACKED_ROWS_BLOCK,
    WORDS_MAX = BLOCK / 64 + 1,
    SYMBOLS = 288, /* bytes, the end of a block, lengths, and two that never occur */
    END_OF_BLOCK = 256,
    LONGEST = 285,
    CODE_MAX = 15,
    RUN_MIN = 3,
    RUN_MAX = 258,
    RUN = 256, /* tokens are bytes, or RUN plus a run's length */
    TOKENS = RUN + RUN_MAX + 2,
    COPIES = 8,                      /* of counters, so that threads seldom meet */
    SLACK = 64,                      /* zeros behind the bytes of a block */
    SCRATCH = 3 * BLOCK + 2 * SLACK, /* the bytes of a block, and tokens */
    /* A block that does not get smaller is found once the code of its last part is written, in some
     * 190 bytes. */
    SLOT = BLOCK + 256
};

/* ---- What the threads of a block share ------------------------------------------------------- */

struct block_state {
    uint64_t equal[WORDS_MAX + 1]; /* see find_equal */
    union {
        uint64_t begins[WORDS_MAX];      /* see list_tokens */
        unsigned counts[COPIES][TOKENS]; /* of tokens; in the survey, of bytes in a sample */
    };
    unsigned scan[THREADS];
    unsigned sample[256];         /* counts of bytes in the sample */
    unsigned weights[SYMBOLS];    /* of symbols, or of shares of bytes */
    unsigned codes[SYMBOLS];      /* bits, and the length from bit LENGTH_SHIFT on */
    unsigned token_codes[TOKENS]; /* the same of tokens: runs with extra bits and distance */
    unsigned costs[SYMBOLS];      /* see take_room */
    unsigned taken[SYMBOLS / 32]; /* bits: who got room */
    uint8_t lengths[SYMBOLS];     /* of codes */
    uint8_t ranks[SYMBOLS];       /* see choose_lengths */
    uint8_t share_lengths[64];    /* lengths of shares, see literals.c */
    unsigned share_counts[64];    /* in the sample */
    unsigned used[CODE_MAX + 1];  /* codes by length */
    unsigned next[CODE_MAX + 1];  /* the first code of a length */
    unsigned sum, total, cost, shortest, check_low, check_high;
    unsigned repeats, runs;
    int least, most, takers;
    unsigned room;       /* for codes */
    unsigned bit;        /* of the output: where more goes */
    unsigned part_bytes; /* of the stream, that the present part stands for */
    int by_runs, is_stored;
};

static_assert(sizeof(block_state) <= 48 << 10, "what a block of threads gets unasked");

/* The bytes of a part of a block, and where output goes. */
struct block_part {
    const unsigned char *bytes;
    unsigned count;
    uint16_t *tokens; /* room for one a byte */
    unsigned *output; /* of the block */
};

/* ---- Combining what threads have ------------------------------------------------------------- */

struct sum_of {
    static __device__ unsigned of(unsigned a, unsigned b)
    {
        return a + b;
    }
};

struct most_of {
    static __device__ unsigned of(unsigned a, unsigned b)
    {
        return a > b ? a : b;
    }
};

/* Combines the values of all threads before this one, in the order of `place`; 0 for the first one.
 * `all` gets the combination of all. The threads of a block call it together. */
template <class operation>
static __device__ unsigned scan_before(unsigned *scan, unsigned value, int place, unsigned *all)
{
    for (int step = 1; step < THREADS; step *= 2) {
        scan[place] = value;
        __syncthreads();
        if (place >= step)
            value = operation::of(scan[place - step], value);
        __syncthreads();
    }
    scan[place] = value;
    __syncthreads();
    unsigned before = place > 0 ? scan[place - 1] : 0;
    *all = scan[THREADS - 1];
    __syncthreads();
    return before;
}

/* ---- Bytes of the stream --------------------------------------------------------------------- */

struct bit_rows {
    const unsigned char *rows;
    size_t pitch;
    unsigned row_bytes;
    unsigned last_mask; /* of the last byte of a row: its pixels */
    uint64_t stream_bytes;
};

/* A place in the stream: row and column, where the filter comes first. */
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
 * sums of Adler-32 (RFC 1950, 8.2). */
static __device__ void gather(const bit_rows &from, uint64_t first, unsigned count,
                              block_state *shared, unsigned char *to)
{
    enum { BASE = 65521, STEP = 4 * THREADS };
    unsigned line = from.row_bytes + 1, low = 0;
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
        place.row += step.row;
        place.column += step.column;
        place.row += place.column >= line;
        place.column -= place.column >= line ? line : 0;
    }
    atomicAdd(&shared->check_low, low % BASE);
    atomicAdd(&shared->check_high, (unsigned)(high % BASE));
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

/* Sets bit i of shared->equal where byte i equals byte i - 1. Bit 0, and bits from `count` on, are
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

/* `end` is where the bits behind the word become 0. */
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

/* Lists the tokens of a stretch. */
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

/* Where the bits behind a word become 0. `after`: how many bytes of the part lie from the first 0
 * in the words of later threads on; 0 if there is none. */
static __device__ inline unsigned behind_stretch(const block_part &part, const block_state *shared,
                                                 const word_range &words, unsigned word,
                                                 unsigned after)
{
    unsigned end = next_zero(shared, 64 * word + 64, 64 * words.end);
    return end == 64 * words.end ? part.count - after : end;
}

/* Lists all tokens of a part in part.tokens. Returns how many there are. */
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
    each = (each + 3) / 4 * 4;
    unsigned first = min(each * threadIdx.x, list.count), end = min(first + each, list.count);
    for (unsigned at = first; at < end; at += 4) {
        uint64_t four = four_tokens(list, at);
        for (unsigned k = 0; k < 4 && at + k < end; k++)
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

/* ---- Code lengths ---------------------------------------------------------------------------- */

/* Shares of bytes, as in literals.c: the bytes 0 to 15, the bytes 240 to 255, 14 groups of 16, and
 * the end of the block. */
enum { SINGLES = 32, BYTE_SHARES = 46, END_SHARE = 46, SHARES = 47, GROUP = 16 };

static __device__ inline int first_byte(int share)
{
    if (share >= SINGLES)
        return GROUP * (share - SINGLES + 1);
    return share < 16 ? share : share + 256 - SINGLES;
}

static __device__ inline int share_size(int share)
{
    return share >= SINGLES && share != END_SHARE ? GROUP : 1;
}

/* What of the room for codes a shorter code takes, for one symbol or a share. */
static __device__ inline unsigned cost_of(bool is_shares, int symbol, int length)
{
    return (unsigned)(is_shares ? share_size(symbol) : 1) << (CODE_MAX - length);
}

/* Takes room for the costs in their order, one after the other, where there is enough. All threads
 * of a block call it together; one works. */
static __device__ void take_room(block_state *shared, int count)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned room = shared->room, takers = 0;
        for (int i = 0; i < count; i += 32) {
            unsigned taken = 0;
            for (int k = 0; k < 32; k++) {
                unsigned cost = shared->costs[i + k];
                bool fits = cost <= room;
                room -= fits ? cost : 0;
                taken |= (unsigned)fits << k;
            }
            shared->taken[i / 32] = taken;
            takers |= taken;
        }
        shared->room = room;
        shared->takers = takers != 0;
    }
    __syncthreads();
}

/* 1 where the symbol of a place among the costs has got room. */
static __device__ inline unsigned has_taken(const block_state *shared, int place)
{
    return shared->taken[place / 32] >> place % 32 & 1;
}

enum { NEVER = 1 << 30 }; /* a cost for which there is no room */

/* Chooses lengths as gc_choose_lengths does (io/png/codes.c), for symbols or for shares, by their
 * weights and the sum of these. There, rounds shorten what has at least 31/16, 30/16, ... 16/16 of
 * what its length stands for. A symbol has its turn in one round, that of its rank: after it, it
 * stands for half as much, and room only gets less. So one pass in the order of ranks does. Then
 * all get more of the room that is left, as long as anybody can. */
static __device__ void choose_lengths(block_state *shared, uint8_t *lengths, int count,
                                      bool is_shares)
{
    uint64_t total = shared->total;
    int s = (int)threadIdx.x, length = 0, rank = 0, place = 0;
    if (s == 0)
        shared->room = 1 << CODE_MAX;
    __syncthreads();
    if (s < count && shared->weights[s] > 0) {
        while ((uint64_t)shared->weights[s] << ++length < total)
            continue;
        atomicSub(&shared->room, cost_of(is_shares, s, length));
        if (length > 1)
            rank = (int)(16 * ((uint64_t)shared->weights[s] << length) / total);
    }
    if (s < SYMBOLS) {
        shared->ranks[s] = (uint8_t)rank;
        shared->costs[s] = NEVER;
    }
    __syncthreads();
    for (int other = 0; s < count && other < count; other++)
        place += shared->ranks[other] > rank || (shared->ranks[other] == rank && other < s);
    if (rank > 0)
        shared->costs[place] = cost_of(is_shares, s, length);
    take_room(shared, count);
    length -= rank > 0 ? (int)has_taken(shared, place) : 0;
    while (shared->room > 0 && shared->takers) {
        if (s < count)
            shared->costs[s] = length > 1 ? cost_of(is_shares, s, length) : (unsigned)NEVER;
        take_room(shared, count);
        length -= s < count ? (int)has_taken(shared, s) : 0;
    }
    if (s < count)
        lengths[s] = (uint8_t)length;
    __syncthreads();
}

/* ---- The survey ------------------------------------------------------------------------------ */

enum { SURVEY_ALL = 8192, SAMPLE_STEP = 192, SAMPLE_TAKEN = 16, BIT = 256 };

static __device__ void clear_counts(block_state *shared)
{
    for (unsigned i = threadIdx.x; i < COPIES * TOKENS; i += THREADS)
        shared->counts[i / TOKENS][i % TOKENS] = 0;
    __syncthreads();
}

/* Least and most of the bytes as signed numbers, and counts of a sample of them. */
static __device__ void sample_bytes(const block_part &part, block_state *shared)
{
    bool all = part.count <= SURVEY_ALL;
    int least = 127, most = -128;
    for (unsigned word = threadIdx.x; word < (part.count + 3) / 4; word += THREADS) {
        unsigned bytes = ((const unsigned *)part.bytes)[word];
        unsigned in_step = 4 * word % SAMPLE_STEP;
        bool taken =
            all || (in_step < SAMPLE_TAKEN && 4 * word - in_step + SAMPLE_TAKEN <= part.count);
        for (unsigned k = 0; k < 4 && 4 * word + k < part.count; k++) {
            unsigned byte = bytes >> (8 * k) & 0xff;
            int number = byte < 128 ? (int)byte : (int)byte - 256;
            least = min(least, number);
            most = max(most, number);
            if (taken)
                atomicAdd(&shared->counts[threadIdx.x % COPIES][byte], 1u);
        }
    }
    atomicMin(&shared->least, least);
    atomicMax(&shared->most, most);
}

/* Counts bytes that equal the three before them, and sequences of these, in a sample: of many bytes
 * every third part of 240. */
static __device__ void count_repeats(const block_part &part, block_state *shared)
{
    enum { PART = 240, BEFORE = 4 };
    bool all = part.count <= SURVEY_ALL;
    unsigned repeats = 0, runs = 0;
    for (unsigned word = threadIdx.x; word <= part.count / 64; word += THREADS) {
        uint64_t bits = shared->equal[word], last = word > 0 ? shared->equal[word - 1] : 0;
        uint64_t triple = bits & (bits << 1 | last >> 63) & (bits << 2 | last >> 62);
        uint64_t begins = triple & ~(bits << 3 | last >> 61);
        for (unsigned i = 0; i < 64 && triple != 0; i++) {
            unsigned at = 64 * word + i;
            bool taken = at >= BEFORE && (all || (at - BEFORE) / PART % 3 == 0);
            repeats += taken && (triple >> i & 1) != 0;
            runs += taken && (begins >> i & 1) != 0;
        }
    }
    if (repeats > 0)
        atomicAdd(&shared->repeats, repeats);
    if (runs > 0)
        atomicAdd(&shared->runs, runs);
}

/* As `logarithm` in literals.c: 256 times the logarithm to base 2, straight between powers of 2. */
static __device__ inline unsigned logarithm(unsigned n)
{
    unsigned top = 0;
    while (n >> (top + 1) != 0)
        top++;
    return BIT * top + (unsigned)(((uint64_t)n << 8 >> top) & 0xff);
}

/* What the sample takes as runs and other bytes, in 256ths of a bit: gc_estimate_runs. */
static __device__ void add_up_sample(block_state *shared)
{
    unsigned count = 0;
    for (int copy = 0; copy < COPIES && threadIdx.x < 256; copy++)
        count += shared->counts[copy][threadIdx.x];
    if (threadIdx.x < 256)
        shared->sample[threadIdx.x] = count;
    if (count > 0)
        atomicAdd(&shared->sum, count);
    __syncthreads();
    if (count > 0) {
        unsigned bits = logarithm(shared->sum) - logarithm(count);
        bits = bits < BIT ? (unsigned)BIT : bits;
        atomicMin(&shared->shortest, bits);
        atomicAdd(&shared->cost, count * bits);
    }
    __syncthreads();
}

static __device__ uint64_t estimate_runs(const block_state *shared, unsigned part_count)
{
    enum { RUN_BITS = 7, SURVEY_SCALE = 3, SCALE = SAMPLE_STEP / SAMPLE_TAKEN };
    bool all = part_count <= SURVEY_ALL;
    uint64_t repeats = shared->repeats, runs = shared->runs, cost = shared->cost;
    if (!all) {
        repeats = SURVEY_SCALE * repeats / SCALE;
        runs = SURVEY_SCALE * runs / SCALE;
    }
    uint64_t saved = (repeats + 2 * runs) * shared->shortest, spent = runs * RUN_BITS * BIT;
    if (saved > spent)
        cost = cost > saved - spent ? cost - (saved - spent) : 0;
    return cost * (all ? 1 : SCALE) / BIT;
}

/* Weights of shares, as `weigh` in literals.c has them. */
static __device__ void weigh_shares(block_state *shared)
{
    int share = (int)threadIdx.x;
    if (share == 0)
        shared->total = 0;
    __syncthreads();
    if (share < SHARES) {
        unsigned count = 0,
                 least = (unsigned)(((uint64_t)shared->sum * GROUP) >> (CODE_MAX - 1)) + 1;
        for (int i = 0; share < BYTE_SHARES && i < share_size(share); i++)
            count += shared->sample[first_byte(share) + i];
        int byte = share == END_SHARE ? 0 : first_byte(share);
        int low = byte < 128 ? byte : byte - 256;
        bool occurs =
            share == END_SHARE || (low + share_size(share) > shared->least && low <= shared->most);
        unsigned weight = share < SINGLES ? count * GROUP : count;
        weight = weight > least ? weight : least;
        shared->share_counts[share] = count;
        shared->weights[share] = occurs ? weight : 0;
        atomicAdd(&shared->total, shared->weights[share] * (unsigned)share_size(share));
    }
    __syncthreads();
}

/* The lengths of all symbols from those of shares. Room that no share took goes to symbols that are
 * not used, so that the code is complete. */
static __device__ void spread_shares(block_state *shared)
{
    for (int s = (int)threadIdx.x; s < SYMBOLS; s += THREADS)
        shared->lengths[s] = 0;
    __syncthreads();
    int share = (int)threadIdx.x;
    for (int i = 0; share < BYTE_SHARES && i < share_size(share); i++)
        shared->lengths[first_byte(share) + i] = shared->share_lengths[share];
    if (share == 0) {
        shared->lengths[END_OF_BLOCK] = shared->share_lengths[END_SHARE];
        for (int length = 1, unused = END_OF_BLOCK + 1; length <= CODE_MAX; length++)
            if ((shared->room >> (CODE_MAX - length) & 1) != 0)
                shared->lengths[unused++] = (uint8_t)length;
    }
    __syncthreads();
}

/* Decides whether a part becomes runs, and which lengths its literals get otherwise. A part of
 * which runs leave little is joined with the rest of the block, `left` bytes. */
static __device__ void survey(const block_part &part, unsigned left, block_state *shared)
{
    enum { FEW = 2048, GAIN_MIN = 16, SMALL = 24, SCALE = SAMPLE_STEP / SAMPLE_TAKEN };
    if (threadIdx.x == 0) {
        shared->by_runs = part.count < FEW;
        shared->part_bytes = part.count;
        shared->sum = shared->cost = shared->repeats = shared->runs = 0;
        shared->least = 127;
        shared->most = -128;
        shared->shortest = CODE_MAX * BIT;
    }
    clear_counts(shared);
    if (part.count < FEW)
        return;
    sample_bytes(part, shared);
    count_repeats(part, shared);
    __syncthreads();
    add_up_sample(shared);
    weigh_shares(shared);
    choose_lengths(shared, shared->share_lengths, SHARES, true);
    if (threadIdx.x == 0) {
        uint64_t bits = 0, runs_bits = estimate_runs(shared, part.count);
        for (int share = 0; share < BYTE_SHARES; share++)
            bits += (uint64_t)shared->share_counts[share] * (part.count <= SURVEY_ALL ? 1 : SCALE) *
                    shared->share_lengths[share];
        shared->by_runs = runs_bits < bits - bits / GAIN_MIN;
        if (shared->by_runs && runs_bits < 8 * (uint64_t)part.count / SMALL)
            shared->part_bytes = left;
    }
    __syncthreads();
}

/* ---- Codes ----------------------------------------------------------------------------------- */

/* Counts the tokens of a part by symbol, in shared->weights. */
static __device__ void count_symbols(const token_list &list, block_state *shared)
{
    clear_counts(shared);
    for (unsigned i = threadIdx.x; i < list.count; i += THREADS)
        atomicAdd(&shared->counts[threadIdx.x % COPIES][list.tokens[i]], 1u);
    if (threadIdx.x < SYMBOLS)
        shared->weights[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned token = threadIdx.x; token <= RUN + RUN_MAX; token += THREADS) {
        unsigned count = 0, extra, extra_bits;
        for (int copy = 0; copy < COPIES; copy++)
            count += shared->counts[copy][token];
        if (count > 0)
            atomicAdd(shared->weights +
                          (token < RUN ? token : length_symbol(token - RUN, &extra, &extra_bits)),
                      count);
    }
    __syncthreads();
}

/* Chooses lengths for the tokens of a part. */
static __device__ void choose_own_lengths(const token_list &list, block_state *shared)
{
    count_symbols(list, shared);
    int s = (int)threadIdx.x;
    unsigned count = s < SYMBOLS ? shared->weights[s] : 0;
    count += s == END_OF_BLOCK || (s == 0 && count == 0);
    if (s == 0)
        shared->sum = shared->total = 0;
    __syncthreads();
    if (count > 0)
        atomicAdd(&shared->sum, count);
    __syncthreads();
    if (s < SYMBOLS)
        shared->weights[s] = count > 0 ? count + (shared->sum >> (CODE_MAX - 1)) : 0;
    if (count > 0)
        atomicAdd(&shared->total, shared->weights[s]);
    __syncthreads();
    choose_lengths(shared, shared->lengths, SYMBOLS, false);
}

/* The lengths that need not be written (RFC 1951, 3.2.6). */
static __device__ void fill_fixed_lengths(block_state *shared)
{
    for (int s = (int)threadIdx.x; s < SYMBOLS; s += THREADS)
        shared->lengths[s] = (uint8_t)(s < 144 ? 8 : s < END_OF_BLOCK ? 9 : s < 280 ? 7 : 8);
    __syncthreads();
}

static __device__ inline unsigned reverse_bits(unsigned bits, int length)
{
    return __brev(bits) >> (32 - length);
}

enum { LENGTH_SHIFT = 24, CODE_MASK = (1 << LENGTH_SHIFT) - 1 };

/* The canonical code of the lengths (RFC 1951, 3.2.2), and the codes of tokens. */
static __device__ void make_codes(block_state *shared, unsigned distance_bits)
{
    if (threadIdx.x <= CODE_MAX)
        shared->used[threadIdx.x] = 0;
    __syncthreads();
    for (int s = (int)threadIdx.x; s < SYMBOLS; s += THREADS)
        atomicAdd(shared->used + shared->lengths[s], 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        shared->next[1] = 0;
        for (int length = 2; length <= CODE_MAX; length++)
            shared->next[length] = (shared->next[length - 1] + shared->used[length - 1]) << 1;
    }
    __syncthreads();
    for (int s = (int)threadIdx.x; s < SYMBOLS; s += THREADS) {
        int length = shared->lengths[s];
        unsigned before = 0;
        for (int other = 0; other < s; other++)
            before += shared->lengths[other] == length;
        shared->codes[s] = length == 0 ? 0
                                       : reverse_bits(shared->next[length] + before, length) |
                                             (unsigned)length << LENGTH_SHIFT;
    }
    __syncthreads();
    if (threadIdx.x < RUN)
        shared->token_codes[threadIdx.x] = shared->codes[threadIdx.x];
    for (unsigned run = RUN_MIN + threadIdx.x; run <= RUN_MAX; run += THREADS) {
        unsigned extra, extra_bits, code = shared->codes[length_symbol(run, &extra, &extra_bits)];
        unsigned length = code >> LENGTH_SHIFT;
        shared->token_codes[RUN + run] = (code & CODE_MASK) | extra << length |
                                         (length + extra_bits + distance_bits) << LENGTH_SHIFT;
    }
    __syncthreads();
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Stores bits from one of the output on. The words of the output are 0 before. Others may store in
 * the first and in the last word. */
struct bit_writer {
    unsigned *next;
    uint64_t waiting;
    unsigned count;
    bool is_first;

    __device__ bit_writer(unsigned *output, unsigned bit)
        : next(output + bit / 32), waiting(0), count(bit % 32), is_first(true)
    {
    }
    __device__ void put(unsigned bits, unsigned length) /* at most 32 */
    {
        waiting |= (uint64_t)bits << count;
        count += length;
        if (count < 32)
            return;
        if (is_first)
            atomicOr(next, (unsigned)waiting);
        else
            *next = (unsigned)waiting;
        next++;
        waiting >>= 32;
        count -= 32;
        is_first = false;
    }
    __device__ void put_code(unsigned code)
    {
        put(code & CODE_MASK, code >> LENGTH_SHIFT);
    }
    __device__ void end()
    {
        if (count > 0)
            atomicOr(next, (unsigned)waiting);
    }
};

struct token_measure {
    const block_state *shared;
    unsigned bits;
    __device__ void token(unsigned token)
    {
        bits += shared->token_codes[token] >> LENGTH_SHIFT;
    }
};

struct token_writer {
    const block_state *shared;
    bit_writer to;
    __device__ void token(unsigned token)
    {
        to.put_code(shared->token_codes[token]);
    }
};

/* The code in which lengths are written, as in codes.c: 0 to 13 take 4 bits; 14, 15 and the two
 * repetitions of 0 take 5. The code is canonical: 4 bits from 0 on, 5 bits from 28 on. */
enum { ZEROS_SHORT = 17, ZEROS_LONG = 18, LENGTH_SYMBOLS = 19 };

static __device__ inline unsigned code_of_length(int symbol)
{
    int bits = symbol < 14 ? 4 : 5;
    int code = symbol < 14 ? symbol : symbol < 16 ? symbol + 14 : symbol + 13;
    return reverse_bits((unsigned)code, bits) | (unsigned)bits << LENGTH_SHIFT;
}

/* What stands for the length of a symbol, as a code with its bits: nothing where the symbol is
 * among zeros that a symbol before it stands for. */
static __device__ unsigned length_token(const uint8_t *lengths, int symbol)
{
    enum { ZEROS_MAX = 138, ZEROS_MIN = 3, LONG_LEAST = 11 };
    int first = symbol, end = symbol + 1;
    if (lengths[symbol] > 0)
        return code_of_length(lengths[symbol]);
    while (first > 0 && lengths[first - 1] == 0)
        first--;
    while (end <= LONGEST && lengths[end] == 0)
        end++;
    int before = (symbol - first) % ZEROS_MAX, zeros = end - (symbol - before);
    zeros = zeros < ZEROS_MAX ? zeros : ZEROS_MAX;
    if (zeros < ZEROS_MIN)
        return code_of_length(0);
    if (before > 0)
        return 0;
    bool is_long = zeros >= LONG_LEAST;
    unsigned code = code_of_length(is_long ? ZEROS_LONG : ZEROS_SHORT);
    unsigned bits = code >> LENGTH_SHIFT,
             extra = (unsigned)(zeros - (is_long ? LONG_LEAST : ZEROS_MIN));
    return (code & CODE_MASK) | extra << bits | (bits + (is_long ? 7 : 3)) << LENGTH_SHIFT;
}

/* As gc_put_lengths, from shared->bit on, which it moves. */
static __device__ void put_lengths(unsigned *output, block_state *shared)
{
    const uint8_t order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    enum { HEAD_BITS = 5 + 5 + 4 + 3 * LENGTH_SYMBOLS };
    int s = (int)threadIdx.x;
    unsigned first = shared->bit, all;
    unsigned token = s <= LONGEST ? length_token(shared->lengths, s) : 0;
    if (s == LONGEST + 1) /* the length of the distance's code */
        token = code_of_length(1);
    unsigned before = scan_before<sum_of>(shared->scan, token >> LENGTH_SHIFT, s, &all);
    bit_writer to(output, first + (s == 0 ? 0 : HEAD_BITS + before));
    if (s == 0) {
        to.put(LONGEST + 1 - 257, 5);
        to.put(0, 5); /* one distance */
        to.put(LENGTH_SYMBOLS - 4, 4);
        for (int i = 0; i < LENGTH_SYMBOLS; i++)
            to.put(order[i] == 16 ? 0 : order[i] < 14 ? 4 : 5, 3);
        shared->bit = first + HEAD_BITS + all;
    }
    to.put_code(token);
    to.end();
    __syncthreads();
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Puts the head of a deflate block, with its code. */
static __device__ void put_head(unsigned *output, bool is_last, bool is_fixed, block_state *shared)
{
    enum { FIXED_CODE = 1, OWN_CODE = 2 };
    if (threadIdx.x == 0) {
        bit_writer head(output, shared->bit);
        head.put(is_last, 1);
        head.put(is_fixed ? FIXED_CODE : OWN_CODE, 2);
        head.end();
        shared->bit += 3;
    }
    __syncthreads();
    if (!is_fixed)
        put_lengths(output, shared);
}

/* Stores a part from shared->bit on, as a deflate block. Sets shared->is_stored where it would end
 * at `bits_max` or behind, and leaves it out. */
static __device__ void put_tokens(const token_list &list, unsigned *output, bool is_last,
                                  bool is_fixed, unsigned bits_max, block_state *shared)
{
    token_measure measure = {shared, 0};
    put_head(output, is_last, is_fixed, shared);
    walk_tokens(list, measure);
    unsigned all, before = scan_before<sum_of>(shared->scan, measure.bits, (int)threadIdx.x, &all);
    unsigned first = shared->bit, end_bits = shared->codes[END_OF_BLOCK] >> LENGTH_SHIFT;
    if (first + all + end_bits >= bits_max) {
        if (threadIdx.x == 0)
            shared->is_stored = 1;
        __syncthreads();
        return;
    }
    token_writer writer = {shared, bit_writer(output, first + before)};
    walk_tokens(list, writer);
    writer.to.end();
    __syncthreads();
    if (threadIdx.x == 0) {
        bit_writer end(output, first + all);
        end.put_code(shared->codes[END_OF_BLOCK]);
        end.end();
        shared->bit = first + all + end_bits;
    }
    __syncthreads();
}

/* Compresses bytes of a block: `part.count` of them, or all `left` ones. As put_part of block.c. */
static __device__ void put_part(block_part part, unsigned left, bool is_last_block,
                                unsigned bits_max, block_state *shared)
{
    enum { OWN_CODE_BYTES = 1024, FIXED_DISTANCE_BITS = 5 };
    find_equal(part, shared);
    survey(part, left, shared);
    bool by_runs = shared->by_runs, joins = shared->part_bytes != part.count;
    part.count = shared->part_bytes;
    __syncthreads();
    if (joins)
        find_equal(part, shared);
    bool is_fixed = by_runs && part.count < OWN_CODE_BYTES;
    token_list list = {part.bytes, nullptr, part.count};
    if (by_runs)
        list = {part.bytes, part.tokens, list_tokens(part, shared)};
    if (by_runs && !is_fixed)
        choose_own_lengths(list, shared);
    else if (by_runs)
        fill_fixed_lengths(shared);
    else
        spread_shares(shared);
    make_codes(shared, is_fixed ? (unsigned)FIXED_DISTANCE_BITS : 1);
    put_tokens(list, part.output, is_last_block && part.count == left, is_fixed, bits_max, shared);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Stored blocks (RFC 1951, 3.2.4) for `count` bytes. Returns the bytes that they take. */
static __device__ unsigned store_bytes(const unsigned char *bytes, unsigned count, bool is_last,
                                       unsigned char *to)
{
    enum { MOST = 65535, HEAD = 5 };
    unsigned parts = (count + MOST - 1) / MOST;
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        to[i + HEAD * (i / MOST + 1)] = bytes[i];
    for (unsigned part = threadIdx.x; part < parts; part += THREADS) {
        unsigned char *head = to + (size_t)part * (MOST + HEAD);
        unsigned size = min(count - part * MOST, (unsigned)MOST);
        head[0] = is_last && part + 1 == parts;
        head[1] = (unsigned char)size;
        head[2] = (unsigned char)(size >> 8);
        head[3] = (unsigned char)~size;
        head[4] = (unsigned char)(~size >> 8);
    }
    return count + HEAD * parts;
}

/* Ends a block with a whole byte: between two blocks comes an empty stored one. Returns its
 * size. */
static __device__ unsigned end_block(unsigned bit, bool is_last, unsigned char *output)
{
    enum { EMPTY_HEAD_BITS = 3 };
    if (is_last)
        return (bit + 7) / 8;
    unsigned size = (bit + EMPTY_HEAD_BITS + 7) / 8 + 4;
    if (threadIdx.x == 0)
        output[size - 2] = output[size - 1] = 0xff;
    return size;
}

static __global__ void __launch_bounds__(THREADS)
    pack_bits(bit_rows from, unsigned char *slots, unsigned char *scratch, gc_packed_block *found)
{
    enum { PART = 1 << 16, WINDOW_32K = 0x78, FASTEST = 0x01, STORED_BYTES = 15, HEAD_BITS = 16 };
    extern __shared__ float pixels[];
    block_state *shared = (block_state *)pixels;
    unsigned char *output = slots + (size_t)blockIdx.x * SLOT;
    unsigned char *bytes = scratch + (size_t)blockIdx.x * SCRATCH;
    uint16_t *tokens = (uint16_t *)(bytes + BLOCK + SLACK);
    uint64_t first = (uint64_t)blockIdx.x * BLOCK;
    unsigned filled = (unsigned)min(from.stream_bytes - first, (uint64_t)BLOCK);
    bool is_first = blockIdx.x == 0, is_last = blockIdx.x + 1 == gridDim.x;
    unsigned head_bits = is_first ? HEAD_BITS : 0;
    for (unsigned word = threadIdx.x; word < SLOT / 4; word += THREADS)
        ((unsigned *)output)[word] = word == 0 && is_first ? WINDOW_32K | FASTEST << 8 : 0;
    if (threadIdx.x == 0) {
        shared->check_low = shared->check_high = 0;
        shared->bit = head_bits;
        shared->is_stored = 0;
    }
    __syncthreads();
    gather(from, first, filled, shared, bytes);
    unsigned bits_max = head_bits + 8 * (filled + STORED_BYTES + 1);
    for (unsigned at = 0; at < filled && !shared->is_stored; at += shared->part_bytes) {
        unsigned left = filled - at;
        block_part part = {bytes + at, min(left, (unsigned)PART), tokens, (unsigned *)output};
        put_part(part, left, is_last, bits_max, shared);
    }
    unsigned size, head = head_bits / 8;
    if (shared->is_stored)
        size = head + store_bytes(bytes, filled, is_last, output + head);
    else
        size = end_block(shared->bit, is_last, output);
    if (threadIdx.x == 0)
        found[blockIdx.x] = {size, adler_of(shared, filled)};
}

/* ---- Launching ------------------------------------------------------------------------------- */

static uint64_t stream_bytes_of(uint32_t width, uint32_t height)
{
    return ((uint64_t)width + 7) / 8 * height + height;
}

static size_t blocks_of(uint32_t width, uint32_t height)
{
    return (size_t)((stream_bytes_of(width, height) + BLOCK - 1) / BLOCK);
}

/* Bytes of what is found of all blocks, which comes before their slots. */
static size_t found_bytes(size_t blocks)
{
    return blocks * sizeof(gc_packed_block);
}

size_t gc_encode_result_bytes(uint32_t width, uint32_t height)
{
    size_t blocks = blocks_of(width, height);
    return found_bytes(blocks) + blocks * SLOT;
}

size_t gc_encode_device_bytes(uint32_t width, uint32_t height)
{
    return gc_encode_result_bytes(width, height) + blocks_of(width, height) * SCRATCH;
}

gconv_status gc_encode_bits(const void *rows, size_t pitch, uint32_t width, uint32_t height,
                            void *memory, cudaStream_t stream, gconv_error *error)
{
    size_t blocks = blocks_of(width, height);
    unsigned char *slots = (unsigned char *)memory + found_bytes(blocks);
    bit_rows from = {(const unsigned char *)rows, pitch, (width + 7) / 8,
                     0xffu << (7 - (width + 7) % 8) & 0xff, stream_bytes_of(width, height)};
    pack_bits<<<(unsigned)blocks, THREADS, sizeof(block_state), stream>>>(
        from, slots, slots + blocks * SLOT, (gc_packed_block *)memory);
    GC_CUDA_TRY_LAUNCH(error);
    return GCONV_OK;
}

gc_packed_rows gc_encode_result(const void *result, uint32_t width, uint32_t height)
{
    size_t blocks = blocks_of(width, height);
    return {(const gc_packed_block *)result, (uint32_t)blocks, stream_bytes_of(width, height),
            (const unsigned char *)result + found_bytes(blocks), SLOT};
}
