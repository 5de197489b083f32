/* What the threads of a block share that compress rows (bits.cu), and how they combine what each
 * has. */
#pragma once

#include "gpu/device/check.cuh"
#include "io/png/fast/compressed_rows.h"

enum {
    THREADS = 1024,
    BLOCK = GC_COMPRESSED_BLOCK,
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
    unsigned sum, total, cost, shortest, check_low, check_high, white;
    unsigned repeats, runs;
    int least, most, takers;
    unsigned room;       /* for codes */
    unsigned bit;        /* of the output: the next one that is written */
    unsigned part_bytes; /* of the stream, that the present part stands for */
    int by_runs, is_stored;
};

static_assert(sizeof(block_state) <= 48 << 10, "what a block of threads gets unasked");

/* The bytes of a part of a block, and the place for output. */
struct block_part {
    const unsigned char *bytes;
    unsigned count;
    uint16_t *tokens; /* room for one a byte, and for READ_TOGETHER more */
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
