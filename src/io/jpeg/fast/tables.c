#include "io/jpeg/fast/tables.h"

#include <string.h>

const unsigned char gc_jpeg_places[2 * GC_JPEG_COEFFICIENTS] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

enum {
    DC_CATEGORY_MAX = 11,
    AC_SIZE_MAX = 10,
    SQUARES_MAX = 0xffff,
    /* A mark that is added to the step: EOB is the last of the symbols. EOB may not follow the last
     * coefficient: thus the 1. */
    STEP_END = 128 + 1,
    ENTRY_EXACT = GC_JPEG_STEP_EXACT << GC_JPEG_STEP_SHIFT
};

/* ---- Codes ----------------------------------------------------------------------------------- */

bool gc_jpeg_symbols_are_sound(const gc_jpeg_table *of, bool ac)
{
    bool seen[256] = {false};
    for (int i = 0; i < of->count; i++) {
        int symbol = of->symbols[i], size = symbol & 15;
        bool sound = ac ? (size > 0 && size <= AC_SIZE_MAX) || symbol == GC_JPEG_SYMBOL_END ||
                              symbol == GC_JPEG_SYMBOL_ZEROS
                        : symbol <= DC_CATEGORY_MAX;
        if (!sound || seen[symbol])
            return false;
        seen[symbol] = true;
    }
    return of->count > 0;
}

bool gc_jpeg_assign_codes(gc_jpeg_table *to, const unsigned char *counts)
{
    uint32_t code = 0;
    int index = 0;
    for (int length = 1; length <= GC_JPEG_CODE_BITS_MAX; length++) {
        int count = counts[length - 1];
        to->offset[length] = index - (int32_t)code;
        memset(to->lengths + index, length, (size_t)count);
        index += count;
        code += (uint32_t)count;
        if (count > 0 && code >= (uint32_t)1 << length)
            return false;
        to->limit[length] = (int32_t)(code << (GC_JPEG_CODE_BITS_MAX - length));
        code <<= 1;
    }
    return true;
}

/* ---- Look-up tables -------------------------------------------------------------------------- */

/* For each GC_JPEG_LOOK_BITS bits that begin with a code, 256 x its length + its symbol; else 0. */
static void list_codes(const gc_jpeg_table *of, uint16_t *codes)
{
    memset(codes, 0, sizeof *codes << GC_JPEG_LOOK_BITS);
    for (int i = 0; i < of->count && of->lengths[i] <= GC_JPEG_LOOK_BITS; i++) {
        int length = of->lengths[i], rest = GC_JPEG_LOOK_BITS - length;
        uint32_t code = (uint32_t)(i - of->offset[length]);
        for (uint32_t look = code << rest; look < (code + 1) << rest; look++)
            codes[look] = (uint16_t)(length << 8 | of->symbols[i]);
    }
}

uint16_t gc_jpeg_bias(uint32_t known, uint32_t size, bool negative)
{
    uint32_t largest = ((uint32_t)1 << size) - 1;
    return (uint16_t)(0U - (known << size) - (negative ? largest : 0));
}

/* Of the first bits of the data, as a number. The code has to be shorter than these bits, so that
 * the first bit of the value is known too. */
static gc_jpeg_difference difference_of(const uint16_t *codes, uint32_t look)
{
    uint32_t code = codes[look << (GC_JPEG_LOOK_BITS - GC_JPEG_DC_LOOK_BITS)];
    uint32_t length = code >> 8, size = code & 0xff;
    if (length == 0 || length >= GC_JPEG_DC_LOOK_BITS)
        return (gc_jpeg_difference){.bits = 0};
    uint32_t left = GC_JPEG_DC_LOOK_BITS - length;
    bool negative = size > 0 && (look >> (left - 1) & 1) == 0;
    return (gc_jpeg_difference){.bits = (uint8_t)(length + size),
                                .bias = gc_jpeg_bias(look >> left, size, negative)};
}

static void build_dc(gc_jpeg_table *of)
{
    uint16_t codes[1 << GC_JPEG_LOOK_BITS];
    list_codes(of, codes);
    for (uint32_t look = 0; look < (uint32_t)1 << GC_JPEG_DC_LOOK_BITS; look++)
        of->fast.dc_look[look] = difference_of(codes, look);
}

/* The entry of one symbol. `rest` holds the bits behind the code, of which only the first `known`
 * bits are given: the bound is of the largest value that begins so. */
static uint32_t ac_entry(int length, int symbol, uint32_t rest, int known)
{
    int size = symbol & 15;
    uint32_t step = (uint32_t)(symbol >> 4) + 1;
    if (symbol == GC_JPEG_SYMBOL_ZEROS)
        return ENTRY_EXACT;
    if (symbol == GC_JPEG_SYMBOL_END)
        return (uint32_t)length | (uint32_t)STEP_END << GC_JPEG_STEP_SHIFT;
    if (known > size) {
        rest >>= known - size;
        known = size;
    }
    uint32_t unknown = ((uint32_t)1 << (size - known)) - 1, mask = ((uint32_t)1 << size) - 1;
    uint32_t value = mask;
    if (known > 0) {
        uint32_t bits = rest << (size - known);
        /* A value that begins with 0 is negative, and its magnitude the complement. */
        value = bits >> (size - 1) != 0 ? bits | unknown : mask ^ bits;
    }
    if (value * value > SQUARES_MAX || length + size > GC_JPEG_ENTRY_BITS_MAX)
        return ENTRY_EXACT;
    return (uint32_t)(length + size) | step << GC_JPEG_STEP_SHIFT |
           value * value << GC_JPEG_SQUARES_SHIFT;
}

