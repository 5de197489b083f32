#include "io/png/fast/literals.h"

/* Shares: what has a code length in common. These are the bytes 0 to 15, the bytes 240 to 255, the
 * groups 1 to 14, and the end of the block. */
enum {
    SINGLES = 32,
    GROUPS = 14,
    BYTE_SHARES = SINGLES + GROUPS,
    END_SHARE = BYTE_SHARES,
    CODED = BYTE_SHARES + 1,
    GROUP_SIZE = 16,
    FIRST_GROUP = 1
};

/* ---- Counting -------------------------------------------------------------------------------- */

/* Several counters for each byte: the processor does not wait for one counter if a byte follows
 * itself. */
enum { COUNTERS = 4 };

static inline void count_word(uint64_t word, uint32_t parts[COUNTERS][256])
{
    for (int k = 0; k < 8; k++)
        parts[k % COUNTERS][word >> 8 * k & 0xff]++;
}

static void add_counts(uint32_t parts[COUNTERS][256], uint32_t counts[256])
{
    for (int byte = 0; byte < 256; byte++)
        for (int k = 0; k < COUNTERS; k++)
            counts[byte] += parts[k][byte];
}

void gc_count_bytes(const uint8_t *bytes, size_t count, uint32_t *counts)
{
    uint32_t parts[COUNTERS][256] = {{0}};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        count_word(gc_load_little_endian(bytes + i), parts);
    for (; i < count; i++)
        parts[0][bytes[i]]++;
    add_counts(parts, counts);
}

static int first_byte(int share)
{
    if (share >= SINGLES)
        return GROUP_SIZE * (share - SINGLES + FIRST_GROUP);
    return share < 16 ? share : share + 256 - SINGLES;
}

static int share_size(int share)
{
    return share >= SINGLES && share != END_SHARE ? GROUP_SIZE : 1;
}

static void gather_shares(const uint32_t *counts, uint32_t shares[BYTE_SHARES])
{
    for (int share = 0; share < BYTE_SHARES; share++) {
        shares[share] = 0;
        for (int i = 0; i < share_size(share); i++)
            shares[share] += counts[first_byte(share) + i];
    }
}

/* Of every 192 bytes 16 are counted; of few bytes all. Returns the number of bytes that one counted
 * byte stands for. */
static uint32_t count_sample(const uint8_t *bytes, size_t count, uint32_t counts[256])
{
    enum { ALL = 8192, STEP = 192, TAKEN = 16 };
    memset(counts, 0, 256 * sizeof *counts);
    if (count <= ALL) {
        gc_count_bytes(bytes, count, counts);
        return 1;
    }
    uint32_t parts[COUNTERS][256] = {{0}};
    for (size_t at = 0; at + TAKEN <= count; at += STEP)
        for (size_t i = 0; i < TAKEN; i += 8)
            count_word(gc_load_little_endian(bytes + at + i), parts);
    add_counts(parts, counts);
    return STEP / TAKEN;
}

/* ---- Estimates ------------------------------------------------------------------------------- */

enum { BIT = 256 };

/* 256 times the logarithm of `n` to base 2, at most 23 too little: straight between powers of 2. */
static uint32_t logarithm(uint32_t n)
{
    uint32_t top = 31 - (uint32_t)__builtin_clz(n);
    uint32_t fraction = (uint32_t)(((uint64_t)n << 8 >> top) & 0xff);
    return BIT * top + fraction;
}

/* The sum over all that occur: each takes the logarithm of its part of the whole, at least a bit.
 * *shortest: the least of these. */
static uint64_t estimate(const uint32_t *counts, int size, uint32_t *shortest)
{
    uint32_t total = 0;
    uint64_t cost = 0;
    for (int i = 0; i < size; i++)
        total += counts[i];
    *shortest = GC_CODE_MAX * BIT;
    for (int i = 0; i < size; i++) {
        if (counts[i] == 0)
            continue;
        uint32_t bits = logarithm(total) - logarithm(counts[i]);
        bits = bits < BIT ? BIT : bits;
        *shortest = bits < *shortest ? bits : *shortest;
        cost += (uint64_t)counts[i] * bits;
    }
    return cost;
}

uint64_t gc_estimate_literals(const uint32_t counts[256])
{
    enum { GROUP_BITS = 4 };
    uint32_t shares[BYTE_SHARES], shortest;
    gather_shares(counts, shares);
    uint64_t cost = estimate(shares, BYTE_SHARES, &shortest);
    for (int share = SINGLES; share < BYTE_SHARES; share++)
        cost += (uint64_t)shares[share] * GROUP_BITS * BIT;
    return cost;
}

/* A run costs about 7 bits, as measured, beside the literals before it. It saves at least the
 * shortest code for each byte. Two more bytes of each run are not among `repeats`, which equal the
 * three bytes before them. */
