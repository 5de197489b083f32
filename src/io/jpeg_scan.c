/* The scan follows the entropy-coded data symbol by symbol, and keeps no coefficient.
 *
 * The fast way looks up LOOK_BITS bits of the data at a time. One entry stands for all symbols whose
 * codes lie in these bits, with the bits of their values: how many bits that are, how many
 * coefficients, and a bound on the sum of squares of the values. So the energy of a block is first
 * bounded, which is enough for nearly all blocks. A block whose bound is too large, or in which
 * the fast way meets anything else, is judged by the exact way: symbol by symbol, bit by bit. */
#include "io/jpeg_scan.h"

#include <string.h>

enum {
    MARKER_SOF0 = 0xc0,
    MARKER_DHT = 0xc4,
    MARKER_RST0 = 0xd0,
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda,
    MARKER_DQT = 0xdb,
    MARKER_DRI = 0xdd,
    MARKER_APP0 = 0xe0,
    MARKER_APP14 = 0xee,
    MARKER_APP15 = 0xef,
    MARKER_COM = 0xfe
};

enum {
    COEFFICIENTS = 64,
    CODE_BITS_MAX = 16,
    DC_CATEGORY_MAX = 11,
    AC_SIZE_MAX = 10,
    SIDE_MAX = 65500, /* libjpeg's */
    COMPONENTS_MAX = 3,
    BLOCKS_MAX = 6, /* of an MCU: 4:2:0 */
    TABLES_MAX = 2, /* Huffman tables of a class, in baseline JPEG */
    QUANTISERS_MAX = 4,
    WINDOW_BITS = 56, /* at least so many lie in the window after `refill` */
    LOOK_BITS = 11,   /* with 12 large files gain nothing, and small ones wait for the tables */
    DC_LOOK_BITS = 9
};

/* An entry of `table.ac_look`, from the lowest bit: 8 bits, the length in bits of codes and values;
 * 8 bits, the step in coefficients; 16 bits, the bound on the sum of squares. */
enum {
    STEP_SHIFT = 8,
    SQUARES_SHIFT = 16,
    SQUARES_MAX = 0xffff,
    /* Marks that are added to the step. The index of a coefficient plus the step has the bit
     * STEP_EXACT too where the entry leads beyond the last coefficient. EOB may not follow the last
     * coefficient: thus the 1. */
    STEP_EXACT = 64,    /* the exact way has to go on */
    STEP_END = 128 + 1, /* EOB is the last of the symbols */
    ENTRY_EXACT = STEP_EXACT << STEP_SHIFT,
    ENTRY_BITS_MAX = 18 /* see `pass_block` */
};

enum { SYMBOL_END = 0x00, SYMBOL_ZEROS = 0xf0 /* 16 of them */ };

/* ---- The state ------------------------------------------------------------------------------- */

typedef struct table {
    bool defined, built;
    /* By length of code: the first value of CODE_BITS_MAX bits above all codes of that length and
     * shorter ones; and what makes a code of that length an index of `symbols`. */
    uint32_t limit[CODE_BITS_MAX + 1];
    int32_t offset[CODE_BITS_MAX + 1];
    int count;
    unsigned char lengths[256]; /* by index */
    unsigned char symbols[256];
    union {
        uint32_t ac_look[1 << LOOK_BITS];
        uint16_t dc_look[1 << DC_LOOK_BITS]; /* bits of code and value + 256 x of the value; or 0 */
    } fast;
} table;

typedef struct quantiser {
    bool defined;
    uint32_t steps[COEFFICIENTS];   /* in zigzag order, as all coefficients here */
    uint64_t squares[COEFFICIENTS]; /* of the steps */
    uint64_t largest[COEFFICIENTS]; /* square of an AC step up to this one */
    uint64_t energy_max;            /* of a block of 8-bit samples */
} quantiser;

