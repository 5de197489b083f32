#include "cases.h"

#include "filters.h"

#include <string.h>

/* ---- The grid: every shape with every border and some chains --------------------------------- */

/* Single samples, rows and columns, primes, images smaller than their filters, the neighbours of
 * warp, block and band sizes. */
static const uint32_t shapes[][2] = {
    {1, 1},   {1, 2},   {2, 1},   {1, 7},   {7, 1},   {1, 64},  {64, 1},  {2, 2},   {3, 3},
    {4, 5},   {5, 4},   {13, 11}, {31, 29}, {17, 31}, {16, 32}, {15, 33}, {33, 63}, {32, 64},
    {31, 65}, {20, 97}, {63, 8},  {64, 9},  {65, 10}, {127, 5}, {128, 6}, {129, 7}, {257, 33},
};
enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0] };

/* A name ending in '!' is found edges in, with threshold 5. */
static const char *const grid_chains[][CHECK_CHAIN_MAX + 1] = {
    {"gauss5", "laplace3", "!"},
    {"corner"},
    {"even4x6"},
    {"large31x29"},
    {"row7", "column9"},
    {"far-corner", "corner"},
    {"fraction3", "tenths", "even4x6"},
    {"two9x11"},
    {"three-fractions14"},
};
enum { GRID_CHAIN_COUNT = sizeof grid_chains / sizeof grid_chains[0] };
enum { GRID_COUNT = SHAPE_COUNT * GCONV_BORDER_COUNT * GRID_CHAIN_COUNT };

/* ---- The table ------------------------------------------------------------------------------- */

/* Zeros stand for the usual: see make_from_table. */
typedef struct table_row {
    const char *name;
    const char *chain[CHECK_CHAIN_MAX];
    uint32_t width, height; /* 0: 37x41 */
    int channels;           /* 0: 1 */
    int depth;              /* 0: 8 */
    gconv_border border;
    double border_value;
    bool correlate;
    gconv_alpha alpha;
    gconv_output output;
    int output_depth; /* 0: that of the input */
    double scale;     /* 0: 1 */
    double offset;
    bool absolute;
    double threshold; /* 0: 5 */
    gconv_rule rule;
    bool invert;
    int threads; /* 0: 2 */
    check_pattern pattern;
} table_row;

#define CONSTANT .border = GCONV_BORDER_CONSTANT
#define EDGES .chain = {"gauss5", "laplace3"}, .output = GCONV_OUTPUT_EDGES
#define STRANGE .depth = 32, .width = 97, .height = 70, .pattern = CHECK_PATTERN_STRANGE

