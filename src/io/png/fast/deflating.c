/* zlib streams in one call, for strips of TIFF, by the blocks of PNG. */
#include "io/fast.h"
#include "io/png/fast/block.h"

#include <string.h>
#include <zlib.h>

enum { CHECK_BYTES = 4 }; /* an Adler-32 ends the stream */

static size_t deflate_own(void *state, const unsigned char *bytes, size_t size, unsigned char *to,
                          size_t room)
{
    gc_pack_block *block = state;
    uint32_t check = 1;
    size_t made = 0;
    for (size_t taken = 0; taken < size;) {
        gc_pack_begin(block);
        block->first = taken == 0;
        taken += gc_pack_take(block, bytes + taken, size - taken);
        block->last = taken == size;
        gc_pack_compress(block, gc_pack_loops_chosen());
        check = (uint32_t)adler32_combine(check, block->check, (z_off_t)block->filled);
        if (made + block->size + CHECK_BYTES > room)
            return 0;
        memcpy(to + made, block->output, block->size);
        made += block->size;
    }
    for (int shift = 24; shift >= 0; shift -= 8)
        to[made++] = (unsigned char)(check >> shift);
    return made;
}

const gc_deflating gc_deflating_own = {sizeof(gc_pack_block), deflate_own};