typedef struct component {
    int id, across, down; /* sampling factors */
    const quantiser *steps;
    int quantiser;
    const table *dc, *ac;
} component;

typedef struct scan {
    const unsigned char *bytes;
    size_t size, at;
    gc_jpeg_facts *facts;
    const char *doubt;
    bool restarts_seen, frame_seen, adobe_seen;
    int adobe_transform;
    component components[COMPONENTS_MAX];
    int block_components[BLOCKS_MAX]; /* of an MCU, in the order of the data */
    int blocks;
    quantiser quantisers[QUANTISERS_MAX];
    table tables[2][TABLES_MAX]; /* DC, AC */
} scan;

/* The phrase of the first doubt; false, for the caller to return. */
static bool doubt(scan *of, const char *phrase)
{
    of->doubt = phrase;
    return false;
}

/* ---- Segments -------------------------------------------------------------------------------- */

typedef struct segment {
    const unsigned char *bytes;
    size_t size;
} segment;

static unsigned int word_at(const unsigned char *bytes)
{
    return (unsigned int)bytes[0] << 8 | bytes[1];
}

/* The segment behind a marker, without its length. */
static bool take_segment(scan *of, segment *taken)
{
    if (of->size - of->at < 2)
        return doubt(of, "cut in the header");
    size_t length = word_at(of->bytes + of->at);
    if (length < 2)
        return doubt(of, "a segment of impossible length");
    if (length > of->size - of->at)
        return doubt(of, "cut in the header");
    *taken = (segment){of->bytes + of->at + 2, length - 2};
    of->at += length;
    return true;
}

static uint64_t square_root(uint64_t of)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= of)
            root += bit;
    return root;
}

/* (1024 + norm of the steps / 2)^2, rounded down: 64 samples from -128 to 127 have an energy of at
 * most 1024^2, and rounding moves each coefficient by half a step. */
static void bound_energy(quantiser *steps)
{
    enum { SAMPLES_NORM = 1024 };
    uint64_t sum = 0, largest = 0;
    for (int k = 0; k < COEFFICIENTS; k++) {
        steps->squares[k] = (uint64_t)steps->steps[k] * steps->steps[k];
        sum += steps->squares[k];
        if (k > 0 && steps->squares[k] > largest)
            largest = steps->squares[k];
        steps->largest[k] = largest;
    }
    steps->energy_max =
        SAMPLES_NORM * SAMPLES_NORM + square_root(SAMPLES_NORM * SAMPLES_NORM * sum) + sum / 4;
}

static bool take_quantisers(scan *of, const segment *from)
{
    enum { TABLE_BYTES = 1 + COEFFICIENTS };
    if (from->size == 0)
        return doubt(of, "an empty quantisation segment");
    for (size_t at = 0; at < from->size; at += TABLE_BYTES) {
        const unsigned char *bytes = from->bytes + at;
        if (bytes[0] >> 4 != 0)
            return doubt(of, "quantisation steps of 16 bits");
        if (bytes[0] >= QUANTISERS_MAX)
            return doubt(of, "a quantisation table of impossible number");
        if (from->size - at < TABLE_BYTES)
            return doubt(of, "a quantisation table that is cut");
        quantiser *steps = &of->quantisers[bytes[0]];
        if (steps->defined)
            return doubt(of, "a quantisation table that is defined twice");
        steps->defined = true;
        for (int k = 0; k < COEFFICIENTS; k++) {
            steps->steps[k] = bytes[1 + k];
            if (steps->steps[k] == 0)
                return doubt(of, "a quantisation step of 0");
        }
        bound_energy(steps);
    }
    return true;
}

/* ---- Huffman tables -------------------------------------------------------------------------- */

