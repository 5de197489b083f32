#include "io/jpeg/fast/pairs.h"

#include "io/jpeg/fast/bit_reader.h"

typedef struct value {
    uint32_t end, step, bias;
} value;

static gc_jpeg_pair pair_of(uint32_t bits, value first, value second, bool last)
{
    uint32_t shifts = (64 - first.end) | (64 - second.end) << 6;
    uint32_t steps = first.step | second.step << 5;
    return (gc_jpeg_pair){.steps = bits | shifts << GC_JPEG_PAIR_SHIFT |
                                   steps << GC_JPEG_PAIR_STEP | (uint32_t)last << GC_JPEG_PAIR_LAST,
                          .biases = {(uint16_t)first.bias, (uint16_t)second.bias}};
}

static gc_jpeg_pair untold(void)
{
    value none = {.end = 1, .step = 0}, far = {.end = 1, .step = GC_JPEG_LAST_INDEX};
    return pair_of(0, none, far, false);
}

/* Of a window that begins with `look`, a number of GC_JPEG_LOOK_BITS bits. The value is the first
 * bit, which the bias takes away. If the step does not fit in the place of the first value, that is
 * the value of the coefficient before: only components that are passed over have such entries.
 */
static gc_jpeg_pair valueless(uint32_t look, uint32_t bits, uint32_t step, bool last)
{
    enum { FIRST_STEP_MAX = 31 };
    value second = {.end = 1, .step = step, .bias = 0U - (look >> (GC_JPEG_LOOK_BITS - 1))};
    value first = second;
    first.step = step > FIRST_STEP_MAX ? 0 : step;
    return pair_of(bits, first, second, last);
}

/* ---- Symbols that the look-ups of tables.c do not tell --------------------------------------- */

/* The AC symbol that a window begins with, of which `known` bits count. A component that is passed
 * over has no values. */
static gc_jpeg_pair symbol_of(const gc_jpeg_table *codes, uint64_t window, int known, bool taken)
{
    gc_jpeg_bits bits = {.window = window, .count = known};
    int symbol = gc_jpeg_next_symbol(&bits, codes);
    uint32_t look = (uint32_t)(window >> (64 - GC_JPEG_LOOK_BITS));
    uint32_t length = (uint32_t)(known - bits.count), size = (uint32_t)symbol & 15;
    uint32_t step = (uint32_t)(symbol >> 4 & 15) + 1;
    if (symbol < 0 || bits.count < 0)
        return untold();
    if (symbol == GC_JPEG_SYMBOL_END)
        return valueless(look, length, 1, true);
    if (size == 0 || !taken)
        return valueless(look, length + size, step, false);
    bool negative = bits.window >> 63 == 0;
    value only = {.end = length + size,
                  .step = step,
                  .bias = gc_jpeg_bias((uint32_t)(window >> (64 - length)), size, negative)};
    return pair_of(only.end, only, only, false);
}

/* Of 16 zeros, if `look` has their code. */
static gc_jpeg_pair zeros(const gc_jpeg_table *codes, uint32_t look)
{
    uint64_t window = (uint64_t)look << (64 - GC_JPEG_LOOK_BITS);
    gc_jpeg_bits bits = {.window = window, .count = GC_JPEG_LOOK_BITS};
    bool are = gc_jpeg_next_symbol(&bits, codes) == GC_JPEG_SYMBOL_ZEROS;
    return are ? symbol_of(codes, window, GC_JPEG_LOOK_BITS, true) : untold();
}

static void add_far_pairs(const gc_jpeg_table *codes, bool taken, gc_jpeg_pairs to)
{
    const int known = GC_JPEG_FAR_ONES + GC_JPEG_FAR_BITS;
    for (uint32_t i = 0; i < GC_JPEG_FAR_PAIRS; i++) {
        uint64_t top = ((uint64_t)1 << known) - GC_JPEG_FAR_PAIRS + i;
        to[GC_JPEG_NEAR_PAIRS + i] = symbol_of(codes, top << (64 - known), known, taken);
    }
}

static void add_untold(gc_jpeg_pairs to)
{
    for (uint32_t i = 0; i < GC_JPEG_FAR_PAIRS; i++)
        to[GC_JPEG_NEAR_PAIRS + i] = untold();
}

/* ---- Components that are kept ---------------------------------------------------------------- */

void gc_jpeg_pair_taken_dc(const gc_jpeg_table *codes, gc_jpeg_pairs to)
{
    for (uint32_t i = 0; i < GC_JPEG_NEAR_PAIRS; i++) {
        gc_jpeg_difference from =
            codes->fast.dc_look[i >> (GC_JPEG_LOOK_BITS - GC_JPEG_DC_LOOK_BITS)];
        value only = {.end = from.bits, .bias = from.bias};
        to[i] = from.bits == 0 ? untold() : pair_of(from.bits, only, only, true);
    }
    add_untold(to);
}

void gc_jpeg_pair_taken_ac(const gc_jpeg_table *codes, const gc_jpeg_values *look,
                           uint32_t end_bits, gc_jpeg_pairs to)
{
    for (uint32_t i = 0; i < GC_JPEG_NEAR_PAIRS; i++) {
        const gc_jpeg_values *from = &look[i];
        bool last = from->steps[1] >= GC_JPEG_STEP_EXACT;
        value first = {.end = from->bits[0], .step = from->steps[0], .bias = from->biases[0]};
        value second = {.end = from->bits[1] - (last ? end_bits : 0),
                        .step = from->steps[1] % GC_JPEG_STEP_EXACT,
                        .bias = from->biases[1]};
        if (from->bits[1] == 0)
            to[i] = zeros(codes, i);
        else if (from->steps[0] == 0) /* EOB alone */
            to[i] = valueless(i, from->bits[1], 1, true);
        else
            to[i] = pair_of(from->bits[1], first, second, last);
    }
    add_far_pairs(codes, true, to);
}

/* ---- Components that are passed over --------------------------------------------------------- */

void gc_jpeg_pair_passed_dc(const gc_jpeg_table *codes, gc_jpeg_pairs to)
{
    for (uint32_t i = 0; i < GC_JPEG_NEAR_PAIRS; i++) {
        uint32_t bits = codes->fast.dc_look[i >> (GC_JPEG_LOOK_BITS - GC_JPEG_DC_LOOK_BITS)].bits;
        to[i] = bits == 0 ? untold() : valueless(i, bits, 0, true);
    }
    add_untold(to);
}

void gc_jpeg_pair_passed_ac(const gc_jpeg_table *codes, gc_jpeg_pairs to)
{
    for (uint32_t i = 0; i < GC_JPEG_NEAR_PAIRS; i++) {
        uint32_t entry = codes->fast.ac_look[i];
        uint32_t step = entry >> GC_JPEG_STEP_SHIFT & 0xff, bits = entry % 64;
        bool last = step >= 2 * GC_JPEG_STEP_EXACT;
        if ((step & GC_JPEG_STEP_EXACT) != 0)
            to[i] = zeros(codes, i);
        else
            to[i] = valueless(i, bits, step % GC_JPEG_STEP_EXACT, last);
    }
    add_far_pairs(codes, false, to);
}