uint64_t gc_estimate_runs(const uint32_t counts[256], const gc_survey *survey)
{
    enum { RUN_BITS = 7 };
    uint32_t shortest;
    uint64_t cost = estimate(counts, 256, &shortest);
    uint64_t saved = ((uint64_t)survey->repeats + 2 * survey->runs) * shortest;
    uint64_t spent = (uint64_t)survey->runs * RUN_BITS * BIT;
    if (saved <= spent)
        return cost;
    return cost > saved - spent ? cost - (saved - spent) : 0;
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* Weights of one symbol of each share, in sixteenths of a byte counted. Every byte between the
 * least and the most has one: the sample may lack it. The least weight keeps lengths below
 * GC_CODE_MAX. */
static uint64_t weigh(const uint32_t shares[BYTE_SHARES], const gc_survey *survey,
                      uint32_t weights[CODED])
{
    uint64_t total = 0;
    for (int share = 0; share < BYTE_SHARES; share++)
        total += (uint64_t)shares[share] * GROUP_SIZE;
    uint32_t least = (uint32_t)(total >> (GC_CODE_MAX - 1)) + 1;
    total = 0;
    for (int share = 0; share < CODED; share++) {
        int low = share == END_SHARE ? 0 : (int8_t)first_byte(share);
        bool occurs =
            share == END_SHARE || (low + share_size(share) > survey->least && low <= survey->most);
        uint32_t count = share == END_SHARE ? 0 : shares[share];
        uint32_t weight = share < SINGLES ? count * GROUP_SIZE : count;
        weights[share] = !occurs ? 0 : weight > least ? weight : least;
        total += (uint64_t)weights[share] * (uint64_t)share_size(share);
    }
    return total;
}

/* Shortens the lengths of all shares whose weight is at least part/16 of what their length stands
 * for, as far as there is room. Returns the room that is left. */
static int shorten(const uint32_t weights[CODED], uint64_t total, uint64_t part, int room,
                   int lengths[CODED])
{
    for (int share = 0; share < CODED; share++) {
        int cost = share_size(share) << (GC_CODE_MAX - lengths[share]);
        if (lengths[share] < 2 || cost > room ||
            16 * ((uint64_t)weights[share] << lengths[share]) < part * total)
            continue;
        room -= cost;
        lengths[share]--;
    }
    return room;
}

/* Chooses lengths as gc_choose_lengths does, by share. Room may be left that no share can take: for
 * a complete code, unused symbols take it. */
static void choose_share_lengths(const uint32_t weights[CODED], uint64_t total, int lengths[CODED],
                                 int *room)
{
    *room = 1 << GC_CODE_MAX;
    for (int share = 0; share < CODED; share++) {
        lengths[share] = 0;
        if (weights[share] == 0)
            continue;
        while (((uint64_t)weights[share] << ++lengths[share]) < total)
            continue;
        *room -= share_size(share) << (GC_CODE_MAX - lengths[share]);
    }
    for (uint64_t part = 31; part >= 16; part--)
        *room = shorten(weights, total, part, *room, lengths);
    for (int before = *room + 1; *room < before;) {
        before = *room;
        *room = shorten(weights, total, 0, *room, lengths);
    }
}

void gc_literals_choose(gc_literals *literals, const uint8_t *bytes, size_t count,
                        const gc_survey *survey)
{
    uint32_t counts[256], shares[BYTE_SHARES], weights[CODED];
    int lengths[CODED], room;
    uint32_t scale = count_sample(bytes, count, counts);
    gather_shares(counts, shares);
    uint64_t total = weigh(shares, survey, weights);
    choose_share_lengths(weights, total, lengths, &room);
    memset(literals->lengths, 0, sizeof literals->lengths);
    const gc_survey sampled = {.repeats = survey->repeats / scale, .runs = survey->runs / scale};
    literals->runs_bits = gc_estimate_runs(counts, &sampled) * scale / BIT;
    literals->bits = 0;
    for (int share = 0; share < BYTE_SHARES; share++) {
        literals->bits += (uint64_t)shares[share] * scale * (uint64_t)lengths[share];
        for (int i = 0; i < share_size(share); i++)
            literals->lengths[first_byte(share) + i] = lengths[share];
    }
    literals->lengths[GC_END_OF_BLOCK] = lengths[END_SHARE];
    for (int length = 1, unused = GC_END_OF_BLOCK + 1; length <= GC_CODE_MAX; length++)
        if ((room >> (GC_CODE_MAX - length) & 1) != 0)
            literals->lengths[unused++] = length;
}

/* ---- The block ------------------------------------------------------------------------------- */

static void set_entry(gc_code_table *table, int at, gc_code code)
{
    uint32_t plain = gc_reverse_bits(code.bits, code.length);
    table->low[at] = (uint8_t)plain;
    table->high[at] = (uint8_t)(plain >> 8);
    table->length[at] = (uint8_t)code.length;
}

static void make_byte_codes(const gc_code symbols[GC_SYMBOLS], gc_byte_codes *codes)
{
    *codes = (gc_byte_codes){0};
    memcpy(codes->codes, symbols, sizeof codes->codes);
    for (int i = 0; i < 16; i++) {
        set_entry(&codes->first, i, symbols[i]);
        set_entry(&codes->last, i, symbols[255 - i]);
        if (i >= FIRST_GROUP && i < FIRST_GROUP + GROUPS)
            set_entry(&codes->group, i, symbols[GROUP_SIZE * i]);
    }
}

gc_bits gc_literals_put(const gc_literals *literals, const uint8_t *bytes, size_t count,
                        const gc_pack_loops *loops, gc_bits to, bool last)
{
    enum { OWN_CODE = 2 };
    gc_code symbols[GC_SYMBOLS] = {{0}};
    gc_byte_codes codes;
    gc_put(&to, last, 1);
    gc_put(&to, OWN_CODE, 2);
    gc_put_lengths(&to, literals->lengths);
    gc_make_codes(literals->lengths, GC_SYMBOLS, symbols);
    make_byte_codes(symbols, &codes);
    loops->put_bytes(&to, bytes, count, &codes);
    gc_put_code(&to, symbols[GC_END_OF_BLOCK]);
    return to;
}