static bool symbols_are_sound(const table *of, bool ac)
{
    bool seen[256] = {false};
    for (int i = 0; i < of->count; i++) {
        int symbol = of->symbols[i], size = symbol & 15;
        bool sound =
            ac ? (size > 0 && size <= AC_SIZE_MAX) || symbol == SYMBOL_END || symbol == SYMBOL_ZEROS
               : symbol <= DC_CATEGORY_MAX;
        if (!sound || seen[symbol])
            return false;
        seen[symbol] = true;
    }
    return of->count > 0;
}

/* Gives every symbol its code. No code may be all ones, as libjpeg demands too. */
static bool assign_codes(table *to, const unsigned char *counts)
{
    uint32_t code = 0;
    int index = 0;
    for (int length = 1; length <= CODE_BITS_MAX; length++) {
        int count = counts[length - 1];
        to->offset[length] = index - (int32_t)code;
        memset(to->lengths + index, length, (size_t)count);
        index += count;
        code += (uint32_t)count;
        if (count > 0 && code >= (uint32_t)1 << length)
            return false;
        to->limit[length] = code << (CODE_BITS_MAX - length);
        code <<= 1;
    }
    return true;
}

static bool take_tables(scan *of, const segment *from)
{
    enum { HEAD_BYTES = 1 + CODE_BITS_MAX };
    if (from->size == 0)
        return doubt(of, "an empty Huffman segment");
    for (size_t at = 0; at < from->size;) {
        const unsigned char *head = from->bytes + at;
        if (from->size - at < HEAD_BYTES)
            return doubt(of, "a Huffman table that is cut");
        if ((head[0] & 0xe0) != 0 || (head[0] & 15) >= TABLES_MAX)
            return doubt(of, "a Huffman table of a number that baseline JPEG lacks");
        bool ac = head[0] >> 4 != 0;
        table *to = &of->tables[ac][head[0] & 15];
        if (to->defined)
            return doubt(of, "a Huffman table that is defined twice");
        to->defined = true;
        to->count = 0;
        for (int length = 1; length <= CODE_BITS_MAX; length++)
            to->count += head[length];
        if (to->count > 256 || (size_t)to->count > from->size - at - HEAD_BYTES)
            return doubt(of, "a Huffman table that is cut");
        memcpy(to->symbols, head + HEAD_BYTES, (size_t)to->count);
        if (!assign_codes(to, head + 1))
            return doubt(of, "a Huffman table with too many codes");
        if (!symbols_are_sound(to, ac))
            return doubt(of, "a Huffman table with odd symbols");
        at += HEAD_BYTES + (size_t)to->count;
    }
    return true;
}

/* For each LOOK_BITS bits that begin with a code, 256 x its length + its symbol; else 0. */
static void list_codes(const table *of, uint16_t *codes)
{
    memset(codes, 0, sizeof *codes << LOOK_BITS);
    for (int i = 0; i < of->count && of->lengths[i] <= LOOK_BITS; i++) {
        int length = of->lengths[i], rest = LOOK_BITS - length;
        uint32_t code = (uint32_t)(i - of->offset[length]);
        for (uint32_t look = code << rest; look < (code + 1) << rest; look++)
            codes[look] = (uint16_t)(length << 8 | of->symbols[i]);
    }
}

static void build_dc(table *of)
{
    uint16_t codes[1 << LOOK_BITS];
    list_codes(of, codes);
    for (uint32_t look = 0; look < (uint32_t)1 << DC_LOOK_BITS; look++) {
        uint32_t code = codes[look << (LOOK_BITS - DC_LOOK_BITS)];
        uint32_t length = code >> 8, size = code & 0xff;
        of->fast.dc_look[look] =
            length == 0 || length > DC_LOOK_BITS ? 0 : (uint16_t)((length + size) | size << 8);
    }
}

/* The entry of one symbol. `rest` holds the bits behind the code, of which only the first `known`
 * bits are given: the bound is of the largest value that begins so. */