static const table_row table[] = {
    {"edges to bits", EDGES, .output_depth = 1},
    {"edges to bits, width 1", EDGES, .output_depth = 1, .width = 1},
    {"edges to bits, width 8", EDGES, .output_depth = 1, .width = 8},
    {"edges to bits, width 9", EDGES, .output_depth = 1, .width = 9},
    {"edges to bits, width 1027", EDGES, .output_depth = 1, .width = 1027, .height = 9},
    {"edges to 16 bits", EDGES, .output_depth = 16},
    {"edges to floats", EDGES, .output_depth = 32},
    {"edges inverted", EDGES, .invert = true, .output_depth = 1, .width = 21},
    {"edges positive", EDGES, .rule = GCONV_RULE_POSITIVE},
    {"edges negative", EDGES, .rule = GCONV_RULE_NEGATIVE, .invert = true},
    {"edges of 16 bits", EDGES, .depth = 16, .output_depth = 1},
    {"edges of 16 bits, inverted", EDGES, .depth = 16, .invert = true},
    {"edges without threshold", EDGES, .threshold = -1},
    {"edges, high threshold", EDGES, .threshold = 200, .pattern = CHECK_PATTERN_EXTREMES},
    {"edges, constant border", EDGES, CONSTANT, .border_value = 77},
    {"edges, fractional border", EDGES, CONSTANT, .border_value = 0.5},
    {"edges in black", EDGES, .pattern = CHECK_PATTERN_ZERO},
    {"edges in white", EDGES, .pattern = CHECK_PATTERN_MAX},
    {"edges of a checker", EDGES, .pattern = CHECK_PATTERN_CHECKER},
    {"edges of an impulse", EDGES, .pattern = CHECK_PATTERN_IMPULSE},
    {"tie: |response| = T is no edge", .chain = {"laplace3"}, .output = GCONV_OUTPUT_EDGES,
     .threshold = 3, .pattern = CHECK_PATTERN_RAMP},
    {"tie: threshold 4", .chain = {"laplace3"}, .output = GCONV_OUTPUT_EDGES, .threshold = 4,
     .pattern = CHECK_PATTERN_EXTREMES},
    {"tie: threshold 2/16", .chain = {"gauss3", "laplace3"}, .output = GCONV_OUTPUT_EDGES,
     .threshold = 0.125, .pattern = CHECK_PATTERN_RAMP},
    {"edges, negative divisor", .chain = {"negative", "laplace3"}, .output = GCONV_OUTPUT_EDGES,
     .rule = GCONV_RULE_POSITIVE},
    {"edges, deep chain", .chain = {"gauss3", "box3", "box2", "laplace3"},
     .output = GCONV_OUTPUT_EDGES, .threshold = 1},

    {"grey and alpha kept", .chain = {"gauss3"}, .channels = 2},
    {"grey and alpha filtered", .chain = {"gauss3"}, .channels = 2, .alpha = GCONV_ALPHA_FILTER},
    {"grey premultiplied", .chain = {"gauss3"}, .channels = 2, .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"colour", .chain = {"gauss5"}, .channels = 3},
    {"colour, 16 bits", .chain = {"gauss3"}, .channels = 3, .depth = 16},
    {"colour and alpha kept", .chain = {"gauss5"}, .channels = 4},
    {"colour and alpha kept, 16 to 8", .chain = {"gauss3"}, .channels = 4, .depth = 16,
     .output_depth = 8},
    {"colour and alpha filtered", .chain = {"gauss5"}, .channels = 4, .alpha = GCONV_ALPHA_FILTER},
    {"colour premultiplied", .chain = {"gauss3"}, .channels = 4, .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"colour premultiplied, constant", .chain = {"gauss3"}, .channels = 4, CONSTANT,
     .border_value = 200, .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"colour premultiplied, not exact", .chain = {"gauss5", "box3"}, .channels = 4,
     .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"colour premultiplied, 16 bits", .chain = {"gauss3"}, .channels = 4, .depth = 16,
     .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"colour premultiplied, negative alpha", .chain = {"sobel-x"}, .channels = 4,
     .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"colour to black and white", .chain = {"box3"}, .channels = 3, .output_depth = 1},
    {"colour and alpha to black and white", .chain = {"box3"}, .channels = 4, .output_depth = 1},
    {"grey to bits", .chain = {"box3"}, .output_depth = 1, .width = 19},
    {"16 bits to bits", .chain = {"box3"}, .depth = 16, .output_depth = 1, .width = 300},

    {"8 to 16", .chain = {"gauss3"}, .output_depth = 16},
    {"16 to 8", .chain = {"gauss3"}, .depth = 16, .output_depth = 8},
    {"8 to float", .chain = {"tenths"}, .output_depth = 32, .scale = -1.5, .offset = 3},
    {"16 to float", .chain = {"sobel-x"}, .depth = 16, .output_depth = 32, .offset = 128},
    {"colour to float", .chain = {"fraction3"}, .channels = 3, .output_depth = 32},
    {"rounding ties", .chain = {"box2"}, .scale = 0.5, .pattern = CHECK_PATTERN_EXTREMES},
    {"offset", .chain = {"sobel-x"}, .scale = 0.125, .offset = 127.5},
    {"offset, 16 bits", .chain = {"sobel-x"}, .depth = 16, .scale = 0.25, .offset = 128},
    {"absolute", .chain = {"sobel-x"}, .absolute = true, .scale = 0.25},
    {"huge scale", .chain = {"gauss3"}, .depth = 16, .output_depth = 8, .scale = 1e305},
    {"absolute of a negative", .chain = {"negative"}, .absolute = true},

    /* What is no number, infinite or beyond rule 82. */
    {"strange", STRANGE, .chain = {"gauss3"}},
    {"strange to bytes, wrap", STRANGE, .chain = {"tenths"}, .channels = 2, .output_depth = 8,
     .border = GCONV_BORDER_WRAP},
    {"strange to 16 bits", STRANGE, .chain = {"large31x29"}, .channels = 3, .output_depth = 16,
     CONSTANT, .border_value = 9},
    {"strange to bits", STRANGE, .chain = {"identity"}, .output_depth = 1,
     .border = GCONV_BORDER_REPLICATE},
    {"strange, premultiplied", STRANGE, .chain = {"row7"}, .channels = 4,
     .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"strange to bytes, alpha filtered", STRANGE, .chain = {"gauss3"}, .channels = 4,
     .alpha = GCONV_ALPHA_FILTER, .output_depth = 8, .border = GCONV_BORDER_MIRROR101},
    {"strange colours to black and white", STRANGE, .chain = {"tenths"}, .channels = 3,
     .output_depth = 1},

    /* Floats in. */
    {"floats", .chain = {"gauss5"}, .depth = 32, .width = 64},
    {"floats, wide", .chain = {"tenths"}, .depth = 32, .width = 1027, .height = 70},
    {"floats by themselves", .chain = {"identity"}, .depth = 32, .width = 96},
    {"floats to 8", .chain = {"gauss3"}, .depth = 32, .output_depth = 8, .width = 259},
    {"floats to 16", .chain = {"gauss3"}, .depth = 32, .output_depth = 16, .scale = 1.5},
    {"floats to bits", .chain = {"box3"}, .depth = 32, .output_depth = 1, .width = 300},
    {"edges of floats", EDGES, .depth = 32, .output_depth = 1, .width = 133},
    {"edges of floats to floats", EDGES, .depth = 32},
    {"colour of floats", .chain = {"gauss3"}, .channels = 3, .depth = 32, .width = 160},
    {"colour of floats to 8", .chain = {"fraction3"}, .channels = 3, .depth = 32,
     .output_depth = 8},
    {"floats, alpha kept", .chain = {"gauss5"}, .channels = 4, .depth = 32},
    {"floats, alpha kept, to 8", .chain = {"gauss5"}, .channels = 4, .depth = 32,
     .output_depth = 8},
    {"floats, alpha kept, to 16", .chain = {"tenths"}, .channels = 2, .depth = 32,
     .output_depth = 16},
    {"floats, alpha filtered", .chain = {"gauss3"}, .channels = 4, .depth = 32,
     .alpha = GCONV_ALPHA_FILTER, .output_depth = 16},
    {"floats, premultiplied", .chain = {"gauss3"}, .channels = 4, .depth = 32,
     .alpha = GCONV_ALPHA_PREMULTIPLY},
    {"floats, premultiplied, to 8", .chain = {"gauss5", "tenths"}, .channels = 2, .depth = 32,
     .alpha = GCONV_ALPHA_PREMULTIPLY, .output_depth = 8},
    {"floats, constant", .chain = {"tenths", "fraction3"}, .depth = 32, CONSTANT,
     .border_value = 50},
    {"floats, a large filter", .chain = {"large31x29"}, .depth = 32, .width = 200, .height = 133},
    {"correlate", .chain = {"corner"}, .correlate = true, .output_depth = 32},
    {"correlate even", .chain = {"even4x6", "even2x8"}, .correlate = true, .output_depth = 32},
    {"corners", .chain = {"corner", "far-corner"}, .output_depth = 32},
    {"far corner, wrap", .chain = {"far-corner"}, .border = GCONV_BORDER_WRAP, .channels = 3},
    {"sparse", .chain = {"hollow"}, .channels = 3, .output_depth = 32},
    {"identity", .chain = {"identity"}, .channels = 4, .alpha = GCONV_ALPHA_FILTER},
    {"chain of identities", .chain = {"identity", "identity", "identity", "identity"}},
    {"sum of two", .chain = {"two9x11"}, .width = 300, .height = 150},
    {"sum of two, mirror101", .chain = {"two15"}, .width = 390, .height = 140,
     .border = GCONV_BORDER_MIRROR101, .output_depth = 32},
    {"sum of two, 16 bits", .chain = {"two15"}, .width = 129, .height = 65, .depth = 16,
     .border = GCONV_BORDER_REPLICATE},
    {"sum of two, colour", .chain = {"two15"}, .channels = 3, .border = GCONV_BORDER_WRAP},
    {"sum of two, edges", .chain = {"two15", "laplace3"}, .width = 131, .height = 66,
     .output = GCONV_OUTPUT_EDGES, .output_depth = 1},
    {"sum of two, fractions", .chain = {"two-fractions17"}, .width = 300, .height = 150,
     .output_depth = 32},
    {"sum of two, correlated", .chain = {"two-fractions13x10"}, .width = 140, .correlate = true,
     .output_depth = 32, CONSTANT, .border_value = 33.3},
    {"sum of two, fractions of 16 bits", .chain = {"two-fractions13x10"}, .width = 257, .depth = 16,
     .output_depth = 32, .border = GCONV_BORDER_WRAP},
    {"sum of three", .chain = {"three19x15"}, .width = 300, .height = 150,
     .border = GCONV_BORDER_REPLICATE},
    {"sum of three, 16 bits", .chain = {"three17"}, .width = 131, .height = 130, .depth = 16,
     .border = GCONV_BORDER_MIRROR101},
    {"sum of three, colour", .chain = {"three17"}, .channels = 4, .alpha = GCONV_ALPHA_FILTER,
     CONSTANT, .border_value = 77},
    {"sum of three, fractions", .chain = {"three-fractions15x21"}, .width = 390, .height = 140,
     .output_depth = 32},
    {"sum of three, tiny image", .chain = {"three-fractions15x21"}, .width = 2, .height = 3,
     .output_depth = 32, .border = GCONV_BORDER_WRAP},
    {"sums one after the other", .chain = {"three-fractions14", "two-fractions17"}, .width = 131,
     .height = 70, .output_depth = 32, .border = GCONV_BORDER_MIRROR101},

    {"fractions", .chain = {"fraction3", "tenths"}, .channels = 2, .output_depth = 32},
    {"fractions, fractional border", .chain = {"fraction3", "tenths"}, CONSTANT,
     .border_value = -10.3, .output_depth = 32},

    /* Steps that may be taken two at a time, over several tiles in each direction. */
    {"two steps", .chain = {"tenths", "fraction3"}, .output_depth = 32, .width = 300, .height = 70},
    {"two steps, mirror101", .chain = {"tenths", "corner"}, .output_depth = 32, .width = 258,
     .height = 65, .border = GCONV_BORDER_MIRROR101},
    {"two steps, replicate", .chain = {"corner", "tenths"}, .output_depth = 32, .width = 257,
     .height = 66, .border = GCONV_BORDER_REPLICATE},
    {"two steps, wrap", .chain = {"corner", "even4x6"}, .depth = 16, .width = 259, .height = 33,
     .border = GCONV_BORDER_WRAP},
    {"two steps, constant", .chain = {"box3", "tenths"}, .output_depth = 32, .width = 260,
     .height = 97, CONSTANT, .border_value = 33.3},
    {"two steps, 16 bits", .chain = {"gauss3", "gauss5"}, .depth = 16, .width = 385, .height = 64},
    {"two steps, 16 bits, constant", .chain = {"far-corner", "gauss3"}, .depth = 16, .width = 131,
     .height = 34, CONSTANT, .border_value = 100},
    {"two steps, 16 bits to bits", .chain = {"gauss5", "laplace3"}, .depth = 16, .width = 301,
     .height = 67, .output = GCONV_OUTPUT_EDGES, .output_depth = 1,
     .border = GCONV_BORDER_REPLICATE},
    {"two steps, colour", .chain = {"gauss5", "far-corner"}, .channels = 3, .width = 140,
     .height = 45, .border = GCONV_BORDER_MIRROR101},
    {"two steps, colour, constant", .chain = {"box3", "sobel-x"}, .channels = 3, .depth = 16,
     .width = 129, .height = 33, CONSTANT, .border_value = 200, .offset = 128},
    {"two steps, alpha filtered, constant", .chain = {"fraction3", "corner"}, .channels = 4,
     .alpha = GCONV_ALPHA_FILTER, CONSTANT, .border_value = 50, .output_depth = 32},
    {"two steps, premultiplied, constant", .chain = {"gauss3", "gauss3"}, .channels = 4,
     .alpha = GCONV_ALPHA_PREMULTIPLY, .width = 150, CONSTANT, .border_value = 90},
    {"two steps, lopsided, one column over", .chain = {"gauss3", "even2x8"}, .correlate = true,
     .output_depth = 32, .width = 129, .height = 33},
    {"two steps, lopsided, mirror101", .chain = {"even2x8", "even4x6"}, .width = 257, .height = 65,
     .output_depth = 32, .border = GCONV_BORDER_MIRROR101},
    {"two steps, tiny image", .chain = {"tenths", "tenths"}, .width = 2, .height = 3,
     .output_depth = 32, .border = GCONV_BORDER_MIRROR101},
    {"two steps, one pixel", .chain = {"column9", "row7"}, .width = 1, .height = 1, .channels = 3},
    {"three steps", .chain = {"gauss3", "fraction3", "tenths"}, .output_depth = 32, .width = 150,
     .height = 40, .border = GCONV_BORDER_REPLICATE},
    {"three steps, the first large", .chain = {"large31x29", "gauss5", "tenths"}, .depth = 16,
     .output_depth = 32, .width = 133, .height = 37, CONSTANT, .border_value = 9},
    {"three steps, colour, wrap", .chain = {"gauss3", "corner", "far-corner"}, .channels = 3,
     .width = 131, .border = GCONV_BORDER_WRAP, .output_depth = 32},
    {"four steps", .chain = {"box3", "tenths", "gauss5", "fraction3"}, .output_depth = 32,
     .width = 200, .height = 50, .border = GCONV_BORDER_MIRROR101},

    {"row of 255", .chain = {"row255"}, .output_depth = 32, .width = 130, .height = 3},
    {"row of 255, narrow", .chain = {"row255"}, .output_depth = 32, .width = 3, .height = 5,
     .channels = 3},
    {"column of 255", .chain = {"column255"}, .output_depth = 32, .width = 5, .height = 131},
    {"column of 255, wrap", .chain = {"column255"}, .output_depth = 32, .width = 4, .height = 97,
     .border = GCONV_BORDER_WRAP},
    {"column of 255, floats", .chain = {"column255"}, .depth = 32, .width = 5, .height = 131},
    {"column of 255, floats, constant", .chain = {"column255"}, .depth = 32, .width = 1025,
     .height = 259, CONSTANT, .border_value = 9},
    {"large filter, tiny image", .chain = {"large31x29"}, .output_depth = 32, .width = 2,
     .height = 3, .border = GCONV_BORDER_MIRROR101},
    {"reaches far up", .chain = {"gauss3", "deep-top"}, .output_depth = 32, .width = 6,
     .height = 330},
    {"reaches far up twice", .chain = {"deep-top", "column9", "deep-top"}, .output_depth = 32,
     .width = 3, .height = 420, .border = GCONV_BORDER_MIRROR101},
    {"reaches far down", .chain = {"deep-bottom", "gauss3", "deep-bottom"}, .output_depth = 32,
     .width = 4, .height = 333},
    {"up and down", .chain = {"deep-top", "deep-bottom", "deep-top"}, .output_depth = 32,
     .width = 4, .height = 257},
    {"up and down, replicate", .chain = {"deep-top", "deep-bottom", "deep-top"}, .output_depth = 32,
     .width = 4, .height = 257, .border = GCONV_BORDER_REPLICATE},
    {"up and down, constant", .chain = {"deep-bottom", "deep-top"}, .output_depth = 32, .width = 4,
     .height = 200, CONSTANT, .border_value = 3},

    /* Enough work that an implementation may share it out: 2e6 multiply-adds and more. */
    {"one thread", EDGES, .width = 311, .height = 290, .threads = 1},
    {"three threads", EDGES, .width = 311, .height = 290, .threads = 3},
    {"five threads", EDGES, .width = 311, .height = 397, .threads = 5, .output_depth = 1},
    {"five threads, wrap", EDGES, .width = 330, .height = 329, .threads = 5,
     .border = GCONV_BORDER_WRAP},
    {"threads, colour", .chain = {"gauss5", "even4x6"}, .width = 131, .height = 231, .channels = 3,
     .threads = 3, .border = GCONV_BORDER_REPLICATE},
    {"threads, alpha kept", .chain = {"wide17x3", "gauss3"}, .width = 131, .height = 257,
     .channels = 4, .depth = 16, .threads = 5},
    {"threads, premultiplied", .chain = {"gauss3", "box3"}, .width = 260, .height = 228,
     .channels = 4, .alpha = GCONV_ALPHA_PREMULTIPLY, .threads = 3, CONSTANT, .border_value = 9},
    {"threads, large filter", .chain = {"large31x29"}, .width = 65, .height = 97, .threads = 5,
     .border = GCONV_BORDER_MIRROR101, .output_depth = 32},
    {"threads, flat image", .chain = {"large31x29"}, .width = 700, .height = 11, .threads = 5,
     .output_depth = 32},
    {"threads, narrow image", .chain = {"gauss5", "laplace3"}, .width = 3, .height = 30011,
     .threads = 5, .output = GCONV_OUTPUT_EDGES, .output_depth = 1},
    {"many threads, first down then up", .chain = {"deep-top", "deep-bottom"}, .width = 200,
     .height = 640, .threads = 16, .output_depth = 32},
    {"many threads, first up then down", .chain = {"deep-bottom", "deep-top"}, .width = 200,
     .height = 640, .threads = 16, .output_depth = 32, .border = GCONV_BORDER_MIRROR101},
    {"many threads, up and down, wrap", .chain = {"deep-bottom", "gauss3", "deep-bottom"},
     .width = 100, .height = 640, .threads = 16, .output_depth = 32, .border = GCONV_BORDER_WRAP},
    {"many threads, up and down, constant", .chain = {"deep-top", "deep-top"}, .width = 100,
     .height = 640, .threads = 16, .output_depth = 32, CONSTANT, .border_value = 100},
    {"dim, tiny weights, then fractions", .chain = {"tiny", "fraction3"}, .depth = 16,
     .output_depth = 32, .pattern = CHECK_PATTERN_DIM},
    {"dim, fractions, then tiny weights", .chain = {"fraction3", "tiny", "tenths"}, .depth = 16,
     .output_depth = 32, .pattern = CHECK_PATTERN_DIM},
    {"dim, premultiplied", .chain = {"tiny", "tenths"}, .channels = 4, .depth = 16,
     .alpha = GCONV_ALPHA_PREMULTIPLY, .output_depth = 32, .pattern = CHECK_PATTERN_DIM},
    {"many tiles, whole", .chain = {"even4x6"}, .width = 4100, .height = 560},
    {"many tiles, fractions", .chain = {"fraction3"}, .width = 4100, .height = 560},
    {"many tiles, floats", .chain = {"fraction3", "tenths"}, .width = 4100, .height = 560},
    {"many bands, far up", .chain = {"up40"}, .width = 8200, .height = 260, .threads = 2},
    {"many bands, far down", .chain = {"down40"}, .width = 4100, .height = 260, .channels = 2,
     .threads = 2, .border = GCONV_BORDER_MIRROR101},

    /* Filters of two vectors; long ones, larger than the image. */
    {"vectors", .chain = {"vectors7x9"}, .width = 300, .height = 150},
    {"vectors, 16 bits, wrap", .chain = {"vectors7x9"}, .depth = 16, .border = GCONV_BORDER_WRAP},
    {"vectors, colour", .chain = {"vectors-fractions31x17"}, .channels = 3, .output_depth = 32},
    {"vectors, premultiplied", .chain = {"vectors7x9", "vectors-fractions31x17"}, .channels = 4,
     .alpha = GCONV_ALPHA_PREMULTIPLY, CONSTANT, .border_value = 90},
    {"vectors, correlate", .chain = {"vectors-fractions31x17"}, .correlate = true,
     .output_depth = 32, CONSTANT, .border_value = 33.3},
    {"vectors, edges", .chain = {"vectors7x9", "laplace3"}, .width = 131, .height = 66,
     .output = GCONV_OUTPUT_EDGES, .output_depth = 1},
    {"vectors of one row and one number", .chain = {"vector-row", "vector-column"}, .depth = 32},
    {"vectors behind a matrix", .chain = {"laplace3", "vectors7x9"}, .width = 64, .height = 50},
    {"vectors behind fractions", .chain = {"fraction3", "vectors7x9"}, .output_depth = 32},
    {"long behind a matrix", .chain = {"laplace3", "long-square"}, .output_depth = 32, .width = 70,
     .height = 60},
    {"long row, floats", .chain = {"long-row"}, .depth = 32, .width = 700, .height = 41},
    {"long row, alpha kept", .chain = {"long-row"}, .channels = 4, .width = 333, .height = 40,
     .border = GCONV_BORDER_REPLICATE},
    {"long column", .chain = {"long-column"}, .output_depth = 32, .width = 41, .height = 700},
    {"long column, colour, wrap", .chain = {"long-column", "gauss3"}, .channels = 3, .width = 70,
     .height = 600, .border = GCONV_BORDER_WRAP, .threads = 3},
    {"long and whole", .chain = {"long-whole"}, .width = 400, .height = 350, .output_depth = 32},
    {"long and whole, constant", .chain = {"long-whole"}, .width = 200, .height = 350, CONSTANT,
     .border_value = 77, .output_depth = 32},
    {"long and whole, then edges", .chain = {"long-whole", "laplace3"}, .width = 131, .height = 66,
     .output = GCONV_OUTPUT_EDGES, .output_depth = 1, .border = GCONV_BORDER_MIRROR101},
    {"long in both, one pixel", .chain = {"long-square"}, .width = 1, .height = 1},
    {"long in both, mirror101", .chain = {"long-square"}, .output_depth = 32, .width = 131,
     .height = 37, .border = GCONV_BORDER_MIRROR101},
    {"long in both, wrap", .chain = {"long-square"}, .output_depth = 32, .channels = 3,
     .border = GCONV_BORDER_WRAP},
    {"long in both, constant", .chain = {"long-square"}, .output_depth = 32, CONSTANT,
     .border_value = 0.5, .depth = 16},
    {"long in both, twice", .chain = {"long-square", "gauss5", "long-square"}, .output_depth = 32,
     .width = 200, .height = 210, .threads = 5, .border = GCONV_BORDER_REPLICATE},
    {"the longest", .chain = {"longest"}, .output_depth = 32, .width = 150, .height = 90},
    {"the longest, constant", .chain = {"longest"}, .output_depth = 32, CONSTANT,
     .border_value = 200, .depth = 32},
    {"a large box", .chain = {"ones300x301"}, .width = 500, .height = 400, .threads = 3},
    {"a large box, exact", .chain = {"ones300x301"}, .width = 30, .height = 40,
     .border = GCONV_BORDER_REPLICATE, .depth = 16, .output_depth = 32},
    {"a box of colours, threads", .chain = {"ones40x50"}, .width = 390, .height = 440,
     .channels = 3, .threads = 5, .border = GCONV_BORDER_MIRROR101},
    {"a box of two channels", .chain = {"ones40x50", "ones9x70"}, .width = 201, .height = 150,
     .channels = 2, .alpha = GCONV_ALPHA_FILTER, CONSTANT, .border_value = 7},
    {"a box, premultiplied", .chain = {"ones9x70"}, .width = 101, .height = 250, .channels = 4,
     .alpha = GCONV_ALPHA_PREMULTIPLY, .threads = 3},
    {"boxes of 16 bits, alpha kept", .chain = {"ones9x70", "ones40x50"}, .width = 161,
     .height = 330, .channels = 4, .depth = 16, .threads = 3},
    {"boxes, edges", .chain = {"ones9x70", "ones40x50"}, .width = 1500, .height = 300,
     .output = GCONV_OUTPUT_EDGES, .output_depth = 1, .threads = 2},
    {"a box, fractional border", .chain = {"ones40x50"}, .width = 99, .height = 99, CONSTANT,
     .border_value = 0.3, .output_depth = 32},
    {"a box of tiny weights", .chain = {"tiny-ones"}, .output_depth = 32},
    {"a box in panels", .chain = {"ones9x70"}, .width = 9000, .height = 300, .depth = 16,
     .output_depth = 32, .threads = 3},
    {"a large box, floats, wrap", .chain = {"ones300x301"}, .width = 90, .height = 500, .depth = 32,
     .border = GCONV_BORDER_WRAP},

    /* So wide that they are computed in panels of columns. */
    {"panels", .chain = {"wide17x3", "even4x6", "corner"}, .width = 15000, .height = 19,
     .scale = 0.01, .threads = 3},
    {"panels, mirror101, colour", .chain = {"wide17x3", "even4x6", "corner"}, .width = 16001,
     .height = 19, .channels = 3, .border = GCONV_BORDER_MIRROR101, .scale = 0.01, .threads = 3},
    {"panels, replicate", .chain = {"wide17x3", "even4x6", "far-corner"}, .width = 17002,
     .height = 19, .border = GCONV_BORDER_REPLICATE, .scale = 0.01, .threads = 3},
    {"panels, constant, colour", .chain = {"wide17x3", "even4x6", "far-corner"}, .width = 18003,
     .height = 19, .channels = 3, CONSTANT, .border_value = 90, .scale = 0.01, .threads = 3},
    {"panels, alpha kept", .chain = {"two9x11"}, .width = 12001, .height = 23, .channels = 4,
     .scale = 0.02, .threads = 3},
    {"panels, premultiplied to 16", .chain = {"two9x11"}, .width = 12001, .height = 23,
     .channels = 4, .alpha = GCONV_ALPHA_PREMULTIPLY, .output_depth = 16, .scale = 0.02,
     .threads = 3},
    {"panels, alpha filtered", .chain = {"two9x11"}, .width = 12001, .height = 23, .channels = 4,
     .alpha = GCONV_ALPHA_FILTER, .scale = 0.02, .threads = 3},
    {"panels, colour of 16 bits", .chain = {"two9x11"}, .width = 12001, .height = 23, .channels = 3,
     .depth = 16, .scale = 0.02, .threads = 3},
    {"panels, edges", .chain = {"two15"}, .output = GCONV_OUTPUT_EDGES, .output_depth = 1,
     .width = 24011, .height = 30, .threshold = 900, .threads = 3},
    {"panels, tiles", .chain = {"large31x29"}, .width = 16001, .height = 24, .threads = 3},
    {"panels, fractions", .chain = {"three-fractions15x21"}, .width = 16001, .height = 40,
     .threads = 3},
    {"panels, vectors", .chain = {"vectors-fractions31x17"}, .width = 40001, .height = 30,
     .output_depth = 32, .threads = 3},

    {"many threads, filter above image", .chain = {"column255", "deep-top"}, .width = 160,
     .height = 200, .threads = 16, .output_depth = 32},
};
enum { TABLE_COUNT = sizeof table / sizeof table[0] };

