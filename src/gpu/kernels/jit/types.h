/* What host and kernels say to each other about a pass: C, C++ and NVRTC read it, so that it includes
 * nothing. */
#ifndef GC_GPU_KERNELS_JIT_TYPES_H
#define GC_GPU_KERNELS_JIT_TYPES_H

enum {
    GC_WARP_COLUMNS = 120,  /* of output that a warp's pass stores at a time */
    GC_BLOCK_COLUMNS = 128, /* of output in a tile of a block's pass */
    GC_HALVES_UNIT = 8 /* columns of output that are a row of a matrix in kernels/mma/halves.cuh */
};

typedef enum gc_sample_type {
    GC_FLOAT,
    GC_BYTE,
    GC_SHORT, /* 16 bits, unsigned */
    GC_BIT    /* output alone: the first pixel in the most significant bit */
} gc_sample_type;

/* As gconv_border counts them. */
typedef enum gc_pass_border {
    GC_PASS_MIRROR,
    GC_PASS_MIRROR101,
    GC_PASS_REPLICATE,
    GC_PASS_WRAP,
    GC_PASS_CONSTANT
} gc_pass_border;

/* In which order thread blocks take the tiles of a plane. */
typedef enum gc_schedule {
    GC_ONE_TILE, /* a block a tile */
    GC_STRIP,    /* a block walks down gc_pass.tiles tiles, loading one while it computes another */
    GC_QUEUE     /* resident blocks draw the next tile from gc_pass.queue, loading likewise */
} gc_schedule;

/* What becomes of a chain value. */
typedef enum gc_finish_kind {
    GC_FINISH_NONE,     /* it is stored as float */
    GC_FINISH_SAMPLES,  /* contract.md, rule 5, in double, as gc_store_row */
    GC_FINISH_QUOTIENT, /* the same for an integer over an integer, in float */
    GC_FINISH_ROUND,    /* the same where no quotient is a tie that has to be told from others, and
                           for any value over a power of 2; of this one and the one before, quotients
                           that become bytes are below 2^15 */
    GC_FINISH_NEAREST,  /* the same for bytes: in float, and in double what is close to a tie */
    GC_FINISH_EDGES     /* rule 6 */
} gc_finish_kind;

typedef struct gc_finish {
    int kind;
    /* Samples. `factor` turns samples of the input's depth into those of the output's, 1/257 being
     * a division; `largest` is the output's white, `inverse` the divisor's reciprocal; `middle` is
     * where what is bilevel becomes white. */
    double divisor, inverse, scale, offset, sample_max, middle, factor, largest;
    int absolute, bilevel, narrows;
    float reciprocal;   /* round: of the divisor */
    float below, above; /* quotient: next to that */
    float gain, base;   /* nearest: a byte is gain * value + base, rounded and clamped */
    /* Edges: 1 if side * value, or |value| where side is 0, is more than the threshold. */
    float threshold;
    int side, invert;
} gc_finish;

typedef struct gc_pass {
    const void *input;
    void *output;
    long long input_pitch, input_plane;   /* samples from row to row, from channel to channel */
    long long output_pitch, output_plane; /* the same; of bits: bytes */
    int width, height;                    /* of the image */
    int input_first;                      /* row of the image in row 0 of the input */
    int input_rows;                       /* that are there */
    int output_first;                     /* row of the image in row 0 of the output */
    int rows;                             /* of output */
    int input_type, output_type, border;
    float constant[4]; /* border value of each channel */
    float between[4];  /* the same of the last step's input, where a pass takes several */
    int tiles;         /* GC_STRIP: of a block; GC_QUEUE: of the plane */
    unsigned *queue;   /* GC_QUEUE: a counter a channel that starts at 0 and ends there */
    gc_finish finish;
} gc_pass;

#endif