static uint32_t ac_entry(int length, int symbol, uint32_t rest, int known)
{
    int size = symbol & 15;
    uint32_t step = (uint32_t)(symbol >> 4) + 1;
    if (symbol == SYMBOL_ZEROS)
        return ENTRY_EXACT;
    if (symbol == SYMBOL_END)
        return (uint32_t)length | (uint32_t)STEP_END << STEP_SHIFT;
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
    if (value * value > SQUARES_MAX || length + size > ENTRY_BITS_MAX)
        return ENTRY_EXACT;
    return (uint32_t)(length + size) | step << STEP_SHIFT | value * value << SQUARES_SHIFT;
}

/* Both entries, one behind the other; the first one alone where that does not do. */
static uint32_t join_entries(uint32_t first, uint32_t second)
{
    uint32_t bits = first % 64 + second % 64;
    uint32_t squares = (first >> SQUARES_SHIFT) + (second >> SQUARES_SHIFT);
    uint32_t steps = (first >> STEP_SHIFT & 0xff) + (second >> STEP_SHIFT & 0xff);
    if (bits > ENTRY_BITS_MAX || squares > SQUARES_MAX || (steps & STEP_EXACT) != 0)
        return first;
    return bits | steps << STEP_SHIFT | squares << SQUARES_SHIFT;
}

/* The entry of as many symbols as have their codes in the LOOK_BITS bits `look`. */
static uint32_t ac_entries(const uint16_t *codes, uint32_t look)
{
    uint32_t result = 0;
    for (int left = LOOK_BITS; left > 0;) {
        uint32_t bits = look & (((uint32_t)1 << left) - 1);
        uint32_t code = codes[bits << (LOOK_BITS - left)];
        int length = (int)(code >> 8), symbol = (int)(code & 0xff);
        if (length == 0 || length > left)
            break;
        uint32_t rest = bits & (((uint32_t)1 << (left - length)) - 1);
        uint32_t entry = ac_entry(length, symbol, rest, left - length);
        uint32_t joined = result == 0 ? entry : join_entries(result, entry);
        if (joined == result)
            break;
        result = joined;
        if (entry == ENTRY_EXACT || symbol == SYMBOL_END)
            break;
        left -= length + (symbol & 15);
    }
    return result == 0 ? ENTRY_EXACT : result;
}

static void build_ac(table *of)
{
    uint16_t codes[1 << LOOK_BITS];
    list_codes(of, codes);
    for (uint32_t look = 0; look < (uint32_t)1 << LOOK_BITS; look++)
        of->fast.ac_look[look] = ac_entries(codes, look);
}

/* ---- The frame and the scan ------------------------------------------------------------------ */

static bool take_frame(scan *of, const segment *from)
{
    enum { HEAD_BYTES = 6, COMPONENT_BYTES = 3 };
    if (of->frame_seen)
        return doubt(of, "two frames");
    of->frame_seen = true;
    if (from->size < HEAD_BYTES)
        return doubt(of, "a frame header of impossible length");
    int count = from->bytes[5];
    if (from->bytes[0] != 8)
        return doubt(of, "samples of other than 8 bits");
    if (count != 1 && count != 3)
        return doubt(of, "other than 1 or 3 components");
    if (from->size != HEAD_BYTES + (size_t)count * COMPONENT_BYTES)
        return doubt(of, "a frame header of impossible length");
    of->facts->components = count;
    of->facts->height = word_at(from->bytes + 1);
    of->facts->width = word_at(from->bytes + 3);
    if (of->facts->width == 0 || of->facts->height == 0)
        return doubt(of, "a width or height of 0");
    if (of->facts->width > SIDE_MAX || of->facts->height > SIDE_MAX)
        return doubt(of, "more columns or rows than libjpeg takes");
    for (int i = 0; i < count; i++) {
        const unsigned char *bytes = from->bytes + HEAD_BYTES + i * COMPONENT_BYTES;
        if (bytes[2] >= QUANTISERS_MAX)
            return doubt(of, "a quantisation table of impossible number");
        of->components[i] = (component){
            .id = bytes[0], .across = bytes[1] >> 4, .down = bytes[1] & 15, .quantiser = bytes[2]};
    }
    return true;
}

