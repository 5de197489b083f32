#include "io/jpeg/fast/blocks.h"

#include "base/x86.h"

#include <string.h>

/* BMI2 shifts by a number in any register. Each code takes several shifts. */
#define FREE_SHIFTS __attribute__((target("bmi2")))

bool gc_jpeg_can_decode(void)
{
    return gc_x86_has(AVX2, "avx2") && gc_x86_has(BMI2, "bmi2");
}

gc_jpeg_place gc_jpeg_first_place(const gc_jpeg_frame *frame, const unsigned char *bytes,
                                  size_t size)
{
    return (gc_jpeg_place){.bits = gc_jpeg_bits_at(bytes, size, 0),
                           .to_restart = frame->restart_interval};
}

const unsigned char *gc_jpeg_place_byte(const gc_jpeg_place *place, uint32_t *bits)
{
    const gc_jpeg_bits *from = &place->bits;
    int ahead = from->count - from->invented;
    const unsigned char *byte = from->bytes + from->at;
    for (int i = 0; i < (ahead + 7) / 8; i++) {
        byte--;
        if (byte > from->bytes && byte[0] == 0 && byte[-1] == 0xff)
            byte--;
    }
    *bits = (uint32_t)(8 - ahead % 8) % 8;
    return byte;
}

void gc_jpeg_set_place(gc_jpeg_place *place, const unsigned char *bytes, size_t size, size_t at,
                       uint32_t bit)
{
    place->bits = gc_jpeg_bits_at(bytes, size, at);
    gc_jpeg_refill_slowly(&place->bits);
    gc_jpeg_skip_bits(&place->bits, bit);
}

/* ---- Markers --------------------------------------------------------------------------------- */

/* Whether a marker follows, with nothing before it but bits that fill a byte. */
static bool reach_marker(gc_jpeg_bits *bits)
{
    gc_jpeg_refill_slowly(bits);
    int left = bits->count - bits->invented;
    if (left < 0 || left > 7 || bits->invented == 0)
        return false;
    return left == 0 || bits->window >> (64 - left) == ((uint64_t)1 << left) - 1;
}

static bool pass_marker(gc_jpeg_bits *bits, int marker)
{
    if (!reach_marker(bits) || bits->size - bits->at < 2 || bits->bytes[bits->at] != 0xff ||
        bits->bytes[bits->at + 1] != marker)
        return false;
    bits->at += 2;
    bits->window = 0;
    bits->count = bits->invented = 0;
    return true;
}

static bool pass_restart(const gc_jpeg_frame *frame, gc_jpeg_place *place)
{
    enum { RST0 = 0xd0 };
    if (!pass_marker(&place->bits, RST0 | (place->restarts & 7)))
        return false;
    for (int i = 0; i < GC_JPEG_PARTS_MAX; i++)
        place->dc[i] = 0;
    place->restarts++;
    place->to_restart = frame->restart_interval;
    return true;
}

uint32_t gc_jpeg_pass_to_marker(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint64_t most)
{
    gc_jpeg_bits *bits = &place->bits;
    const unsigned char *end = bits->bytes + bits->size, *at = bits->bytes + bits->at;
    uint32_t mcus = place->to_restart > 0 ? place->to_restart : frame->restart_interval;
    if (mcus == 0 || mcus > most)
        return 0;
    if (place->to_restart == 0) {
        if (!pass_restart(frame, place))
            return 0;
        at = bits->bytes + bits->at;
    }
    while (at < end && (at = memchr(at, 0xff, (size_t)(end - at))) != NULL && at + 1 < end) {
        if (at[1] != 0) {
            bits->at = (size_t)(at - bits->bytes);
            bits->window = 0;
            bits->count = bits->invented = 0;
            place->to_restart = 0;
            return mcus;
        }
        at += 2;
    }
    return 0;
}

bool gc_jpeg_is_at_end(const gc_jpeg_place *place)
{
    gc_jpeg_bits bits = place->bits;
    return reach_marker(&bits) && bits.at == bits.size;
}