/* ---- Making a case --------------------------------------------------------------------------- */

int check_fixed_case_count(void)
{
    return GRID_COUNT + TABLE_COUNT + check_limits_count();
}

void check_case_add_filter(check_case *made, gconv_filter *filter)
{
    made->filters[made->job.filter_count++] = filter;
}

static void set_name(check_case *made, const char *name)
{
    snprintf(made->name, sizeof made->name, "%s", name);
}

static void make_from_grid(check_case *made, int index)
{
    static const double constants[] = {0, 200, -17, 0.25};
    gconv_job *job = &made->job;
    const char *const *chain = grid_chains[index % GRID_CHAIN_COUNT];
    index /= GRID_CHAIN_COUNT;
    job->border = (gconv_border)(index % GCONV_BORDER_COUNT);
    index /= GCONV_BORDER_COUNT;
    job->input.width = shapes[index][0];
    job->input.height = shapes[index][1];
    job->border_value = constants[index % 4];
    job->threads = 1 + index % 3;
    set_name(made, "grid");
    for (; *chain != NULL && **chain != '!'; chain++)
        check_case_add_filter(made, check_filter_named(*chain));
    job->output = *chain != NULL ? GCONV_OUTPUT_EDGES : GCONV_OUTPUT_SAMPLES;
    if (job->output == GCONV_OUTPUT_EDGES)
        job->output_depth = 1;
}

