/* The data are followed symbol by symbol.
 *
 * The fast way looks up some bits of the data at a time (io/jpeg/tables.c). One entry stands for
 * all symbols whose codes lie in these bits, with the bits of their values: how many bits that are,
 * how many coefficients, and a bound on the sum of squares of the values. So the energy of a block
 * is first bounded, which is enough for nearly all blocks. A block whose bound is too large, or in
 * which the fast way meets anything else, is judged by the exact way: symbol by symbol, bit by
 * bit. */
#include "io/jpeg/entropy.h"

#include "io/jpeg/bits.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

static uint64_t square_of(int64_t value)
{
    return (uint64_t)(value * value);
}

/* A block in progress. */
typedef struct block {
    uint32_t last;   /* index of the last coefficient so far */
    uint32_t entry;  /* what the fast way has looked up, */
    uint32_t next;   /* and `last` plus its step */
    uint64_t energy; /* of the coefficients so far, or a bound on it */
} block;

typedef enum progress { GOES_ON, ENDS, NO_CODE, TOO_LONG } progress;

/* The next AC symbol and its value. */
static progress take_symbol(gc_jpeg_bits *from, const gc_jpeg_component *of, block *into)
{
    gc_jpeg_refill(from);
    int symbol = gc_jpeg_next_symbol(from, of->ac);
    if (symbol < 0)
        return NO_CODE;
    if (symbol == GC_JPEG_SYMBOL_END)
        return ENDS;
    into->last += (uint32_t)(symbol >> 4) + 1;
    /* A run of zeros alone never ends a block. */
    if (into->last >= GC_JPEG_COEFFICIENTS - (symbol == GC_JPEG_SYMBOL_ZEROS ? 1 : 0))
        return TOO_LONG;
    into->energy +=
        square_of(gc_jpeg_next_value(from, symbol & 15)) * of->steps->squares[into->last];
    return into->last == GC_JPEG_COEFFICIENTS - 1 ? ENDS : GOES_ON;
}

/* The exact way, for one block. Returns a doubt or NULL. */
static const char *check_block(gc_jpeg_bits *from, const gc_jpeg_component *of, int32_t *dc)
{
    progress now = GOES_ON;
    gc_jpeg_refill(from);
    int symbol = gc_jpeg_next_symbol(from, of->dc);
    if (symbol < 0)
        return "a code that does not exist";
    *dc += gc_jpeg_next_value(from, symbol);
    block made = {.energy = square_of((int64_t)*dc * of->steps->steps[0])};
    while (now == GOES_ON)
        now = take_symbol(from, of, &made);
    if (now == NO_CODE)
        return "a code that does not exist";
    if (now == TOO_LONG)
        return "a run beyond the last coefficient";
    return made.energy > of->steps->energy_max ? "a block that 8-bit samples cannot give" : NULL;
}

/* Passes over the symbols of the entry. Where EOB is one of them, `next` names the coefficient
 * behind the last one, whose bound is no smaller. */
static inline void commit_entry(gc_jpeg_bits *from, const gc_jpeg_component *of, block *into)
{
    into->last = into->next;
    into->energy += (into->entry >> GC_JPEG_SQUARES_SHIFT) *
                    of->steps->largest[into->next % GC_JPEG_COEFFICIENTS];
    gc_jpeg_skip_bits(from, into->entry % 64);
}

/* Looks up the next entry, and passes over it if the block goes on behind it. */
static inline bool pass_entry(gc_jpeg_bits *from, const gc_jpeg_component *of, block *into)
{
    into->entry = of->ac->fast.ac_look[from->window >> (64 - GC_JPEG_LOOK_BITS)];
    into->next = into->last + (into->entry >> GC_JPEG_STEP_SHIFT & 0xff);
    if (into->next >= GC_JPEG_COEFFICIENTS - 1)
        return false;
    commit_entry(from, of, into);
    return true;
}