static bool name_sampling(scan *of)
{
    const component *y = of->components;
    for (int i = of->facts->components - 1; i > 0; i--)
        if (y[i].across != 1 || y[i].down != 1)
            return doubt(of, "unusual sampling");
    bool grey = of->facts->components == 1;
    if (y->across == 1 && y->down == 1)
        of->facts->sampling = grey ? GC_JPEG_GREY : GC_JPEG_444;
    else if (y->across == 2 && y->down == 1 && !grey)
        of->facts->sampling = GC_JPEG_422;
    else if (y->across == 2 && y->down == 2 && !grey)
        of->facts->sampling = GC_JPEG_420;
    else
        return doubt(of, "unusual sampling");
    of->blocks = 0;
    for (int i = 0; i < of->facts->components; i++)
        for (int j = y[i].across * y[i].down; j > 0; j--)
            of->block_components[of->blocks++] = i;
    return true;
}

/* libjpeg takes 3 components numbered so as YCbCr, with a JFIF marker or without, unless the marker
 * of Adobe says RGB. */
static bool check_colours(scan *of)
{
    bool grey = of->facts->components == 1;
    for (int i = 0; i < of->facts->components && !grey; i++)
        if (of->components[i].id != i + 1)
            return doubt(of, "components of unusual numbers");
    if (of->adobe_seen && of->adobe_transform != (grey ? 0 : 1))
        return doubt(of, "the marker of Adobe names unusual colours");
    return true;
}

/* The marker of JFIF whose version libjpeg warns of, and the one of Adobe. */
static bool take_application(scan *of, int marker, const segment *from)
{
    enum { JFIF_BYTES = 14, ADOBE_BYTES = 12 };
    if (marker == MARKER_APP0 && from->size >= 5 && memcmp(from->bytes, "JFIF", 5) == 0 &&
        (from->size < JFIF_BYTES || from->bytes[5] != 1))
        return doubt(of, "an unusual marker of JFIF");
    if (marker != MARKER_APP14 || from->size < 5 || memcmp(from->bytes, "Adobe", 5) != 0)
        return true;
    if (from->size < ADOBE_BYTES || of->adobe_seen)
        return doubt(of, "an unusual marker of Adobe");
    of->adobe_seen = true;
    of->adobe_transform = from->bytes[11];
    return true;
}

static bool take_restarts(scan *of, const segment *from)
{
    if (of->restarts_seen || from->size != 2 || word_at(from->bytes) == 0)
        return doubt(of, "an unusual definition of restarts");
    of->restarts_seen = true;
    of->facts->restart_interval = word_at(from->bytes);
    return true;
}

static table *find_table(scan *of, bool ac, int number)
{
    if (number >= TABLES_MAX || !of->tables[ac][number].defined)
        return NULL;
    table *found = &of->tables[ac][number];
    if (!found->built && ac)
        build_ac(found);
    else if (!found->built)
        build_dc(found);
    found->built = true;
    return found;
}

static bool take_scan(scan *of, const segment *from)
{
    size_t count = (size_t)of->facts->components;
    if (!of->frame_seen)
        return doubt(of, "a scan without a frame");
    if (from->size != 4 + 2 * count || from->bytes[0] != count)
        return doubt(of, "a scan without some of the components");
    const unsigned char *last = from->bytes + 1 + 2 * count;
    if (last[0] != 0 || last[1] != COEFFICIENTS - 1 || last[2] != 0)
        return doubt(of, "a scan of a part of the coefficients");
    for (size_t i = 0; i < count; i++) {
        component *to = &of->components[i];
        const unsigned char *bytes = from->bytes + 1 + 2 * i;
        if (bytes[0] != to->id)
            return doubt(of, "components in another order");
        to->dc = find_table(of, false, bytes[1] >> 4);
        to->ac = find_table(of, true, bytes[1] & 15);
        to->steps = &of->quantisers[to->quantiser];
        if (to->dc == NULL || to->ac == NULL || !to->steps->defined)
            return doubt(of, "a table that is missing");
    }
    return name_sampling(of) && check_colours(of);
}