static void make_from_table(check_case *made, const table_row *row)
{
    gconv_job *job = &made->job;
    set_name(made, row->name);
    for (int i = 0; i < CHECK_CHAIN_MAX && row->chain[i] != NULL; i++)
        check_case_add_filter(made, check_filter_named(row->chain[i]));
    job->input.width = row->width > 0 ? row->width : 37;
    job->input.height = row->height > 0 ? row->height : 41;
    job->input.channels = row->channels > 0 ? row->channels : 1;
    job->input.depth = row->depth > 0 ? row->depth : 8;
    job->border = row->border;
    job->border_value = row->border_value;
    job->correlate = row->correlate;
    job->alpha = row->alpha;
    job->output = row->output;
    job->output_depth = row->output_depth > 0 ? row->output_depth : job->input.depth;
    job->scale = row->scale != 0 ? row->scale : 1;
    job->offset = row->offset;
    job->has_offset = row->offset != 0;
    job->absolute = row->absolute;
    job->threshold = row->threshold != 0 ? row->threshold : 5;
    job->rule = row->rule;
    job->invert = row->invert;
    job->threads = row->threads > 0 ? row->threads : 2;
    made->pattern = row->pattern;
}

static check_case begin_case(int index, check_random random)
{
    check_case made = {.index = index,
                       .job = gconv_job_default(),
                       .tiling = gconv_tiling_default(),
                       .random = random};
    made.job.input = (gconv_shape){.width = 1, .height = 1, .channels = 1, .depth = 8};
    made.job.output_depth = 8;
    return made;
}

