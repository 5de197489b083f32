#include "io/png/fast/runs.h"

#include "io/png/fast/codes.h"

#include <string.h>

/* A block of fewer bytes takes the fixed code: a code of its own would not pay for being
 * written. */
enum { OWN_CODE_BYTES = 1024 };

/* ---- Lengths of runs ------------------------------------------------------------------------- */

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

/* ---- The block ------------------------------------------------------------------------------- */

/* The lengths that need not be written (RFC 1951, 3.2.6). */
static void fill_fixed_lengths(int lengths[GC_SYMBOLS])
{
    for (int s = 0; s < GC_SYMBOLS; s++)
        lengths[s] = s < 144 ? 8 : s < GC_END_OF_BLOCK ? 9 : s < 280 ? 7 : 8;
}

gc_bits gc_runs_put_block(const uint8_t *bytes, size_t count, const gc_pack_loops *loops,
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
    if (fixed) {
        fill_fixed_lengths(lengths);
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
