#include "io/png/fast/block.h"

#include "io/png/fast/checks.h"
#include "io/png/fast/codes.h"
#include "io/png/fast/literals.h"

#include <string.h>

enum { STORED = 0, TYPE_BITS = 2 };

void gc_pack_begin(gc_pack_block *block)
{
    block->filled = 0;
    block->first = block->last = false;
}

uint8_t *gc_pack_extend(gc_pack_block *block, size_t count)
{
    size_t filled = block->filled;
    if (count > GC_PACK_BLOCK - filled)
        return NULL;
    block->filled += count;
    return block->bytes + filled;
}

size_t gc_pack_take(gc_pack_block *block, const uint8_t *bytes, size_t count)
{
    size_t room = GC_PACK_BLOCK - block->filled;
    size_t taken = count < room ? count : room;
    memcpy(block->bytes + block->filled, bytes, taken);
    block->filled += taken;
    return taken;
}

bool gc_pack_full(const gc_pack_block *block)
{
    return block->filled == GC_PACK_BLOCK;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Blocks of runs (RFC 1951) for bytes that are mostly runs of one value, such as edges at one bit a
 * pixel. A block is about as small as zlib's with Z_RLE and takes less than half the time. */

/* A block of fewer bytes takes the fixed code: a code of its own would not pay for being
 * written. */
enum { OWN_CODE_BYTES = 1024 };

/* A symbol for lengths (RFC 1951, 3.2.5): 2^extra_bits of them, from `first` on. The longest length
 * has a symbol of its own, though it is among those of the one before. */
typedef struct length_symbol {
    int symbol, first, extra_bits;
} length_symbol;

enum { LENGTH_SYMBOLS = GC_LONGEST - GC_END_OF_BLOCK - 1 };

static length_symbol length_symbol_at(int index)
{
    enum { SINGLE = 8, GROUP = 4 }; /* symbols for one length; symbols with as many extra bits */
    length_symbol s = {GC_END_OF_BLOCK + 1 + index, GC_RUN_MIN + index, 0};
    if (index >= SINGLE) {
        s.extra_bits = index / GROUP - 1;
        s.first = GC_RUN_MIN + ((GROUP + index % GROUP) << s.extra_bits);
    }
    return s;
}

static void count_symbols(const uint32_t token_counts[GC_TOKENS], uint32_t counts[GC_SYMBOLS])
{
    memset(counts, 0, GC_SYMBOLS * sizeof *counts);
    memcpy(counts, token_counts, GC_RUN * sizeof *counts);
    counts[GC_END_OF_BLOCK] = 1;
    counts[0] += counts[0] == 0; /* a code that is complete has two symbols */
    for (int index = 0; index < LENGTH_SYMBOLS; index++) {
        length_symbol s = length_symbol_at(index);
        for (int i = 0; i < 1 << s.extra_bits && s.first + i < GC_RUN_MAX; i++)
            counts[s.symbol] += token_counts[GC_RUN + s.first + i];
    }
    counts[GC_LONGEST] = token_counts[GC_RUN + GC_RUN_MAX];
}

static uint32_t token_code(gc_code code, uint32_t extra, int extra_bits)
{
    return (code.bits | extra << code.length) << GC_TOKEN_SHIFT |
           (uint32_t)(code.length + extra_bits);
}

/* The codes of all tokens: runs with their extra bits and the distance, whose bits are 0. */
static void make_token_codes(const gc_code symbols[GC_SYMBOLS], int distance_bits,
                             uint32_t codes[GC_TOKENS])
{
    for (int byte = 0; byte < GC_RUN; byte++)
        codes[byte] = token_code(symbols[byte], 0, 0);
    for (int index = 0; index < LENGTH_SYMBOLS; index++) {
        length_symbol s = length_symbol_at(index);
        for (int i = 0; i < 1 << s.extra_bits; i++)
            codes[GC_RUN + s.first + i] =
                token_code(symbols[s.symbol], (uint32_t)i, s.extra_bits + distance_bits);
    }
    codes[GC_RUN + GC_RUN_MAX] = token_code(symbols[GC_LONGEST], 0, distance_bits);
}

/* Appends a block of `count` bytes to `to` and returns the place for more bits. It writes up to 8
 * bytes more. GC_FINDER_SLACK bytes more can be read. `tokens` has room for as many tokens as there
 * are bytes and GC_TOKENS_SLACK more. */
static gc_bits put_runs(const uint8_t *bytes, size_t count, const gc_pack_loops *loops,
                        uint16_t *tokens, gc_bits to, bool last)
{
    enum { FIXED_CODE = 1, OWN_CODE = 2, FIXED_DISTANCE_BITS = 5 };
    uint32_t token_counts[GC_TOKENS], counts[GC_SYMBOLS], codes[GC_TOKENS];
    int lengths[GC_SYMBOLS];
    gc_code symbols[GC_SYMBOLS];
    size_t token_count = loops->find_tokens(bytes, count, tokens);
    bool fixed = count < OWN_CODE_BYTES;
    gc_put(&to, last, 1);
    gc_put(&to, fixed ? FIXED_CODE : OWN_CODE, 2);
    if (fixed) { /* RFC 1951, 3.2.6 */
        for (int s = 0; s < GC_SYMBOLS; s++)
            lengths[s] = s < 144 ? 8 : s < GC_END_OF_BLOCK ? 9 : s < 280 ? 7 : 8;
    } else {
        loops->count_tokens(tokens, token_count, token_counts);
        count_symbols(token_counts, counts);
        gc_choose_lengths(counts, lengths);
        gc_put_lengths(&to, lengths);
    }
    gc_make_codes(lengths, GC_SYMBOLS, symbols);
    make_token_codes(symbols, fixed ? FIXED_DISTANCE_BITS : 1, codes);
    loops->put_tokens(&to, tokens, token_count, codes);
    gc_put_code(&to, symbols[GC_END_OF_BLOCK]);
    return to;
}

/* ---- Kinds of blocks ------------------------------------------------------------------------- */

/* Appends zeros to the end of the byte. */
static void fill_byte(gc_bits *to)
{
    gc_put(to, 0, (int)(-to->count & 7));
}

/* At least one stored block: RFC 1951 allows it 65535 bytes. */
static gc_bits put_stored(const uint8_t *bytes, size_t count, gc_bits to, bool last)
{
    do {
        size_t part = count < UINT16_MAX ? count : UINT16_MAX;
        gc_put(&to, last && part == count, 1);
        gc_put(&to, STORED, TYPE_BITS);
        fill_byte(&to);
        gc_put(&to, part, 16);
        gc_put(&to, ~(uint64_t)part & 0xffff, 16);
        if (part > 0)
            memcpy(to.next, bytes, part);
        to.next += part;
        bytes += part;
        count -= part;
    } while (count > 0);
    return to;
}

/* A part that runs compress to less than a SMALL-th, whose code would be much of it, is joined with
 * the rest of the block. Few bytes are not worth a sample. Runs take more time than literals and
 * have to save one of GAIN_MIN bits. */
enum { PART = 1 << 16, FEW = 2048, GAIN_MIN = 16, SMALL = 24 };

/* Appends bytes from `at` on, by literals or by runs, and returns how many. */
static size_t put_part(gc_pack_block *block, size_t at, const gc_pack_loops *loops, gc_bits *to)
{
    const uint8_t *bytes = block->bytes + at;
    size_t left = block->filled - at, count = left < PART ? left : PART;
    bool by_runs = count < FEW;
    if (!by_runs) {
        gc_survey survey;
        gc_literals literals;
        loops->survey(bytes, count, &survey);
        gc_literals_choose(&literals, bytes, count, &survey);
        by_runs = literals.runs_bits < literals.bits - literals.bits / GAIN_MIN;
        if (by_runs && literals.runs_bits < 8 * count / SMALL)
            count = left;
        if (!by_runs)
            *to =
                gc_literals_put(&literals, bytes, count, loops, *to, block->last && count == left);
    }
    if (by_runs)
        *to = put_runs(bytes, count, loops, block->tokens, *to, block->last && count == left);
    return count;
}

void gc_pack_compress(gc_pack_block *block, const gc_pack_loops *loops)
{
    enum { DEFLATE_WINDOW_32K = 0x78, FASTEST = 0x01, STORED_BYTES = 15 };
    gc_bits to = {.next = block->output};
    if (block->first) {
        gc_put(&to, DEFLATE_WINDOW_32K, 8);
        gc_put(&to, FASTEST, 8);
    }
    block->check = gc_adler32(block->bytes, block->filled);
    memset(block->bytes + block->filled, 0, GC_FINDER_SLACK);
    gc_bits before = to;
    size_t done = 0;
    do
        done += put_part(block, done, loops, &to);
    while (done < block->filled);
    if ((size_t)(to.next - before.next) > block->filled + STORED_BYTES)
        to = put_stored(block->bytes, block->filled, before, block->last);
    else if (block->last)
        fill_byte(&to);
    else /* the next block begins with a byte: an empty one comes between */
        to = put_stored(block->bytes, 0, to, false);
    block->size = (size_t)(to.next - block->output);
}
