/* What the host tells kernels about a pass. C, C++ and NVRTC read this file, so that it includes
 * nothing. */
#pragma once

enum {
    GC_WARP_COLUMNS = 120,  /* columns of output that a warp stores at a time (warp.cuh) */
    GC_BLOCK_COLUMNS = 128, /* columns of a tile (block.cuh) */
    GC_HALVES_UNIT = 8      /* columns of output in a unit, a row of a matrix (tensor/halves.cuh) */
};

typedef enum gc_sample_type {
    GC_FLOAT,
    GC_BYTE,
    GC_SHORT, /* 16 bits, unsigned */
    GC_BIT    /* for output only; the first pixel is in the most significant bit */
} gc_sample_type;

/* The values of gconv_border. */
typedef enum gc_pass_border {
    GC_PASS_MIRROR,
    GC_PASS_MIRROR101,
    GC_PASS_REPLICATE,
    GC_PASS_WRAP,
    GC_PASS_CONSTANT
} gc_pass_border;

/* In which order thread blocks take the tiles of a plane. */
typedef enum gc_schedule {
    GC_ONE_TILE, /* each block takes one tile */
    GC_QUEUE /* resident blocks draw their next tile from gc_pass.queue; they load one while they
                 compute another */
} gc_schedule;

/* What a pass does with alpha, the last of a pixel's interleaved channels. */
typedef enum gc_pass_alpha {
    GC_PASS_NO_ALPHA,  /* nothing: all channels are convolved alike */
    GC_PASS_KEEPS,     /* alpha is not convolved: it is stored as it is in the image */
    GC_PASS_MULTIPLIES /* colours are multiplied by alpha when they are read, and divided by it when
                          they are stored */
} gc_pass_alpha;

/* What becomes of a chain value. */
typedef enum gc_finish_kind {
    GC_FINISH_NONE,      /* it is stored as float */
    GC_FINISH_SAMPLES,   /* contract.md, rule 5, in double, as gc_store_pixels computes it */
    GC_FINISH_QUOTIENT,  /* rule 5 for an integer over an integer, in float. Quotients that become
                           bytes are below 2^15 */
    GC_FINISH_ROUND,     /* as GC_FINISH_QUOTIENT, if no quotient is a tie; also any value over a
                           power of 2 */
    GC_FINISH_REMAINDER, /* as GC_FINISH_QUOTIENT, for samples of 16 bits: corrected by the
                            remainder of the division. Quotients are below 2^22 */
    GC_FINISH_NEAREST,   /* rule 5 for 8 and 16 bits: in float; values close to a tie in double */
    GC_FINISH_EDGES,     /* rule 6 */
    /* Rounded once. The kernel rounds in float, and settles what is in doubt from gc_exact. */
    GC_FINISH_ONCE,          /* bytes */
    GC_FINISH_ONCE_INSIDE,   /* bytes, of levels that need not be clamped */
    GC_FINISH_ONCE_ABSOLUTE, /* bytes, of the value's magnitude */
    GC_FINISH_SIDE           /* as GC_FINISH_EDGES; also output of depth 1 */
} gc_finish_kind;

/* gc_rounding (core/rounding.h) of an exact sum S, a whole number: v = (a S + b) / c. */
typedef struct gc_once {
    double a, b, c;
} gc_once;

typedef struct gc_finish {
    int kind, alpha; /* gc_finish_kind, gc_pass_alpha */
    /* Samples. `factor` turns samples of the input's depth into those of the output's; 1/257 is a
     * division. `largest` is the output's white, `inverse` the divisor's reciprocal. Bilevel output
     * is white from `middle` on. */
    double divisor, inverse, scale, offset, sample_max, middle, factor, largest;
    int absolute, bilevel, narrows;
    gc_once once;       /* if samples are rounded once */
    float reciprocal;   /* GC_FINISH_ROUND, GC_FINISH_REMAINDER: of the divisor */
    float below, above; /* GC_FINISH_QUOTIENT: the neighbours of the reciprocal */
    float whole;        /* GC_FINISH_REMAINDER: the divisor */
    /* GC_FINISH_NEAREST: a sample is gain * value + base, rounded and clamped. Of a colour that
     * alpha multiplies, the value is its quotient by alpha. What the two numbers lack of the true
     * ones is in the other two. For 16 bits the base is the nearest integer. Of the value's bits
     * those of `value_bits` count: all, or all but the sign. */
    float gain, base, gain_rest, base_rest;
    unsigned value_bits;
    /* GC_FINISH_EDGES: 1 if side * value, or |value| if side is 0, is above the threshold. */
    float threshold;
    int side, invert;
    /* Rounded once: outputs whose distance (gc_finish_fix) is less are doubtful. The last three are
     * of GC_FINISH_ONCE_INSIDE, whose members serve GC_FINISH_ONCE, too. Bytes of GC_FINISH_NEAREST
     * by transforms take the first one and the two floats (fix_nearest). */
    unsigned doubtful, fixed_doubtful;
    float fixed_gain, fixed_base;
    float centre; /* subtracted from bytes before they are summed */
} gc_finish;

/* What exact sums of an image of bytes take, all of them whole numbers:
 *     S = sum_j sum_i terms[j][i] * in(x + i - left, y + j - top)
 * A byte counts 2^shift. */
typedef struct gc_exact {
    const long long *terms;              /* in the device's memory */
    int count, width, height, left, top; /* of the terms; count: all */
    unsigned width_inverse;              /* 2^31 over the width, rounded up */
    int channels, shift;                 /* of a pixel of the image; of a byte */
    long long constant[4];               /* border value of each channel */
    int pitch;                           /* of the image */
    unsigned columns, lines;             /* first samples of a sum that lies in the image */
} gc_exact;

/* One launch of a kernel, for every channel. Floats lie in planes, one a channel. Samples of 8 and
 * 16 bits are interleaved; their pitches count samples, not pixels. */
typedef struct gc_pass {
    const void *input;
    void *output;
    long long input_pitch, input_plane;   /* samples from row to row, from channel to channel */
    long long output_pitch, output_plane; /* likewise; for GC_BIT in bytes */
    int width, height;                    /* of the image */
    int input_first;                      /* row of the image in row 0 of the input */
    int input_rows;                       /* rows that the input has */
    int output_first;                     /* row of the image in row 0 of the output */
    int rows;                             /* rows of output */
    int input_type, output_type, border;
    float constant[4]; /* border value of each channel */
    float between[4];  /* border value of the last step's input, if a pass takes several steps */
    float centre;      /* is subtracted from bytes, and from their border value */
    int tiles;         /* GC_QUEUE: of the plane */
    unsigned *queue;   /* GC_QUEUE: a counter a channel, which starts at 0 and ends at 0 */
    /* GC_PASS_KEEPS, and if samples are rounded once: the samples of the image, anywhere in memory,
     * and the row of the image in their row 0. Their type is that of the image. */
    const void *image;
    long long image_pitch;
    int image_first, image_type;
    gc_finish finish;
    gc_exact exact; /* if samples are rounded once */
} gc_pass;