/* Both entries, one behind the other; the first one alone if that does not do. */
static uint32_t join_entries(uint32_t first, uint32_t second)
{
    uint32_t bits = first % 64 + second % 64;
    uint32_t squares = (first >> GC_JPEG_SQUARES_SHIFT) + (second >> GC_JPEG_SQUARES_SHIFT);
    uint32_t steps = (first >> GC_JPEG_STEP_SHIFT & 0xff) + (second >> GC_JPEG_STEP_SHIFT & 0xff);
    if (bits > GC_JPEG_ENTRY_BITS_MAX || squares > SQUARES_MAX || (steps & GC_JPEG_STEP_EXACT) != 0)
        return first;
    return bits | steps << GC_JPEG_STEP_SHIFT | squares << GC_JPEG_SQUARES_SHIFT;
}

/* The entry of as many symbols as have their codes in the GC_JPEG_LOOK_BITS bits `look`. */
static uint32_t ac_entries(const uint16_t *codes, uint32_t look)
{
    uint32_t result = 0;
    for (int left = GC_JPEG_LOOK_BITS; left > 0;) {
        uint32_t bits = look & (((uint32_t)1 << left) - 1);
        uint32_t code = codes[bits << (GC_JPEG_LOOK_BITS - left)];
        int length = (int)(code >> 8), symbol = (int)(code & 0xff);
        if (length == 0 || length > left)
            break;
        uint32_t rest = bits & (((uint32_t)1 << (left - length)) - 1);
        uint32_t entry = ac_entry(length, symbol, rest, left - length);
        uint32_t joined = result == 0 ? entry : join_entries(result, entry);
        if (joined == result)
            break;
        result = joined;
        if (entry == ENTRY_EXACT || symbol == GC_JPEG_SYMBOL_END)
            break;
        left -= length + (symbol & 15);
    }
    return result == 0 ? ENTRY_EXACT : result;
}

static void build_ac(gc_jpeg_table *of)
{
    uint16_t codes[1 << GC_JPEG_LOOK_BITS];
    list_codes(of, codes);
    for (uint32_t look = 0; look < (uint32_t)1 << GC_JPEG_LOOK_BITS; look++)
        of->fast.ac_look[look] = ac_entries(codes, look);
}

void gc_jpeg_build_look_up(gc_jpeg_table *of, bool ac)
{
    if (ac)
        build_ac(of);
    else
        build_dc(of);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The code behind the first `at` bits of a look-up: 256 x its length + its symbol, or 0 if it does
 * not lie in the look-up. */
static uint32_t code_behind(const uint16_t *codes, uint32_t look, uint32_t at)
{
    uint32_t mask = ((uint32_t)1 << GC_JPEG_LOOK_BITS) - 1;
    uint32_t code = at < GC_JPEG_LOOK_BITS ? codes[look << at & mask] : 0;
    return at + (code >> 8) > GC_JPEG_LOOK_BITS ? 0 : code;
}

/* Adds coefficient `index`, whose code stands behind the first `at` bits, if the look-up has its
 * code and the first bit of its value. */
static bool add_value(const uint16_t *codes, uint32_t look, uint32_t at, int index,
                      gc_jpeg_values *to)
{
    uint32_t code = code_behind(codes, look, at), size = code & 15;
    uint32_t first = at + (code >> 8), end = first + size;
    uint32_t step = (index > 0 ? to->steps[0] : 0) + (code >> 4 & 15) + 1;
    if (size == 0 || first >= GC_JPEG_LOOK_BITS || end > GC_JPEG_ENTRY_BITS_MAX ||
        step >= GC_JPEG_COEFFICIENTS)
        return false;
    uint32_t left = GC_JPEG_LOOK_BITS - first;
    to->steps[index] = (uint8_t)step;
    to->bits[index] = (uint8_t)end;
    to->biases[index] = gc_jpeg_bias(look >> left, size, (look >> (left - 1) & 1) == 0);
    return true;
}

static bool is_end(uint32_t code)
{
    return code != 0 && (code & 0xff) == GC_JPEG_SYMBOL_END;
}

static gc_jpeg_values values_of(const uint16_t *codes, uint32_t look)
{
    gc_jpeg_values result = {.steps = {0, GC_JPEG_STEP_EXACT}};
    if (!add_value(codes, look, 0, 0, &result) && !is_end(codes[look]))
        return result;
    if (result.steps[0] == 0 || !add_value(codes, look, result.bits[0], 1, &result)) {
        result.steps[1] = result.steps[0];
        result.bits[1] = result.bits[0];
        result.biases[1] = result.biases[0];
    }
    uint32_t code = code_behind(codes, look, result.bits[1]);
    if (is_end(code)) {
        result.steps[1] += GC_JPEG_STEP_EXACT;
        result.bits[1] = (uint8_t)(result.bits[1] + (code >> 8));
    }
    return result;
}

uint32_t gc_jpeg_list_values(const gc_jpeg_table *of, gc_jpeg_values look[1 << GC_JPEG_LOOK_BITS])
{
    uint16_t codes[1 << GC_JPEG_LOOK_BITS];
    list_codes(of, codes);
    for (uint32_t i = 0; i < (uint32_t)1 << GC_JPEG_LOOK_BITS; i++)
        look[i] = values_of(codes, i);
    for (int i = 0; i < of->count; i++)
        if (of->symbols[i] == GC_JPEG_SYMBOL_END)
            return of->lengths[i];
    return 0;
}
