/* Codes of tokens, and how threads store bits of a deflate block beside each other (bits.cu). */
#pragma once

#include "gpu/png/lengths.cuh"
#include "gpu/png/tokens.cuh"

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

/* What stands for the length of a symbol, as a code with its bits: nothing if the symbol is among
 * zeros that a symbol before it stands for. */
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
