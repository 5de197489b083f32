/* Loops over the bytes of rows, compiled once for every instruction set. Each set gives the same
 * bytes. */
#pragma once

#include "io/png/fast/codes.h"

#include <stdbool.h>
#include <stddef.h>

/* The filters of PNG (ISO/IEC 15948, 9.2). */
typedef enum gc_row_filter {
    GC_FILTER_NONE,
    GC_FILTER_SUB,
    GC_FILTER_UP,
    GC_FILTER_AVERAGE,
    GC_FILTER_PAETH,
    GC_FILTER_COUNT
} gc_row_filter;

/* What is counted of bytes. A byte repeats if it equals the three before it. */
typedef struct gc_survey {
    int least, most; /* of the bytes as signed numbers */
    size_t repeats;  /* bytes that repeat, by a sample */
    size_t runs;     /* sequences of them, by the same sample */
} gc_survey;

/* Plain codes of bytes that vectors look up: the lower byte of a code, its higher byte, and its
 * length. The last bit of a plain code is the lowest. */
typedef struct gc_code_table {
    uint8_t low[16], high[16], length[16];
} gc_code_table;

/* Codes of bytes. The 16 bytes of a group share the four upper bits, from 1 to 14. Their plain
 * codes are consecutive and have one length. */
typedef struct gc_byte_codes {
    gc_code codes[256];
    gc_code_table first; /* of the bytes 0 to 15 */
    gc_code_table last;  /* of the bytes 255 down to 240 */
    gc_code_table group; /* of the first byte of each group; 0 at 0 and 15 */
} gc_byte_codes;

/* Lengths of matches (RFC 1951, 3.2.5). All matches here are at distance 1: runs. */
enum { GC_RUN_MIN = 3, GC_RUN_MAX = 258 };

/* Tokens are bytes, or GC_RUN plus the length of a run. The code of a token is a number: the bits,
 * the first one lowest, times 2^GC_TOKEN_SHIFT, plus how many they are. */
enum {
    GC_RUN = 256,
    GC_TOKENS = GC_RUN + GC_RUN_MAX + 1,
    GC_TOKEN_SHIFT = 6,
    GC_TOKEN_LENGTH = (1 << GC_TOKEN_SHIFT) - 1
};

/* Bytes, and tokens, past the last one that may be read or written. */
enum { GC_UNFILTER_SLACK = 64, GC_FINDER_SLACK = 64, GC_TOKENS_SLACK = 32 };

typedef struct gc_pack_loops {
    /* out[i] = row[i] minus its prediction. `row` and `above` can be read from -pixel on: they are
     * 0 on the left of the image. pixel: bytes of a pixel, at least 1. */
    void (*filter)(gc_row_filter filter, const uint8_t *row, const uint8_t *above, size_t pixel,
                   size_t count, uint8_t *out);
    /* Undoes the filters of `count` rows. Each is a filter, which becomes GC_FILTER_NONE, and
     * `row_bytes` bytes. Stops at a filter that PNG does not have. `above` is the row before
     * without its filter, zeros before the first row. `spare` has room for the bytes of a row.
     * GC_UNFILTER_SLACK bytes before and after all of them can be read, and written in `spare`.
     * NULL: none that is faster than libpng's. */
    void (*unfilter)(uint8_t *rows, size_t count, size_t row_bytes, const uint8_t *above,
                     size_t pixel, uint8_t *spare);
    /* Surveys `count` bytes, at least 1. */
    void (*survey)(const uint8_t *bytes, size_t count, gc_survey *survey);
    /* Appends the codes of the bytes. It writes up to 8 bytes more. */
    void (*put_bytes)(gc_bits *to, const uint8_t *bytes, size_t count, const gc_byte_codes *codes);
    /* Makes tokens of the bytes and returns how many. GC_FINDER_SLACK bytes more can be read, and
     * GC_TOKENS_SLACK tokens more be written. */
    size_t (*find_tokens)(const uint8_t *bytes, size_t count, uint16_t *tokens);
    /* counts[t]: how often there is a token t. */
    void (*count_tokens)(const uint16_t *tokens, size_t count, uint32_t counts[GC_TOKENS]);
    /* Appends the codes of the tokens. It writes up to 8 bytes more. */
    void (*put_tokens)(gc_bits *to, const uint16_t *tokens, size_t count,
                       const uint32_t codes[GC_TOKENS]);
} gc_pack_loops;

/* The best loops that this processor has; the portable ones if GCONV_INSTRUCTIONS says so. */
const gc_pack_loops *gc_pack_loops_chosen(void);

/* The loops that this build and this processor have, the portable ones last; NULL after the
 * last. */
const gc_pack_loops *gc_pack_loops_at(int index);
