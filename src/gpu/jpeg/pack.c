/* A file becomes what the kernels read: the CPU's share of decoding a JPEG on a GPU. */
#include "gpu/jpeg/packed.h"

#include <string.h>

enum { MARKER = 0xff, RST0 = 0xd0, EOI = 0xd9 };

/* Files and packed pictures are smaller, so that offsets in bits fit in 32 bits. */
static const size_t bytes_max = (size_t)1 << 28;

/* ---- Room ------------------------------------------------------------------------------------ */

static uint64_t count_intervals(const gc_jpeg_layout *layout)
{
    uint32_t interval = layout->restart_interval;
    return interval == 0 ? 1 : (layout->mcus + interval - 1) / interval;
}

static size_t data_offset(uint64_t intervals)
{
    size_t bytes = sizeof(gc_packed) + (size_t)intervals * sizeof(gc_packed_interval);
    return (bytes + GC_PACKED_CHUNK_BYTES - 1) / GC_PACKED_CHUNK_BYTES * GC_PACKED_CHUNK_BYTES;
}

size_t gc_pack_bound(const gconv_encoded *picture)
{
    const gc_jpeg_layout *layout = picture->layout;
    if (layout == NULL || picture->size > bytes_max || layout->mcus > bytes_max)
        return 0;
    uint64_t intervals = count_intervals(layout);
    uint64_t bytes =
        data_offset(intervals) + picture->size + (intervals + 1) * (uint64_t)GC_PACKED_CHUNK_BYTES;
    return bytes > bytes_max ? 0 : (size_t)bytes;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { CODE_BITS = GC_PACKED_LENGTHS - 1 };

/* What the kernels have to know of a symbol with a code of `length` bits. */
static gc_packed_code describe(bool ac, int symbol, int length)
{
    int size = ac ? symbol & 15 : symbol;
    int step = !ac ? 1 : symbol == 0 ? GC_PACKED_END : (symbol >> 4) + 1;
    return (gc_packed_code)((length + size) | size << GC_PACKED_SIZE_SHIFT |
                            step << GC_PACKED_STEP_SHIFT);
}

/* Enters a code in that table which is looked up for codes of its length. */
static void pack_code(gc_packed_table *to, uint32_t code, int length, gc_packed_code entry)
{
    bool is_long = length > GC_PACKED_LOOK_BITS;
    int rest = (is_long ? CODE_BITS : GC_PACKED_LOOK_BITS) - length;
    uint32_t first = (code << rest) - (is_long ? to->first_long : 0);
    uint32_t looks = is_long ? GC_PACKED_LONG_LOOKS : 1 << GC_PACKED_LOOK_BITS;
    gc_packed_code *table = is_long ? to->long_look : to->look;
    for (uint32_t i = first; i < first + ((uint32_t)1 << rest) && i < looks; i++)
        table[i] = entry;
}

enum { LOOKS = 1 << GC_PACKED_LOOK_BITS };

/* The AC codes that lie in the bits `look`. */
static gc_packed_code join(const gc_packed_table *from, int look)
{
    enum { STEP_MAX = GC_PACKED_END - 1 };
    int length = 0, step = 0;
    while (length < GC_PACKED_LOOK_BITS && step < GC_PACKED_END) {
        gc_packed_code code = from->look[look << length & (LOOKS - 1)];
        int size = code >> GC_PACKED_SIZE_SHIFT & GC_PACKED_SIZE_MASK;
        int sum = length + (code & GC_PACKED_LENGTH_MASK), more = code >> GC_PACKED_STEP_SHIFT;
        bool lies_in = code != 0 && sum - size <= GC_PACKED_LOOK_BITS;
        bool fits =
            sum <= GC_PACKED_LENGTH_MASK && (more == GC_PACKED_END || step + more <= STEP_MAX);
        if (!lies_in || !fits)
            break;
        length = sum;
        step += more;
    }
    return (gc_packed_code)(length | step << GC_PACKED_STEP_SHIFT);
}

static void join_codes(gc_packed_table *to, bool ac)
{
    for (int look = 0; look < LOOKS; look++)
        to->joined[look] = ac ? join(to, look) : to->look[look];
}

/* The codes are canonical: ITU-T T.81, annex C. */
static void pack_table(const gc_jpeg_code *from, bool ac, gc_packed_table *to)
{
    uint32_t code = 0;
    int index = 0;
    memset(to->look, 0, sizeof to->look);
    memset(to->long_look, 0, sizeof to->long_look);
    to->limits[0] = 0;
    to->offsets[0] = 0;
    for (int length = 1; length < GC_PACKED_LENGTHS; length++) {
        to->offsets[length] = index - (int32_t)code;
        for (int i = from->counts[length - 1]; i > 0; i--, code++, index++) {
            to->codes[index] = describe(ac, from->symbols[index], length);
            pack_code(to, code, length, to->codes[index]);
        }
        to->limits[length] = code << (CODE_BITS - length);
        if (length == GC_PACKED_LOOK_BITS)
            to->first_long = to->limits[length];
        code <<= 1;
    }
    join_codes(to, ac);
}

static void pack_head(const gconv_encoded *picture, gc_packed *packed)
{
    const gc_jpeg_layout *layout = picture->layout;
    int luma = picture->sampling_x * picture->sampling_y;
    packed->rejected = 0;
    packed->intervals = (uint32_t)count_intervals(layout);
    packed->interval_mcus =
        layout->restart_interval == 0 ? (uint32_t)layout->mcus : layout->restart_interval;
    packed->mcus = (uint32_t)layout->mcus;
    packed->mcus_across = (picture->width + 8 * (uint32_t)picture->sampling_x - 1) /
                          (8 * (uint32_t)picture->sampling_x);
    packed->luma_blocks = (uint32_t)luma;
    packed->luma_across = (uint32_t)picture->sampling_x;
    packed->blocks = (uint32_t)(luma + picture->components - 1);
    packed->kinds = 0;
    for (uint32_t block = 0; block < packed->blocks; block++) {
        uint32_t component = block < packed->luma_blocks ? 0 : block - packed->luma_blocks + 1;
        uint32_t tables = (uint32_t)layout->components[component].dc |
                          (uint32_t)layout->components[component].ac << 1;
        packed->kinds |= (tables | component << 2) << (4 * block);
    }
    for (int c = 0; c < picture->components; c++) {
        int quantiser = layout->components[c].quantiser;
        packed->energy_max[c] = (uint32_t)layout->energy_max[quantiser];
        for (int k = 0; k < GC_PACKED_COEFFICIENTS; k++)
            packed->steps[c][k] = layout->steps[quantiser][k];
        for (int ac = 0; ac < 2; ac++) {
            int number = ac ? layout->components[c].ac : layout->components[c].dc;
            pack_table(&layout->codes[ac][number], ac != 0, &packed->tables[ac][number]);
        }
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

typedef struct copy {
    const gconv_source *source;
    const unsigned char *from, *end; /* of the file, in memory */
    size_t left;                     /* bytes of the file behind these */
    unsigned char *to;
} copy;

/* Takes the next piece of the file once the present one is used up. False at the end, and if it
 * cannot be read. */
static bool has_more(copy *of)
{
    const gconv_source *source = of->source;
    size_t count = 0;
    if (of->from < of->end)
        return true;
    if (of->left == 0 || source->more == NULL || !source->more(source->user, &of->from, &count) ||
        count == 0)
        return false;
    count = count < of->left ? count : of->left;
    of->end = of->from + count;
    of->left -= count;
    return true;
}

/* Copies data without their stuffed bytes, up to a marker, whose second byte it returns; 0 if the
 * file ends. The marker is passed. */
static int copy_to_marker(copy *of)
{
    while (has_more(of)) {
        size_t left = (size_t)(of->end - of->from);
        const unsigned char *found = memchr(of->from, MARKER, left);
        size_t count = found != NULL ? (size_t)(found + 1 - of->from) : left;
        memcpy(of->to, of->from, count);
        of->to += count;
        of->from += count;
        if (found == NULL)
            continue;
        if (!has_more(of))
            break;
        int second = *of->from++;
        if (second != 0) {
            of->to--;
            return second;
        }
    }
    return 0;
}

/* Fills up the chunk with ones. */
static void end_chunk(copy *of, const unsigned char *data)
{
    size_t beyond = (size_t)(of->to - data) % GC_PACKED_CHUNK_BYTES;
    size_t count = beyond == 0 ? 0 : GC_PACKED_CHUNK_BYTES - beyond;
    memset(of->to, 0xff, count);
    of->to += count;
}

bool gc_pack(const gconv_encoded *picture, const gconv_source *source, gc_packed *packed,
             size_t *end)
{
    enum { WORDS_BYTES = 4 * GC_PACKED_WORDS_AHEAD };
    gc_packed_interval *intervals = (gc_packed_interval *)(packed + 1);
    pack_head(picture, packed);
    packed->data = (uint32_t)data_offset(packed->intervals);
    unsigned char *data = (unsigned char *)packed + packed->data;
    copy of = {source, picture->bytes + picture->layout->data, picture->bytes + picture->held,
               picture->size - picture->held, data};
    for (uint32_t i = 0; i < packed->intervals; i++) {
        unsigned char *first = of.to;
        bool last = i + 1 == packed->intervals;
        int marker = copy_to_marker(&of);
        if (marker != (last ? EOI : RST0 + (int)(i & 7)) || of.to == first)
            return false;
        intervals[i] = (gc_packed_interval){
            .first_chunk = (uint32_t)((size_t)(first - data) / GC_PACKED_CHUNK_BYTES),
            .bits = (uint32_t)(8 * (of.to - first))};
        end_chunk(&of, data);
    }
    packed->chunks = (uint32_t)((size_t)(of.to - data) / GC_PACKED_CHUNK_BYTES);
    memset(of.to, 0xff, WORDS_BYTES);
    packed->bytes = packed->data + (uint32_t)(of.to - data) + WORDS_BYTES;
    *end = picture->size - of.left - (size_t)(of.end - of.from);
    return true;
}