static bool take_marker(scan *of, int marker)
{
    segment found;
    bool application = marker >= MARKER_APP0 && marker <= MARKER_APP15;
    if (!application && marker != MARKER_COM && marker != MARKER_DQT && marker != MARKER_DHT &&
        marker != MARKER_SOF0 && marker != MARKER_DRI && marker != MARKER_SOS)
        return doubt(of, marker > MARKER_SOF0 && marker < MARKER_RST0
                             ? "a coding other than baseline"
                             : "an unusual marker in the header");
    if (!take_segment(of, &found))
        return false;
    switch (marker) {
    case MARKER_DQT:
        return take_quantisers(of, &found);
    case MARKER_DHT:
        return take_tables(of, &found);
    case MARKER_SOF0:
        return take_frame(of, &found);
    case MARKER_DRI:
        return take_restarts(of, &found);
    case MARKER_SOS:
        return take_scan(of, &found);
    default:
        return take_application(of, marker, &found);
    }
}

/* To the entropy-coded data. */
static bool take_header(scan *of)
{
    int marker = 0;
    if (of->size < 2 || of->bytes[0] != 0xff || of->bytes[1] != MARKER_SOI)
        return doubt(of, "no JPEG");
    of->at = 2;
    while (marker != MARKER_SOS) {
        if (of->size - of->at < 2)
            return doubt(of, "cut in the header");
        if (of->bytes[of->at] != 0xff)
            return doubt(of, "stray bytes in the header");
        marker = of->bytes[of->at + 1];
        if (marker == 0xff)
            return doubt(of, "fill bytes");
        of->at += 2;
        if (!take_marker(of, marker))
            return false;
    }
    of->facts->data = of->at;
    return true;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* The data's next bits stand at the top of the window. Bits below the first `count` ones are
 * either 0 or what the data hold there. */
typedef struct reader {
    uint64_t window;
    int count;
    int invented; /* bits of 0 that were put in behind the last bit of the data */
    const unsigned char *bytes;
    size_t size, at;
    size_t eight_end; /* eight bytes can be read at each offset below it */
} reader;

static reader read_from(const unsigned char *bytes, size_t size, size_t at)
{
    return (reader){.bytes = bytes, .size = size, .at = at, .eight_end = size < 8 ? 0 : size - 7};
}

static uint64_t eight_bytes(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 | (uint64_t)bytes[2] << 40 |
           (uint64_t)bytes[3] << 32 | (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 |
           (uint64_t)bytes[6] << 8 | (uint64_t)bytes[7];
}

static bool has_ff(uint64_t eight)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    return ((~eight - ones) & eight & tops) != 0;
}

/* Byte by byte, up to a marker or to the end of the file; then bits of 0. */
static void refill_slowly(reader *from)
{
    for (; from->count < WINDOW_BITS; from->count += 8) {
        bool ended = from->invented > 0 || from->at >= from->size;
        if (!ended && from->bytes[from->at] == 0xff)
            ended = from->size - from->at < 2 || from->bytes[from->at + 1] != 0;
        if (ended) {
            from->invented += 8;
            continue;
        }
        uint64_t byte = from->bytes[from->at];
        from->window |= byte << (WINDOW_BITS - from->count);
        from->at += byte == 0xff ? 2 : 1;
    }
}

static inline void refill(reader *from)
{
    if (from->at < from->eight_end) {
        uint64_t eight = eight_bytes(from->bytes + from->at);
        if (!has_ff(eight)) {
            from->window |= eight >> from->count;
            from->at += (size_t)(63 - from->count) >> 3;
            from->count |= WINDOW_BITS;
            return;
        }
    }
    reader copy = *from; /* so that the fields of *from may live in registers */
    refill_slowly(&copy);
    *from = copy;
}

static inline void skip_bits(reader *from, uint32_t count)
{
    from->window <<= count;
    from->count -= (int)count;
}

/* The next symbol, or -1 where no code begins so. */
static int next_symbol(reader *from, const table *codes)
{
    uint32_t bits = (uint32_t)(from->window >> (64 - CODE_BITS_MAX));
    int length = 1;
    while (length <= CODE_BITS_MAX && bits >= codes->limit[length])
        length++;
    if (length > CODE_BITS_MAX)
        return -1;
    skip_bits(from, (uint32_t)length);
    return codes->symbols[(int32_t)(bits >> (CODE_BITS_MAX - length)) + codes->offset[length]];
}

/* The value of `size` bits: it is negative where its first bit is 0. */
static inline int32_t next_value(reader *from, int size)
{
    if (size == 0)
        return 0;
    int32_t bits = (int32_t)(from->window >> (64 - size));
    skip_bits(from, (uint32_t)size);
    return bits >> (size - 1) != 0 ? bits : bits - (1 << size) + 1;
}

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
static progress take_symbol(reader *from, const component *of, block *into)
{
    refill(from);
    int symbol = next_symbol(from, of->ac);
    if (symbol < 0)
        return NO_CODE;
    if (symbol == SYMBOL_END)
        return ENDS;
    into->last += (uint32_t)(symbol >> 4) + 1;
    /* A run of zeros alone never ends a block. */
    if (into->last >= COEFFICIENTS - (symbol == SYMBOL_ZEROS ? 1 : 0))
        return TOO_LONG;
    into->energy += square_of(next_value(from, symbol & 15)) * of->steps->squares[into->last];
    return into->last == COEFFICIENTS - 1 ? ENDS : GOES_ON;
}

/* The exact way, for one block. Returns a doubt or NULL. */
static const char *check_block(reader *from, const component *of, int32_t *dc)
{
    progress now = GOES_ON;
    refill(from);
    int symbol = next_symbol(from, of->dc);
    if (symbol < 0)
        return "a code that does not exist";
    *dc += next_value(from, symbol);
    block made = {.energy = square_of((int64_t)*dc * of->steps->steps[0])};
    while (now == GOES_ON)
        now = take_symbol(from, of, &made);
    if (now == NO_CODE)
        return "a code that does not exist";
    if (now == TOO_LONG)
        return "a run beyond the last coefficient";
    return made.energy > of->steps->energy_max ? "a block that 8-bit samples cannot give" : NULL;
}

/* Passes over the symbols of the entry. Where EOB is one of them, `next` names the coefficient behind
 * the last one, whose bound is no smaller. */
static inline void commit_entry(reader *from, const component *of, block *into)
{
    into->last = into->next;
    into->energy += (into->entry >> SQUARES_SHIFT) * of->steps->largest[into->next % COEFFICIENTS];
    skip_bits(from, into->entry % 64);
}

/* Looks up the next entry, and passes over it if the block goes on behind it. */
static inline bool pass_entry(reader *from, const component *of, block *into)
{
    into->entry = of->ac->fast.ac_look[from->window >> (64 - LOOK_BITS)];
    into->next = into->last + (into->entry >> STEP_SHIFT & 0xff);
    if (into->next >= COEFFICIENTS - 1)
        return false;
    commit_entry(from, of, into);
    return true;
}

/* Where `pass_entry` stopped: the same if the block ends with the entry, else one symbol. */
static inline progress pass_last(reader *from, const component *of, block *into)
{
    if ((into->next & STEP_EXACT) == 0) {
        commit_entry(from, of, into);
        return ENDS;
    }
    reader copy = *from;
    block judged = *into;
    progress now = take_symbol(&copy, of, &judged);
    *from = copy;
    *into = judged;
    return now;
}

/* Passes over the DC code and its value. A false says that the look-up does not do. */
static inline bool pass_dc(reader *from, const component *of, int32_t *dc)
{
    uint32_t entry = of->dc->fast.dc_look[from->window >> (64 - DC_LOOK_BITS)];
    uint32_t size = entry >> 8;
    uint64_t value = from->window << (entry % 64 - size); /* its bits are at the top */
    int32_t bits = (int32_t)(value >> 1 >> (63 - size));
    int32_t negative = (int32_t)(value >> 63) - 1;
    *dc += bits - (negative & (int32_t)((1U << size) - 1));
    skip_bits(from, entry % 64);
    return entry != 0;
}

/* The fast way, for one block. A false says that the exact way has to judge.
 * 56 bits are enough for a DC code of the look-up and its value, 20 bits, and two entries of
 * ENTRY_BITS_MAX; or for three entries. */
static inline bool pass_block(reader *from, const component *of, int32_t *dc)
{
    progress now;
    refill(from);
    if (!pass_dc(from, of, dc))
        return false;
    block made = {.energy = square_of((int64_t)*dc * of->steps->steps[0])};
    bool more = pass_entry(from, of, &made) && pass_entry(from, of, &made);
    do {
        while (more) {
            refill(from);
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
static const char *check_end(reader *from)
{
    refill_slowly(from);
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
static const char *check_mcus(const scan *of, uint64_t count, reader *from)
{
    int32_t dc[COMPONENTS_MAX] = {0};
    reader fast = *from;
    for (; count > 0; count--) {
        for (int i = 0; i < of->blocks; i++) {
            int number = of->block_components[i];
            const component *one = &of->components[number];
            int32_t before = dc[number];
            reader start = fast;
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

/* `count` MCUs from of->at to a marker. Returns a doubt or NULL. */
static const char *check_interval(scan *of, uint64_t count)
{
    reader from = read_from(of->bytes, of->size, of->at);
    const char *found = check_mcus(of, count, &from);
    if (found == NULL)
        found = check_end(&from);
    of->at = from.at;
    return found;
}

static uint64_t count_mcus(const scan *of)
{
    uint32_t columns = 8 * (uint32_t)of->components[0].across;
    uint32_t rows = 8 * (uint32_t)of->components[0].down;
    return (uint64_t)((of->facts->width + columns - 1) / columns) *
           ((of->facts->height + rows - 1) / rows);
}

/* Whether this marker follows at once. */
static bool take_expected(scan *of, int marker)
{
    bool found =
        of->size - of->at >= 2 && of->bytes[of->at] == 0xff && of->bytes[of->at + 1] == marker;
    of->at += found ? 2 : 0;
    return found;
}

/* From the data to EOI. */
static bool take_data(scan *of)
{
    uint64_t left = count_mcus(of);
    uint64_t interval = of->facts->restart_interval > 0 ? of->facts->restart_interval : left;
    for (int restart = MARKER_RST0;; restart = MARKER_RST0 | ((restart + 1) & 7)) {
        uint64_t count = left < interval ? left : interval;
        const char *found = check_interval(of, count);
        if (found != NULL)
            return doubt(of, found);
        left -= count;
        if (left == 0)
            break;
        if (!take_expected(of, restart))
            return doubt(of, "a restart marker that is missing");
    }
    if (!take_expected(of, MARKER_EOI))
        return doubt(of, "no end of the image behind its data");
    of->facts->bytes = of->at;
    return true;
}

bool gc_jpeg_scan(const unsigned char *bytes, size_t size, gc_jpeg_facts *facts,
                  const char **doubted)
{
    *facts = (gc_jpeg_facts){0};
    scan of = {.bytes = bytes, .size = size, .facts = facts};
    bool sound = take_header(&of) && take_data(&of);
    *doubted = of.doubt;
    return sound;
}
