/* zlib streams in one call, for strips of TIFF: by the blocks of PNG, and by ISA-L. */
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

extern const gc_deflating gc_deflating_own;
const gc_deflating gc_deflating_own = {sizeof(gc_pack_block), deflate_own};

#if GC_HAS_ISAL
#include <isa-l.h>

enum { LEVEL = 3 };

typedef struct isal_state {
    struct isal_zstream stream;
    uint8_t level[ISAL_DEF_LVL3_DEFAULT];
} isal_state;

static size_t deflate_isal(void *state, const unsigned char *bytes, size_t size, unsigned char *to,
                           size_t room)
{
    isal_state *deflating = state;
    struct isal_zstream *stream = &deflating->stream;
    isal_deflate_stateless_init(stream);
    stream->hist_bits = 0; /* the default, which that leaves as it was */
    stream->level = LEVEL;
    stream->level_buf = deflating->level;
    stream->level_buf_size = sizeof deflating->level;
    stream->gzip_flag = IGZIP_ZLIB;
    stream->end_of_stream = 1;
    stream->next_in = (uint8_t *)bytes;
    stream->avail_in = (uint32_t)size;
    stream->next_out = to;
    stream->avail_out = (uint32_t)room;
    return size <= UINT32_MAX && room <= UINT32_MAX && isal_deflate_stateless(stream) == COMP_OK
               ? stream->total_out
               : 0;
}

extern const gc_deflating gc_deflating_isal;
const gc_deflating gc_deflating_isal = {sizeof(isal_state), deflate_isal};
#endif
