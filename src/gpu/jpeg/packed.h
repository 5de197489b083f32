/* A JPEG as the kernels of jpeg.cu read it: tables, and the entropy-coded data without stuffed
 * bytes and markers. Host and device share these types. */
#pragma once

#include "gconv.h"
#include "io/jpeg/fast/header.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GC_PACKED_COEFFICIENTS = 64, /* of a block */
    GC_PACKED_LOOK_BITS = 10,    /* of the data, by which codes are looked up */
    GC_PACKED_LONG_LOOKS = 1024, /* entries for longer codes */
    GC_PACKED_LENGTHS = 17,      /* of codes: 1 to 16 bits, and one that is not used */
    /* A thread follows the codes of a chunk. A code may begin in one chunk and end in the next. */
    GC_PACKED_CHUNK_BYTES = 64,
    GC_PACKED_CHUNK_BITS = 8 * GC_PACKED_CHUNK_BYTES,
    GC_PACKED_WORDS_AHEAD = 3 /* of 4 bytes: what threads read behind their chunks */
};

/* A code, from the lowest bit: 5 bits, the length in bits of the code and its value; 4 bits, that
 * of the value; 7 bits, the step to the next coefficient: GC_PACKED_END for EOB. 0: there is none.
 * Or several AC codes: the length of all; 0; the sum of their steps. */
typedef uint16_t gc_packed_code;

enum {
    GC_PACKED_LENGTH_MASK = 31,
    GC_PACKED_SIZE_SHIFT = 5,
    GC_PACKED_SIZE_MASK = 15,
    GC_PACKED_STEP_SHIFT = 9,
    GC_PACKED_END = 64
};

typedef struct gc_packed_table {
    /* By the next GC_PACKED_LOOK_BITS bits; 0 if the code is longer, or there is none. */
    gc_packed_code look[1 << GC_PACKED_LOOK_BITS];
    /* By these bits: what all AC codes say together that lie in them. Only the last of them may be
     * EOB, and only the bits of its value may lie behind these. */
    gc_packed_code joined[1 << GC_PACKED_LOOK_BITS];
    /* Codes that are longer: by the next 16 bits, less `first_long`. They have the largest numbers,
     * and few bits of them differ: nearly all lie in the table. */
    gc_packed_code long_look[GC_PACKED_LONG_LOOKS];
    uint32_t first_long;
    /* By length: the first value of 16 bits above all codes of that length and shorter ones; and
     * what makes a code of that length an index of `codes`. */
    uint32_t limits[GC_PACKED_LENGTHS];
    int32_t offsets[GC_PACKED_LENGTHS];
    gc_packed_code codes[256];
} gc_packed_table;

/* Data between two restart markers. They begin with a chunk. */
typedef struct gc_packed_interval {
    uint32_t first_chunk;
    uint32_t bits;
} gc_packed_interval;

/* The head of a packed picture. Segments follow it, and behind them, at offset `data`, the data:
 * whole chunks, whose bits that are not used are ones, and GC_PACKED_WORDS_AHEAD words that may be
 * read. */
typedef struct gc_packed {
    uint32_t rejected; /* not 0: the kernels have found what a sound file does not have */
    uint32_t chunks, intervals, interval_mcus;
    uint32_t mcus, mcus_across;
    uint32_t blocks;      /* of an MCU */
    uint32_t luma_blocks; /* of them of Y, which come first; of Cb and Cr there is one */
    uint32_t luma_across;
    /* By block of an MCU: 4 bits, of which the first is the number of the DC table, the second that
     * of the AC table, and the others the component. */
    uint32_t kinds;
    uint32_t data, bytes;                      /* offset of the data, and of the end of all */
    uint32_t energy_max[3];                    /* by component */
    uint16_t steps[3][GC_PACKED_COEFFICIENTS]; /* quantisation steps in zigzag order */
    gc_packed_table tables[2][2];              /* DC and AC */
} gc_packed;

/* Bytes that a packed picture takes at most. 0: it is not one that the kernels take. */
size_t gc_pack_bound(const gconv_encoded *picture);

/* Packs a picture in `packed`, which has room for gc_pack_bound bytes. Bytes that the picture does
 * not hold come from `source`, which has offered it; NULL if the picture holds all. *end gets the
 * offset behind the image in its file. False if markers are not those of a sound file, or it cannot
 * be read. Reads no byte beyond the file. */
bool gc_pack(const gconv_encoded *picture, const gconv_source *source, gc_packed *packed,
             size_t *end);

#ifdef __cplusplus
}
#endif