/* Where `pass_entry` stopped: the same if the block ends with the entry, else one symbol. */
static inline progress pass_last(gc_jpeg_bits *from, const gc_jpeg_component *of, block *into)
{
    if ((into->next & GC_JPEG_STEP_EXACT) == 0) {
        commit_entry(from, of, into);
        return ENDS;
    }
    gc_jpeg_bits copy = *from;
    block judged = *into;
    progress now = take_symbol(&copy, of, &judged);
    *from = copy;
    *into = judged;
    return now;
}

/* Passes over the DC code and its value. A false says that the look-up does not do. */
static inline bool pass_dc(gc_jpeg_bits *from, const gc_jpeg_component *of, int32_t *dc)
{
    gc_jpeg_difference entry = of->dc->fast.dc_look[from->window >> (64 - GC_JPEG_DC_LOOK_BITS)];
    *dc += gc_jpeg_biased_value(from, entry.bits, entry.bias);
    gc_jpeg_skip_bits(from, entry.bits);
    return entry.bits != 0;
}

/* The fast way, for one block. A false says that the exact way has to judge.
 * 56 bits are enough for a DC code of the look-up and its value, 19 bits, and two entries of
 * GC_JPEG_ENTRY_BITS_MAX; or for three entries. */
static inline bool pass_block(gc_jpeg_bits *from, const gc_jpeg_component *of, int32_t *dc)
{
    progress now;
    gc_jpeg_refill(from);
    if (!pass_dc(from, of, dc))
        return false;
    block made = {.energy = square_of((int64_t)*dc * of->steps->steps[0])};
    bool more = pass_entry(from, of, &made) && pass_entry(from, of, &made);
    do {
        while (more) {
            gc_jpeg_refill(from);
            more = pass_entry(from, of, &made) && pass_entry(from, of, &made) &&
                   pass_entry(from, of, &made);
        }
        now = pass_last(from, of, &made);
        more = true;
    } while (now == GOES_ON);
    return now == ENDS && made.energy <= of->steps->energy_max;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

static const char too_early[] = "data that end too early";

/* Up to the next marker, or to where one should stand. Returns a doubt or NULL. */
static const char *check_end(gc_jpeg_bits *from)
{
    gc_jpeg_refill_slowly(from);
    int left = from->count - from->invented;
    if (left < 0)
        return too_early;
    if (from->invented == 0 || left > 7)
        return "bytes behind the last block";
    if (left > 0 && from->window >> (64 - left) != ((uint64_t)1 << left) - 1)
        return "unusual bits before a marker";
    return NULL;
}

/* `count` MCUs. Returns a doubt or NULL. The fast way has a reader of its own, of which nobody else
 * takes the address, so that its fields live in registers. */
static const char *check_mcus(const gc_jpeg_mcu *of, uint64_t count, gc_jpeg_bits *from)
{
    int32_t dc[GC_JPEG_COMPONENTS_MAX] = {0};
    gc_jpeg_bits fast = *from;
    for (; count > 0; count--) {
        for (int i = 0; i < of->blocks; i++) {
            int number = of->block_components[i];
            const gc_jpeg_component *one = &of->components[number];
            int32_t before = dc[number];
            gc_jpeg_bits start = fast;
            if (pass_block(&fast, one, &dc[number]))
                continue;
            dc[number] = before;
            *from = start;
            const char *found = check_block(from, one, &dc[number]);
            if (found != NULL)
                return from->count < from->invented ? too_early : found;
            fast = *from;
        }
        if (fast.count < fast.invented)
            return too_early;
    }
    *from = fast;
    return NULL;
}

const char *gc_jpeg_check_interval(const gc_jpeg_mcu *mcu, const unsigned char *bytes, size_t size,
                                   size_t *at, uint64_t count)
{
    gc_jpeg_bits from = gc_jpeg_bits_at(bytes, size, *at);
    const char *found = check_mcus(mcu, count, &from);
    if (found == NULL)
        found = check_end(&from);
    *at = from.at;
    return found;
}