check_case check_case_of_bytes(const unsigned char *bytes, size_t size)
{
    check_case made = begin_case(0, (check_random){.bytes = bytes, .left = size});
    check_case_randomise(&made);
    return made;
}

check_case check_case_make(uint64_t seed, int index)
{
    check_case made = begin_case(index, check_random_for(seed, (uint64_t)index));
    if (index < GRID_COUNT)
        make_from_grid(&made, index);
    else if (index < GRID_COUNT + TABLE_COUNT)
        make_from_table(&made, &table[index - GRID_COUNT]);
    else if (index < check_fixed_case_count())
        check_case_limits(&made, index - GRID_COUNT - TABLE_COUNT);
    else if (index < CHECK_SWEEP_FIRST)
        check_case_randomise(&made);
    else
        check_case_sweep(&made, index - CHECK_SWEEP_FIRST);
    return made;
}

void check_case_free(check_case *made)
{
    for (int i = 0; i < made->job.filter_count; i++)
        gconv_filter_free(made->filters[i]);
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_chain(const check_case *made, FILE *file)
{
    for (int i = 0; i < made->job.filter_count; i++) {
        const gconv_filter *filter = made->filters[i];
        fprintf(file, "%s%s %dx%d anchor %d,%d divisor %g", i == 0 ? "  chain: " : " | ",
                filter->name != NULL ? filter->name : "unnamed", filter->width, filter->height,
                filter->anchor_x, filter->anchor_y, filter->divisor);
        if (filter->has_offset)
            fprintf(file, " offset %g", filter->offset);
    }
    fprintf(file, "%s\n", made->job.correlate ? ", correlated" : "");
}

static void print_output(const gconv_job *job, FILE *file)
{
    static const char *const rules[] = {"abs", "positive", "negative"};
    static const char *const alphas[] = {"keep", "filter", "premultiply"};
    if (job->output == GCONV_OUTPUT_EDGES)
        fprintf(file, "  edges: threshold %.17g, rule %s%s", job->threshold, rules[job->rule],
                job->invert ? ", inverted" : "");
    else
        fprintf(file, "  samples: scale %.17g, offset %.17g%s%s, alpha %s", job->scale, job->offset,
                job->has_offset ? "" : " (unset)", job->absolute ? ", absolute" : "",
                alphas[job->alpha]);
    fprintf(file, ", output depth %d\n", job->output_depth);
}

void check_case_print(const check_case *made, FILE *file)
{
    const gconv_job *job = &made->job;
    fprintf(file, "case %d (%s)\n  image: %ux%u, %d channels, depth %d, pattern %s; border %s",
            made->index, made->name, job->input.width, job->input.height, job->input.channels,
            job->input.depth, check_pattern_name(made->pattern), gconv_border_name(job->border));
    if (job->border == GCONV_BORDER_CONSTANT)
        fprintf(file, ":%.17g", job->border_value);
    fprintf(file, "; threads %d, tile %d, block %dx%d\n", job->threads, made->tiling.tile,
            made->tiling.block_width, made->tiling.block_height);
    print_chain(made, file);
    print_output(job, file);
}
