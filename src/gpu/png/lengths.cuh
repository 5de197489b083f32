/* Which code lengths symbols get, and what a sample of the bytes says of a part (bits.cu). As
 * io/png/fast/codes.c and literals.c. */
#pragma once

#include "gpu/png/block.cuh"

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

/* Takes room for the costs in their order, one after the other, if there is enough. All threads of
 * a block call it together; one works. */
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

/* 1 if the symbol of a place among the costs has got room. */
static __device__ inline unsigned has_taken(const block_state *shared, int place)
{
    return shared->taken[place / 32] >> place % 32 & 1;
}

enum { NEVER = 1 << 30 }; /* a cost for which there is no room */

/* Chooses lengths as gc_choose_lengths does (png/fast/codes.c), for symbols or for shares, by their
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
