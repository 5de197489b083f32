#include "io/png/fast/block.h"

#include "io/png/fast/checks.h"
#include "io/png/fast/literals.h"
#include "io/png/fast/runs.h"

enum { STORED = 0, TYPE_BITS = 2 };

void gc_pack_begin(gc_pack_block *block)
{
    block->filled = 0;
    block->first = block->last = false;
}

uint8_t *gc_pack_extend(gc_pack_block *block, size_t count)
{
    size_t filled = block->filled;
    if (count > GC_PACK_BLOCK - filled)
        return NULL;
    block->filled += count;
    return block->bytes + filled;
}

size_t gc_pack_take(gc_pack_block *block, const uint8_t *bytes, size_t count)
{
    size_t room = GC_PACK_BLOCK - block->filled;
    size_t taken = count < room ? count : room;
    memcpy(block->bytes + block->filled, bytes, taken);
    block->filled += taken;
    return taken;
}

bool gc_pack_full(const gc_pack_block *block)
{
    return block->filled == GC_PACK_BLOCK;
}

/* ---- Kinds of blocks ------------------------------------------------------------------------- */

/* Appends zeros to the end of the byte. */
static void fill_byte(gc_bits *to)
{
    gc_put(to, 0, (int)(-to->count & 7));
}

/* At least one stored block: RFC 1951 allows it 65535 bytes. */
static gc_bits put_stored(const uint8_t *bytes, size_t count, gc_bits to, bool last)
{
    do {
        size_t part = count < UINT16_MAX ? count : UINT16_MAX;
        gc_put(&to, last && part == count, 1);
        gc_put(&to, STORED, TYPE_BITS);
        fill_byte(&to);
        gc_put(&to, part, 16);
        gc_put(&to, ~(uint64_t)part & 0xffff, 16);
        if (part > 0)
            memcpy(to.next, bytes, part);
        to.next += part;
        bytes += part;
        count -= part;
    } while (count > 0);
    return to;
}

/* A part that runs compress to less than a SMALL-th, whose code would be much of it, is joined with
 * the rest of the block. Few bytes are not worth a sample. Runs take more time than literals and
 * have to save one of GAIN_MIN bits. */
enum { PART = 1 << 16, FEW = 2048, GAIN_MIN = 16, SMALL = 24 };

/* Appends bytes from `at` on, by literals or by runs, and returns how many. */
static size_t put_part(gc_pack_block *block, size_t at, const gc_pack_loops *loops, gc_bits *to)
{
    const uint8_t *bytes = block->bytes + at;
    size_t left = block->filled - at, count = left < PART ? left : PART;
    bool by_runs = count < FEW;
    if (!by_runs) {
        gc_survey survey;
        gc_literals literals;
        loops->survey(bytes, count, &survey);
        gc_literals_choose(&literals, bytes, count, &survey);
        by_runs = literals.runs_bits < literals.bits - literals.bits / GAIN_MIN;
        if (by_runs && literals.runs_bits < 8 * count / SMALL)
            count = left;
        if (!by_runs)
            *to =
                gc_literals_put(&literals, bytes, count, loops, *to, block->last && count == left);
    }
    if (by_runs)
        *to = gc_runs_put_block(bytes, count, loops, block->tokens, *to,
                                block->last && count == left);
    return count;
}

void gc_pack_compress(gc_pack_block *block, const gc_pack_loops *loops)
{
    enum { DEFLATE_WINDOW_32K = 0x78, FASTEST = 0x01, STORED_BYTES = 15 };
    gc_bits to = {.next = block->output};
    if (block->first) {
        gc_put(&to, DEFLATE_WINDOW_32K, 8);
        gc_put(&to, FASTEST, 8);
    }
    block->check = gc_adler32(block->bytes, block->filled);
    memset(block->bytes + block->filled, 0, GC_FINDER_SLACK);
    gc_bits before = to;
    size_t done = 0;
    do
        done += put_part(block, done, loops, &to);
    while (done < block->filled);
    if ((size_t)(to.next - before.next) > block->filled + STORED_BYTES)
        to = put_stored(block->bytes, block->filled, before, block->last);
    else if (block->last)
        fill_byte(&to);
    else /* the next block begins with a byte: an empty one comes between */
        to = put_stored(block->bytes, 0, to, false);
    block->size = (size_t)(to.next - block->output);
}