bool gc_jpeg_take_end(gc_jpeg_place *place)
{
    enum { EOI = 0xd9 };
    return pass_marker(&place->bits, EOI);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Codes are followed by an inline function that looks them up. Its reader of bits lives in
 * registers, so nobody may take the reader's address. What the look-up does not tell is rare: a
 * function of its own, which is not inline, gets a copy of the reader. */
#define APART __attribute__((noinline))

/* The DC difference, symbol by symbol; the window is filled then. */
static APART bool take_dc_exactly(gc_jpeg_bits *bits, const gc_jpeg_table *codes, int32_t *dc)
{
    int symbol = gc_jpeg_next_symbol(bits, codes);
    if (symbol < 0)
        return false;
    *dc += gc_jpeg_next_value(bits, symbol);
    gc_jpeg_refill(bits);
    return true;
}

/* The DC coefficient. At least 37 bits are in the window before, as 19 bits are taken at most, or
 * 27 if the look-up does not do; the window is filled then. */
static inline bool take_dc(gc_jpeg_bits *bits, const gc_jpeg_table *codes, int32_t *dc)
{
    gc_jpeg_difference entry = codes->fast.dc_look[bits->window >> (64 - GC_JPEG_DC_LOOK_BITS)];
    if (entry.bits == 0) {
        gc_jpeg_bits copy = *bits;
        int32_t value = *dc;
        bool taken = take_dc_exactly(&copy, codes, &value);
        *bits = copy;
        *dc = value;
        return taken;
    }
    *dc += gc_jpeg_biased_value(bits, entry.bits, entry.bias);
    gc_jpeg_skip_bits(bits, entry.bits);
    return true;
}

typedef enum progress { GOES_ON, ENDS, REJECTED } progress;

/* The next AC symbol. `last` is the index of the coefficient before it, and then its own. */
static APART progress take_symbol(gc_jpeg_bits *bits, const gc_jpeg_table *codes, uint32_t *last,
                                  int16_t *block)
{
    gc_jpeg_refill(bits);
    int symbol = gc_jpeg_next_symbol(bits, codes);
    uint32_t now = *last + (uint32_t)(symbol >> 4) + 1;
    if (symbol == GC_JPEG_SYMBOL_END)
        now = *last;
    /* A run of zeros alone never ends a block. */
    else if (symbol < 0 || now >= GC_JPEG_COEFFICIENTS - (symbol == GC_JPEG_SYMBOL_ZEROS ? 1 : 0))
        return REJECTED;
    int32_t value = symbol == GC_JPEG_SYMBOL_END ? 0 : gc_jpeg_next_value(bits, symbol & 15);
    if (block != NULL && symbol != GC_JPEG_SYMBOL_END)
        block[gc_jpeg_places[now]] = (int16_t)value;
    *last = now;
    return symbol == GC_JPEG_SYMBOL_END || now == GC_JPEG_COEFFICIENTS - 1 ? ENDS : GOES_ON;
}

static inline progress take_ac_exactly(gc_jpeg_bits *bits, const gc_jpeg_table *codes,
                                       uint32_t *last, int16_t *block)
{
    gc_jpeg_bits copy = *bits;
    uint32_t at = *last;
    progress now = take_symbol(&copy, codes, &at, block);
    *bits = copy;
    *last = at;
    return now;
}

/* Looks up the next coefficients, and takes them if the block goes on behind them. */
static inline bool take_entry(gc_jpeg_bits *bits, const gc_jpeg_ac *ac, uint32_t *last,
                              int16_t *block, const gc_jpeg_values **entry)
{
    const gc_jpeg_values *found = &ac->look[bits->window >> (64 - GC_JPEG_LOOK_BITS)];
    uint32_t first = *last + found->steps[0], second = *last + found->steps[1];
    *entry = found;
    if (second >= GC_JPEG_COEFFICIENTS - 1)
        return false;
    block[gc_jpeg_places[first]] = gc_jpeg_biased_value(bits, found->bits[0], found->biases[0]);
    block[gc_jpeg_places[second]] = gc_jpeg_biased_value(bits, found->bits[1], found->biases[1]);
    *last = second;
    gc_jpeg_skip_bits(bits, found->bits[1]);
    return true;
}

/* The position at which take_entry stopped. */
static inline progress take_last(gc_jpeg_bits *bits, const gc_jpeg_ac *ac, uint32_t *last,
                                 int16_t *block, const gc_jpeg_values *entry)
{
    bool ends = entry->steps[1] >= GC_JPEG_STEP_EXACT && entry->bits[1] > 0;
    uint32_t second = *last + entry->steps[1] - GC_JPEG_STEP_EXACT;
    /* Behind the last coefficient there is no EOB. */
    if (!ends || second >= GC_JPEG_COEFFICIENTS - 1)
        return take_ac_exactly(bits, &ac->codes, last, block);
    if (entry->steps[0] > 0) {
        uint32_t first = *last + entry->steps[0], end = entry->bits[1] - ac->end_bits;
        block[gc_jpeg_places[first]] = gc_jpeg_biased_value(bits, entry->bits[0], entry->biases[0]);
        block[gc_jpeg_places[second]] = gc_jpeg_biased_value(bits, end, entry->biases[1]);
    }
    gc_jpeg_skip_bits(bits, entry->bits[1]);
    return ENDS;
}

/* The coefficients of a block. 56 bits are enough for a DC code of the look-up and its value, 19
 * bits, and two entries of GC_JPEG_ENTRY_BITS_MAX; or for three entries. */
static inline bool take_block(gc_jpeg_bits *bits, const gc_jpeg_part *part, int32_t *dc,
                              int16_t *block)
{
    const gc_jpeg_ac *ac = part->ac;
    const gc_jpeg_values *entry;
    uint32_t last = 0;
    progress now;
    gc_jpeg_refill(bits);
    if (!take_dc(bits, &part->dc->codes, dc) || *dc > GC_JPEG_DC_MAX || *dc < -GC_JPEG_DC_MAX)
        return false;
    block[0] = (int16_t)*dc;
    bool more =
        take_entry(bits, ac, &last, block, &entry) && take_entry(bits, ac, &last, block, &entry);
    do {
        while (more) {
            gc_jpeg_refill(bits);
            more = take_entry(bits, ac, &last, block, &entry) &&
                   take_entry(bits, ac, &last, block, &entry) &&
                   take_entry(bits, ac, &last, block, &entry);
        }
        now = take_last(bits, ac, &last, block, entry);
        more = true;
    } while (now == GOES_ON);
    return now == ENDS;
}

/* Looks up the next codes, and passes over them if the block goes on behind them. */
static inline bool pass_entry(gc_jpeg_bits *bits, const gc_jpeg_table *codes, uint32_t *last,
                              uint32_t *entry)
{
    *entry = codes->fast.ac_look[bits->window >> (64 - GC_JPEG_LOOK_BITS)];
    uint32_t next = *last + (*entry >> GC_JPEG_STEP_SHIFT & 0xff);
    if (next >= GC_JPEG_COEFFICIENTS - 1)
        return false;
    *last = next;
    gc_jpeg_skip_bits(bits, *entry % 64);
    return true;
}

/* The position at which pass_entry stopped. */
static inline progress pass_last(gc_jpeg_bits *bits, const gc_jpeg_table *codes, uint32_t *last,
                                 uint32_t entry)
{
    uint32_t next = *last + (entry >> GC_JPEG_STEP_SHIFT & 0xff);
    if ((next & GC_JPEG_STEP_EXACT) != 0)
        return take_ac_exactly(bits, codes, last, NULL);
    gc_jpeg_skip_bits(bits, entry % 64);
    return ENDS;
}

/* Passes over a block. 56 bits are enough for a DC code and its value, 19 bits, and two entries of
 * GC_JPEG_ENTRY_BITS_MAX; or for three entries. */
static inline bool pass_block(gc_jpeg_bits *bits, const gc_jpeg_part *part, int32_t *dc)
{
    const gc_jpeg_table *codes = &part->ac->codes;
    uint32_t last = 0, entry;
    int32_t ignored = 0;
    progress now;
    gc_jpeg_refill(bits);
    if (!take_dc(bits, &part->dc->codes, part->kept ? dc : &ignored) || *dc > GC_JPEG_DC_MAX ||
        *dc < -GC_JPEG_DC_MAX)
        return false;
    bool more = pass_entry(bits, codes, &last, &entry) && pass_entry(bits, codes, &last, &entry);
    do {
        while (more) {
            gc_jpeg_refill(bits);
            more = pass_entry(bits, codes, &last, &entry) &&
                   pass_entry(bits, codes, &last, &entry) && pass_entry(bits, codes, &last, &entry);
        }
        now = pass_last(bits, codes, &last, entry);
        more = true;
    } while (now == GOES_ON);
    return now == ENDS;
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

/* `blocks` is NULL if all are passed over. The reader of bits is a copy whose address nobody takes,
 * so that its fields live in registers. */
static inline __attribute__((always_inline)) bool
follow(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count, int16_t *blocks)
{
    gc_jpeg_bits bits = place->bits;
    for (; count > 0; count--) {
        if (frame->restart_interval > 0 && place->to_restart-- == 0) {
            place->bits = bits;
            if (!pass_restart(frame, place))
                return false;
            place->to_restart--;
            bits = place->bits;
        }
        for (int b = 0; b < frame->block_count; b++) {
            int number = frame->block_parts[b];
            const gc_jpeg_part *part = &frame->parts[number];
            if (blocks == NULL || !part->kept) {
                if (!pass_block(&bits, part, &place->dc[number]))
                    return false;
                continue;
            }
            if (!take_block(&bits, part, &place->dc[number], blocks))
                return false;
            blocks += GC_JPEG_COEFFICIENTS;
        }
        if (bits.count < bits.invented)
            return false;
    }
    place->bits = bits;
    return true;
}

FREE_SHIFTS bool gc_jpeg_pass_mcus(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count)
{
    return follow(frame, place, count, NULL);
}

FREE_SHIFTS bool gc_jpeg_take_mcus(const gc_jpeg_frame *frame, gc_jpeg_place *place, uint32_t count,
                                   int16_t *blocks)
{
    return follow(frame, place, count, blocks);
}
